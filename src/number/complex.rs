//! Complex numbers, which only a negative number to a fractional power makes: `(-8) ** 0.5` is `(1.7319121124709868e-16+2.8284271247461903j)`.
//!
//! After CPython 3.11 `complexobject.c`, operation by operation, so that results are the same to the last bit wherever C's mathematics
//! are those of the reference. How one is formatted by a specification is in [`spec`](super::spec).

use super::digits::{FloatFormat, Notation, format_float};
use super::error::{NumberError, NumberResult};

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    /// The real part.
    pub real: f64,
    /// The imaginary part.
    pub imag: f64,
}

impl From<f64> for Complex {
    fn from(real: f64) -> Self {
        Self { real, imag: 0.0 }
    }
}

impl Complex {
    const ONE: Self = Self { real: 1.0, imag: 0.0 };

    /// `self + other`
    #[allow(clippy::unnecessary_wraps, reason = "all operators have one type")]
    pub fn add(self, other: Self) -> NumberResult<Self> {
        let (real, imag) = (self.real + other.real, self.imag + other.imag);
        Ok(Self { real, imag })
    }

    /// `self - other`
    #[allow(clippy::unnecessary_wraps, reason = "all operators have one type")]
    pub fn subtract(self, other: Self) -> NumberResult<Self> {
        let (real, imag) = (self.real - other.real, self.imag - other.imag);
        Ok(Self { real, imag })
    }

    /// `self * other`
    #[allow(clippy::unnecessary_wraps, reason = "all operators have one type")]
    pub fn multiply(self, other: Self) -> NumberResult<Self> {
        Ok(self.times(other))
    }

    fn times(self, other: Self) -> Self {
        Self {
            real: self.real * other.real - self.imag * other.imag,
            imag: self.real * other.imag + self.imag * other.real,
        }
    }

    /// `self / other`
    pub fn divide(self, other: Self) -> NumberResult<Self> {
        self.quotient(other)
            .ok_or(NumberError::ZeroDivision("complex division by zero"))
    }

    /// The quotient, divided top and bottom by the larger part of the divisor; None where that is zero.
    fn quotient(self, other: Self) -> Option<Self> {
        let (real, imag) = (other.real.abs(), other.imag.abs());
        if real >= imag {
            if real == 0.0 {
                return None;
            }
            let ratio = other.imag / other.real;
            let bottom = other.real + other.imag * ratio;
            Some(Self {
                real: (self.real + self.imag * ratio) / bottom,
                imag: (self.imag - self.real * ratio) / bottom,
            })
        } else if imag >= real {
            let ratio = other.real / other.imag;
            let bottom = other.real * ratio + other.imag;
            Some(Self {
                real: (self.real * ratio + self.imag) / bottom,
                imag: (self.imag * ratio - self.real) / bottom,
            })
        } else {
            let (real, imag) = (f64::NAN, f64::NAN);
            Some(Self { real, imag })
        }
    }

    /// `self ** exponent`: by multiplying, where that is a small integer.
    pub fn power(self, exponent: Self) -> NumberResult<Self> {
        let whole = exponent.real;
        let power = if exponent.imag == 0.0 && whole.floor() == whole && whole.abs() <= 100.0 {
            let raised = self.raised(whole.abs());
            if whole > 0.0 {
                Some(raised)
            } else {
                Self::ONE.quotient(raised)
            }
        } else {
            self.polar_power(exponent)
        };
        match power {
            None => Err(NumberError::ZeroDivision("0.0 to a negative or complex power")),
            Some(power) if power.real.is_infinite() || power.imag.is_infinite() => {
                Err(NumberError::overflow("complex exponentiation"))
            }
            Some(power) => Ok(power),
        }
    }

    /// The power of a whole number up to 100, by squares.
    fn raised(self, exponent: f64) -> Self {
        let (mut result, mut square) = (Self::ONE, self);
        let mut bit = 1.0;
        while exponent >= bit {
            if (exponent / bit).floor() % 2.0 != 0.0 {
                result = result.times(square);
            }
            bit *= 2.0;
            square = square.times(square);
        }
        result
    }

    /// The power by length and angle; None of zero to what is not positive, and where the angle is infinite, of which C knows no sine.
    fn polar_power(self, exponent: Self) -> Option<Self> {
        if self.real == 0.0 && self.imag == 0.0 {
            let is_refused = exponent.imag != 0.0 || exponent.real < 0.0;
            return if is_refused { None } else { Some(Self::from(0.0)) };
        }
        let size = self.real.hypot(self.imag);
        let angle = self.imag.atan2(self.real);
        let mut length = size.powf(exponent.real);
        let mut phase = angle * exponent.real;
        if exponent.imag != 0.0 {
            length /= (angle * exponent.imag).exp();
            phase += exponent.imag * size.ln();
        }
        if phase.is_infinite() {
            return None;
        }
        Some(Self {
            real: length * phase.cos(),
            imag: length * phase.sin(),
        })
    }

    /// `-self`
    #[must_use]
    pub fn negated(self) -> Self {
        let (real, imag) = (-self.real, -self.imag);
        Self { real, imag }
    }

    /// `self.conjugate()`
    #[must_use]
    pub fn conjugate(self) -> Self {
        Self {
            imag: -self.imag,
            ..self
        }
    }

    /// `abs(self)`
    pub fn absolute(self) -> NumberResult<f64> {
        let size = self.real.hypot(self.imag);
        if size.is_infinite() && self.real.is_finite() && self.imag.is_finite() {
            return Err(NumberError::overflow("absolute value too large"));
        }
        Ok(size)
    }

    /// `repr(self)`: without the real part where that is zero, and not minus zero.
    pub fn text(self) -> String {
        let part = |float: f64| format_float(float, &FloatFormat::new(Notation::Shortest, 0), 0).unwrap_or_default();
        if self.has_no_real_part() {
            return format!("{}j", part(self.imag));
        }
        let imag = part(self.imag);
        let sign = if imag.starts_with('-') { "" } else { "+" };
        format!("({}{sign}{imag}j)", part(self.real))
    }

    /// Whether the real part is zero, and not minus zero.
    pub(super) fn has_no_real_part(self) -> bool {
        self.real == 0.0 && self.real.is_sign_positive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_pythons() {
        let (a, b) = (Complex { real: 3.0, imag: -4.0 }, Complex { real: 0.0, imag: 2.0 });
        assert_eq!(a.multiply(b).map(Complex::text), Ok("(8+6j)".to_owned()));
        assert_eq!(a.divide(b).map(Complex::text), Ok("(-2-1.5j)".to_owned()));
        assert_eq!(a.power(2.0.into()).map(Complex::text), Ok("(-7-24j)".to_owned()));
        assert_eq!(
            Complex::from(-8.0).power(0.5.into()).map(Complex::text),
            Ok("(1.7319121124709868e-16+2.8284271247461903j)".to_owned())
        );
        assert_eq!(a.absolute(), Ok(5.0));
        assert_eq!(b.text(), "2j");
        assert_eq!(b.negated().text(), "(-0-2j)");
        let zero = Complex::from(0.0);
        assert_eq!(a.divide(zero), Err(NumberError::ZeroDivision("complex division by zero")));
        assert_eq!(
            zero.power((-1.0).into()),
            Err(NumberError::ZeroDivision("0.0 to a negative or complex power"))
        );
    }
}
