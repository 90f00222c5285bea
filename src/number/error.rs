//! Errors of operations on numbers: one variant for each Python exception, with the message of CPython 3.13.
//!
//! `1 % 0` is `ZeroDivision("integer modulo by zero")`. The caller converts a variant to one of the crate's error kinds.

use std::fmt;

use crate::limits::{Limit, LimitExceeded};

/// The largest number of decimal digits in a conversion between integers and text. It is CPython's default, which prevents quadratic
/// time.
pub const MAX_DIGITS: usize = 4300;

/// A result whose error is a [`NumberError`].
pub type NumberResult<T> = Result<T, NumberError>;

/// The reason why an operation on numbers has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumberError {
    /// Python's ZeroDivisionError: `1 / 0`.
    ZeroDivision(&'static str),
    /// Python's OverflowError: `2.0 ** 5000`.
    Overflow(String),
    /// Python's ValueError: `'{:d}'.format(1.5)`.
    Value(String),
    /// Python's TypeError: `'%x' % 1.5`.
    Type(String),
    /// Python's SyntaxError, which the reference raises for a float literal with digits that are not ASCII: `1.٣`.
    Syntax(String),
    /// The result is a complex number, which this crate does not support: `(-8) ** 0.5`.
    Complex,
    /// The result is a lone surrogate, which Rust's strings cannot hold: `'%c' % 0xd800`.
    Surrogate,
    /// The result would be larger than the limit that was passed in: `2 ** 10**9`.
    TooLarge(LimitExceeded),
}

impl NumberError {
    /// Returns an OverflowError with a message.
    pub fn overflow(text: impl Into<String>) -> Self {
        Self::Overflow(text.into())
    }

    /// Returns a ValueError with a message.
    pub fn value(text: impl Into<String>) -> Self {
        Self::Value(text.into())
    }

    /// Returns the error of a width or precision of too many characters.
    pub fn too_wide(characters: usize, allowed: usize) -> Self {
        Self::TooLarge(LimitExceeded::from_sizes(Limit::Width, characters, allowed))
    }

    /// Returns the error of an integer of too many bits.
    pub fn too_many_bits(bits: u64, allowed: u64) -> Self {
        Self::TooLarge(LimitExceeded::new(Limit::Bits, bits, allowed))
    }

    /// Returns the OverflowError of converting an integer beyond the largest float.
    pub fn int_too_large_for_float() -> Self {
        Self::overflow("int too large to convert to float")
    }

    /// Returns the ValueError of converting an integer of more than [`MAX_DIGITS`] digits to text.
    pub fn too_many_digits() -> Self {
        Self::value(format!(
            "Exceeds the limit ({MAX_DIGITS} digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit"
        ))
    }

    /// Returns the ValueError of converting a string of more than [`MAX_DIGITS`] digits to an integer.
    pub fn text_of_too_many_digits(digits: usize) -> Self {
        Self::value(format!(
            "Exceeds the limit ({MAX_DIGITS} digits) for integer string conversion: value has {digits} digits; \
             use sys.set_int_max_str_digits() to increase the limit"
        ))
    }
}

impl fmt::Display for NumberError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroDivision(text) => formatter.write_str(text),
            Self::Overflow(text) | Self::Value(text) | Self::Type(text) | Self::Syntax(text) => formatter.write_str(text),
            Self::Complex => formatter.write_str("the result is a complex number"),
            Self::Surrogate => formatter.write_str("the result is a lone surrogate"),
            Self::TooLarge(reached) => reached.fmt(formatter),
        }
    }
}

impl std::error::Error for NumberError {}
