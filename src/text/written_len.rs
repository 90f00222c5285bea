//! The length of a text that is not made yet.
//!
//! ```text
//! written_len(|output| escape::write_escaped(output, "a<b"))    6
//! write_to_string(|output| escape::write_escaped(output, "a<b"))        "a&lt;b"
//! ```
//!
//! Knows nothing of limits: a caller asks for the length, charges it, and writes.

use std::fmt;

/// A writer that counts bytes and keeps none.
#[derive(Debug, Default)]
pub struct Length {
    bytes: usize,
}

impl fmt::Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes = self.bytes.saturating_add(text.len());
        Ok(())
    }
}

/// How many bytes the function writes, saturating.
pub fn written_len(write: impl FnOnce(&mut Length) -> fmt::Result) -> usize {
    let mut length = Length::default();
    // A length never refuses, so an error cannot come from the writer; what was counted stands.
    let _ = write(&mut length);
    length.bytes
}

/// What the function writes.
pub fn write_to_string(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut output = String::new();
    // A string never refuses either.
    let _ = write(&mut output);
    output
}
