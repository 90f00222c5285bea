//! Arithmetic of integers: `-7 // 2` is `-4`, `-7 % 3` is `2`, `2**100` is exact. The rules are CPython's `longobject.c`.
//!
//! An operation whose result can grow takes the largest number of bits, and fails before it computes a larger result. True division is in
//! [`int_float`](super::int_float), because its result is a float. Powers with a negative exponent are in
//! [`arithmetic`](super::arithmetic).

use std::ops::Neg;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::ToPrimitive;

use super::error::too_many_bits;
use super::int::{Int, IntRef};
use crate::error::{Error, ErrorKind, Result};

/// Returns `-int`.
pub fn negate(int: IntRef<'_>) -> Int {
    if let IntRef::Small(small) = int {
        if let Some(negated) = small.checked_neg() {
            return Int::Small(negated);
        }
    }
    Int::from(int.to_big().into_owned().neg())
}

/// Returns `abs(int)`.
pub fn absolute(int: IntRef<'_>) -> Int {
    if int.is_negative() { negate(int) } else { int.to_int() }
}

/// Returns `left // right`, rounded down.
pub fn floor_divide(left: IntRef<'_>, right: IntRef<'_>) -> Result<Int> {
    match divide(left, right) {
        Some((quotient, _)) => Ok(quotient),
        None => Err(Error::new(ErrorKind::ZeroDivision, "integer division or modulo by zero")),
    }
}

/// Returns `left % right`, with the sign of the divisor.
pub fn modulo(left: IntRef<'_>, right: IntRef<'_>) -> Result<Int> {
    match divide(left, right) {
        Some((_, remainder)) => Ok(remainder),
        None => Err(Error::new(ErrorKind::ZeroDivision, "integer modulo by zero")),
    }
}

/// Returns `base ** exponent` for an exponent that is not negative.
pub fn power(base: IntRef<'_>, exponent: IntRef<'_>, max_bits: u64) -> Result<Int> {
    match (base, exponent) {
        (_, IntRef::Small(0)) | (IntRef::Small(1), _) => return Ok(Int::Small(1)),
        (IntRef::Small(0), _) => return Ok(Int::Small(0)),
        (IntRef::Small(-1), _) => return Ok(Int::Small(if exponent.is_odd() { -1 } else { 1 })),
        _ => {}
    }
    let IntRef::Small(exponent) = exponent else {
        return Err(too_many_bits(u64::MAX, max_bits));
    };
    let exponent = u32::try_from(exponent).map_err(|_| too_many_bits(exponent.unsigned_abs(), max_bits))?;
    if let IntRef::Small(base) = base {
        if let Some(power) = base.checked_pow(exponent) {
            return Ok(Int::Small(power));
        }
    }
    // The estimate is exact for powers of two, and otherwise within a few bits of any limit.
    let bits = estimate_log2(base) * f64::from(exponent) + 1.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is above zero, and the cast saturates"
    )]
    check_bits(bits as u64, max_bits)?;
    Ok(Int::from(base.to_big().pow(exponent)))
}

/// Returns the quotient and the remainder, rounded down, or `None` for a divisor of zero.
fn divide(left: IntRef<'_>, right: IntRef<'_>) -> Option<(Int, Int)> {
    if right.is_zero() {
        return None;
    }
    if let (IntRef::Small(left), IntRef::Small(right)) = (left, right) {
        if let (Some(quotient), Some(remainder)) = (left.checked_div(right), left.checked_rem(right)) {
            return Some(if remainder != 0 && (remainder < 0) != (right < 0) {
                // Neither can overflow: the quotient was rounded towards zero, and the remainder has the other sign.
                (
                    Int::Small(quotient.wrapping_sub(1)),
                    Int::Small(remainder.wrapping_add(right)),
                )
            } else {
                (Int::Small(quotient), Int::Small(remainder))
            });
        }
    }
    let (quotient, remainder) = left.to_big().div_mod_floor(&right.to_big());
    Some((Int::from(quotient), Int::from(remainder)))
}

/// Returns the result for 64 bits if it fits, and otherwise the result for big integers, unless that could have too many bits.
#[inline]
pub fn compute(
    (left, right): (IntRef<'_>, IntRef<'_>),
    on_small: impl FnOnce(i64, i64) -> Option<i64>,
    on_big: impl FnOnce(&BigInt, &BigInt) -> BigInt,
    result_bits: impl FnOnce() -> u64,
    max_bits: u64,
) -> Result<Int> {
    if let (IntRef::Small(left), IntRef::Small(right)) = (left, right) {
        if let Some(result) = on_small(left, right) {
            return Ok(Int::Small(result));
        }
    }
    check_bits(result_bits(), max_bits)?;
    Ok(Int::from(on_big(&left.to_big(), &right.to_big())))
}

/// Estimates the binary logarithm of the absolute value of a number above 1.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_precision_loss,
    reason = "the result is an estimate, and shifting to the right does not overflow"
)]
fn estimate_log2(int: IntRef<'_>) -> f64 {
    let below = int.bit_length().saturating_sub(64);
    let leading = (&*int.magnitude() >> below).to_f64().unwrap_or_default();
    leading.log2() + below as f64
}

/// Fails if a result of `bits` bits is larger than `max_bits`.
fn check_bits(bits: u64, max_bits: u64) -> Result<()> {
    if bits > max_bits {
        return Err(too_many_bits(bits, max_bits));
    }
    Ok(())
}
