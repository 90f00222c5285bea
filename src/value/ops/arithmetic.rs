//! Python's arithmetic operators: `+ - * / // % **`, and `-` and `+` before one value.
//!
//! Numbers are computed in [`crate::number`], `+` and `*` of strings and lists in [`super::concat`], and `%` of a string is
//! formatting. CPython tries the left value, then the right one, and then raises `unsupported operand type(s) for +: 'int' and 'str'`
//! (`abstract.c`, `binary_op1`). An undefined value raises its own error. The order here is therefore: two numbers, the type of the left
//! value, an undefined value on either side, the error.

use super::concat;
use crate::error::{Error, Result};
use crate::number::{IntRef, Number, NumberRef, arithmetic, int_float};
use crate::unsupported;
use crate::value::{Iter, Key, Runtime, Value, format};

/// An operation on two numbers. Its third argument is the maximum number of bits of the result.
type Arithmetic = fn(NumberRef<'_>, NumberRef<'_>, u64) -> Result<Number>;

/// The number of products of two 64-bit words that are computed in about the time of one step.
const PRODUCTS_PER_STEP: u64 = 32;

/// The number of steps that `/` costs if it makes large integers because floats are not exact enough.
const EXACT_QUOTIENT: u64 = 4;

#[inline]
pub fn add<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>> {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => concat::concat_texts(runtime, left, right),
        _ => match arithmetic(runtime, left, right, arithmetic::add)? {
            Some(sum) => Ok(sum),
            None => concat::concatenate(runtime, left, right),
        },
    }
}

pub fn subtract<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>> {
    if let Some(difference) = arithmetic(runtime, left, right, arithmetic::subtract)? {
        return Ok(difference);
    }
    if let Value::Undefined(undefined) = left {
        return Err(undefined.error());
    }
    Err(difference_error(runtime, left, right)?)
}

/// Returns the error of `left - right` for values that are not numbers. The difference of a view and an iterable of hashable items is a
/// set, which is unsupported (CPython 3.13 `dictobject.c`, `dictviews_sub`).
fn difference_error<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<Error> {
    let is_set_view = |value: &Value<'a>| matches!(value, Value::Keys(_) | Value::Items(_));
    if !is_set_view(left) && !is_set_view(right) {
        return Ok(unsupported_operands("-", left, right));
    }
    for operand in [left, right] {
        let mut items = Iter::new(operand)?;
        while let Some(item) = items.next(runtime)? {
            Key::new(runtime, item)?;
        }
    }
    Ok(unsupported::SET.error())
}

pub fn multiply<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>> {
    match arithmetic(runtime, left, right, arithmetic::multiply)? {
        Some(product) => Ok(product),
        None => concat::repeat(runtime, left, right),
    }
}

pub fn divide<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>> {
    if let (Some(left), Some(right)) = (left.as_integer(), right.as_integer()) {
        if !int_float::are_exact(left, right) {
            runtime.meter.charge(EXACT_QUOTIENT)?;
        }
    }
    let divide: Arithmetic = |left, right, _| arithmetic::true_divide(left, right).map(Number::Float);
    arithmetic(runtime, left, right, divide)?.ok_or_else(|| unsupported_operands("/", left, right))
}

pub fn floor_divide<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>> {
    let divide: Arithmetic = |left, right, _| arithmetic::floor_divide(left, right);
    arithmetic(runtime, left, right, divide)?.ok_or_else(|| unsupported_operands("//", left, right))
}

/// Returns `left % right`. A string on the left is a format.
pub fn modulo<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>> {
    if let Value::Str(format) = left {
        return format::format_percent(runtime, format, right);
    }
    let modulo: Arithmetic = |left, right, _| arithmetic::modulo(left, right);
    arithmetic(runtime, left, right, modulo)?.ok_or_else(|| unsupported_operands("%", left, right))
}

pub fn power<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>> {
    if let (Some(NumberRef::Int(base)), Some(exponent)) = (left.as_number(), right.as_int()) {
        let exponent = u64::try_from(exponent).unwrap_or(0);
        // A result that is longer than the limit is refused before it is computed.
        let words = (base.bit_length().saturating_mul(exponent) / 64).min(runtime.meter.limits().bits / 64);
        let products = words.saturating_mul(words) / (4 * PRODUCTS_PER_STEP);
        runtime.meter.charge(words.saturating_add(products))?;
    }
    arithmetic(runtime, left, right, arithmetic::power)?.ok_or_else(|| unsupported_operands("** or pow()", left, right))
}

pub fn negate<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Value<'a>> {
    charge_digits(runtime, value, value)?;
    match value.as_number() {
        Some(number) => runtime.number(arithmetic::negate(number)),
        None => Err(bad_operand_error("-", value)),
    }
}

pub fn positive<'a>(value: &Value<'a>) -> Result<Value<'a>> {
    match value {
        Value::Int(_) | Value::Big(_) | Value::Float(_) => Ok(*value),
        Value::Bool(bool) => Ok(Value::Int(i64::from(*bool))),
        _ => Err(bad_operand_error("+", value)),
    }
}

/// Returns the result for two numbers, or `None` if one value is not a number.
#[inline]
fn arithmetic<'a>(
    runtime: &mut Runtime<'a>,
    left: &Value<'a>,
    right: &Value<'a>,
    operate: Arithmetic,
) -> Result<Option<Value<'a>>> {
    let (Some(left_number), Some(right_number)) = (left.as_number(), right.as_number()) else {
        return Ok(None);
    };
    charge_numbers(runtime, left, right)?;
    let result = operate(left_number, right_number, runtime.meter.limits().bits)?;
    runtime.number(result).map(Some)
}

/// Charges for one pass over the digits of two integers.
#[inline]
pub fn charge_digits<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<()> {
    let bits = |value: &Value<'a>| value.as_integer().map_or(0, IntRef::bit_length);
    match (left, right) {
        (Value::Big(_), _) | (_, Value::Big(_)) => runtime.meter.charge(bits(left).max(bits(right)) >> 9),
        _ => Ok(()),
    }
}

/// Charges for an operation whose time grows with the product of the lengths of the operands.
#[inline]
pub fn charge_numbers<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<()> {
    let words = |value: &Value<'a>| {
        value
            .as_integer()
            .map_or(1, |int| (IntRef::bit_length(int) / 64).saturating_add(1))
    };
    match (left, right) {
        (Value::Big(_), _) | (_, Value::Big(_)) => {
            let (left, right) = (words(left), words(right));
            let longest = left.max(right).saturating_add(1);
            runtime
                .meter
                .charge(longest.saturating_add(left.saturating_mul(right) / PRODUCTS_PER_STEP))
        }
        _ => Ok(()),
    }
}

/// Returns the error for operands that an operator does not accept. The error of an undefined value comes first.
#[cold]
pub(super) fn unsupported_operands(sign: &str, left: &Value<'_>, right: &Value<'_>) -> Error {
    match (left, right) {
        (Value::Undefined(undefined), _) | (_, Value::Undefined(undefined)) => undefined.error(),
        _ => {
            let (left, right) = (left.ty().name(), right.ty().name());
            Error::type_error(format!("unsupported operand type(s) for {sign}: '{left}' and '{right}'"))
        }
    }
}

#[cold]
fn bad_operand_error(sign: &str, value: &Value<'_>) -> Error {
    match value {
        Value::Undefined(undefined) => undefined.error(),
        _ => Error::type_error(format!("bad operand type for unary {sign}: '{}'", value.ty().name())),
    }
}
