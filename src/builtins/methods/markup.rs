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

use super::argument::receiver;
use super::row::{SELF, optional, optional_unnamed, python, required, unnamed};
use super::{text_case, text_format, text_pad, text_replace, text_split, text_strip};
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
    python("split", "Markup.split", SPLIT, text_split::split),
    python("rsplit", "Markup.rsplit", SPLIT, text_split::split_from_end),
    python(
        "splitlines",
        "Markup.splitlines",
        &[unnamed("self"), optional("keepends")],
        text_split::split_lines,
    ),
    python("partition", "Markup.partition", PARTED, text_split::partition),
    python("rpartition", "Markup.rpartition", PARTED, text_split::partition_at_last),
    python("strip", "Markup.strip", CHARS, text_strip::strip),
    python("lstrip", "Markup.lstrip", CHARS, text_strip::strip_start),
    python("rstrip", "Markup.rstrip", CHARS, text_strip::strip_end),
    python(
        "removeprefix",
        "Markup.removeprefix",
        &[unnamed("self"), unnamed("prefix")],
        text_strip::remove_prefix,
    ),
    python(
        "removesuffix",
        "Markup.removesuffix",
        &[SELF, required("suffix")],
        text_strip::remove_suffix,
    ),
    python("replace", "Markup.replace", REPLACED, text_replace::replace),
    python(
        "translate",
        "Markup.translate",
        &[unnamed("self"), unnamed("table")],
        text_replace::translate,
    ),
    python("lower", "Markup.lower", ALONE, text_case::lower),
    python("upper", "Markup.upper", ALONE, text_case::upper),
    python("title", "Markup.title", ALONE, text_case::title),
    python("capitalize", "Markup.capitalize", ALONE, text_case::capitalize),
    python("casefold", "Markup.casefold", ALONE, text_case::casefold),
    python("swapcase", "Markup.swapcase", ALONE, text_case::swapcase),
    python("center", "Markup.center", PADDED, text_pad::center),
    python("ljust", "Markup.ljust", PADDED, text_pad::left_justify),
    python("rjust", "Markup.rjust", PADDED, text_pad::right_justify),
    python(
        "zfill",
        "Markup.zfill",
        &[unnamed("self"), unnamed("width")],
        text_pad::zero_fill,
    ),
    python(
        "expandtabs",
        "Markup.expandtabs",
        &[unnamed("self"), optional("tabsize")],
        text_pad::expand_tabs,
    ),
    text_format::format_row("Markup.format"),
    text_format::format_map_row("Markup.format_map"),
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
    match text_split::joined(runtime, &separator, &items)? {
        Value::Str(text) => Ok(Value::Str(text.with_markup(true))),
        other => Ok(other),
    }
}

/// `Markup.escape(s)`
fn escaped<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = arguments.take(1).unwrap_or(Value::None);
    Ok(Value::Str(markup::escape(runtime, &value)?))
}
