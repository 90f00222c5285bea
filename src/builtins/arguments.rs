//! Functions that read one argument of a built-in, with CPython 3.13's errors.
//!
//! ```text
//! 'a'.center('x')    'str' object cannot be interpreted as an integer
//! 'a'.find('a', '')  slice indices must be integers or None or have an __index__ method
//! ```

use crate::error::{Error, ErrorKind, Result};
use crate::number::IntRef;
use crate::value::{Arguments, Runtime, Str, Value, ops, print};

/// Takes an argument out of the list. An absent one is `None`, so this suits required parameters and those whose default is `None`.
pub fn take_or_none<'a>(arguments: &mut Arguments<'a>, index: usize) -> Value<'a> {
    arguments.take(index).unwrap_or(Value::None)
}

/// Returns whether an argument is true. An absent one is false.
pub fn is_flag_set<'a>(runtime: &mut Runtime<'a>, arguments: &Arguments<'a>, index: usize) -> Result<bool> {
    match arguments.get(index) {
        Some(value) => ops::is_true(runtime, value),
        None => Ok(false),
    }
}

/// Returns Python's `str(value)`, which makes a plain string of a Markup.
pub fn to_plain_str<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Str<'a>> {
    Ok(print::to_str(runtime, value)?.with_markup(false))
}

/// Returns the error of a method whose object is not of the type that has the method. The lookup of the method excludes this.
#[cold]
pub fn wrong_receiver(python: &str) -> Error {
    Error::internal(format!("a method of '{python}' was called on an object of another type"))
}

/// Takes the string or Markup that a method is called on.
pub fn take_str_receiver<'a>(arguments: &mut Arguments<'a>) -> Result<Str<'a>> {
    match arguments.take(0) {
        Some(Value::Str(text)) => Ok(text),
        _ => Err(wrong_receiver("str")),
    }
}

/// Returns a string argument. An argument of another type is a TypeError; `message` makes its text from the name of the type.
pub fn require_str<'a>(argument: Option<Value<'a>>, message: impl FnOnce(&str) -> String) -> Result<Str<'a>> {
    match argument {
        Some(Value::Str(text)) => Ok(text),
        other => {
            let ty = other.as_ref().map_or("NoneType", |value| value.ty().name());
            Err(Error::type_error(message(ty)))
        }
    }
}

/// Returns the TypeError of joining a value that is not a string.
#[cold]
pub fn not_a_string(index: usize, value: &Value<'_>) -> Error {
    let ty = value.ty().name();
    Error::type_error(format!("sequence item {index}: expected str instance, {ty} found"))
}

/// Returns a string argument, with the TypeError of Argument Clinic: `replace() argument 1 must be str, not None`.
pub fn require_clinic_str<'a>(argument: Option<Value<'a>>, which: &str) -> Result<Str<'a>> {
    let is_none = matches!(argument, None | Some(Value::None));
    require_str(argument, |ty| {
        format!("{which} must be str, not {}", if is_none { "None" } else { ty })
    })
}

/// Reads an argument as CPython's `Py_ssize_t`. An absent one has the default.
pub fn read_size(argument: Option<&Value<'_>>, default: i64) -> Result<i64> {
    let Some(value) = argument else { return Ok(default) };
    match value.as_integer() {
        Some(IntRef::Small(small)) => Ok(small),
        Some(IntRef::Big(_)) => Err(overflow("Python int too large to convert to C ssize_t")),
        None => value.index(),
    }
}

/// Reads an argument as a C `int`. An absent one has the default.
pub fn read_c_int(argument: Option<&Value<'_>>, default: i32) -> Result<i32> {
    let Some(value) = argument else { return Ok(default) };
    match value.as_integer() {
        Some(IntRef::Small(small)) => i32::try_from(small).map_err(|_| overflow("Python int too large to convert to C int")),
        Some(IntRef::Big(_)) => Err(overflow("Python int too large to convert to C int")),
        None => Err(value.index().err().unwrap_or_else(|| wrong_receiver("int"))),
    }
}

/// Reads a bound of `str.find`, `str.count` and similar methods. An integer that does not fit in an `i64` becomes the nearest one.
pub fn read_bound(argument: Option<&Value<'_>>) -> Result<Option<i64>> {
    match argument {
        None | Some(Value::None) => Ok(None),
        Some(value) => match value.clamped_index() {
            None => Err(Error::type_error(
                "slice indices must be integers or None or have an __index__ method",
            )),
            index => Ok(index),
        },
    }
}

/// Reads a bound of `list.index`, which cannot be `None`. An absent one has the default.
pub fn read_bound_not_none(argument: Option<&Value<'_>>, default: i64) -> Result<i64> {
    let Some(value) = argument else { return Ok(default) };
    let index = value.clamped_index();
    index.ok_or_else(|| Error::type_error("slice indices must be integers or have an __index__ method"))
}

#[cold]
fn overflow(message: &str) -> Error {
    Error::new(ErrorKind::Overflow, message)
}
