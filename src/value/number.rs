//! Conversions between values and numbers. `True` is 1, and an integer that fits is [`Value::Int`]. Arithmetic is in [`crate::number`].
//!
//! Bounds of slices, counts and positions are indices: CPython calls `__index__`, which `None` and `2.0` do not have. An integer outside of
//! `Py_ssize_t` is clamped or refused, depending on the place.

use num_bigint::BigInt;

use super::Value;
use super::runtime::{Runtime, too_many_objects};
use crate::error::{Error, ErrorKind, Result};
use crate::meter::STEP_BYTES;
use crate::number::parse::Repr;
use crate::number::{Int, IntRef, Number, NumberRef};
use crate::text::quote;

impl Value<'_> {
    /// Returns the number, if operators treat the value as a number.
    #[inline]
    pub fn as_number(&self) -> Option<NumberRef<'_>> {
        match self {
            Self::Float(float) => Some(NumberRef::Float(*float)),
            _ => self.as_integer().map(NumberRef::Int),
        }
    }

    /// Returns the integer of any size, if the value is an `int` or a `bool`: the values that have `__index__` in CPython.
    #[inline]
    pub fn as_integer(&self) -> Option<IntRef<'_>> {
        match self {
            Self::Int(int) => Some(IntRef::Small(*int)),
            Self::Bool(bool) => Some(IntRef::Small(i64::from(*bool))),
            Self::Big(big) => Some(*big),
            _ => None,
        }
    }

    /// Returns the integer clamped to the range of `Py_ssize_t`, or `None` for a value without `__index__` (`PyNumber_AsSsize_t` without
    /// an exception).
    pub fn clamped_index(&self) -> Option<i64> {
        self.as_integer().map(|int| match int {
            IntRef::Small(small) => small,
            _ if int.is_negative() => i64::MIN,
            _ => i64::MAX,
        })
    }

    /// Returns the integer, or an error if it does not fit `Py_ssize_t` or if the value has no `__index__` (`PyNumber_AsSsize_t` with an
    /// exception).
    pub fn index(&self) -> Result<i64> {
        match self.as_integer() {
            Some(IntRef::Small(small)) => Ok(small),
            Some(_) => {
                let message = format!("cannot fit '{}' into an index-sized integer", self.ty().name());
                Err(Error::new(ErrorKind::Overflow, message))
            }
            None => Err(not_an_index(self)),
        }
    }
}

/// Returns the error for a value without `__index__`.
#[cold]
pub fn not_an_index(value: &Value<'_>) -> Error {
    Error::type_error(format!("'{}' object cannot be interpreted as an integer", value.ty().name()))
}

/// Makes an `int` of a length or a position.
impl From<usize> for Value<'_> {
    fn from(size: usize) -> Self {
        Self::Int(i64::try_from(size).unwrap_or(i64::MAX))
    }
}

impl<'a> Runtime<'a> {
    pub fn int(&mut self, int: Int) -> Result<Value<'a>> {
        match int {
            Int::Small(small) => Ok(Value::Int(small)),
            Int::Big(big) => self.big_int(big),
        }
    }

    #[cold]
    fn big_int(&mut self, big: BigInt) -> Result<Value<'a>> {
        let bytes = usize::try_from(big.bits() >> 3).unwrap_or(usize::MAX);
        self.meter.charge(((bytes / STEP_BYTES) as u64).saturating_add(1))?;
        self.meter.hold(bytes.saturating_add(size_of::<BigInt>()))?;
        let kept = self.arena.keep_int(big).ok_or_else(too_many_objects)?;
        Ok(Value::Big(IntRef::Big(kept)))
    }

    #[inline]
    pub fn number(&mut self, number: Number) -> Result<Value<'a>> {
        match number {
            Number::Int(int) => self.int(int),
            Number::Float(float) => Ok(Value::Float(float)),
        }
    }
}

/// Returns the text of a string that a number is read from, and the function that writes its `repr` in an error message.
pub fn number_text<'v>(value: &'v Value<'_>) -> Option<(&'v str, Repr)> {
    match value {
        Value::Str(text) if text.is_markup() => Some((text.as_str(), |text| format!("Markup({})", quote::repr(text)))),
        Value::Str(text) => Some((text.as_str(), quote::repr)),
        _ => None,
    }
}
