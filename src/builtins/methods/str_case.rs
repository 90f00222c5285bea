//! The methods of `str` that change the case of letters.
//!
//! `{{ "straße".upper() }}` is `STRASSE`. The mappings are in [`crate::unicode`]. The result for a Markup is a Markup (markupsafe 3.0.4
//! `Markup.upper` and the others).

use crate::builtins::arguments::take_str_receiver;
use crate::error::Result;
use crate::unicode;
use crate::value::{Arguments, Runtime, Str, Value};

fn map<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, map: fn(&str) -> String) -> Result<Value<'a>> {
    let text = take_str_receiver(&mut arguments)?;
    map_text(runtime, text, map)
}

/// Maps a text, and keeps it a Markup if it is one. A text that the mapping leaves unchanged is returned itself, not copied.
///
/// The size is checked after the mapping, which makes at most three bytes from one; `tests/reference/unicode_tables.py` asserts that.
pub fn map_text<'a>(runtime: &mut Runtime<'a>, text: Str<'a>, map: fn(&str) -> String) -> Result<Value<'a>> {
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
    map(runtime, arguments, unicode::to_lower)
}

/// `str.upper()`
pub(super) fn upper<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    map(runtime, arguments, unicode::to_upper)
}

/// `str.title()`
pub(super) fn title<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    map(runtime, arguments, unicode::to_title)
}

/// `str.capitalize()`
pub(super) fn capitalize<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    map(runtime, arguments, unicode::capitalize)
}

/// `str.casefold()`
pub(super) fn casefold<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    map(runtime, arguments, unicode::casefold)
}

/// `str.swapcase()`
pub(super) fn swapcase<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    map(runtime, arguments, unicode::swapcase)
}
