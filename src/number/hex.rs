//! `float.fromhex`: a float from hexadecimal text, rounded correctly (CPython 3.11 `floatobject.c`, `float_fromhex_impl`).
//!
//! ```text
//! parse_hex(" -0X.8P+3 ")    -4.0
//! parse_hex("0x1p1024")      hexadecimal value too large to represent as a float
//! ```

use num_bigint::BigInt;

use super::error::{NumberError, NumberResult};
use super::exact::{int_to_float, true_divide};
use super::int::Int;

/// Beyond these powers of two a float is zero or too large, whatever its digits are.
const MAX_POWER: i64 = 1100;

/// `float.fromhex(text)`
pub fn parse_hex(text: &str) -> NumberResult<f64> {
    let invalid = || NumberError::value("invalid hexadecimal floating-point string");
    let text = text.trim_matches(|character: char| matches!(character, ' ' | '\t'..='\r'));
    let (is_negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = rest.to_ascii_lowercase();
    let magnitude = match lower.as_str() {
        "inf" | "infinity" => f64::INFINITY,
        "nan" => f64::NAN,
        digits => finite(digits.strip_prefix("0x").unwrap_or(digits)).ok_or_else(invalid)??,
    };
    Ok(if is_negative { -magnitude } else { magnitude })
}

/// Digits with a point among them and a power of two behind; None where the text is something else.
fn finite(text: &str) -> Option<NumberResult<f64>> {
    let (significand, power) = match text.split_once('p') {
        Some((significand, power)) => (significand, read_power(power)?),
        None => (text, 0),
    };
    let (whole, fraction) = significand.split_once('.').unwrap_or((significand, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let integer = BigInt::parse_bytes(digits.as_bytes(), 16)?;
    let bits = i64::try_from(integer.bits()).ok()?;
    let power = power.saturating_sub(i64::try_from(fraction.len()).ok()?.saturating_mul(4));
    if bits == 0 || bits.saturating_add(power) < -MAX_POWER {
        return Some(Ok(0.0));
    }
    let too_large = || NumberError::overflow("hexadecimal value too large to represent as a float");
    if bits.saturating_add(power) > MAX_POWER {
        return Some(Err(too_large()));
    }
    let shift = usize::try_from(power.unsigned_abs()).ok()?;
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "big integers do not overflow, and the shift has a bound"
    )]
    let float = if power >= 0 {
        int_to_float(Int::from(integer << shift).as_ref())
    } else {
        true_divide(Int::from(integer).as_ref(), Int::from(BigInt::from(1) << shift).as_ref())
    };
    Some(float.map_err(|_| too_large()))
}

/// A decimal power with its sign; one that is too long counts as out of range.
fn read_power(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let power = digits.parse().unwrap_or(i64::MAX / 2);
    Some(if text.starts_with('-') {
        power.saturating_neg()
    } else {
        power
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_rounded_to_even() {
        assert_eq!(parse_hex(" -0X.8P+3 "), Ok(-4.0));
        assert_eq!(parse_hex("0x1.00000000000008p0"), Ok(1.0));
        assert_eq!(parse_hex("0x1.00000000000018p0"), Ok(1.000_000_000_000_000_4));
        assert_eq!(parse_hex("0x1p-1074"), Ok(5e-324));
        assert!(parse_hex("0x1p1024").is_err());
        assert!(parse_hex("0xp1").is_err());
    }
}
