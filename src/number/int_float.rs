//! Exact operations between integers and floats.
//!
//! Conversions round half to even, `2**53 + 1` is not equal to any float, `(10**400) / (10**399)` is `10.0`. The rules are CPython's
//! `longobject.c` (`_PyLong_Frexp`, `long_true_divide`) and `floatobject.c` (`float_richcompare`, `float___trunc___impl`). Rounding to
//! decimal places is in [`round`](super::round).

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_traits::{FromPrimitive, ToPrimitive};

use super::error::{int_too_large_for_float, too_many_bits};
use super::int::{Int, IntRef, NumberRef};
use crate::error::{Error, ErrorKind, Result};

/// The number of bits in a float's significand, including the implicit leading bit.
const SIGNIFICAND_BITS: i64 = 53;

/// The binary exponent of the smallest positive float.
const MIN_EXPONENT: i64 = -1074;

/// The binary exponent of the first power of two beyond all floats.
const MAX_EXPONENT: i64 = 1024;

/// Returns `float(int)`: the nearest float, half to even.
pub fn int_to_float(int: IntRef<'_>) -> Result<f64> {
    let float = match int {
        IntRef::Small(small) => small.to_f64(),
        _ => int.to_big().to_f64(),
    };
    float.filter(|float| float.is_finite()).ok_or_else(int_too_large_for_float)
}

/// Returns whether both integers convert to floats exactly.
pub fn are_exact(left: IntRef<'_>, right: IntRef<'_>) -> bool {
    left.bit_length() <= 53 && right.bit_length() <= 53
}

/// Returns `left / right` of two integers: the float nearest to the exact quotient.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "the divisor is not zero, the shift lies between two of a float's exponents, and big integers do not overflow"
)]
pub fn true_divide(left: IntRef<'_>, right: IntRef<'_>) -> Result<f64> {
    if right.is_zero() {
        return Err(Error::new(ErrorKind::ZeroDivision, "division by zero"));
    }
    let is_negative = left.is_negative() != right.is_negative();
    if left.is_zero() {
        return Ok(with_sign(0.0, is_negative));
    }
    if are_exact(left, right) {
        // One division rounds once.
        return Ok(int_to_float(left)? / int_to_float(right)?);
    }
    let too_large = || Error::overflow("integer division result too large for a float");
    let signed = |bits: u64| i64::try_from(bits).map_err(|_| too_many_bits(bits, i64::MAX.unsigned_abs()));
    let left_bits = signed(left.bit_length())?;
    let right_bits = signed(right.bit_length())?;
    // The quotient is between 2**(difference - 1) and 2**(difference + 1).
    let difference = left_bits.saturating_sub(right_bits);
    if difference > MAX_EXPONENT {
        return Err(too_large());
    }
    if difference < MIN_EXPONENT - 1 {
        return Ok(with_sign(0.0, is_negative));
    }
    // 65 or 66 bits of quotient are more than a float has. The remainder decides ties.
    let shift = 65 - difference;
    let (mut dividend, mut divisor) = (left.magnitude(), right.magnitude());
    if shift > 0 {
        *dividend.to_mut() <<= shift.unsigned_abs();
    } else {
        *divisor.to_mut() <<= shift.unsigned_abs();
    }
    let quotient = &*dividend / &*divisor;
    let is_inexact = &quotient * &*divisor != *dividend;
    let float = round_to_float(quotient.to_u128().unwrap_or_default() | u128::from(is_inexact), -shift);
    if float.is_infinite() {
        return Err(too_large());
    }
    Ok(with_sign(float, is_negative))
}

/// Returns `int(float)`, rounded towards zero.
pub fn truncate(float: f64) -> Result<Int> {
    if float.is_nan() {
        return Err(Error::value("cannot convert float NaN to integer"));
    }
    if float.is_infinite() {
        return Err(Error::overflow("cannot convert float infinity to integer"));
    }
    // The bounds are powers of two: the lower one fits into `i64`, the upper one does not.
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float) {
        #[expect(clippy::cast_possible_truncation, reason = "only the fraction is removed, as intended")]
        return Ok(Int::Small(float as i64));
    }
    Ok(Int::from(BigInt::from_f64(float).unwrap_or_default()))
}

/// Returns `float.is_integer()`.
pub fn is_integer(float: f64) -> bool {
    float.is_finite() && float.fract() == 0.0
}

/// Compares two numbers by their exact values. The result is `None` if one of them is NaN.
pub fn compare(left: NumberRef<'_>, right: NumberRef<'_>) -> Option<Ordering> {
    match (left, right) {
        (NumberRef::Int(left), NumberRef::Int(right)) => Some(left.compare(right)),
        (NumberRef::Float(left), NumberRef::Float(right)) => left.partial_cmp(&right),
        (NumberRef::Int(left), NumberRef::Float(right)) => compare_mixed(left, right),
        (NumberRef::Float(left), NumberRef::Int(right)) => compare_mixed(right, left).map(Ordering::reverse),
    }
}

/// Compares an integer and a float: first the integer part, then the fraction.
fn compare_mixed(int: IntRef<'_>, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    let Ok(whole) = truncate(float) else {
        return Some(if float > 0.0 { Ordering::Less } else { Ordering::Greater });
    };
    let order = int.compare(whole.as_ref());
    Some(order.then(if float.fract() > 0.0 {
        Ordering::Less
    } else if float.fract() < 0.0 {
        Ordering::Greater
    } else {
        Ordering::Equal
    }))
}

/// Rounds `bits * 2**exponent` to the nearest float, or to infinity if it is too large. `bits` has at least 65 bits. If the exact number
/// has further bits below them, the caller has set the lowest one.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_precision_loss,
    reason = "the excess is at least 12 and at most 67, and the rounded number has no more bits than a significand"
)]
fn round_to_float(bits: u128, exponent: i64) -> f64 {
    let length = i64::from(u128::BITS - bits.leading_zeros());
    let excess = (length - SIGNIFICAND_BITS).max(MIN_EXPONENT - exponent);
    let half = 1_u128 << (excess - 1);
    // A tie is rounded up if the bit above it is set.
    let rounds_up = bits & half != 0 && bits & (3 * half - 1) != 0;
    let rounded = (bits >> excess) + u128::from(rounds_up);
    // Both factors are exact, and so is their product unless it is too large.
    rounded as f64 * power_of_two(exponent + excess)
}

/// Returns `2**exponent` for an exponent in the range of floats.
fn power_of_two(exponent: i64) -> f64 {
    if exponent >= -1022 {
        f64::from_bits(exponent.min(1023).saturating_add(1023).unsigned_abs() << 52)
    } else {
        f64::from_bits(1 << exponent.saturating_sub(MIN_EXPONENT).clamp(0, 51))
    }
}

fn with_sign(magnitude: f64, is_negative: bool) -> f64 {
    if is_negative { -magnitude } else { magnitude }
}
