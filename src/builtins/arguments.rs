//! Functions that read one argument of a built-in, with CPython 3.13's errors.
//!
//! ```text
//! 'a'.center('x')    'str' object cannot be interpreted as an integer
//! 'a'.find('a', '')  slice indices must be integers or None or have an __index__ method
//! ```

use crate::error::{Error, ErrorKind, Result};
use crate::number::IntRef;
use crate::value::{Runtime, Str, Value, print};

/// Returns Python's `str(value)`, which makes a plain string of a Markup.
pub fn to_plain_str<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Str<'a>> {
    Ok(print::to_str(runtime, value)?.with_markup(false))
}

/// Returns the error of calling a method on an object of another type. It never occurs, because the method is looked up in the type of the
/// object.
#[cold]
pub fn wrong_receiver(python: &str) -> Error {
    Error::internal(format!("a method of '{python}' was called on an object of another type"))
}

/// Returns a string argument. An argument of another type is a TypeError; `message` makes its text from the name of the type.
pub fn require_str<'a>(argument: Value<'a>, message: impl FnOnce(&str) -> String) -> Result<Str<'a>> {
    match argument {
        Value::Str(text) => Ok(text),
        other => Err(Error::type_error(message(other.ty().name()))),
    }
}

/// Returns the TypeError of joining a value that is not a string.
#[cold]
pub fn not_a_string(index: usize, value: &Value<'_>) -> Error {
    let ty = value.ty().name();
    Error::type_error(format!("sequence item {index}: expected str instance, {ty} found"))
}

/// Returns a string argument, with the TypeError of Argument Clinic: `replace() argument 1 must be str, not None`.
pub fn require_clinic_str<'a>(argument: Value<'a>, which: &str) -> Result<Str<'a>> {
    let is_none = matches!(argument, Value::None);
    require_str(argument, |ty| {
        format!("{which} must be str, not {}", if is_none { "None" } else { ty })
    })
}

/// Reads an argument as CPython's `Py_ssize_t`.
pub fn read_size(value: &Value<'_>) -> Result<i64> {
    match value.as_integer() {
        Some(IntRef::Small(small)) => Ok(small),
        Some(_) => Err(overflow("Python int too large to convert to C ssize_t")),
        None => value.index(),
    }
}

/// Reads an argument as a C `int`.
pub fn read_c_int(value: &Value<'_>) -> Result<i32> {
    match value.as_integer() {
        Some(IntRef::Small(small)) => i32::try_from(small).map_err(|_| overflow("Python int too large to convert to C int")),
        Some(_) => Err(overflow("Python int too large to convert to C int")),
        None => Err(value.index().err().unwrap_or_else(|| wrong_receiver("int"))),
    }
}

/// Reads a bound of `list.index`, which cannot be `None`.
pub fn read_bound_not_none(value: &Value<'_>) -> Result<i64> {
    let index = value.clamped_index();
    index.ok_or_else(|| Error::type_error("slice indices must be integers or have an __index__ method"))
}

#[cold]
fn overflow(message: &str) -> Error {
    Error::new(ErrorKind::Overflow, message)
}
