//! Python's `list(value)`.

use crate::error::Result;
use crate::value::{Iter, Runtime, Value};

/// Returns the items of `list(value)`.
pub fn collect<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Vec<Value<'a>>> {
    Iter::new(value)?.drain(runtime)
}
