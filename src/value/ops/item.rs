//! Python's `x[key]`, with its exceptions.
//!
//! ```text
//! d['x']       KeyError: 'x'
//! l[9]         IndexError: list index out of range
//! none[0]      TypeError: 'NoneType' object is not subscriptable
//! ```
//!
//! In a template, `x[key]` does not raise these: the built-ins turn them into an undefined value, as Jinja's environment does. Slices
//! are in [`slice`](mod@super::slice). The rules are those of CPython 3.13 `abstract.c` `PyObject_GetItem`.

use super::slice::not_subscriptable;
use crate::error::{Error, ErrorKind, Result};
use crate::text::slice;
use crate::value::{Dict, Runtime, Value, print};

pub fn get_item<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, key: &Value<'a>) -> Result<Value<'a>> {
    let item = match value {
        Value::Dict(dict) => return entry(runtime, dict, key),
        Value::List(items) | Value::Tuple(items) => position(value, key, items.len())?.and_then(|at| items.get(at)),
        Value::Str(text) => {
            runtime.meter.charge_bytes(text.as_str().len())?;
            let index = index(value, key)?;
            let piece = index.and_then(|index| slice::char_at(text.as_str(), index));
            piece.map(|piece| Value::Str(text.piece(piece)))
        }
        Value::Range(range) => {
            let len = usize::try_from(range.len).unwrap_or(usize::MAX);
            position(value, key, len)?
                .and_then(|at| range.item(i64::try_from(at).ok()?))
                .map(Value::Int)
        }
        Value::Undefined(undefined) => return Err(undefined.error()),
        _ => return Err(not_subscriptable(value)),
    };
    item.ok_or_else(|| out_of_range(value))
}

fn entry<'a>(runtime: &mut Runtime<'a>, dict: &Dict<'a>, key: &Value<'a>) -> Result<Value<'a>> {
    match runtime.find_key(dict, key)? {
        Some(value) => Ok(value),
        None => Err(Error::new(ErrorKind::Key, print::repr(runtime, key)?)),
    }
}

#[cold]
fn out_of_range(value: &Value<'_>) -> Error {
    let what = match value {
        Value::List(_) => "list index",
        Value::Tuple(_) => "tuple index",
        Value::Str(_) => "string index",
        Value::Range(_) => "range object index",
        _ => "index",
    };
    Error::new(ErrorKind::Index, format!("{what} out of range"))
}

/// Returns the key as an index, or `None` for an integer that is out of range of every sequence.
fn index(value: &Value<'_>, key: &Value<'_>) -> Result<Option<i64>> {
    match key {
        Value::Big(_) => Ok(None),
        key => key.as_int().map(Some).ok_or_else(|| not_an_index(value, key)),
    }
}

#[cold]
fn not_an_index(value: &Value<'_>, key: &Value<'_>) -> Error {
    let key = key.ty().name();
    Error::type_error(match value {
        Value::Str(_) => format!("string indices must be integers, not '{key}'"),
        _ => format!("{} indices must be integers or slices, not {key}", value.ty().name()),
    })
}

/// Returns the position of an index in a sequence, or `None` if it is out of range.
fn position(value: &Value<'_>, key: &Value<'_>, len: usize) -> Result<Option<usize>> {
    let Some(index) = index(value, key)? else { return Ok(None) };
    Ok(slice::resolve_index(index, len).filter(|position| *position < len))
}
