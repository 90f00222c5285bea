//! The methods of a Markup that markupsafe 3.0.4 defines: those of `str` that it overrides, and its own `escape`.
//!
//! ```text
//! {{ ("<a>"|safe).replace("a", "<") }}       <&lt;>
//! {{ (","|safe).join(["<", ">"]) }}          &lt;,&gt;
//! {{ ("<b>"|safe).escape("<") }}             &lt;
//! ```
//!
//! Most rows share the function of the method of `str`, which keeps a Markup one, and differ only in the signature. The methods that
//! markupsafe does not override (`find`, `isalpha` …) are those of `str`.

use super::{str_case, str_format, str_pad, str_replace, str_split, str_strip};
use crate::builtins::arguments::take_str_receiver;
use crate::builtins::table::{SELF, Table, optional, optional_unnamed, python, required, unnamed};
use crate::error::Result;
use crate::value::{Arguments, Iter, Parameter, Runtime, Value, markup};

const ALONE: &[Parameter] = &[unnamed("self")];
const CHARS: &[Parameter] = &[unnamed("self"), optional_unnamed("chars")];
const PAD: &[Parameter] = &[unnamed("self"), unnamed("width"), optional_unnamed("fillchar")];
const REPLACE: &[Parameter] = &[unnamed("self"), unnamed("old"), unnamed("new"), optional_unnamed("count")];
const SPLIT: &[Parameter] = &[unnamed("self"), optional("sep"), optional("maxsplit")];
const PARTITION: &[Parameter] = &[unnamed("self"), unnamed("sep")];

#[rustfmt::skip]
pub(super) static METHODS: Table = Table::new(&[
    python("capitalize", "Markup.capitalize", ALONE, str_case::capitalize),
    python("casefold", "Markup.casefold", ALONE, str_case::casefold),
    python("center", "Markup.center", PAD, str_pad::center),
    python("escape", "Markup.escape", &[unnamed("cls"), unnamed("s")], escape),
    python("expandtabs", "Markup.expandtabs", &[unnamed("self"), optional("tabsize")], str_pad::expand_tabs),
    str_format::format_row("Markup.format"),
    str_format::format_map_row("Markup.format_map"),
    python("join", "Markup.join", &[unnamed("self"), unnamed("iterable")], join),
    python("ljust", "Markup.ljust", PAD, str_pad::left_justify),
    python("lower", "Markup.lower", ALONE, str_case::lower),
    python("lstrip", "Markup.lstrip", CHARS, str_strip::strip_start),
    python("partition", "Markup.partition", PARTITION, str_split::partition),
    python("removeprefix", "Markup.removeprefix", &[unnamed("self"), unnamed("prefix")], str_strip::remove_prefix),
    python("removesuffix", "Markup.removesuffix", &[SELF, required("suffix")], str_strip::remove_suffix),
    python("replace", "Markup.replace", REPLACE, str_replace::replace),
    python("rjust", "Markup.rjust", PAD, str_pad::right_justify),
    python("rpartition", "Markup.rpartition", PARTITION, str_split::partition_at_last),
    python("rsplit", "Markup.rsplit", SPLIT, str_split::split_from_end),
    python("rstrip", "Markup.rstrip", CHARS, str_strip::strip_end),
    python("split", "Markup.split", SPLIT, str_split::split),
    python("splitlines", "Markup.splitlines", &[unnamed("self"), optional("keepends")], str_split::split_lines),
    python("strip", "Markup.strip", CHARS, str_strip::strip),
    python("swapcase", "Markup.swapcase", ALONE, str_case::swapcase),
    python("title", "Markup.title", ALONE, str_case::title),
    python("translate", "Markup.translate", &[unnamed("self"), unnamed("table")], str_replace::translate),
    python("upper", "Markup.upper", ALONE, str_case::upper),
    python("zfill", "Markup.zfill", &[unnamed("self"), unnamed("width")], str_pad::zero_fill),
]);

/// `Markup.join(iterable)`: escapes the items and joins them.
fn join<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let separator = take_str_receiver(&mut arguments)?;
    let mut iter = Iter::new(&arguments.take(1).unwrap_or(Value::None))?;
    let (mut items, mut claim) = (Vec::new(), None);
    while let Some(item) = iter.next(runtime)? {
        runtime
            .meter
            .claim_growth::<Value<'_>>(&mut claim, items.len(), items.capacity())?;
        items.push(Value::Str(markup::escape(runtime, &item)?));
    }
    match str_split::join_items(runtime, &separator, &items)? {
        Value::Str(text) => Ok(Value::Str(text.with_markup(true))),
        other => Ok(other),
    }
}

/// `Markup.escape(s)`
fn escape<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = arguments.take(1).unwrap_or(Value::None);
    Ok(Value::Str(markup::escape(runtime, &value)?))
}
