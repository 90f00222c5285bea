//! What Python asks of any value that may hold others: `bool(value)`, `len(value)`, `list(value)`, `item in value`.
//!
//! Empty containers and strings, zeros, `None` and undefined values are false; `'0'` is true. A string is counted in code points. An undefined
//! value has length 0 and contains nothing, a dict contains its keys, and an iterator is consumed up to the item.

use super::compare;
use crate::error::{Error, Result};
use crate::number::{Int, int_float};
use crate::text::slice::char_count;
use crate::value::{Iter, Runtime, Seq, Value};

pub fn is_true<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<bool> {
    match (peek_truth(value), value) {
        (Some(truth), _) => Ok(truth),
        (None, Value::Loop(context)) => Ok(context.length(runtime)? != 0),
        (None, _) => Ok(true),
    }
}

/// Returns whether a value is true, unless that has to be computed.
#[inline(always)]
pub fn peek_truth(value: &Value<'_>) -> Option<bool> {
    Some(match value {
        Value::Bool(bool) => *bool,
        Value::None | Value::Undefined(_) => false,
        Value::Str(text) => !text.as_str().is_empty(),
        Value::List(items) | Value::Tuple(items) => !items.is_empty(),
        Value::Dict(dict) => !dict.is_empty(),
        Value::Keys(view) | Value::Values(view) | Value::Items(view) => !view.is_empty(),
        Value::Int(int) => *int != 0,
        Value::Float(float) => *float != 0.0,
        Value::Range(range) => range.len != 0,
        // Its length decides, and computing the length can drain the iterable.
        Value::Loop(_) => return None,
        _ => true,
    })
}

/// Returns the length of a value, or the error `object of type 'NoneType' has no len()`.
pub fn length<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<usize> {
    match try_length(runtime, value)? {
        Some(length) => Ok(length),
        None => Err(Error::type_error(format!(
            "object of type '{}' has no len()",
            value.ty().name()
        ))),
    }
}

/// Returns the length of a value, or `None` if it has none.
pub fn try_length<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Option<usize>> {
    Ok(Some(match value {
        Value::Str(text) => {
            runtime.meter.charge_bytes(text.as_str().len())?;
            char_count(text.as_str())
        }
        Value::List(items) | Value::Tuple(items) => items.len(),
        Value::Dict(dict) => dict.len(),
        Value::Keys(view) | Value::Values(view) | Value::Items(view) => view.len(),
        Value::Range(range) => usize::try_from(range.len).unwrap_or(0),
        Value::Undefined(_) => 0,
        Value::Loop(context) => usize::try_from(context.length(runtime)?).unwrap_or(0),
        _ => return Ok(None),
    }))
}

/// Returns the items of `list(value)`.
pub fn collect<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Vec<Value<'a>>> {
    Iter::new(value)?.drain(runtime)
}

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
