//! Which values of the input a render wrote to its output, by their addresses.
//!
//! ```text
//! <s>{{ message.content|trim }}{{ tool|tojson }}   ->   bytes 3..5 are the string of 2 bytes at 0x7f32c0a1,
//!                                                       bytes 5..61 the JSON of the object at 0x7f32c0e8
//! ```
//!
//! The address shows which value was written, and which part of a string. A value that the render made has no address in the input. A text
//! that the render makes from other texts has writes of its own, which are copied wherever the text is written.

use std::ops::Range;

/// The maximum number of writes that are recorded. The last one covers all output after it, and counts as made by the render.
const MAX_WRITES: usize = 1 << 20;

/// A value that was written to a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The bytes of the text.
    pub output: Range<usize>,
    /// The bytes of the string in memory. An object has the empty range at its address, and a value made by the render has 0..0.
    pub memory: Range<usize>,
}

impl Write {
    /// Returns whether the render made the value.
    pub fn is_made(&self) -> bool {
        self.memory.end == 0
    }

    /// Returns whether the value is an object, written as JSON. An empty string has an empty range too, but no output.
    pub fn is_object(&self) -> bool {
        self.memory.is_empty() && !self.output.is_empty() && !self.is_made()
    }

    /// Returns the memory of what was written to `part` of the text, and the number of bytes that were read to find it. If the part leaves
    /// out only brackets of an object, this is the whole object; any other part of an object counts as made by the render.
    fn cut(&self, part: &Range<usize>, text: &str) -> (Range<usize>, usize) {
        let (before, after) = (self.output.start..part.start, part.end..self.output.end);
        if self.memory.len() == self.output.len() {
            let start = self.memory.start.saturating_add(before.len());
            return (start..start.saturating_add(part.len()), 0);
        }
        let mut read = 0_usize;
        let mut leaves_out = |range: Range<usize>| {
            let Some(out) = text.get(range) else { return true };
            let rest = out.trim_matches(['{', '}', '[', ']']).trim();
            read = read.saturating_add(out.len().saturating_sub(rest.len()));
            !rest.is_empty()
        };
        let memory = match self.is_object() && !leaves_out(before) && !leaves_out(after) {
            true => self.memory.clone(),
            false => 0..0,
        };
        (memory, read)
    }
}

/// The values that were written to a text, in their order. The text of the template between them is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writes(Vec<Write>);

impl Writes {
    /// Makes a list that has room for a number of writes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity.min(MAX_WRITES)))
    }

    /// Returns the memory of the list in bytes.
    pub fn bytes(&self) -> usize {
        self.0.capacity().saturating_mul(size_of::<Write>())
    }

    /// Adds a write.
    pub fn push(&mut self, output: Range<usize>, memory: Range<usize>) {
        if self.0.len() < MAX_WRITES {
            self.0.push(Write { output, memory });
        } else if let Some(last) = self.0.last_mut() {
            (last.output.end, last.memory) = (output.end, 0..0);
        }
    }

    /// Returns the writes that have bytes in a range.
    fn overlapping(&self, range: &Range<usize>) -> &[Write] {
        let first = self.0.partition_point(|write| write.output.end <= range.start);
        let rest = self.0.get(first..).unwrap_or_default();
        let count = rest.partition_point(|write| write.output.start < range.end);
        rest.get(..count).unwrap_or_default()
    }

    /// Returns the number of writes that have bytes in a range.
    pub fn count_in(&self, range: &Range<usize>) -> usize {
        self.overlapping(range).len()
    }

    /// Adds the writes of another text, a range of which is written to this text at the byte `at`. Returns the number of bytes of the text
    /// that were read.
    pub fn append_view(&mut self, from: &Self, text: &str, view: &Range<usize>, at: usize) -> usize {
        let mut read = 0_usize;
        for write in from.overlapping(view) {
            let part = write.output.start.max(view.start)..write.output.end.min(view.end);
            let memory = match part == write.output {
                true => write.memory.clone(),
                false => {
                    let (memory, bytes) = write.cut(&part, text);
                    read = read.saturating_add(bytes);
                    memory
                }
            };
            let shift = |byte: usize| byte.saturating_sub(view.start).saturating_add(at);
            self.push(shift(part.start)..shift(part.end), memory);
        }
        read
    }

    /// Removes the writes from a byte on, where the text was cut. A write that was cut counts as made by the render.
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

/// Returns the address of an object of the input, for [`Write::memory`].
pub fn address_of<T>(object: &T) -> usize {
    std::ptr::from_ref(object).addr()
}
