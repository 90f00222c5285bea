//! The methods of `str` that take off its ends.
//!
//! ```text
//! {{ "xy</answer>".strip("</answer>") }}          xy    a set of characters
//! {{ "<|user|>".removeprefix("<|") }}             user|>
//! ```
//!
//! The results are views of the same text, so a piece of the context stays one; a Markup stays a Markup. The rules are in
//! [`crate::text::strip`]; the complaints are CPython 3.11's (`unicodeobject.c` `do_argstrip`).

use crate::builtins::c_arguments::{clinic_text, receiver, wrong_receiver};
use crate::builtins::table::{SELF, one_argument, optional, positional};
use crate::error::{Error, Result};
use crate::text::strip;
use crate::value::{Arguments, Function, Runtime, Str, Value};

/// The rows.
pub(super) static METHODS: [Function; 5] = [
    positional("strip", "str.strip", &[SELF, optional("chars")], strip)
        .alone(|runtime, text| piece_alone(runtime, text, strip::strip))
        .piece(strip::strip)
        .with_text(|runtime, text, chars| piece(runtime, text, chars, strip::strip_chars)),
    positional("lstrip", "str.lstrip", &[SELF, optional("chars")], strip_start)
        .alone(|runtime, text| piece_alone(runtime, text, strip::strip_start))
        .piece(strip::strip_start)
        .with_text(|runtime, text, chars| piece(runtime, text, chars, strip::strip_start_chars)),
    positional("rstrip", "str.rstrip", &[SELF, optional("chars")], strip_end)
        .alone(|runtime, text| piece_alone(runtime, text, strip::strip_end))
        .piece(strip::strip_end)
        .with_text(|runtime, text, chars| piece(runtime, text, chars, strip::strip_end_chars)),
    one_argument("removeprefix", "str.removeprefix", remove_prefix),
    one_argument("removesuffix", "str.removesuffix", remove_suffix),
];

/// The part that is left without whitespace.
fn piece_alone<'a>(runtime: &mut Runtime<'a>, text: &Value<'a>, plain: fn(&str) -> &str) -> Result<Value<'a>> {
    let Value::Str(text) = text else {
        return Err(wrong_receiver("str"));
    };
    runtime.meter.charge_scan(text.as_str().len())?;
    Ok(Value::Str(text.piece(plain(text.as_str()))))
}

/// The part that is left without the characters of a set.
fn piece<'a>(
    runtime: &mut Runtime<'a>,
    text: &Str<'a>,
    chars: &str,
    by_set: for<'t> fn(&'t str, &str) -> &'t str,
) -> Result<Value<'a>> {
    runtime.meter.charge_scan(text.as_str().len().saturating_add(chars.len()))?;
    Ok(Value::Str(text.piece(by_set(text.as_str(), chars))))
}

/// The part that is left without whitespace, or without the characters of a set, at the ends that the two functions mean.
fn stripped<'a>(
    runtime: &mut Runtime<'a>,
    mut arguments: Arguments<'a>,
    name: &str,
    plain: fn(&str) -> &str,
    by_set: for<'t> fn(&'t str, &str) -> &'t str,
) -> Result<Value<'a>> {
    let text = receiver(&mut arguments)?;
    match arguments.get(1) {
        None | Some(Value::None) => piece_alone(runtime, &Value::Str(text), plain),
        Some(Value::Str(chars)) => piece(runtime, &text, chars.as_str(), by_set),
        Some(_) => Err(Error::type_error(format!("{name} arg must be None or str"))),
    }
}

/// `str.strip(chars)`
pub(super) fn strip<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    stripped(runtime, arguments, "strip", strip::strip, strip::strip_chars)
}

/// `str.lstrip(chars)`
pub(super) fn strip_start<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    stripped(runtime, arguments, "lstrip", strip::strip_start, strip::strip_start_chars)
}

/// `str.rstrip(chars)`
pub(super) fn strip_end<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    stripped(runtime, arguments, "rstrip", strip::strip_end, strip::strip_end_chars)
}

/// The text and what shall be removed from it.
fn with_affix<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, name: &str) -> Result<(Str<'a>, Str<'a>)> {
    let from = receiver(&mut arguments)?;
    let affix = clinic_text(arguments.take(1), &format!("{name}() argument"))?;
    runtime.meter.charge_scan(affix.as_str().len())?;
    Ok((from, affix))
}

/// `str.removeprefix(prefix)`
pub(super) fn remove_prefix<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let (text, prefix) = with_affix(runtime, arguments, "removeprefix")?;
    let rest = text.as_str().strip_prefix(prefix.as_str());
    Ok(Value::Str(rest.map_or_else(|| text.clone(), |rest| text.piece(rest))))
}

/// `str.removesuffix(suffix)`
pub(super) fn remove_suffix<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let (text, suffix) = with_affix(runtime, arguments, "removesuffix")?;
    let rest = text.as_str().strip_suffix(suffix.as_str());
    Ok(Value::Str(rest.map_or_else(|| text.clone(), |rest| text.piece(rest))))
}
