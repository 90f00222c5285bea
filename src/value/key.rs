//! Hashes and the equality of keys.
//!
//! What Python calls hashable has a hash here: equal keys have equal hashes, so `1`, `1.0` and `True` share one. Lists, dicts
//! and two of the dict views have none (CPython: `unhashable type: 'list'`).

use std::hash::{DefaultHasher, Hasher};

use num_bigint::BigInt;
use num_traits::{FromPrimitive, ToPrimitive};

use super::Value;
use super::dict::Key;
use super::runtime::Runtime;
use crate::error::{Error, Result};

impl<'a> Key<'a> {
    /// Makes a key of a value. A list or a dict is a TypeError; the work is charged by the size of the value.
    pub fn new(runtime: &mut Runtime<'a>, value: Value<'a>) -> Result<Self> {
        let hash = hash(runtime, &value)?;
        Ok(Self { hash, value })
    }
}

/// The hash of a text.
pub(super) fn hash_str(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

fn hash<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<u64> {
    runtime.meter.charge(1)?;
    Ok(match value {
        Value::Str(text) => {
            runtime.meter.charge_bytes(text.as_str().len())?;
            hash_str(text.as_str())
        }
        Value::Int(int) => hash_tagged(1, &int.to_le_bytes()),
        Value::Bool(bool) => hash_tagged(1, &i64::from(*bool).to_le_bytes()),
        Value::Float(float) => hash_float(*float),
        Value::Big(big) => {
            let bytes = big.to_signed_bytes_le();
            runtime.meter.charge_bytes(bytes.len())?;
            hash_tagged(2, &bytes)
        }
        Value::None => hash_tagged(3, &[]),
        Value::Undefined(_) => hash_tagged(4, &[]),
        Value::Tuple(items) => {
            runtime.meter.check_stack()?;
            let mut hasher = DefaultHasher::new();
            for item in items.iter() {
                hasher.write_u64(hash(runtime, &item)?);
            }
            hasher.finish()
        }
        // Equal ranges stand for the same items; first, step and length say which.
        Value::Range(range) => hash_tagged(6, &range.identity().map_or([0; 8], |(start, ..)| start.to_le_bytes())),
        Value::List(_) | Value::Dict(_) | Value::Keys(_) | Value::Items(_) => {
            return Err(Error::type_error(format!("unhashable type: '{}'", value.ty().name())));
        }
        // The rest is equal only to itself.
        _ => hash_tagged(7, value.ty().name().as_bytes()),
    })
}

fn hash_tagged(tag: u8, bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u8(tag);
    hasher.write(bytes);
    hasher.finish()
}

/// A whole float hashes as the `int` that it equals.
fn hash_float(float: f64) -> u64 {
    if float.is_nan() {
        // All nans are one key, whatever their sign.
        return hash_tagged(8, &[]);
    }
    if float.fract() != 0.0 || !float.is_finite() {
        return hash_tagged(8, &float.to_bits().to_le_bytes());
    }
    match (float.to_i64(), BigInt::from_f64(float)) {
        (Some(int), _) => hash_tagged(1, &int.to_le_bytes()),
        (None, Some(big)) => hash_tagged(2, &big.to_signed_bytes_le()),
        (None, None) => 0,
    }
}

/// Python's `==` between values that have a hash; others are equal only to themselves. The depth is that of hashed tuples.
pub(super) fn is_equal_key<'a>(left: &Value<'a>, right: &Value<'a>) -> bool {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => left.as_str() == right.as_str(),
        (Value::Tuple(left), Value::Tuple(right)) => {
            left.len() == right.len() && left.iter().zip(right.iter()).all(|(left, right)| is_equal_key(&left, &right))
        }
        (Value::Range(left), Value::Range(right)) => left.identity() == right.identity(),
        _ => is_equal_scalar(left, right).unwrap_or_else(|| left.shares_storage(right)),
    }
}

/// Python's `==` between numbers, None and undefined values; None where one of the two is something else.
pub(super) fn is_equal_scalar<'a>(left: &Value<'a>, right: &Value<'a>) -> Option<bool> {
    if let (Some(left), Some(right)) = (left.as_int(), right.as_int()) {
        return Some(left == right);
    }
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => Some(left == right || (left.is_nan() && right.is_nan())),
        (Value::Float(float), other) | (other, Value::Float(float)) => match other {
            Value::Big(big) => Some(BigInt::from_f64(*float).is_some_and(|float| float == **big)),
            _ => other.as_int().map(|int| is_equal_int(*float, int)),
        },
        (Value::Big(left), Value::Big(right)) => Some(**left == **right),
        (Value::None, Value::None) | (Value::Undefined(_), Value::Undefined(_)) => Some(true),
        _ => None,
    }
}

fn is_equal_int(float: f64, int: i64) -> bool {
    float.fract() == 0.0 && float.to_i64() == Some(int)
}
