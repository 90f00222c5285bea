//! The method of numbers.
//!
//! ```text
//! {{ (2.5).is_integer() }}    False
//! ```

use crate::builtins::table::{Table, no_arguments};
use crate::error::Result;
use crate::number::int_float;
use crate::value::{Arguments, Runtime, Value};

/// The method of integers, bools and floats. Integers have it since CPython 3.12.
pub(super) static METHODS: Table = Table::new(&[no_arguments("is_integer", "int.is_integer", is_integer)]);

fn is_integer<'a>(_: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let is_integer = match arguments.get(0) {
        Some(Value::Float(float)) => int_float::is_integer(*float),
        _ => true,
    };
    Ok(Value::Bool(is_integer))
}
