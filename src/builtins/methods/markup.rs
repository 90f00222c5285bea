//! The methods of a Markup: those of `str` that markupsafe 3.0.4 defines anew in Python, and its own `escape`.
//!
//! ```text
//! {{ ("<a>"|safe).replace("a", "<") }}       <&lt;>
//! {{ (","|safe).join(["<", ">"]) }}          &lt;,&gt;
//! {{ ("<b>"|safe).escape("<") }}             &lt;
//! ```
//!
//! The functions are those of `str`, which keep the flag of the text; here are the signatures, and the functions that escape their
//! arguments. Methods that markupsafe does not define (`find`, `isalpha` …) are in the tables of `str`.

use super::{str_case, str_format, str_pad, str_replace, str_split, str_strip};
use crate::builtins::c_arguments::receiver;
use crate::builtins::table::{SELF, optional, optional_unnamed, python, required, unnamed};
use crate::error::Result;
use crate::value::{Arguments, Function, Iter, Parameter, Runtime, Value, markup};

const ALONE: &[Parameter] = &[unnamed("self")];
const CHARS: &[Parameter] = &[unnamed("self"), optional_unnamed("chars")];
const PADDED: &[Parameter] = &[unnamed("self"), unnamed("width"), optional_unnamed("fillchar")];
const REPLACED: &[Parameter] = &[unnamed("self"), unnamed("old"), unnamed("new"), optional_unnamed("count")];
const SPLIT: &[Parameter] = &[unnamed("self"), optional("sep"), optional("maxsplit")];
const PARTED: &[Parameter] = &[unnamed("self"), unnamed("sep")];

/// The rows.
pub(super) static METHODS: [Function; 27] = [
    python("join", "Markup.join", &[unnamed("self"), unnamed("iterable")], join),
    python("split", "Markup.split", SPLIT, str_split::split),
    python("rsplit", "Markup.rsplit", SPLIT, str_split::split_from_end),
    python(
        "splitlines",
        "Markup.splitlines",
        &[unnamed("self"), optional("keepends")],
        str_split::split_lines,
    ),
    python("partition", "Markup.partition", PARTED, str_split::partition),
    python("rpartition", "Markup.rpartition", PARTED, str_split::partition_at_last),
    python("strip", "Markup.strip", CHARS, str_strip::strip),
    python("lstrip", "Markup.lstrip", CHARS, str_strip::strip_start),
    python("rstrip", "Markup.rstrip", CHARS, str_strip::strip_end),
    python(
        "removeprefix",
        "Markup.removeprefix",
        &[unnamed("self"), unnamed("prefix")],
        str_strip::remove_prefix,
    ),
    python(
        "removesuffix",
        "Markup.removesuffix",
        &[SELF, required("suffix")],
        str_strip::remove_suffix,
    ),
    python("replace", "Markup.replace", REPLACED, str_replace::replace),
    python(
        "translate",
        "Markup.translate",
        &[unnamed("self"), unnamed("table")],
        str_replace::translate,
    ),
    python("lower", "Markup.lower", ALONE, str_case::lower),
    python("upper", "Markup.upper", ALONE, str_case::upper),
    python("title", "Markup.title", ALONE, str_case::title),
    python("capitalize", "Markup.capitalize", ALONE, str_case::capitalize),
    python("casefold", "Markup.casefold", ALONE, str_case::casefold),
    python("swapcase", "Markup.swapcase", ALONE, str_case::swapcase),
    python("center", "Markup.center", PADDED, str_pad::center),
    python("ljust", "Markup.ljust", PADDED, str_pad::left_justify),
    python("rjust", "Markup.rjust", PADDED, str_pad::right_justify),
    python(
        "zfill",
        "Markup.zfill",
        &[unnamed("self"), unnamed("width")],
        str_pad::zero_fill,
    ),
    python(
        "expandtabs",
        "Markup.expandtabs",
        &[unnamed("self"), optional("tabsize")],
        str_pad::expand_tabs,
    ),
    str_format::format_row("Markup.format"),
    str_format::format_map_row("Markup.format_map"),
    python("escape", "Markup.escape", &[unnamed("cls"), unnamed("s")], escaped),
];

/// `Markup.join(iterable)`: escapes what it joins.
fn join<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let separator = receiver(&mut arguments)?;
    let mut iter = Iter::new(&arguments.take(1).unwrap_or(Value::None))?;
    let mut items = Vec::new();
    while let Some(item) = iter.next(runtime)? {
        runtime.check_values(items.len())?;
        items.push(Value::Str(markup::escape(runtime, &item)?));
    }
    match str_split::joined(runtime, &separator, &items)? {
        Value::Str(text) => Ok(Value::Str(text.with_markup(true))),
        other => Ok(other),
    }
}

/// `Markup.escape(s)`
fn escaped<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = arguments.take(1).unwrap_or(Value::None);
    Ok(Value::Str(markup::escape(runtime, &value)?))
}
