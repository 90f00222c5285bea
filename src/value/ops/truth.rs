//! Python's `bool(value)`: empty containers and strings, zeros, `None` and undefined values are false, everything else is true, even
//! `'0'`.

use crate::error::Result;
use crate::value::{Runtime, Value};

#[inline]
pub fn is_true<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<bool> {
    Ok(match value {
        Value::Bool(bool) => *bool,
        Value::None | Value::Undefined(_) => false,
        Value::Str(text) => !text.as_str().is_empty(),
        Value::List(items) | Value::Tuple(items) => !items.is_empty(),
        Value::Dict(dict) => !dict.is_empty(),
        Value::Keys(view) | Value::Values(view) | Value::Items(view) => !view.is_empty(),
        Value::Int(int) => *int != 0,
        Value::Float(float) => *float != 0.0,
        Value::Range(range) => range.len != 0,
        // Its length decides, and computing the length can drain the iterable.
        Value::Loop(context) => context.length(runtime)? != 0,
        _ => true,
    })
}
