//! HTML escaping: `markupsafe.escape`.
//!
//! ```text
//! escape("<a href='x'>")    "&lt;a href=&#39;x&#39;&gt;"
//! ```
//!
//! The rule is markupsafe 3.0.4 `_native.py` `_escape_inner`. The caller knows which strings are already escaped.

use std::borrow::Cow;
use std::fmt::{Result, Write};

/// Returns the HTML entity of a character that must be escaped. All these characters are ASCII.
fn find_entity(byte: u8) -> Option<&'static str> {
    match byte {
        b'&' => Some("&amp;"),
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        b'\'' => Some("&#39;"),
        b'"' => Some("&#34;"),
        _ => None,
    }
}

/// Writes the text with HTML special characters escaped.
pub fn write_escaped(output: &mut impl Write, text: &str) -> Result {
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if let Some(entity) = find_entity(byte) {
            output.write_str(text.get(plain_from..at).unwrap_or_default())?;
            output.write_str(entity)?;
            plain_from = at + 1;
        }
    }
    output.write_str(text.get(plain_from..).unwrap_or_default())
}

/// Returns the length in bytes of [`escape`]'s result.
pub fn escaped_len(text: &str) -> usize {
    text.bytes().map(|byte| find_entity(byte).map_or(1, str::len)).sum()
}

/// Returns the text with HTML special characters escaped, borrowed if there are none.
pub fn escape(text: &str) -> Cow<'_, str> {
    let len = escaped_len(text);
    if len == text.len() {
        return Cow::Borrowed(text);
    }
    let mut output = String::with_capacity(len);
    // Writing to a String cannot fail.
    let _ = write_escaped(&mut output, text);
    Cow::Owned(output)
}
