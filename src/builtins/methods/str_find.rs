//! The methods of `str` that search it for another string.
//!
//! ```text
//! {{ "hello".find("l", -3) }}                2
//! {{ "hello".startswith(("x", "he")) }}      True
//! ```
//!
//! Indices count code points; the search is in [`crate::text::search`]. The arguments are read in the order of CPython 3.13
//! `clinic/unicodeobject.c.h`: the string to find before the bounds, except that `startswith` and `endswith` check it after them.

use crate::builtins::arguments::{read_bound, require_clinic_str, require_str, take_str_receiver};
use crate::error::{Error, Result};
use crate::text::search;
use crate::value::{Arguments, Runtime, Str, Value};

/// The arguments of a search.
struct Search<'a, W> {
    text: Str<'a>,
    wanted: W,
    start: Option<i64>,
    end: Option<i64>,
}

impl<'a> Search<'a, Str<'a>> {
    fn read(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, name: &str) -> Result<Self> {
        let wanted = require_clinic_str(arguments.take(1), &format!("{name}() argument 1"))?;
        Search::read_any(runtime, arguments, wanted)
    }

    fn charge(&self, runtime: &mut Runtime<'a>) -> Result<()> {
        let bytes = self.text.as_str().len().saturating_add(self.wanted.as_str().len());
        runtime.meter.charge_scan(bytes / 2)
    }

    fn find(&self, runtime: &mut Runtime<'a>) -> Result<Option<usize>> {
        self.charge(runtime)?;
        Ok(search::find(self.text.as_str(), self.wanted.as_str(), self.start, self.end))
    }

    fn rfind(&self, runtime: &mut Runtime<'a>) -> Result<Option<usize>> {
        self.charge(runtime)?;
        Ok(search::rfind(self.text.as_str(), self.wanted.as_str(), self.start, self.end))
    }
}

impl<'a, W> Search<'a, W> {
    fn read_any(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, wanted: W) -> Result<Self> {
        let text = take_str_receiver(&mut arguments)?;
        let start = read_bound(arguments.get(2))?;
        let end = read_bound(arguments.get(3))?;
        runtime.meter.charge_bytes(text.as_str().len())?;
        Ok(Self {
            text,
            wanted,
            start,
            end,
        })
    }
}

/// Returns whether the text has an affix at one of its ends: the string to find, or any string of a tuple.
fn has_affix<'a>(
    runtime: &mut Runtime<'a>,
    mut arguments: Arguments<'a>,
    name: &str,
    has_affix: fn(&str, &str) -> bool,
) -> Result<Value<'a>> {
    let wanted = arguments.take(1).unwrap_or(Value::None);
    let search = Search::read_any(runtime, arguments, wanted)?;
    let between = search::between(search.text.as_str(), search.start, search.end);
    let has_affix = |affix: &Str<'a>| between.is_some_and(|between| has_affix(between, affix.as_str()));
    match &search.wanted {
        Value::Str(affix) => Ok(Value::Bool(has_affix(affix))),
        Value::Tuple(affixes) => {
            for affix in affixes.iter() {
                let message = |ty: &str| format!("tuple for {name} must only contain str, not {ty}");
                let affix = require_str(Some(affix), message)?;
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

/// `str.find(sub, start, end)`
pub(super) fn find<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(index_or_minus_one(Search::read(runtime, arguments, "find")?.find(runtime)?))
}

/// `str.rfind(sub, start, end)`
pub(super) fn rfind<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(index_or_minus_one(Search::read(runtime, arguments, "rfind")?.rfind(runtime)?))
}

/// `str.index(sub, start, end)`
pub(super) fn index<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    index_or_error(Search::read(runtime, arguments, "index")?.find(runtime)?)
}

/// `str.rindex(sub, start, end)`
pub(super) fn rindex<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    index_or_error(Search::read(runtime, arguments, "rindex")?.rfind(runtime)?)
}

/// `str.count(sub, start, end)`
pub(super) fn count<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let search = Search::read(runtime, arguments, "count")?;
    search.charge(runtime)?;
    let count = search::count(search.text.as_str(), search.wanted.as_str(), search.start, search.end);
    Ok(Value::from(count))
}

/// `str.startswith(prefix, start, end)`
pub(super) fn starts_with<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    has_affix(runtime, arguments, "startswith", |text, prefix| text.starts_with(prefix))
}

/// `str.endswith(suffix, start, end)`
pub(super) fn ends_with<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    has_affix(runtime, arguments, "endswith", |text, suffix| text.ends_with(suffix))
}
