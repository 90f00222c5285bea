//! What a `write_…` function writes: its length, or the text as a string.
//!
//! ```text
//! escape::write_escaped(&mut length, "a<b")                         length.bytes() is 6
//! write_to_string(|output| escape::write_escaped(output, "a<b"))    "a&lt;b"
//! ```

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
        self.bytes += text.len();
        Ok(())
    }
}

/// Returns the text that a function writes.
pub fn write_to_string(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut output = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut output);
    output
}

/// The number of bytes from which a string grows by a quarter. A shorter one doubles.
const LONG: usize = 1 << 20;

/// Appends to a string that may become long.
#[inline]
pub fn push(out: &mut String, text: &str) {
    if text.len() > out.capacity().wrapping_sub(out.len()) {
        reserve(out, text.len());
    }
    out.push_str(text);
}

/// Makes room for more bytes in a string that is full and may become long.
#[cold]
pub fn reserve(out: &mut String, bytes: usize) {
    match out.capacity() {
        ..LONG => out.reserve(bytes),
        long => out.reserve_exact(bytes.max(long / 4)),
    }
}
