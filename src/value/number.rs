//! Conversions between values and numbers. `True` is 1, and an integer that fits is [`Value::Int`]. Arithmetic is in [`crate::number`].

use super::Value;
use super::int::Big;
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
            Self::Big(big) => Some(IntRef::Big(big)),
            _ => None,
        }
    }
}

/// Makes an `int` of a length or a position.
impl From<usize> for Value<'_> {
    fn from(size: usize) -> Self {
        Self::Int(i64::try_from(size).unwrap_or(i64::MAX))
    }
}

impl From<Int> for Value<'_> {
    fn from(int: Int) -> Self {
        match int {
            Int::Small(small) => Self::Int(small),
            Int::Big(big) => Self::Big(Big::from(big)),
        }
    }
}

impl From<Number> for Value<'_> {
    fn from(number: Number) -> Self {
        match number {
            Number::Int(int) => Self::from(int),
            Number::Float(float) => Self::Float(float),
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
