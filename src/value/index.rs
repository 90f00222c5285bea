//! The conversion of a value to an index, where CPython calls `__index__`: bounds of slices, counts of repetitions, positions.
//!
//! `None` and `2.0` have no `__index__`, and `True` is 1. An integer outside of `Py_ssize_t` is clamped or refused, depending on the
//! place.

use super::Value;
use crate::error::{Error, ErrorKind, Result};
use crate::number::IntRef;

impl Value<'_> {
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
