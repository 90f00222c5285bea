//! Rounding to decimal places, half to even on the exact value: `round(2.675, 2)` is `2.67`, `round(1250, -2)` is `1200`.
//!
//! The rules are CPython's `float.__round__` and `int.__round__`. The caller interprets a precision that is not a number.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_integer::Integer;

use super::int::{Int, IntRef, Number, NumberRef};
use super::int_arithmetic::{absolute, negate};
use super::int_float;
use crate::error::{Error, Result};

/// The largest number of decimal places at which rounding can change a float.
const MAX_PLACES: i64 = 323;

/// Floats of at least this magnitude are whole numbers.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// The smallest number of decimal places, which is negative, at which a rounded float can be other than zero.
const MIN_PLACES: i64 = -308;

/// Returns `round(float, places)`, a float.
pub fn round_float(float: f64, places: IntRef<'_>) -> Result<f64> {
    let places = match places {
        IntRef::Small(places) => places,
        big if big.is_negative() => i64::MIN,
        _ => i64::MAX,
    };
    if !float.is_finite() || places > MAX_PLACES {
        return Ok(float);
    }
    if places < MIN_PLACES {
        return Ok(0.0_f64.copysign(float));
    }
    if let Ok(places) = usize::try_from(places) {
        if float.abs() >= WHOLE {
            return Ok(float);
        }
        // Both steps are exact: printing has the digits of the float, and parsing returns the nearest float.
        return format!("{float:.places$}").parse().map_err(|_| rounded_too_large());
    }
    let unit = power_of_ten(places.unsigned_abs());
    let magnitude = float.abs();
    let whole = int_float::truncate(magnitude)?;
    let rounded = nearest_multiple(&whole.as_ref().to_big(), &unit, magnitude.fract() != 0.0);
    let nearest = int_float::int_to_float(IntRef::from(&rounded)).map_err(|_| rounded_too_large())?;
    Ok(nearest.copysign(float))
}

/// Returns the number of steps that rounding a float takes. A float with many places is written and read again with all its digits.
pub fn count_steps(places: IntRef<'_>) -> u64 {
    match places {
        IntRef::Small(places) => places.unsigned_abs().min(MAX_PLACES.unsigned_abs()) / 2,
        _ => 0,
    }
}

/// Returns `round(float)`, an integer.
pub fn round_float_to_int(float: f64) -> Result<Int> {
    int_float::truncate(float.round_ties_even())
}

/// Returns `round(int, places)`, an integer. It differs from `int` only if `places` is negative.
pub fn round_int(int: IntRef<'_>, places: IntRef<'_>) -> Int {
    if !places.is_negative() {
        return int.to_int();
    }
    // A decimal digit takes more than three bits, so `10**digits` is otherwise more than twice the number, which rounds to zero.
    let digits = match places {
        IntRef::Small(places) if places.unsigned_abs().saturating_sub(2) <= int.bit_length() / 3 => places.unsigned_abs(),
        _ => return Int::Small(0),
    };
    let rounded = nearest_multiple(&absolute(int).as_ref().to_big(), &power_of_ten(digits), false);
    if int.is_negative() {
        negate(IntRef::from(&rounded))
    } else {
        Int::from(rounded)
    }
}

/// Returns `round(number, places)`.
pub fn round(number: NumberRef<'_>, places: IntRef<'_>) -> Result<Number> {
    match number {
        NumberRef::Int(int) => Ok(Number::Int(round_int(int, places))),
        NumberRef::Float(float) => round_float(float, places).map(Number::Float),
    }
}

/// Returns the multiple of `unit` nearest to a magnitude, half to even. If `is_inexact` is set, the exact magnitude is a little larger.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "big integers do not overflow, and the result is hardly larger than the magnitude"
)]
fn nearest_multiple(magnitude: &BigInt, unit: &BigInt, is_inexact: bool) -> BigInt {
    let (quotient, remainder) = magnitude.div_mod_floor(unit);
    let rounds_up = match (remainder * 2_u32).cmp(unit) {
        Ordering::Less => false,
        Ordering::Equal => is_inexact || quotient.bit(0),
        Ordering::Greater => true,
    };
    (quotient + u32::from(rounds_up)) * unit
}

/// Returns `10**exponent`.
fn power_of_ten(exponent: u64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(exponent).unwrap_or(u32::MAX))
}

/// Returns the error of a result beyond the largest float.
fn rounded_too_large() -> Error {
    Error::overflow("rounded value too large to represent")
}
