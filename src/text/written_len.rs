//! The length of a text before it is written.
//!
//! ```text
//! written_len(|output| escape::write_escaped(output, "a<b"))           6
//! write_to_string(|output| escape::write_escaped(output, "a<b"))       "a&lt;b"
//! ```
//!
//! A caller measures a text, charges its length to the meter, and then writes it.

use std::fmt;

/// A writer that counts bytes and discards them.
#[derive(Debug, Default)]
pub struct Length {
    bytes: usize,
}

impl Length {
    /// Returns the number of bytes that were written, saturating.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl fmt::Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes = self.bytes.saturating_add(text.len());
        Ok(())
    }
}

/// Returns the number of bytes that a function writes, saturating.
pub fn written_len(write: impl FnOnce(&mut Length) -> fmt::Result) -> usize {
    let mut length = Length::default();
    // Counting cannot fail. If the function fails, the bytes so far are counted.
    let _ = write(&mut length);
    length.bytes
}

/// Returns the text that a function writes.
pub fn write_to_string(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut output = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut output);
    output
}
