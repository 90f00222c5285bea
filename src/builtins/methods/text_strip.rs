//! The methods of `str` that take off its ends.
//!
//! ```text
//! {{ "xy</answer>".strip("</answer>") }}          xy    a set of characters
//! {{ "<|user|>".removeprefix("<|") }}             user|>
//! ```
//!
//! The results are views of the same text, so a piece of the context stays one; a Markup stays a Markup. The rules are in
//! [`crate::text::strip`]; the complaints are CPython 3.11's (`unicodeobject.c` `do_argstrip`).

use super::argument::{clinic_text, receiver};
use super::row::{SELF, one_argument, optional, positional};
use crate::error::{Error, Result};
use crate::text::strip;
use crate::value::{Arguments, Function, Part, Runtime, Shortcut, Str, Value};

/// The rows.
pub(super) static METHODS: [Function; 5] = [
    positional("strip", "str.strip", &[SELF, optional("chars")], strip).with_shortcut(Shortcut::Part(strip::strip)),
    positional("lstrip", "str.lstrip", &[SELF, optional("chars")], strip_start).with_shortcut(Shortcut::Part(strip::strip_start)),
    positional("rstrip", "str.rstrip", &[SELF, optional("chars")], strip_end).with_shortcut(Shortcut::Part(strip::strip_end)),
    one_argument("removeprefix", "str.removeprefix", remove_prefix),
    one_argument("removesuffix", "str.removesuffix", remove_suffix),
];

/// Returns the part of the text that a rule of [`strip`](crate::text::strip) leaves.
fn stripped<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, name: &str, part: Part) -> Result<Value<'a>> {
    let text = receiver(&mut arguments)?;
    let chars = match arguments.get(1) {
        None | Some(Value::None) => None,
        Some(Value::Str(chars)) => Some(chars.as_str()),
        Some(_) => return Err(Error::type_error(format!("{name} arg must be None or str"))),
    };
    runtime
        .meter
        .charge_scan(text.as_str().len().saturating_add(chars.map_or(0, str::len)))?;
    Ok(Value::Str(text.piece(part(text.as_str(), chars))))
}

/// `str.strip(chars)`
pub(super) fn strip<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    stripped(runtime, arguments, "strip", strip::strip)
}

/// `str.lstrip(chars)`
pub(super) fn strip_start<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    stripped(runtime, arguments, "lstrip", strip::strip_start)
}

/// `str.rstrip(chars)`
pub(super) fn strip_end<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    stripped(runtime, arguments, "rstrip", strip::strip_end)
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
