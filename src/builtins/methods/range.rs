//! The methods and bounds of ranges.
//!
//! `{{ range(0, 10, 3).index(9) }}` is 3, `{{ range(5).stop }}` is 5. After CPython 3.11 `rangeobject.c`: an integer is found by
//! arithmetic, anything else by comparing it with each item.

use super::argument::wrong_receiver;
use super::row::one_argument;
use crate::error::{Error, Result};
use crate::value::{Arguments, Function, Iter, Range, Runtime, Value};

/// The rows.
pub(super) static METHODS: [Function; 2] = [
    one_argument("index", "range.index", index),
    one_argument("count", "range.count", count),
];

/// The bounds.
pub(super) fn attribute<'a>(range: &Range, name: &str) -> Option<Value<'a>> {
    match name {
        "start" => Some(Value::Int(range.start)),
        "stop" => Some(Value::Int(range.stop)),
        "step" => Some(Value::Int(range.step)),
        _ => None,
    }
}

/// Where the items that equal the value stand; at most one for an integer.
fn positions<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, only_first: bool) -> Result<(Vec<i64>, Value<'a>)> {
    let Some(Value::Range(range)) = arguments.take(0) else {
        return Err(wrong_receiver("range"));
    };
    let wanted = arguments.take(1).unwrap_or(Value::None);
    if wanted.as_integer().is_some() {
        let position = wanted.as_int().and_then(|int| range.position(int));
        return Ok((position.into_iter().collect(), wanted));
    }
    let mut found = Vec::new();
    let mut iter = Iter::Range(range.start, range.step, range.len);
    let mut at = 0_i64;
    while let Some(item) = iter.next(runtime)? {
        if runtime.identical_or_equal(&item, &wanted)? {
            found.push(at);
            if only_first {
                break;
            }
        }
        at = at.saturating_add(1);
    }
    Ok((found, wanted))
}

fn index<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let (found, wanted) = positions(runtime, arguments, true)?;
    match found.first() {
        Some(at) => Ok(Value::Int(*at)),
        None if wanted.as_integer().is_some() => {
            let wanted = runtime.repr(&wanted)?;
            Err(Error::value(format!("{wanted} is not in range")))
        }
        None => Err(Error::value("sequence.index(x): x not in sequence")),
    }
}

fn count<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let (found, _) = positions(runtime, arguments, false)?;
    Ok(Value::from(found.len()))
}
