//! Reads the numbers of JSON text: `0`, `-0`, `12345678901234567890`, `1.5`, `1e999`, and `NaN` and `Infinity` as Python writes them.
//!
//! The rule is CPython 3.13 `_json.c` `_match_number_unicode`: the longest number is taken, and the text after it is checked by the
//! caller. So `01` is a zero followed by extra data. A fraction or an exponent makes a float, which is correctly rounded.

use num_bigint::BigInt;

use super::error::{JsonError, JsonErrorKind};
use super::read::Reader;
use super::tree::Data;
use crate::number::error::{MAX_DIGITS, describe_too_many_digits};
use crate::number::parse::find_nearest;

/// The largest number of digits that always fit into an `i64`.
const SAFE_DIGITS: usize = 18;

impl<'a> Reader<'a, '_> {
    /// Reads a number, or fails if the next bytes are not a number.
    #[inline(always)]
    pub(super) fn read_number(&mut self) -> Result<Data<'a>, Box<JsonError>> {
        let rest = self.rest();
        let is_negative = rest.first() == Some(&b'-');
        let unsigned = if is_negative {
            rest.get(1..).unwrap_or_default()
        } else {
            rest
        };
        let whole = match unsigned.first() {
            Some(b'0') => 1,
            Some(b'1'..=b'9') => count_digits(unsigned),
            Some(b'I') if unsigned.starts_with(b"Infinity") => {
                self.advance(if is_negative { 9 } else { 8 });
                return Ok(Data::Float(if is_negative { f64::NEG_INFINITY } else { f64::INFINITY }));
            }
            Some(b'N') if rest.starts_with(b"NaN") => {
                self.advance(3);
                return Ok(Data::Float(f64::NAN));
            }
            _ => return Err(JsonError::syntax("Expecting value", self.at)),
        };
        let integer_length = usize::from(is_negative) + whole;
        let float_length = integer_length + count_fraction_and_exponent(unsigned.get(whole..).unwrap_or_default());
        let start = self.at;
        self.advance(float_length);
        let text = self.text.get(start..self.at).unwrap_or_default();
        if float_length > integer_length {
            // Rust and Python both round to the nearest float, and read a number that is too large as infinity.
            let magnitude = find_nearest(text.get(usize::from(is_negative)..).unwrap_or_default());
            let magnitude = magnitude.unwrap_or(f64::NAN);
            return Ok(Data::Float(if is_negative { -magnitude } else { magnitude }));
        }
        if whole <= SAFE_DIGITS {
            if let Ok(int) = text.parse() {
                return Ok(Data::Int(int));
            }
        }
        self.read_large_integer(text, whole)
    }

    fn read_large_integer(&mut self, text: &str, digits: usize) -> Result<Data<'a>, Box<JsonError>> {
        if digits > MAX_DIGITS {
            let message = describe_too_many_digits(digits);
            return Err(Box::new(JsonError::new(JsonErrorKind::TooManyDigits, message, None)));
        }
        if let Ok(int) = text.parse() {
            return Ok(Data::Int(int));
        }
        let int: BigInt = text.parse().unwrap_or_default();
        // The box and the digits are allocations. Three digits take ten bits.
        self.count_allocation(size_of::<BigInt>())?;
        self.count_allocation(digits / 2)?;
        Ok(Data::BigInt(Box::new(int)))
    }
}

/// Returns the number of bytes of an optional fraction and an optional exponent.
fn count_fraction_and_exponent(text: &[u8]) -> usize {
    let fraction = match text {
        [b'.', fraction @ ..] => match count_digits(fraction) {
            0 => 0,
            count => count + 1,
        },
        _ => 0,
    };
    let exponent = match text.get(fraction..).unwrap_or_default() {
        [b'e' | b'E', b'+' | b'-', exponent @ ..] => (2, count_digits(exponent)),
        [b'e' | b'E', exponent @ ..] => (1, count_digits(exponent)),
        _ => (0, 0),
    };
    match exponent {
        (_, 0) => fraction,
        (mark, count) => fraction + count + mark,
    }
}

fn count_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}
