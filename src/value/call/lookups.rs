//! Lookups by name in the tables of the built-ins, for code below these tables.
//!
//! ```text
//! {{ "{0.name}".format(user) }}    looks up an attribute
//! {{ words|map("upper") }}         looks up a filter
//! ```

use super::Function;
use crate::error::Result;
use crate::value::{Runtime, Str, Value};

/// The lookups by name that code below the built-ins needs during a render. The built-ins provide them in [`Runtime::lookups`].
#[derive(Debug)]
pub struct Lookups {
    /// Returns `value.name`.
    pub attribute: for<'a> fn(&mut Runtime<'a>, &Value<'a>, &Str<'a>) -> Result<Value<'a>>,
    /// Returns `value[key]`.
    pub item: for<'a> fn(&mut Runtime<'a>, &Value<'a>, &Value<'a>) -> Result<Value<'a>>,
    /// Returns the filter with the given name.
    pub filter: fn(&str) -> Option<&'static Function>,
    /// Returns the Jinja test with the given name.
    pub test: fn(&str) -> Option<&'static Function>,
}
