//! The methods and parts of floats.
//!
//! ```text
//! {{ (2.0).is_integer() }}            True
//! {{ (0.5).as_integer_ratio() }}      (1, 2)
//! {{ (1.5).hex() }}                   0x1.8000000000000p+0
//! ```
//!
//! The arithmetic is in [`crate::number::exact`]. After CPython 3.11 `floatobject.c`.

use super::argument::wrong_receiver;
use super::row::{no_arguments, one_argument};
use crate::error::{Error, Result};
use crate::number::{Number, exact, hex};
use crate::value::{Arguments, Function, Runtime, Value};

/// The rows.
pub(super) static METHODS: [Function; 5] = [
    no_arguments("is_integer", "float.is_integer", is_integer),
    no_arguments("as_integer_ratio", "float.as_integer_ratio", as_integer_ratio),
    no_arguments("hex", "float.hex", hex),
    one_argument("fromhex", "float.fromhex", from_hex),
    no_arguments("conjugate", "float.conjugate", conjugate),
];

/// The parts that a float has because a complex number has them.
pub(super) fn attribute<'a>(float: f64, name: &str) -> Option<Value<'a>> {
    match name {
        "real" => Some(Value::Float(float)),
        "imag" => Some(Value::Float(0.0)),
        _ => None,
    }
}

fn receiver(arguments: &mut Arguments<'_>) -> Result<f64> {
    match arguments.take(0) {
        Some(Value::Float(float)) => Ok(float),
        _ => Err(wrong_receiver("float")),
    }
}

fn is_integer<'a>(_: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(Value::Bool(exact::is_integer(receiver(&mut arguments)?)))
}

fn as_integer_ratio<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let (numerator, denominator) = exact::as_integer_ratio(receiver(&mut arguments)?)?;
    runtime.tuple(vec![Value::from(numerator), Value::from(denominator)])
}

fn hex<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    runtime.str(exact::hex(receiver(&mut arguments)?))
}

/// A class method: the float that it is looked up on plays no part.
fn from_hex<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = arguments.take(1).unwrap_or(Value::None);
    let Value::Str(text) = &text else {
        return Err(Error::type_error("bad argument type for built-in operation"));
    };
    runtime.meter.charge_scan(text.as_str().len())?;
    let float = hex::parse_hex(text.as_str())?;
    Ok(Value::from(Number::Float(float)))
}

fn conjugate<'a>(_: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(Value::Float(receiver(&mut arguments)?))
}
