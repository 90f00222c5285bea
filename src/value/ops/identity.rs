//! Python's `is`, as far as it can be answered.
//!
//! ```text
//! x is sameas none         whether x is None
//! l is sameas l            True
//! m is sameas messages[0]  True if both are the same object of the caller's data
//! [1] is sameas [2]        False: unequal values are never one object
//! 1.5 is sameas 0.5 + 1    an error: only CPython's memory management decides
//! ```
//!
//! Values that share their storage are one object. So are equal values of which CPython has only one object: small integers, the empty
//! string, the empty tuple, and strings of one Latin-1 character. Lists and dicts are one object only if they share their storage.
//!
//! A list or dict literal in a loop or a macro is a new object at each evaluation. Its storage is the same each time, so comparing such
//! values is an error too.
//!
//! One case is wrong: two slices of one of the caller's lists or of one string with the same bounds are treated as one object.

use super::compare;
use crate::error::Result;
use crate::unsupported;
use crate::value::{Dict, Runtime, Seq, Value};

/// Returns whether both values are one Python object, or an error if only CPython's memory management decides.
pub fn is_same<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    // Whether the storage of the values decides, and not how CPython manages its memory.
    let is_known = match (left, right) {
        _ if left.ty() != right.ty() => true,
        (Value::List(left), Value::List(right)) if left.is_empty() && right.is_empty() => false,
        (Value::Dict(left), Value::Dict(right)) if left.is_empty() && left.shares_storage(right) => false,
        (Value::List(items) | Value::Tuple(items), _) if !items.is_empty() && left.shares_storage(right) => !items.is_slice(),
        (Value::List(_), _) => true,
        _ => left.shares_storage(right) || left.address().is_some() || !compare::identical_or_equal(runtime, left, right)?,
    };
    if is_known && !is_repeated(runtime, left, right)? {
        Ok(left.shares_storage(right))
    } else {
        Err(unsupported::IDENTITY.error())
    }
}

/// Returns whether both values are one literal that may have been evaluated more than once.
fn is_repeated<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    let address = match left {
        Value::List(Seq::Data(items)) | Value::Tuple(Seq::Data(items)) => items.as_ptr().addr(),
        Value::Dict(Dict::Data(object)) => std::ptr::from_ref(*object).addr(),
        _ => return Ok(false),
    };
    let Some(template) = runtime.heap.frames.template.filter(|_| left.shares_storage(right)) else {
        return Ok(false);
    };
    let (is_repeated, nodes) = template.find_repeated_literal(address);
    runtime.meter.charge(nodes)?;
    Ok(is_repeated)
}
