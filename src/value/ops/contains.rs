//! Python's `item in container`.
//!
//! `'ell' in 'hello'`. A dict contains its keys, an undefined value contains nothing, and an iterator is consumed up to the item.

use super::compare;
use crate::error::{Error, Result};
use crate::number::{Int, int_float};
use crate::value::{Iter, Runtime, Seq, Value};

pub fn contains<'a>(runtime: &mut Runtime<'a>, container: &Value<'a>, item: &Value<'a>) -> Result<bool> {
    match (container, item) {
        (Value::Str(text), Value::Str(part)) => {
            let bytes = text.as_str().len() + part.as_str().len();
            runtime.meter.charge_scan(bytes / 2)?;
            Ok(text.as_str().contains(part.as_str()))
        }
        (Value::Str(_), _) => {
            let name = item.ty().name();
            Err(Error::type_error(format!(
                "'in <string>' requires string as left operand, not {name}"
            )))
        }
        (Value::List(items) | Value::Tuple(items), _) => sequence_contains(runtime, items, item),
        (Value::Keys(view), _) => Ok(runtime.find_key(view, item)?.is_some()),
        (Value::Dict(dict), _) => Ok(runtime.find_key(dict, item)?.is_some()),
        (Value::Items(dict), _) => {
            let Value::Tuple(pair) = item else { return Ok(false) };
            let (Some(key), Some(value), 2) = (pair.get(0), pair.get(1), pair.len()) else {
                return Ok(false);
            };
            match runtime.find_key(dict, &key)? {
                Some(found) => compare::identical_or_equal(runtime, &found, &value),
                None => Ok(false),
            }
        }
        (Value::Range(range), _) => Ok(whole_number(item).and_then(|int| range.position(int)).is_some()),
        _ => iteration_contains(runtime, container, item),
    }
}

fn sequence_contains<'a>(runtime: &mut Runtime<'a>, items: &Seq<'a>, item: &Value<'a>) -> Result<bool> {
    for index in 0..items.len() {
        runtime.meter.charge(1)?;
        let Some(candidate) = items.get(index) else { break };
        if compare::identical_or_equal(runtime, &candidate, item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn iteration_contains<'a>(runtime: &mut Runtime<'a>, container: &Value<'a>, item: &Value<'a>) -> Result<bool> {
    let Some(mut items) = Iter::try_new(container) else {
        return Err(Error::type_error(format!(
            "argument of type '{}' is not iterable",
            container.ty().name()
        )));
    };
    while let Some(candidate) = items.next(runtime)? {
        if compare::identical_or_equal(runtime, &candidate, item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the integer that equals a number, if there is one and it fits in 64 bits.
fn whole_number(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Float(float) if int_float::is_integer(*float) => match int_float::truncate(*float) {
            Ok(Int::Small(int)) => Some(int),
            _ => None,
        },
        _ => value.as_int(),
    }
}
