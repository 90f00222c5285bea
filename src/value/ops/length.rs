//! Python's `len(value)`. A string is counted in code points, and an undefined value has length 0.

use crate::error::{Error, Result};
use crate::text::slice::char_count;
use crate::value::{Runtime, Value};

/// Returns the length of a value, or the error `object of type 'NoneType' has no len()`.
pub fn length<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<usize> {
    match try_length(runtime, value)? {
        Some(length) => Ok(length),
        None => Err(Error::type_error(format!(
            "object of type '{}' has no len()",
            value.ty().name()
        ))),
    }
}

/// Returns the length of a value, or `None` if it has none.
pub fn try_length<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Option<usize>> {
    Ok(Some(match value {
        Value::Str(text) => {
            runtime.meter.charge_bytes(text.as_str().len())?;
            char_count(text.as_str())
        }
        Value::List(items) | Value::Tuple(items) => items.len(),
        Value::Dict(dict) => dict.len(),
        Value::Keys(view) | Value::Values(view) | Value::Items(view) => view.len(),
        Value::Range(range) => usize::try_from(range.len).unwrap_or(0),
        Value::Undefined(_) => 0,
        Value::Loop(context) => usize::try_from(context.length(runtime)?).unwrap_or(0),
        _ => return Ok(None),
    }))
}
