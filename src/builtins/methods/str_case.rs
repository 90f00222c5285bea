//! The methods of `str` that change the case of letters.
//!
//! `{{ "straße".upper() }}` is `STRASSE`. The mappings are in [`crate::unicode`]. The result for a Markup is a Markup (markupsafe 3.0.4
//! `Markup.upper` and the others).

use crate::builtins::arguments::take_str_receiver;
use crate::error::Result;
use crate::meter::Claim;
use crate::unicode;
use crate::value::{Arguments, Runtime, Str, Value};

fn map<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, map: fn(&str) -> String) -> Result<Value<'a>> {
    let text = take_str_receiver(&mut arguments)?;
    map_text(runtime, text, map)
}

/// The size in bytes from which the memory of a mapped text is claimed before the text is mapped.
const LARGE: usize = 1 << 20;

/// Claims the memory by which a text can grow when it is mapped. The mappings make at most three bytes from one, and one from ASCII;
/// `tests/reference/unicode_tables.py` asserts that. The claims are for the mapping only: the result is claimed after it.
pub fn claim_mapping(runtime: &mut Runtime<'_>, text: &str) -> Result<Option<[Claim; 2]>> {
    if text.len() < LARGE || text.is_ascii() {
        return Ok(None);
    }
    Ok(Some([runtime.meter.claim(text.len())?, runtime.meter.claim(text.len())?]))
}

/// Maps a text, and keeps it a Markup if it is one. A text that the mapping leaves unchanged is returned itself, not copied. The size is
/// checked after the mapping.
pub fn map_text<'a>(runtime: &mut Runtime<'a>, text: Str<'a>, map: fn(&str) -> String) -> Result<Value<'a>> {
    runtime.meter.charge_unicode(text.as_str())?;
    let claims = claim_mapping(runtime, text.as_str())?;
    let mapped = map(text.as_str());
    drop(claims);
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
