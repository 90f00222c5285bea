//! The methods of `str` that search it for another string.
//!
//! ```text
//! {{ "hello".find("l", -3) }}                2
//! {{ "hello".startswith(("x", "he")) }}      True
//! ```
//!
//! Indices count code points; the search is in [`crate::text::search`]. The arguments are read in the order of CPython 3.13
//! `clinic/unicodeobject.c.h`: the string to find before the bounds, except that `startswith` and `endswith` check it after them.

use crate::builtins::arguments::{require_clinic_str, require_str};
use crate::builtins::table::built_ins;
use crate::error::{Error, Result};
use crate::text::search;
use crate::value::{Runtime, Shortcut, Str, Value, ops};

/// A search for a string between two bounds.
type Search<T> = fn(&str, &str, Option<i64>, Option<i64>) -> T;

/// Reads the arguments of a search, and runs it.
fn find_in<'a, T>(
    runtime: &mut Runtime<'a>,
    text: &Str<'a>,
    sub: Value<'a>,
    bounds: &[Value<'a>; 2],
    name: &str,
    find: Search<T>,
) -> Result<T> {
    let wanted = require_clinic_str(sub, &format!("{name}() argument 1"))?;
    let [start, end] = read_bounds(runtime, text, bounds)?;
    runtime.meter.charge_scan((text.as_str().len() + wanted.as_str().len()) / 2)?;
    Ok(find(text.as_str(), wanted.as_str(), start, end))
}

fn read_bounds<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>, [start, end]: &[Value<'a>; 2]) -> Result<[Option<i64>; 2]> {
    let bounds = [ops::read_bound(start)?, ops::read_bound(end)?];
    runtime.meter.charge_bytes(text.as_str().len())?;
    Ok(bounds)
}

/// Returns whether the text between the bounds starts or ends with a string, or with any string of a tuple.
fn has_affix<'a>(
    runtime: &mut Runtime<'a>,
    text: &Str<'a>,
    affix: &Value<'a>,
    bounds: &[Value<'a>; 2],
    name: &str,
    has_affix: fn(&str, &str) -> bool,
) -> Result<Value<'a>> {
    let [start, end] = read_bounds(runtime, text, bounds)?;
    let between = search::between(text.as_str(), start, end);
    let has_affix = |affix: &Str<'a>| between.is_some_and(|between| has_affix(between, affix.as_str()));
    match affix {
        Value::Str(affix) => Ok(Value::Bool(has_affix(affix))),
        Value::Tuple(affixes) => {
            for affix in affixes.iter() {
                let message = |ty: &str| format!("tuple for {name} must only contain str, not {ty}");
                let affix = require_str(affix, message)?;
                runtime.meter.charge_bytes(affix.as_str().len())?;
                if has_affix(&affix) {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        other => {
            let ty = other.ty().name();
            Err(Error::type_error(format!(
                "{name} first arg must be str or a tuple of str, not {ty}"
            )))
        }
    }
}

/// Returns an index as an `int`, which is -1 if nothing was found.
fn index_or_minus_one<'a>(index: Option<usize>) -> Value<'a> {
    index.map_or(Value::Int(-1), Value::from)
}

fn index_or_error<'a>(index: Option<usize>) -> Result<Value<'a>> {
    index.map(Value::from).ok_or_else(|| Error::value("substring not found"))
}

built_ins! { METHODS:
    /// Returns the index of the first place of a string, or -1.
    Positional "str.find" fn find(runtime, &text: Str, sub: Text, start: Count = None, end: Count = None) -> Int {
        Ok(index_or_minus_one(find_in(runtime, &text, sub, &[start, end], "find", search::find)?))
    }

    /// Returns the index of the last place of a string, or -1.
    Positional "str.rfind" fn rfind(runtime, &text: Str, sub: Text, start: Count = None, end: Count = None) -> Int {
        Ok(index_or_minus_one(find_in(runtime, &text, sub, &[start, end], "rfind", search::rfind)?))
    }

    /// Returns the index of the first place of a string.
    Positional "str.index" fn index(runtime, &text: Str, sub: Text, start: Count = None, end: Count = None) -> Int {
        index_or_error(find_in(runtime, &text, sub, &[start, end], "index", search::find)?)
    }

    /// Returns the index of the last place of a string.
    Positional "str.rindex" fn rindex(runtime, &text: Str, sub: Text, start: Count = None, end: Count = None) -> Int {
        index_or_error(find_in(runtime, &text, sub, &[start, end], "rindex", search::rfind)?)
    }

    /// Returns the number of places of a string.
    Positional "str.count" fn count(runtime, &text: Str, sub: Text, start: Count = None, end: Count = None) -> Int {
        find_in(runtime, &text, sub, &[start, end], "count", search::count).map(Value::from)
    }

    /// Returns whether the text starts with a string, or one of a tuple.
    Positional "str.startswith".with_shortcut(Shortcut::Predicate(|text, affix| text.starts_with(affix)))
    fn startswith(runtime, &text: Str, prefix: Text, start: Count = None, end: Count = None) -> Bool {
        has_affix(runtime, &text, &prefix, &[start, end], "startswith", |text, prefix| text.starts_with(prefix))
    }

    /// Returns whether the text ends with a string, or one of a tuple.
    Positional "str.endswith".with_shortcut(Shortcut::Predicate(|text, affix| text.ends_with(affix)))
    fn endswith(runtime, &text: Str, suffix: Text, start: Count = None, end: Count = None) -> Bool {
        has_affix(runtime, &text, &suffix, &[start, end], "endswith", |text, suffix| text.ends_with(suffix))
    }
}
