//! The keys of dicts: their hashes and their equality.
//!
//! Equal keys have equal hashes: `1`, `1.0` and `True` are one key. Lists, dicts and the views of keys and items have no hash, as in
//! CPython: `unhashable type: 'list'`. The hashes differ from process to process, so nobody can choose keys whose hashes collide.
//! The order of a dict does not depend on them.

use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::sync::LazyLock;

use num_bigint::BigInt;
use num_traits::{FromPrimitive, ToPrimitive};

use super::Value;
use super::runtime::Runtime;
use super::str::Str;
use crate::error::{Error, Result};
use crate::unsupported;

/// The random key of all hashes of this process.
static SECRET: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The first float that does not fit in an `i64`.
const LARGE: f64 = 9_223_372_036_854_775_808.0;

fn new_hasher() -> DefaultHasher {
    SECRET.build_hasher()
}

/// A key of a dict, with its hash.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// The hash. Equal keys have equal hashes.
    hash: u64,
    /// The value of the key.
    pub value: Value<'a>,
}

/// A hasher that returns the hash that a [`Key`] already has.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl Hash for Key<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Python's equality of hashable values. Its cost is at most that of hashing, which was charged.
impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && is_equal_key(&self.value, &other.value)
    }
}

impl Eq for Key<'_> {}

impl<'a> Key<'a> {
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    /// Makes a key of a value and charges for hashing it. An unhashable value is a type error.
    pub fn new(runtime: &mut Runtime<'a>, value: Value<'a>) -> Result<Self> {
        let hash = hash(runtime, &value)?;
        Ok(Self { hash, value })
    }
}

impl<'a> From<Str<'a>> for Key<'a> {
    fn from(text: Str<'a>) -> Self {
        Self {
            hash: hash_str(text.as_str()),
            value: Value::Str(text),
        }
    }
}

pub(super) fn hash_str(text: &str) -> u64 {
    let mut hasher = new_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// Returns the hash of a value, and charges for computing it. An unhashable value is a type error.
fn hash<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<u64> {
    runtime.meter.charge(1)?;
    Ok(match value {
        Value::Str(text) => {
            runtime.meter.charge_bytes(text.as_str().len())?;
            hash_str(text.as_str())
        }
        Value::Int(int) => hash_tagged(1, &int.to_le_bytes()),
        Value::Bool(bool) => hash_tagged(1, &i64::from(*bool).to_le_bytes()),
        Value::Float(float) => {
            // A float beyond 64 bits is hashed as an integer.
            if float.abs() >= LARGE {
                runtime.meter.charge(8)?;
            }
            hash_float(*float)
        }
        Value::Big(big) => {
            // The bytes are copied, then hashed.
            let bytes = usize::try_from(big.bit_length() >> 3).unwrap_or(usize::MAX);
            runtime.meter.charge_bytes(bytes.saturating_mul(2))?;
            hash_tagged(2, &big.to_big().to_signed_bytes_le())
        }
        Value::None => hash_tagged(3, &[]),
        Value::Undefined(_) => hash_tagged(4, &[]),
        Value::Tuple(items) => {
            runtime.meter.check_stack()?;
            let mut hasher = new_hasher();
            for item in items.iter() {
                hasher.write_u64(hash(runtime, &item)?);
            }
            hasher.finish()
        }
        // Ranges with equal items are equal.
        Value::Range(range) => {
            let (start, step, len) = range.identity().unwrap_or_default();
            hash_tagged(6, &[start, step, len].map(i64::to_le_bytes).concat())
        }
        Value::List(_) | Value::Dict(_) | Value::Keys(_) | Value::Items(_) => {
            return Err(Error::type_error(format!("unhashable type: '{}'", value.ty().name())));
        }
        // One method of one object is one key, even if it was looked up twice.
        Value::Method(_) => return Err(unsupported::IDENTITY.error()),
        // Other values are equal only to themselves. The identity of a view of values is not known, so each gets a different hash.
        _ => {
            let address = value.address().map_or(runtime.meter.steps(), |address| address as u64);
            hash_tagged(7, &address.to_le_bytes())
        }
    })
}

fn hash_tagged(tag: u8, bytes: &[u8]) -> u64 {
    let mut hasher = new_hasher();
    hasher.write_u8(tag);
    hasher.write(bytes);
    hasher.finish()
}

/// Returns the hash of a float. A whole float has the hash of the equal `int`.
fn hash_float(float: f64) -> u64 {
    if float.is_nan() {
        // All NaNs are one key, whatever their sign.
        return hash_tagged(8, &[]);
    }
    if float.fract() != 0.0 || !float.is_finite() {
        return hash_tagged(8, &float.to_bits().to_le_bytes());
    }
    if let Some(int) = float.to_i64() {
        return hash_tagged(1, &int.to_le_bytes());
    }
    BigInt::from_f64(float).map_or(0, |big| hash_tagged(2, &big.to_signed_bytes_le()))
}

/// Returns whether two hashable values are equal in Python. The depth of the recursion is that of the hashed tuples.
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

/// Returns whether two values are equal if both are numbers, both Python's `None` or both undefined. The result is `None` for other pairs.
pub(super) fn is_equal_scalar<'a>(left: &Value<'a>, right: &Value<'a>) -> Option<bool> {
    if let (Some(left), Some(right)) = (left.as_int(), right.as_int()) {
        return Some(left == right);
    }
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => Some(left == right || (left.is_nan() && right.is_nan())),
        (Value::Float(float), other) | (other, Value::Float(float)) => match other {
            Value::Big(big) => Some(BigInt::from_f64(*float).is_some_and(|float| float == *big.to_big())),
            _ => other.as_int().map(|int| is_equal_int(*float, int)),
        },
        (Value::Big(left), Value::Big(right)) => Some(left.compare(*right).is_eq()),
        (Value::None, Value::None) | (Value::Undefined(_), Value::Undefined(_)) => Some(true),
        _ => None,
    }
}

fn is_equal_int(float: f64, int: i64) -> bool {
    float.fract() == 0.0 && float.to_i64() == Some(int)
}
