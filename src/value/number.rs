//! Values as numbers and back: `True` is 1, and an integer that fits is [`Value::Int`]. The arithmetic itself is [`crate::number`]'s.

use super::Value;
use super::metered_rc::Big;
use crate::error::{Error, ErrorKind};
use crate::number::parse::CharacterRules;
use crate::number::{Int, IntRef, Number, NumberError, NumberRef};
use crate::text::quote;
use crate::unicode;
use crate::unsupported::{COMPLEX, SURROGATE};

impl Value<'_> {
    /// The number that this is to an operator, if it is one.
    #[inline]
    pub fn as_number(&self) -> Option<NumberRef<'_>> {
        match self {
            Self::Float(float) => Some(NumberRef::Float(*float)),
            _ => self.as_integer().map(NumberRef::Int),
        }
    }

    /// The integer that this is, of any size; a `bool` is one. To CPython: whether it has `__index__`.
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

/// A length or a position.
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

impl From<NumberError> for Error {
    #[cold]
    fn from(error: NumberError) -> Self {
        let kind = match &error {
            NumberError::ZeroDivision(_) => ErrorKind::ZeroDivision,
            NumberError::Overflow(_) => ErrorKind::Overflow,
            NumberError::Value(_) => ErrorKind::Value,
            NumberError::Type(_) => ErrorKind::Type,
            NumberError::Syntax(_) => ErrorKind::Syntax,
            NumberError::TooLarge(reached) => return Self::limit(*reached),
            NumberError::Complex => return COMPLEX.error(),
            NumberError::Surrogate => return SURROGATE.error(),
        };
        Self::new(kind, error.to_string())
    }
}

/// How Python's `int()` and `float()` read the characters of a string.
pub const CHARACTERS: CharacterRules = CharacterRules {
    decimal: unicode::decimal_value,
    is_space: unicode::is_whitespace,
    repr: quote::repr,
};

/// The same of a Markup, whose repr says so.
const MARKUP_CHARACTERS: CharacterRules = CharacterRules {
    repr: |text| format!("Markup({})", quote::repr(text)),
    ..CHARACTERS
};

/// The text of a string, and the rules by which it is read as a number.
pub fn readable<'v>(value: &'v Value<'_>) -> Option<(&'v str, &'static CharacterRules)> {
    match value {
        Value::Str(text) if text.is_markup() => Some((text.as_str(), &MARKUP_CHARACTERS)),
        Value::Str(text) => Some((text.as_str(), &CHARACTERS)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bool_is_a_number_and_what_fits_is_small() {
        assert!(matches!(
            Value::Bool(true).as_number(),
            Some(NumberRef::Int(IntRef::Small(1)))
        ));
        assert!(Value::text("1").as_number().is_none());
        assert!(matches!(Value::from(Int::Small(3)), Value::Int(3)));
        assert_eq!(Error::from(NumberError::too_wide(2, 1)).kind(), ErrorKind::Limit);
    }
}
