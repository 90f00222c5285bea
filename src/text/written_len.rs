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

/// A writer that keeps the beginning of a text, and fails after that.
#[derive(Debug)]
pub struct Head {
    text: String,
    /// The number of bytes after which it fails.
    limit: usize,
}

impl fmt::Write for Head {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let left = self.limit.saturating_sub(self.text.len());
        let end = (left..text.len()).find(|end| text.is_char_boundary(*end));
        let Some(end) = end else {
            self.text.push_str(text);
            return Ok(());
        };
        self.text.push_str(text.get(..end).unwrap_or_default());
        Err(fmt::Error)
    }
}

/// Returns the beginning of the text that a function writes: all of it, or at least `limit` bytes. The function ends at its next write.
pub fn write_head(limit: usize, write: impl FnOnce(&mut Head) -> fmt::Result) -> String {
    let mut head = Head {
        text: String::new(),
        limit,
    };
    // It fails when the head is complete.
    let _ = write(&mut head);
    head.text
}
