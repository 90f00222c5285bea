//! Python's `==`, and the equality that containers use.
//!
//! `1 == 1.0 == True`. Lists compare item by item, dicts without regard to order, views of keys and items as sets, and ranges by their
//! items. All undefined values are equal. A NaN equals nothing, but a list that contains it equals itself. Other values are equal only
//! to themselves.

use super::{arithmetic, identity, order};
use crate::error::Result;
use crate::unsupported;
use crate::value::key::is_equal_scalar;
use crate::value::{Dict, Runtime, Seq, Value};

#[inline]
pub fn equal<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => {
            let (left, right) = (left.as_str(), right.as_str());
            if left.len() != right.len() {
                return Ok(false);
            }
            runtime.meter.charge_bytes(left.len())?;
            Ok(left == right)
        }
        (Value::Str(_), Value::Undefined(_)) | (Value::Undefined(_), Value::Str(_)) => Ok(false),
        _ => equal_values(runtime, left, right),
    }
}

/// Returns whether a container treats two values as one item: `is` before `==` (CPython `PyObject_RichCompareBool`).
#[inline]
pub fn identical_or_equal<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    // Only a NaN does not equal itself. All NaNs of a JSON text are one object in Python. Those that the render computes are treated as
    // that object too.
    let is_nan = |value: &Value<'a>| matches!(value, Value::Float(float) if float.is_nan());
    Ok(equal(runtime, left, right)? || (is_nan(left) && is_nan(right)))
}

fn equal_values<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    runtime.meter.charge(1)?;
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => Ok(left == right),
        (Value::List(left), Value::List(right)) | (Value::Tuple(left), Value::Tuple(right)) => equal_items(runtime, left, right),
        (Value::Dict(left), Value::Dict(right)) => equal_entries(runtime, left, right),
        (Value::Range(left), Value::Range(right)) => Ok(left.identity() == right.identity()),
        // One method of one object is equal to itself, even if it was looked up twice.
        (Value::Method(left), Value::Method(right)) => {
            Ok(std::ptr::eq(left.function, right.function) && identity::is_same(runtime, &left.receiver, &right.receiver)?)
        }
        (Value::Keys(one) | Value::Items(one), Value::Keys(other) | Value::Items(other)) => {
            Ok(one.len() == other.len() && order::is_subset(runtime, left, right)?)
        }
        // A view of values is equal only to itself.
        (Value::Values(left), Value::Values(right)) => {
            if left.shares_storage(right) {
                Err(unsupported::IDENTITY.error())
            } else {
                Ok(false)
            }
        }
        _ => {
            arithmetic::charge_digits(runtime, left, right)?;
            Ok(is_equal_scalar(left, right).unwrap_or_else(|| left.shares_storage(right)))
        }
    }
}

fn equal_items<'a>(runtime: &mut Runtime<'a>, left: &Seq<'a>, right: &Seq<'a>) -> Result<bool> {
    if left.len() != right.len() {
        return Ok(false);
    }
    runtime.meter.check_stack()?;
    for index in 0..left.len() {
        let (Some(left), Some(right)) = (left.get(index), right.get(index)) else {
            break;
        };
        if !identical_or_equal(runtime, &left, &right)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn equal_entries<'a>(runtime: &mut Runtime<'a>, left: &Dict<'a>, right: &Dict<'a>) -> Result<bool> {
    if left.len() != right.len() {
        return Ok(false);
    }
    runtime.meter.check_stack()?;
    for (key, value) in left.iter() {
        // A large dict is not in the caches of the processor.
        runtime.meter.charge(6)?;
        match runtime.find_key(right, &key)? {
            Some(other) if identical_or_equal(runtime, &value, &other)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}
