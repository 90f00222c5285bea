//! The methods and parts of integers; a bool is one.
//!
//! ```text
//! {{ (255).bit_length() }}            8
//! {{ (258).to_bytes(2, "big") }}      b'\x01\x02'
//! {{ true.real }}                     1
//! ```
//!
//! After CPython 3.11 `longobject.c`.

use super::argument::{clinic_text, overflow, size, wrong_receiver};
use super::row::{SELF, clinic, no_arguments, optional, required};
use crate::error::{Error, Result};
use crate::limits::{Limit, Reached};
use crate::number::Int;
use crate::value::{Arguments, Function, Iter, Parameter, Runtime, Str, Value};
use num_bigint::{BigInt, Sign};

const SIGNED: Parameter = Parameter {
    keyword_only: true,
    ..Parameter::optional("signed")
};

/// The rows.
pub(super) static METHODS: [Function; 6] = [
    no_arguments("bit_length", "int.bit_length", bit_length),
    no_arguments("bit_count", "int.bit_count", bit_count),
    no_arguments("conjugate", "int.conjugate", conjugate),
    no_arguments("as_integer_ratio", "int.as_integer_ratio", as_integer_ratio),
    clinic(
        "to_bytes",
        "int.to_bytes",
        &[SELF, optional("length"), optional("byteorder"), SIGNED],
        to_bytes,
    ),
    clinic(
        "from_bytes",
        "int.from_bytes",
        &[SELF, required("bytes"), optional("byteorder"), SIGNED],
        from_bytes,
    ),
];

/// The parts that an integer has because a complex number has them.
pub(super) fn attribute<'a>(int: &Value<'a>, name: &str) -> Option<Value<'a>> {
    match name {
        "real" | "numerator" => Some(whole(int)),
        "imag" => Some(Value::Int(0)),
        "denominator" => Some(Value::Int(1)),
        _ => None,
    }
}

/// The number as an `int` proper: True is 1.
fn whole<'a>(int: &Value<'a>) -> Value<'a> {
    match int {
        Value::Bool(bool) => Value::Int(i64::from(*bool)),
        int => int.clone(),
    }
}

fn receiver<'a>(arguments: &mut Arguments<'a>) -> Result<Value<'a>> {
    let int = arguments.take(0).filter(|value| value.as_integer().is_some());
    int.ok_or_else(|| wrong_receiver("int"))
}

fn number(receiver: &Value<'_>) -> Result<Int> {
    let int = receiver.as_integer().ok_or_else(|| wrong_receiver("int"))?;
    Ok(int.to_int())
}

fn count<'a>(count: u64) -> Value<'a> {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

fn bit_length<'a>(_: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(count(number(&receiver(&mut arguments)?)?.as_ref().bit_length()))
}

fn bit_count<'a>(_: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(count(number(&receiver(&mut arguments)?)?.as_ref().bit_count()))
}

fn conjugate<'a>(_: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(whole(&receiver(&mut arguments)?))
}

fn as_integer_ratio<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let int = whole(&receiver(&mut arguments)?);
    runtime.tuple(vec![int, Value::Int(1)])
}

fn byte_order<'a>(arguments: &mut Arguments<'a>, function: &str) -> Result<Str<'a>> {
    match arguments.take(2) {
        None => Ok(Str::from("big")),
        order => clinic_text(order, &format!("{function}() argument 'byteorder'")),
    }
}

/// Whether the bytes begin with the lowest.
fn is_little(order: &Str<'_>) -> Result<bool> {
    match order.as_str() {
        "little" => Ok(true),
        "big" => Ok(false),
        _ => Err(Error::value("byteorder must be either 'little' or 'big'")),
    }
}

fn is_signed<'a>(runtime: &mut Runtime<'a>, signed: Option<&Value<'a>>) -> Result<bool> {
    match signed {
        None => Ok(false),
        Some(signed) => runtime.truth(signed),
    }
}

fn to_bytes<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let int = BigInt::from(number(&receiver(&mut arguments)?)?);
    let length = size(arguments.get(1), 1)?;
    let order = byte_order(&mut arguments, "to_bytes")?;
    let is_signed = is_signed(runtime, arguments.get(3))?;
    let is_little = is_little(&order)?;
    let Ok(length) = usize::try_from(length) else {
        return Err(Error::value("length argument must be non-negative"));
    };
    runtime.meter.check_size(length)?;
    runtime.meter.charge_scan(length)?;
    let is_negative = int.sign() == Sign::Minus;
    if is_negative && !is_signed {
        return Err(overflow("can't convert negative int to unsigned"));
    }
    let mut bytes = if is_signed {
        int.to_signed_bytes_le()
    } else {
        int.magnitude().to_bytes_le()
    };
    if int.sign() == Sign::NoSign {
        // Zero needs no byte.
        bytes.clear();
    }
    if bytes.len() > length {
        return Err(overflow("int too big to convert"));
    }
    bytes.resize(length, if is_negative { 0xff } else { 0 });
    if !is_little {
        bytes.reverse();
    }
    Ok(Value::Bytes(bytes.into()))
}

/// A method of the class: which integer it was looked up on does not matter, but that it was a bool does.
fn from_bytes<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let is_bool = matches!(receiver(&mut arguments)?, Value::Bool(_));
    let order = byte_order(&mut arguments, "from_bytes")?;
    let is_signed = is_signed(runtime, arguments.get(3))?;
    let is_little = is_little(&order)?;
    let mut bytes = bytes_of(runtime, &arguments.take(1).unwrap_or(Value::None))?;
    runtime.meter.charge_scan(bytes.len())?;
    let bits = u64::try_from(bytes.len()).unwrap_or(u64::MAX).saturating_mul(8);
    let allowed = runtime.meter.limits().bits;
    if bits > allowed {
        return Err(Error::limit(Reached::new(Limit::Bits, bits, allowed)));
    }
    if is_little {
        bytes.reverse();
    }
    let int = if is_signed {
        BigInt::from_signed_bytes_be(&bytes)
    } else {
        BigInt::from_bytes_be(Sign::Plus, &bytes)
    };
    Ok(if is_bool {
        Value::Bool(int.sign() != Sign::NoSign)
    } else {
        Value::from(int)
    })
}

/// Python's `bytes(value)` where a number is not one: bytes, or an iterable of small integers.
fn bytes_of<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Vec<u8>> {
    if let Value::Bytes(bytes) = value {
        return Ok(bytes.to_vec());
    }
    let mut iter = match value {
        Value::Str(_) => None,
        value => Iter::try_new(value),
    }
    .ok_or_else(|| Error::type_error(format!("cannot convert '{}' object to bytes", value.ty().name())))?;
    let mut bytes = Vec::new();
    while let Some(item) = iter.next(runtime)? {
        runtime.meter.check_size(bytes.len())?;
        let byte = u8::try_from(item.index()?);
        bytes.push(byte.map_err(|_| Error::value("bytes must be in range(0, 256)"))?);
    }
    Ok(bytes)
}
