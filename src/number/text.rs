//! Numbers as Python prints them: `1e16` is `1e+16`, `0.1 + 0.2` is `0.30000000000000004`.
//!
//! For numbers, `str` and `repr` are equal. The rules are CPython's `float_repr` and `long_to_decimal_string_internal`. Formatting with a
//! specification is in [`spec`](super::spec) and `value/format`.

use super::digits::{FloatFormat, format_float};
use super::error::{MAX_DIGITS, too_many_digits};
use super::int::IntRef;
use crate::error::Result;

/// The number of bits of `10**4300`, the smallest number with more than [`MAX_DIGITS`] digits.
const MAX_DIGITS_BITS: u64 = 14285;

/// Returns `repr(float)`.
pub fn float_text(float: f64) -> String {
    let format = FloatFormat {
        ends_with_point_zero: true,
        ..FloatFormat::default()
    };
    // The shortest notation ignores the precision, so it cannot be too large.
    format_float(float, &format, 0).unwrap_or_default()
}

/// Returns `repr(int)`. A number of more than [`MAX_DIGITS`] digits is an error; its number of bits mostly shows that without a conversion.
pub fn int_text(int: IntRef<'_>) -> Result<String> {
    if let IntRef::Small(small) = int {
        return Ok(small.to_string());
    }
    let big = int.to_big();
    if big.bits() > MAX_DIGITS_BITS {
        return Err(too_many_digits());
    }
    let text = big.to_str_radix(10);
    if text.trim_start_matches('-').len() > MAX_DIGITS {
        return Err(too_many_digits());
    }
    Ok(text)
}

/// Appends `repr(int)`. This is faster than the standard library's formatter, which checks for flags first.
pub fn write_int(int: i64, out: &mut String) {
    if int < 0 {
        out.push('-');
    }
    write_digits(int.unsigned_abs(), out);
}

/// Appends the decimal digits of a number.
#[inline]
pub fn write_digits(number: u64, out: &mut String) {
    match number {
        0..=9 => out.push(char::from(b'0' | (number % 10) as u8)),
        _ => write_many_digits(number, out),
    }
}

fn write_many_digits(number: u64, out: &mut String) {
    let mut digits = [b'0'; 20];
    let (mut rest, mut length) = (number, 0_usize);
    for digit in digits.iter_mut().rev() {
        *digit |= (rest % 10) as u8;
        length += 1;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let zeros = digits.len().saturating_sub(length);
    for digit in digits.iter().skip(zeros) {
        out.push(char::from(*digit));
    }
}

/// Returns the absolute value of an integer in base 2, 8, 10 or 16, in lower case and without a prefix.
///
/// The limit on digits applies only to base 10, because conversion to a power of two takes linear time.
pub fn magnitude_text(int: IntRef<'_>, base: u32) -> Result<String> {
    if base == 10 {
        let text = int_text(int)?;
        return Ok(text.trim_start_matches('-').to_owned());
    }
    Ok(int.magnitude().to_str_radix(base))
}
