//! The errors of numbers that several operations raise, with the messages of CPython 3.13.

use crate::error::Error;
use crate::limits::{Limit, LimitExceeded};

/// The largest number of decimal digits in a conversion between integers and text. It is CPython's default, which prevents quadratic
/// time.
pub const MAX_DIGITS: usize = 4300;

/// Returns the error of a width or precision of too many characters.
#[cold]
pub fn too_wide(characters: usize, allowed: usize) -> Error {
    Error::limit(LimitExceeded::from_sizes(Limit::Width, characters, allowed))
}

/// Returns the error of an integer of too many bits.
#[cold]
pub fn too_many_bits(bits: u64, allowed: u64) -> Error {
    Error::limit(LimitExceeded::new(Limit::Bits, bits, allowed))
}

/// Returns the OverflowError of converting an integer beyond the largest float.
#[cold]
pub fn int_too_large_for_float() -> Error {
    Error::overflow("int too large to convert to float")
}

/// Returns the ValueError of converting an integer of more than [`MAX_DIGITS`] digits to text.
#[cold]
pub fn too_many_digits() -> Error {
    Error::value(format!(
        "Exceeds the limit ({MAX_DIGITS} digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit"
    ))
}

/// Returns the message of the ValueError of converting a string of more than [`MAX_DIGITS`] digits to an integer.
pub fn describe_too_many_digits(digits: usize) -> String {
    format!(
        "Exceeds the limit ({MAX_DIGITS} digits) for integer string conversion: value has {digits} digits; \
         use sys.set_int_max_str_digits() to increase the limit"
    )
}
