//! Arithmetic of floats: `-7.5 % 2` is `0.5`, `1 // 0.1` is `9.0`. The rules are CPython's `floatobject.c`.
//!
//! Sums, differences and products are those of Rust; this file has the operations that raise an error or that Python defines differently.
//! Remainders have the sign of the divisor, also when they are zero: `-0.0 % 5.0` is `0.0`, `0.0 % -5.0` is `-0.0`.

use crate::error::{Error, ErrorKind, Result};
use crate::unsupported::COMPLEX;

/// Returns `left / right`.
pub fn true_divide(left: f64, right: f64) -> Result<f64> {
    if right == 0.0 {
        return Err(Error::new(ErrorKind::ZeroDivision, "float division by zero"));
    }
    Ok(left / right)
}

/// Returns `left // right`.
pub fn floor_divide(left: f64, right: f64) -> Result<f64> {
    if right == 0.0 {
        return Err(Error::new(ErrorKind::ZeroDivision, "float floor division by zero"));
    }
    let remainder = left % right;
    let mut quotient = (left - remainder) / right;
    if remainder != 0.0 && (right < 0.0) != (remainder < 0.0) {
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return Ok(0.0_f64.copysign(left / right));
    }
    // The quotient is a whole number except for the rounding error of the division.
    let floor = quotient.floor();
    Ok(if quotient - floor > 0.5 { floor + 1.0 } else { floor })
}

/// Returns `left % right`, with the sign of the divisor.
pub fn modulo(left: f64, right: f64) -> Result<f64> {
    if right == 0.0 {
        return Err(Error::new(ErrorKind::ZeroDivision, "float modulo by zero"));
    }
    let remainder = left % right;
    Ok(if remainder == 0.0 {
        0.0_f64.copysign(right)
    } else if (right < 0.0) != (remainder < 0.0) {
        remainder + right
    } else {
        remainder
    })
}

/// Returns `base ** exponent`.
pub fn power(base: f64, exponent: f64) -> Result<f64> {
    // The special cases are those of IEEE 754, which `powf` follows, except for the ones that Python refuses.
    if base == 0.0 && exponent < 0.0 && exponent.is_finite() {
        return Err(Error::new(
            ErrorKind::ZeroDivision,
            "0.0 cannot be raised to a negative power",
        ));
    }
    if !base.is_finite() || !exponent.is_finite() {
        return Ok(base.powf(exponent));
    }
    if base < 0.0 && exponent.floor() != exponent {
        return Err(COMPLEX.error());
    }
    let power = base.powf(exponent);
    if power.is_infinite() {
        return Err(Error::overflow("(34, 'Numerical result out of range')"));
    }
    Ok(power)
}
