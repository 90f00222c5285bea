//! The methods of `str` that remove its ends.
//!
//! ```text
//! {{ "xy</answer>".strip("</answer>") }}          xy    a set of characters
//! {{ "<|user|>".removeprefix("<|") }}             user|>
//! ```
//!
//! The result shares the memory of the text, and is a Markup if the text is one. The rules are in [`crate::text::strip`]; the errors are
//! those of CPython 3.13 (`unicodeobject.c` `do_argstrip`).

use crate::builtins::arguments::{require_clinic_str, take_str_receiver};
use crate::error::{Error, Result};
use crate::text::strip;
use crate::value::{Arguments, Part, Runtime, Str, Value};

/// Strips whitespace, or the characters of the argument, with the function `strip`.
fn strip_by<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, name: &str, strip: Part) -> Result<Value<'a>> {
    let text = take_str_receiver(&mut arguments)?;
    let chars = match arguments.get(1) {
        None | Some(Value::None) => None,
        Some(Value::Str(chars)) => Some(chars.as_str()),
        Some(_) => return Err(Error::type_error(format!("{name} arg must be None or str"))),
    };
    let work = text.as_str().len().saturating_add(chars.map_or(0, str::len));
    runtime.meter.charge_scan(work)?;
    Ok(Value::Str(text.piece(strip(text.as_str(), chars))))
}

/// `str.strip(chars)`
pub(super) fn strip<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    strip_by(runtime, arguments, "strip", strip::strip)
}

/// `str.lstrip(chars)`
pub(super) fn strip_start<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    strip_by(runtime, arguments, "lstrip", strip::strip_start)
}

/// `str.rstrip(chars)`
pub(super) fn strip_end<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    strip_by(runtime, arguments, "rstrip", strip::strip_end)
}

/// Reads the text, and the prefix or suffix to remove from it.
fn read_affix<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, name: &str) -> Result<(Str<'a>, Str<'a>)> {
    let from = take_str_receiver(&mut arguments)?;
    let affix = require_clinic_str(arguments.take(1), &format!("{name}() argument"))?;
    runtime.meter.charge_scan(affix.as_str().len())?;
    Ok((from, affix))
}

/// `str.removeprefix(prefix)`
pub(super) fn remove_prefix<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let (text, prefix) = read_affix(runtime, arguments, "removeprefix")?;
    let rest = text.as_str().strip_prefix(prefix.as_str());
    Ok(Value::Str(rest.map_or_else(|| text.clone(), |rest| text.piece(rest))))
}

/// `str.removesuffix(suffix)`
pub(super) fn remove_suffix<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let (text, suffix) = read_affix(runtime, arguments, "removesuffix")?;
    let rest = text.as_str().strip_suffix(suffix.as_str());
    Ok(Value::Str(rest.map_or_else(|| text.clone(), |rest| text.piece(rest))))
}
