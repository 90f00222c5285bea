//! Filters that make or round numbers: `abs`, `round`, `int`, `float`, `filesizeformat`.
//!
//! The arithmetic is in [`crate::number`]. The rules are those of jinja2 3.1.6 `filters.py`: `do_round`, `do_int`, `do_float`,
//! `do_filesizeformat`, and of Python's `abs`, `int`, `float`, `round`.

use crate::builtins::table::built_ins;
use crate::error::{Error, ErrorKind, Result};
use crate::number::parse::{parse_int, read_float, read_int};
use crate::number::{Int, IntRef, NumberRef, arithmetic, digits, filesize, int_float, round};
use crate::text::quote;
use crate::value::{Key, Runtime, Value, not_an_index, ops, print};

/// Returns `int(text)` of a string of digits.
pub(super) fn parse_decimal(text: &str) -> Result<Int> {
    parse_int(text, 10, quote::repr)
}

built_ins! { FILTERS:
    /// Returns the number without its sign.
    ///
    /// `{{ -1.5|abs }} -> 1.5`
    OneArgument "abs" fn abs(runtime, value: Number) {
        ops::charge_digits(runtime, &value, &value)?;
        match value.as_number() {
            Some(number) => runtime.number(arithmetic::absolute(number)),
            None => Err(Error::type_error(format!(
                "bad operand type for abs(): '{}'",
                value.ty().name()
            ))),
        }
    }

    /// Rounds a number to a number of decimal places: half to even, up or down.
    ///
    /// `{{ 42.55|round(1, "floor") }} -> 42.5`
    Python "do_round" fn round(
        runtime, value: Number, precision: Count = 0, method: OneOf["common", "ceil", "floor", "nope"] = "common"
    ) -> Float {
        // The reference looks the method up in a set, so an unhashable method is a TypeError.
        Key::new(runtime, method)?;
        match method.as_str() {
            Some("common") => round_half_even(runtime, &value, &precision),
            Some("ceil") => round_by(runtime, &value, &precision, f64::ceil),
            Some("floor") => round_by(runtime, &value, &precision, f64::floor),
            _ => Err(Error::runtime("method must be common, ceil or floor")),
        }
    }

    /// Returns the integer that a value can be read as, or the default.
    ///
    /// `{{ "0x1f"|int(base=16) }} -> 31`
    Python "do_int" fn int(runtime, value, default = 0, base: Count = 10) -> Int {
        let read = match (&value, base.as_number()) {
            (Value::Str(text), Some(NumberRef::Int(base))) => {
                runtime.meter.charge_scan(text.as_str().len())?;
                // No integer above 36 is a valid base, so 37 can replace a big one.
                let base = match base {
                    IntRef::Small(base) => base,
                    _ => 37,
                };
                read_int(text.as_str(), base).ok().flatten()
            }
            (value, _) => match value.as_number() {
                Some(NumberRef::Int(int)) => Some(int.to_int()),
                Some(NumberRef::Float(float)) if !float.is_nan() => Some(int_float::truncate(float)?),
                _ => None,
            },
        };
        if let Some(int) = read {
            return runtime.int(int);
        }
        match to_float(runtime, &value) {
            Ok(Some(float)) => int_float::truncate(float).map_or(Ok(default), |int| runtime.int(int)),
            Ok(None) => Ok(default),
            Err(error) if error.kind() == ErrorKind::Overflow => Ok(default),
            Err(error) => Err(error),
        }
    }

    /// Returns the float that a value can be read as, or the default.
    ///
    /// `{{ " 1_000.5 "|float }} -> 1000.5`
    Python "do_float" fn float(runtime, value, default = 0.0) -> Float {
        match to_float(runtime, &value)? {
            Some(_) if matches!(value, Value::Float(_)) => Ok(value),
            Some(float) => Ok(Value::Float(float)),
            None => Ok(default),
        }
    }

    /// Formats a number of bytes with a unit.
    ///
    /// `{{ 1500|filesizeformat }} -> 1.5 kB`
    Python "do_filesizeformat" fn filesizeformat(runtime, value: Number, binary: Flag = false) -> Str {
        let Some(bytes) = to_float(runtime, &value)? else {
            return Err(not_a_float(runtime, &value)?);
        };
        let is_binary = ops::is_true(runtime, &binary)?;
        let text = filesize::filesize(bytes, is_binary)?;
        // The text has at most 300 digits, so it can be charged afterwards.
        runtime.meter.charge(digits::count_steps(text.len()))?;
        runtime.str(text)
    }
}

fn round_half_even<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, precision: &Value<'a>) -> Result<Value<'a>> {
    let Some(number) = value.as_number() else {
        let ty = value.ty().name();
        return Err(Error::type_error(format!("type {ty} doesn't define __round__ method")));
    };
    // Rounding an integer divides it by a power of ten.
    ops::charge_numbers(runtime, value, value)?;
    match (number, precision.as_number()) {
        (NumberRef::Float(float), _) if matches!(precision, Value::None) => runtime.int(round::round_float_to_int(float)?),
        (NumberRef::Int(int), _) if matches!(precision, Value::None) => runtime.int(int.to_int()),
        (number, Some(NumberRef::Int(places))) => {
            runtime.meter.charge(round::count_steps(places))?;
            runtime.number(round::round(number, places)?)
        }
        _ => Err(not_an_index(precision)),
    }
}

/// Returns `round(value * 10**precision) / 10**precision`, for a function that rounds a float.
fn round_by<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, precision: &Value<'a>, round: fn(f64) -> f64) -> Result<Value<'a>> {
    let unit = ops::power(runtime, &Value::Int(10), precision)?;
    let product = ops::multiply(runtime, value, &unit)?;
    let whole = match product.as_number() {
        Some(NumberRef::Int(_)) => product,
        Some(NumberRef::Float(float)) => runtime.int(int_float::truncate(round(float))?)?,
        // A sequence times a number is a sequence.
        None => {
            let ty = product.ty().name();
            return Err(Error::type_error(format!("must be real number, not {ty}")));
        }
    };
    ops::divide(runtime, &whole, &unit)
}

/// Returns `float(value)`, or `None` if it raises a TypeError or a ValueError.
fn to_float(runtime: &mut Runtime<'_>, value: &Value<'_>) -> Result<Option<f64>> {
    if let Some(number) = value.as_number() {
        return Ok(Some(arithmetic::to_float(number)?));
    }
    match value {
        Value::Str(text) => {
            runtime.meter.charge_scan(text.as_str().len())?;
            Ok(read_float(text.as_str()))
        }
        Value::Undefined(undefined) => Err(undefined.error()),
        _ => Ok(None),
    }
}

/// Returns the error of `float(value)` for a value that is not a number.
fn not_a_float<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Error> {
    if let Value::Str(_) = value {
        let repr = print::repr(runtime, value)?;
        return Ok(Error::value(format!("could not convert string to float: {repr}")));
    }
    let ty = value.ty().name();
    let message = format!("float() argument must be a string or a real number, not '{ty}'");
    Ok(Error::type_error(message))
}
