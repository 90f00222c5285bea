//! The methods of `str` that change the case of letters.
//!
//! `{{ "straße".upper() }}` is `STRASSE`. The mappings are in [`crate::unicode`]; a Markup stays one (markupsafe 3.0.4 `Markup.upper`
//! and its neighbours).

use super::argument::receiver;
use super::row::no_arguments;
use crate::error::Result;
use crate::unicode;
use crate::value::{Arguments, Function, Runtime, Str, Value};

/// The rows.
pub(super) static METHODS: [Function; 6] = [
    no_arguments("lower", "str.lower", lower),
    no_arguments("upper", "str.upper", upper),
    no_arguments("title", "str.title", title),
    no_arguments("capitalize", "str.capitalize", capitalize),
    no_arguments("casefold", "str.casefold", casefold),
    no_arguments("swapcase", "str.swapcase", swapcase),
];

fn mapped<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, map: fn(&str) -> String) -> Result<Value<'a>> {
    let text = receiver(&mut arguments)?;
    mapped_text(runtime, text, map)
}

/// The text mapped, and still a Markup if it is one; what the mapping leaves as it is stays the same piece of the context.
///
/// The mapped text is made before its size is checked. It has at most three times the bytes, which `tests/reference/unicode_tables.py`
/// makes sure of.
pub fn mapped_text<'a>(runtime: &mut Runtime<'a>, text: Str<'a>, map: fn(&str) -> String) -> Result<Value<'a>> {
    runtime.meter.charge_unicode(text.as_str())?;
    let mapped = map(text.as_str());
    if mapped == text.as_str() {
        return Ok(Value::Str(text));
    }
    let mapped = runtime.text(mapped)?;
    Ok(Value::Str(mapped.with_markup(text.is_markup())))
}

/// `str.lower()`
pub(super) fn lower<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    mapped(runtime, arguments, unicode::to_lower)
}

/// `str.upper()`
pub(super) fn upper<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    mapped(runtime, arguments, unicode::to_upper)
}

/// `str.title()`
pub(super) fn title<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    mapped(runtime, arguments, unicode::to_title)
}

/// `str.capitalize()`
pub(super) fn capitalize<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    mapped(runtime, arguments, unicode::capitalize)
}

/// `str.casefold()`
pub(super) fn casefold<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    mapped(runtime, arguments, unicode::casefold)
}

/// `str.swapcase()`
pub(super) fn swapcase<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    mapped(runtime, arguments, unicode::swapcase)
}
