//! What methods written in C do to their arguments before anything else, with CPython 3.11's complaints.
//!
//! ```text
//! 'a'.center('x')    'str' object cannot be interpreted as an integer
//! 'a'.find('a', '')  slice indices must be integers or None or have an __index__ method
//! ```
//!
//! Which parameter is which, the methods know.

use crate::error::{Error, ErrorKind, Result};
use crate::number::IntRef;
use crate::value::{Arguments, Str, Value};

/// An object that a method was looked up on is of the type that has the method, so this cannot happen.
#[cold]
pub fn wrong_receiver(python: &str) -> Error {
    Error::internal(format!("descriptor of '{python}' was given another object"))
}

/// The string that a method of `str` or Markup was called on.
pub fn receiver<'a>(arguments: &mut Arguments<'a>) -> Result<Str<'a>> {
    match arguments.take(0) {
        Some(Value::Str(text)) => Ok(text),
        _ => Err(wrong_receiver("str")),
    }
}

/// A string, or the TypeError that the complaint gives for the type's name.
pub fn text<'a>(argument: Option<Value<'a>>, complaint: impl FnOnce(&str) -> String) -> Result<Str<'a>> {
    match argument {
        Some(Value::Str(text)) => Ok(text),
        other => {
            let ty = other.as_ref().map_or("NoneType", |value| value.ty().name());
            Err(Error::type_error(complaint(ty)))
        }
    }
}

/// A string, or the TypeError of Argument Clinic, which calls None by its name: `replace() argument 1 must be str, not None`.
pub fn clinic_text<'a>(argument: Option<Value<'a>>, which: &str) -> Result<Str<'a>> {
    let is_none = matches!(argument, None | Some(Value::None));
    text(argument, |ty| {
        format!("{which} must be str, not {}", if is_none { "None" } else { ty })
    })
}

/// An argument with `__index__` as `Py_ssize_t`.
pub fn size(argument: Option<&Value<'_>>, default: i64) -> Result<i64> {
    let Some(value) = argument else { return Ok(default) };
    match value.as_integer() {
        Some(IntRef::Small(small)) => Ok(small),
        Some(IntRef::Big(_)) => Err(overflow("Python int too large to convert to C ssize_t")),
        None => value.index(),
    }
}

/// The same as a C `int`.
pub fn c_int(argument: Option<&Value<'_>>, default: i32) -> Result<i32> {
    let Some(value) = argument else { return Ok(default) };
    match value.as_integer() {
        Some(IntRef::Small(small)) => i32::try_from(small).map_err(|_| overflow("Python int too large to convert to C int")),
        Some(IntRef::Big(_)) => Err(overflow("Python int too large to convert to C int")),
        None => Err(value.index().err().unwrap_or_else(|| wrong_receiver("int"))),
    }
}

/// A bound of `find` and its family: None is none, and what is too large is brought to the nearest that fits.
pub fn bound(argument: Option<&Value<'_>>) -> Result<Option<i64>> {
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

/// A bound of `list.index`, which cannot be None.
pub fn bound_not_none(argument: Option<&Value<'_>>, default: i64) -> Result<i64> {
    let Some(value) = argument else { return Ok(default) };
    let index = value.clamped_index();
    index.ok_or_else(|| Error::type_error("slice indices must be integers or have an __index__ method"))
}

/// An OverflowError.
#[cold]
pub fn overflow(message: &str) -> Error {
    Error::new(ErrorKind::Overflow, message)
}
