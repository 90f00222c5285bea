//! The methods of `str` that search it for another string.
//!
//! ```text
//! {{ "hello".find("l", -3) }}                2
//! {{ "hello".startswith(("x", "he")) }}      True
//! ```
//!
//! Indices count code points; the search is in [`crate::text::search`]. The arguments are read in the order of CPython 3.13
//! `unicodeobject.c`, `parse_args_finds_unicode` and `unicode_startswith`: the bounds before the string to find.

use crate::builtins::arguments::{read_bound, require_str, take_str_receiver};
use crate::error::{Error, Result};
use crate::text::search;
use crate::value::{Arguments, Runtime, Str, Value};

/// The arguments of a search.
struct Search<'a> {
    text: Str<'a>,
    wanted: Value<'a>,
    start: Option<i64>,
    end: Option<i64>,
}

impl<'a> Search<'a> {
    fn read(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Self> {
        let text = take_str_receiver(&mut arguments)?;
        let start = read_bound(arguments.get(2))?;
        let end = read_bound(arguments.get(3))?;
        runtime.meter.charge_bytes(text.as_str().len())?;
        Ok(Self {
            text,
            wanted: arguments.take(1).unwrap_or(Value::None),
            start,
            end,
        })
    }

    /// Returns the string to find, and charges for the search.
    fn charge(&self, runtime: &mut Runtime<'a>) -> Result<Str<'a>> {
        let wanted = require_str(Some(self.wanted.clone()), |ty| format!("must be str, not {ty}"))?;
        let bytes = self.text.as_str().len().saturating_add(wanted.as_str().len());
        runtime.meter.charge_scan(bytes / 2)?;
        Ok(wanted)
    }

    fn find(&self, runtime: &mut Runtime<'a>) -> Result<Option<usize>> {
        let wanted = self.charge(runtime)?;
        Ok(search::find(self.text.as_str(), wanted.as_str(), self.start, self.end))
    }

    fn rfind(&self, runtime: &mut Runtime<'a>) -> Result<Option<usize>> {
        let wanted = self.charge(runtime)?;
        Ok(search::rfind(self.text.as_str(), wanted.as_str(), self.start, self.end))
    }

    /// Returns whether the text has an affix at one of its ends: the string to find, or any string of a tuple.
    fn has_affix(&self, runtime: &mut Runtime<'a>, name: &str, has_affix: fn(&str, &str) -> bool) -> Result<bool> {
        let between = search::between(self.text.as_str(), self.start, self.end);
        let has_affix = |affix: &Str<'a>| between.is_some_and(|between| has_affix(between, affix.as_str()));
        match &self.wanted {
            Value::Str(affix) => Ok(has_affix(affix)),
            Value::Tuple(affixes) => {
                for affix in affixes.iter() {
                    let message = |ty: &str| format!("tuple for {name} must only contain str, not {ty}");
                    let affix = require_str(Some(affix), message)?;
                    runtime.meter.charge_bytes(affix.as_str().len())?;
                    if has_affix(&affix) {
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

/// Returns an index as an `int`, which is -1 if nothing was found.
fn index_or_minus_one<'a>(index: Option<usize>) -> Value<'a> {
    index.map_or(Value::Int(-1), Value::from)
}

fn index_or_error<'a>(index: Option<usize>) -> Result<Value<'a>> {
    index.map(Value::from).ok_or_else(|| Error::value("substring not found"))
}

/// `str.find(sub, start, end)`
pub(super) fn find<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(index_or_minus_one(Search::read(runtime, arguments)?.find(runtime)?))
}

/// `str.rfind(sub, start, end)`
pub(super) fn rfind<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(index_or_minus_one(Search::read(runtime, arguments)?.rfind(runtime)?))
}

/// `str.index(sub, start, end)`
pub(super) fn index<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    index_or_error(Search::read(runtime, arguments)?.find(runtime)?)
}

/// `str.rindex(sub, start, end)`
pub(super) fn rindex<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    index_or_error(Search::read(runtime, arguments)?.rfind(runtime)?)
}

/// `str.count(sub, start, end)`
pub(super) fn count<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let search = Search::read(runtime, arguments)?;
    let wanted = search.charge(runtime)?;
    let count = search::count(search.text.as_str(), wanted.as_str(), search.start, search.end);
    Ok(Value::from(count))
}

/// `str.startswith(prefix, start, end)`
pub(super) fn starts_with<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let search = Search::read(runtime, arguments)?;
    Ok(Value::Bool(
        search.has_affix(runtime, "startswith", |text, prefix| text.starts_with(prefix))?,
    ))
}

/// `str.endswith(suffix, start, end)`
pub(super) fn ends_with<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let search = Search::read(runtime, arguments)?;
    Ok(Value::Bool(
        search.has_affix(runtime, "endswith", |text, suffix| text.ends_with(suffix))?,
    ))
}
