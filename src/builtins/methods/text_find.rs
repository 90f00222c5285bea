//! The methods of `str` that look for another string in it.
//!
//! ```text
//! {{ "hello".find("l", -3) }}                2
//! {{ "hello".startswith(("x", "he")) }}      True
//! ```
//!
//! Positions are code points; the search is in [`crate::text::search`]. The arguments are read as CPython 3.11 `unicodeobject.c`
//! `parse_args_finds_unicode` and `unicode_startswith` read them: the bounds first, then what is looked for.

use super::argument::{bound, receiver, text};
use super::row::{SELF, optional, required, tuple};
use crate::error::{Error, Result};
use crate::text::search;
use crate::value::{Arguments, Function, Parameter, Runtime, Shortcut, Str, Value};

const FINDS: &[Parameter] = &[SELF, required("sub"), optional("start"), optional("end")];

/// The rows.
pub(super) static METHODS: [Function; 7] = [
    tuple("startswith", "str.startswith", FINDS, starts_with)
        .with_shortcut(Shortcut::Predicate(|text, start| text.starts_with(start))),
    tuple("endswith", "str.endswith", FINDS, ends_with).with_shortcut(Shortcut::Predicate(|text, end| text.ends_with(end))),
    tuple("find", "str.find", FINDS, find),
    tuple("rfind", "str.rfind", FINDS, rfind),
    tuple("index", "str.index", FINDS, index),
    tuple("rindex", "str.rindex", FINDS, rindex),
    tuple("count", "str.count", FINDS, count),
];

/// The text, what is looked for, and the bounds.
struct Wanted<'a> {
    text: Str<'a>,
    sub: Value<'a>,
    start: Option<i64>,
    end: Option<i64>,
}

impl<'a> Wanted<'a> {
    fn read(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Self> {
        let text = receiver(&mut arguments)?;
        let start = bound(arguments.get(2))?;
        let end = bound(arguments.get(3))?;
        runtime.meter.charge_bytes(text.as_str().len())?;
        Ok(Self {
            text,
            sub: arguments.take(1).unwrap_or(Value::None),
            start,
            end,
        })
    }

    fn sub(&self) -> Result<Str<'a>> {
        text(Some(self.sub.clone()), |ty| format!("must be str, not {ty}"))
    }

    /// What is looked for, charged with the search for it.
    fn searched(&self, runtime: &mut Runtime<'a>) -> Result<Str<'a>> {
        let sub = self.sub()?;
        let bytes = self.text.as_str().len().saturating_add(sub.as_str().len());
        runtime.meter.charge_scan(bytes / 2)?;
        Ok(sub)
    }

    fn find(&self, runtime: &mut Runtime<'a>) -> Result<Option<usize>> {
        let sub = self.searched(runtime)?;
        Ok(search::find(self.text.as_str(), sub.as_str(), self.start, self.end))
    }

    fn rfind(&self, runtime: &mut Runtime<'a>) -> Result<Option<usize>> {
        let sub = self.searched(runtime)?;
        Ok(search::rfind(self.text.as_str(), sub.as_str(), self.start, self.end))
    }

    /// Whether any of the strings of a tuple, or the one string, is where `look` looks.
    fn any(&self, runtime: &mut Runtime<'a>, name: &str, look: fn(&str, &str, Option<i64>, Option<i64>) -> bool) -> Result<bool> {
        let is_there = |affix: &Str<'a>| look(self.text.as_str(), affix.as_str(), self.start, self.end);
        match &self.sub {
            Value::Str(affix) => Ok(is_there(affix)),
            Value::Tuple(affixes) => {
                for affix in affixes.iter() {
                    let complaint = |ty: &str| format!("tuple for {name} must only contain str, not {ty}");
                    let affix = text(Some(affix), complaint)?;
                    runtime.meter.charge_bytes(affix.as_str().len())?;
                    if is_there(&affix) {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            other => {
                let ty = other.ty().name();
                Err(Error::type_error(format!(
                    "{name} first arg must be str or a tuple of str, not {ty}"
                )))
            }
        }
    }
}

/// A position as an `int`; -1 for none.
fn position<'a>(found: Option<usize>) -> Value<'a> {
    found.map_or(Value::Int(-1), Value::from)
}

fn found<'a>(found: Option<usize>) -> Result<Value<'a>> {
    found.map(Value::from).ok_or_else(|| Error::value("substring not found"))
}

fn find<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(position(Wanted::read(runtime, arguments)?.find(runtime)?))
}

fn rfind<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(position(Wanted::read(runtime, arguments)?.rfind(runtime)?))
}

fn index<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    found(Wanted::read(runtime, arguments)?.find(runtime)?)
}

fn rindex<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    found(Wanted::read(runtime, arguments)?.rfind(runtime)?)
}

fn count<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let wanted = Wanted::read(runtime, arguments)?;
    let sub = wanted.searched(runtime)?;
    let count = search::count(wanted.text.as_str(), sub.as_str(), wanted.start, wanted.end);
    Ok(Value::from(count))
}

fn starts_with<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let wanted = Wanted::read(runtime, arguments)?;
    Ok(Value::Bool(wanted.any(runtime, "startswith", search::starts_with)?))
}

fn ends_with<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let wanted = Wanted::read(runtime, arguments)?;
    Ok(Value::Bool(wanted.any(runtime, "endswith", search::ends_with)?))
}
