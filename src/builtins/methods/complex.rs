//! The method and the parts of complex numbers.
//!
//! ```text
//! {{ ((-4) ** 0.5).imag }}             2.0
//! {{ ((-4) ** 0.5).conjugate() }}      (1.2246467991473532e-16-2j)
//! ```
//!
//! After CPython 3.11 `complexobject.c`.

use super::argument::wrong_receiver;
use super::row::no_arguments;
use crate::error::Result;
use crate::number::complex::Complex;
use crate::value::{Arguments, Function, Runtime, Value};

/// The rows.
pub(super) static METHODS: [Function; 1] = [no_arguments("conjugate", "complex.conjugate", conjugate)];

/// The parts.
pub(super) fn attribute<'a>(complex: Complex, name: &str) -> Option<Value<'a>> {
    match name {
        "real" => Some(Value::Float(complex.real)),
        "imag" => Some(Value::Float(complex.imag)),
        _ => None,
    }
}

fn conjugate<'a>(_: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    match arguments.take(0) {
        Some(Value::Complex(complex)) => Ok(Value::from(complex.conjugate())),
        _ => Err(wrong_receiver("complex")),
    }
}
