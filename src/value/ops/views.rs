//! Dict views as operands of set operators: `d.keys() <= e.keys()`, and `d.keys() - ["a"]`, which is unsupported.
//!
//! The rules are those of CPython 3.13 `dictobject.c`, `dictview_richcompare` and `dictviews_sub`.

use super::arithmetic::unsupported_operands;
use super::container::contains;
use crate::error::{Error, Result};
use crate::unsupported;
use crate::value::{Iter, Key, Runtime, Value};

/// Returns whether every item of one view is in the other.
pub(super) fn is_subset<'a>(runtime: &mut Runtime<'a>, part: &Value<'a>, whole: &Value<'a>) -> Result<bool> {
    runtime.meter.check_stack()?;
    let mut items = Iter::new(part)?;
    while let Some(item) = items.next(runtime)? {
        if !contains(runtime, whole, &item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the error of `left - right` for values that are not numbers. The difference of a view and an iterable of hashable items is a
/// set, which is unsupported.
pub(super) fn difference_error<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<Error> {
    let is_set_view = |value: &Value<'a>| matches!(value, Value::Keys(_) | Value::Items(_));
    if !is_set_view(left) && !is_set_view(right) {
        return Ok(unsupported_operands("-", left, right));
    }
    for operand in [left, right] {
        let mut items = Iter::new(operand)?;
        while let Some(item) = items.next(runtime)? {
            Key::new(runtime, item)?;
        }
    }
    Ok(unsupported::SET.error())
}
