//! markupsafe's `escape` of any value (markupsafe 3.0.4 `__init__.py`, `escape`).
//!
//! ```text
//! escape('<')      Markup('&lt;')
//! escape(markup)   markup
//! escape([1])      Markup('[1]')
//! ```
//!
//! The escapes themselves are in [`crate::text::escape`].

use std::borrow::Cow;

use super::runtime::Runtime;
use super::{Escapes, Str, Value, print};
use crate::error::Result;
use crate::text::escape;

impl Value<'_> {
    pub fn is_markup(&self) -> bool {
        matches!(self, Self::Str(text) if text.is_markup())
    }
}

/// Returns the value as a Markup. A Markup stays as it is; any other value is converted to a string and escaped.
pub fn escape<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Str<'a>> {
    let text = print::to_str(runtime, value)?;
    if text.is_markup() {
        return Ok(text);
    }
    escape_text(runtime, &text)
}

/// Returns a string as a Markup with its special characters escaped, even if it already is a Markup.
pub fn escape_text<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>) -> Result<Str<'a>> {
    runtime.meter.charge_scan(text.as_str().len())?;
    runtime.meter.check_size(escape::escaped_len(text.as_str()))?;
    let escaped = match escape::escape(text.as_str()) {
        Cow::Borrowed(_) => *text,
        Cow::Owned(escaped) => runtime.escaped_text(text, escaped, Escapes::Html)?,
    };
    Ok(escaped.with_markup(true))
}
