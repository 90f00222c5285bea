//! Which strings a render wrote to its output, by their addresses.
//!
//! ```text
//! <s>{{ message.content|trim }}   ->   bytes 3..5 are the string of 2 bytes at 0x7f32c0a1
//! ```
//!
//! The address tells which string of the input was written, and which part of it. Strings that the render made have none.

use std::ops::Range;

/// The most writes that are recorded. The output after them counts as one write.
const MOST: usize = 1 << 20;

/// A value that was written to an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The bytes of the output.
    pub output: Range<usize>,
    /// The bytes of the string in memory. Empty if the value is no string, or one that the render made.
    pub memory: Range<usize>,
}

/// The values that were written to an output, in their order. The text of the template between them is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writes(Vec<Write>);

impl Writes {
    /// Makes a list that has room for a number of writes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity.min(MOST)))
    }

    /// Adds a write.
    pub fn push(&mut self, output: Range<usize>, memory: Range<usize>) {
        if self.0.len() < MOST {
            self.0.push(Write { output, memory });
        } else if let Some(last) = self.0.last_mut() {
            (last.output.end, last.memory) = (output.end, 0..0);
        }
    }

    /// Removes what lies beyond the end of a text that was cut.
    pub fn truncate(&mut self, length: usize) {
        let count = self.0.partition_point(|write| write.output.start < length);
        self.0.truncate(count);
        if let Some(last) = self.0.last_mut().filter(|last| last.output.end > length) {
            (last.output.end, last.memory) = (length, 0..0);
        }
    }

    /// Returns the list.
    pub fn into_list(self) -> Vec<Write> {
        self.0
    }
}

/// Returns the bytes of a string in memory.
pub fn memory_of(text: &str) -> Range<usize> {
    let bytes = text.as_bytes().as_ptr_range();
    bytes.start.addr()..bytes.end.addr()
}
