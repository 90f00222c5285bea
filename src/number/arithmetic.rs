//! Python's operators on two numbers of any kind: `1 + 2.5` is `3.5`, `2 ** -1` is `0.5`, `7 // 2.0` is `3.0`.
//!
//! Two integers use [`int_arithmetic`]; otherwise both operands are converted to floats, as CPython's `CONVERT_TO_DOUBLE` does. The
//! caller decides which values are numbers.

use std::ops::{Add, Mul, Sub};

use super::int::{Int, IntRef, Number, NumberRef};
use super::{float, int_arithmetic, int_float};
use crate::error::Result;

/// Declares operators whose result can grow. A row is the operator of `i64`, that of big integers and floats, and the largest number of bits
/// of the result for operands of two lengths.
macro_rules! growing {
    ($($(#[$docs:meta])* $name:ident = i64::$checked:ident, $operator:path, $bits:expr;)*) => {$(
        $(#[$docs])*
        pub fn $name<'a>(left: NumberRef<'a>, right: NumberRef<'a>, max_bits: u64) -> Result<Number> {
            let on_ints = |left: IntRef<'_>, right: IntRef<'_>| {
                let bits: fn(u64, u64) -> u64 = $bits;
                let bits = || bits(left.bit_length(), right.bit_length());
                int_arithmetic::compute((left, right), i64::$checked, |left, right| $operator(left, right), bits, max_bits)
            };
            operate(left, right, on_ints, |left, right| Ok($operator(left, right)))
        }
    )*};
}

growing! {
    /// Returns `left + right`.
    add = i64::checked_add, Add::add, |left, right| left.max(right).saturating_add(1);
    /// Returns `left - right`.
    subtract = i64::checked_sub, Sub::sub, |left, right| left.max(right).saturating_add(1);
    /// Returns `left * right`. The product has as many bits as both factors, or one fewer, unless a factor is zero.
    multiply = i64::checked_mul, Mul::mul, u64::saturating_add;
}

/// Returns `left / right`, which is always a float.
pub fn true_divide(left: NumberRef<'_>, right: NumberRef<'_>) -> Result<f64> {
    match (left, right) {
        (NumberRef::Int(left), NumberRef::Int(right)) => int_float::true_divide(left, right),
        _ => float::true_divide(to_float(left)?, to_float(right)?),
    }
}

/// Returns `left // right`.
pub fn floor_divide<'a>(left: NumberRef<'a>, right: NumberRef<'a>) -> Result<Number> {
    operate(left, right, int_arithmetic::floor_divide, float::floor_divide)
}

/// Returns `left % right`.
pub fn modulo<'a>(left: NumberRef<'a>, right: NumberRef<'a>) -> Result<Number> {
    operate(left, right, int_arithmetic::modulo, float::modulo)
}

/// Returns `base ** exponent`. For integers with a negative exponent, the result is a float.
pub fn power(base: NumberRef<'_>, exponent: NumberRef<'_>, max_bits: u64) -> Result<Number> {
    match (base, exponent) {
        (NumberRef::Int(base), NumberRef::Int(exponent)) if !exponent.is_negative() => {
            int_arithmetic::power(base, exponent, max_bits).map(Number::Int)
        }
        _ => float::power(to_float(base)?, to_float(exponent)?).map(Number::Float),
    }
}

/// Returns the result for two integers, or for two floats if at least one operand is a float.
#[inline]
fn operate<'a>(
    left: NumberRef<'a>,
    right: NumberRef<'a>,
    on_ints: impl FnOnce(IntRef<'a>, IntRef<'a>) -> Result<Int>,
    on_floats: impl FnOnce(f64, f64) -> Result<f64>,
) -> Result<Number> {
    match (left, right) {
        (NumberRef::Int(left), NumberRef::Int(right)) => on_ints(left, right).map(Number::Int),
        _ => on_floats(to_float(left)?, to_float(right)?).map(Number::Float),
    }
}

/// Returns `-number`.
pub fn negate(number: NumberRef<'_>) -> Number {
    match number {
        NumberRef::Int(int) => Number::Int(int_arithmetic::negate(int)),
        NumberRef::Float(float) => Number::Float(-float),
    }
}

/// Returns `abs(number)`.
pub fn absolute(number: NumberRef<'_>) -> Number {
    match number {
        NumberRef::Int(int) => Number::Int(int_arithmetic::absolute(int)),
        NumberRef::Float(float) => Number::Float(float.abs()),
    }
}

/// Returns `float(number)`.
pub fn to_float(number: NumberRef<'_>) -> Result<f64> {
    match number {
        NumberRef::Int(int) => int_float::int_to_float(int),
        NumberRef::Float(float) => Ok(float),
    }
}
