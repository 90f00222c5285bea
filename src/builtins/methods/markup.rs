//! The methods of a Markup: those of `str` that markupsafe 3.0.4 writes again in Python, and three of its own.
//!
//! ```text
//! {{ ("<a>"|safe).replace("a", "<") }}       <&lt;>
//! {{ (","|safe).join(["<", ">"]) }}          &lt;,&gt;
//! {{ ("<b>x</b>"|safe).striptags() }}        x
//! ```
//!
//! What they do is what those of `str` do, which keep the flag of the text; here are their signatures, and what escapes its arguments.
//! What markupsafe does not write again (`find`, `isalpha`, `encode` …) is found in the tables of `str`.

use super::argument::receiver;
use super::row::{SELF, optional, optional_unnamed, python, required, unnamed};
use super::{text_case, text_format, text_pad, text_replace, text_split, text_strip};
use crate::error::{Error, Result};
use crate::number::NumberError;
use crate::text::tags;
use crate::text::unescape::{TooManyDigits, unescape};
use crate::value::{Arguments, Function, Iter, Parameter, Runtime, Str, Value};
use std::borrow::Cow;

const ALONE: &[Parameter] = &[unnamed("self")];
const CHARS: &[Parameter] = &[unnamed("self"), optional_unnamed("chars")];
const PADDED: &[Parameter] = &[unnamed("self"), unnamed("width"), optional_unnamed("fillchar")];
const REPLACED: &[Parameter] = &[unnamed("self"), unnamed("old"), unnamed("new"), optional_unnamed("count")];
const SPLIT: &[Parameter] = &[unnamed("self"), optional("sep"), optional("maxsplit")];
const PARTED: &[Parameter] = &[unnamed("self"), unnamed("sep")];

/// The rows.
pub(super) static METHODS: [Function; 29] = [
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
    python("striptags", "Markup.striptags", ALONE, strip_tags),
    python("unescape", "Markup.unescape", ALONE, unescaped),
    python("escape", "Markup.escape", &[unnamed("cls"), unnamed("s")], escaped),
];

/// `Markup.join(iterable)`: escapes what it joins.
fn join<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let separator = receiver(&mut arguments)?;
    let mut iter = Iter::new(&arguments.take(1).unwrap_or(Value::None))?;
    let mut items = Vec::new();
    while let Some(item) = iter.next(runtime)? {
        runtime.check_values(items.len())?;
        items.push(Value::Str(runtime.escape(&item)?));
    }
    match text_split::joined(runtime, &separator, &items)? {
        Value::Str(text) => Ok(Value::Str(text.with_markup(true))),
        other => Ok(other),
    }
}

/// `html.unescape` uses Python's `int`, which refuses too many digits.
#[cold]
fn too_many_digits(error: TooManyDigits) -> Error {
    NumberError::text_of_too_many_digits(error.digits).into()
}

/// `Markup.striptags()`
fn strip_tags<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = receiver(&mut arguments)?;
    without_tags(runtime, &text)
}

/// A plain string of the text without tags, unescaped, with single spaces.
pub fn without_tags<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>) -> Result<Value<'a>> {
    // Each character is looked at for comments, tags, blanks and entities, and copied as often.
    runtime.meter.charge_scan(text.as_str().len().saturating_mul(8))?;
    let stripped = tags::strip_tags(text.as_str()).map_err(too_many_digits)?;
    runtime.str(stripped)
}

/// `Markup.unescape()`: a plain string.
fn unescaped<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = receiver(&mut arguments)?.with_markup(false);
    runtime.meter.charge_scan(text.as_str().len().saturating_mul(4))?;
    match unescape(text.as_str()).map_err(too_many_digits)? {
        Cow::Borrowed(_) => Ok(Value::Str(text.clone())),
        Cow::Owned(unescaped) => runtime.str(unescaped),
    }
}

/// `Markup.escape(s)`
fn escaped<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = arguments.take(1).unwrap_or(Value::None);
    Ok(Value::Str(runtime.escape(&value)?))
}
