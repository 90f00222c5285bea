//! The methods of `str` that search it for another string.
//!
//! ```text
//! {{ "hello".find("l", -3) }}                2
//! {{ "hello".startswith(("x", "he")) }}      True
//! ```
//!
//! Indices count code points; the search is in [`crate::text::search`]. The arguments are read in the order of CPython 3.13
//! `clinic/unicodeobject.c.h`: the string to find before the bounds, except that `startswith` and `endswith` check it after them.

use crate::builtins::arguments::{read_bound, require_clinic_str, require_str};
use crate::builtins::table::built_ins;
use crate::error::{Error, Result};
use crate::text::search;
use crate::value::{Runtime, Shortcut, Str, Value};

/// The arguments of a search.
struct Search<'a, W> {
    text: Str<'a>,
    wanted: W,
    start: Option<i64>,
    end: Option<i64>,
}

impl<'a> Search<'a, Str<'a>> {
    fn read(runtime: &mut Runtime<'a>, text: Str<'a>, sub: Value<'a>, bounds: [Value<'a>; 2], name: &str) -> Result<Self> {
        let wanted = require_clinic_str(sub, &format!("{name}() argument 1"))?;
        Search::read_any(runtime, text, wanted, bounds)
    }

    fn charge(&self, runtime: &mut Runtime<'a>) -> Result<()> {
        let bytes = self.text.as_str().len() + self.wanted.as_str().len();
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
    fn read_any(runtime: &mut Runtime<'a>, text: Str<'a>, wanted: W, [start, end]: [Value<'a>; 2]) -> Result<Self> {
        let start = read_bound(&start)?;
        let end = read_bound(&end)?;
        runtime.meter.charge_bytes(text.as_str().len())?;
        Ok(Self {
            text,
            wanted,
            start,
            end,
        })
    }
}

/// Returns whether the text starts or ends with a string, or with any string of a tuple.
fn has_affix<'a>(
    runtime: &mut Runtime<'a>,
    search: &Search<'a, Value<'a>>,
    name: &str,
    has_affix: fn(&str, &str) -> bool,
) -> Result<Value<'a>> {
    let between = search::between(search.text.as_str(), search.start, search.end);
    let has_affix = |affix: &Str<'a>| between.is_some_and(|between| has_affix(between, affix.as_str()));
    match &search.wanted {
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
        Ok(index_or_minus_one(Search::read(runtime, text, sub, [start, end], "find")?.find(runtime)?))
    }

    /// Returns the index of the last place of a string, or -1.
    Positional "str.rfind" fn rfind(runtime, &text: Str, sub: Text, start: Count = None, end: Count = None) -> Int {
        Ok(index_or_minus_one(Search::read(runtime, text, sub, [start, end], "rfind")?.rfind(runtime)?))
    }

    /// Returns the index of the first place of a string.
    Positional "str.index" fn index(runtime, &text: Str, sub: Text, start: Count = None, end: Count = None) -> Int {
        index_or_error(Search::read(runtime, text, sub, [start, end], "index")?.find(runtime)?)
    }

    /// Returns the index of the last place of a string.
    Positional "str.rindex" fn rindex(runtime, &text: Str, sub: Text, start: Count = None, end: Count = None) -> Int {
        index_or_error(Search::read(runtime, text, sub, [start, end], "rindex")?.rfind(runtime)?)
    }

    /// Returns the number of places of a string.
    Positional "str.count" fn count(runtime, &text: Str, sub: Text, start: Count = None, end: Count = None) -> Int {
        let search = Search::read(runtime, text, sub, [start, end], "count")?;
        search.charge(runtime)?;
        let count = search::count(search.text.as_str(), search.wanted.as_str(), search.start, search.end);
        Ok(Value::from(count))
    }

    /// Returns whether the text starts with a string, or one of a tuple.
    Positional "str.startswith".with_shortcut(Shortcut::Predicate(|text, affix| text.starts_with(affix)))
    fn startswith(runtime, &text: Str, prefix: Text, start: Count = None, end: Count = None) -> Bool {
        let search = Search::read_any(runtime, text, prefix, [start, end])?;
        has_affix(runtime, &search, "startswith", |text, prefix| text.starts_with(prefix))
    }

    /// Returns whether the text ends with a string, or one of a tuple.
    Positional "str.endswith".with_shortcut(Shortcut::Predicate(|text, affix| text.ends_with(affix)))
    fn endswith(runtime, &text: Str, suffix: Text, start: Count = None, end: Count = None) -> Bool {
        let search = Search::read_any(runtime, text, suffix, [start, end])?;
        has_affix(runtime, &search, "endswith", |text, suffix| text.ends_with(suffix))
    }
}
