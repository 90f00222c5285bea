//! The texts that the origins of segments share.

use super::pieces::{FEW, free_spare, free_spare_text, to_offset};

/// The JSON pointers and the names of special tokens in the segments of one output, each stored once.
#[derive(Debug, Default)]
pub(super) struct Texts {
    text: String,
    /// The end of each text.
    ends: Vec<u32>,
    /// The indices of the texts in each set.
    sets: Vec<Box<[u32]>>,
}

/// The bytes of the texts of a short output.
const TEXT_BYTES: usize = 512;

impl Texts {
    /// Makes texts with memory for those of a short output.
    pub fn with_capacity() -> Self {
        Self {
            text: String::with_capacity(TEXT_BYTES),
            ends: Vec::with_capacity(FEW),
            sets: Vec::new(),
        }
    }

    /// Adds a text and returns its index. `write` appends the text.
    pub fn add(&mut self, write: impl FnOnce(&mut String)) -> u32 {
        write(&mut self.text);
        self.ends.push(to_offset(self.text.len()));
        to_offset(self.ends.len().saturating_sub(1))
    }

    /// Adds a set of texts and returns its index.
    pub fn add_set(&mut self, texts: Box<[u32]>) -> u32 {
        self.sets.push(texts);
        to_offset(self.sets.len().saturating_sub(1))
    }

    /// Frees the memory that is not needed when no more texts are added.
    pub fn finish(&mut self) {
        free_spare(&mut self.ends);
        free_spare_text(&mut self.text);
    }

    /// Returns the text with this index.
    pub fn get(&self, index: u32) -> &str {
        let index = index as usize;
        let before = index.checked_sub(1).and_then(|before| self.ends.get(before));
        let range = before.map_or(0, |end| *end as usize)..self.ends.get(index).map_or(0, |end| *end as usize);
        self.text.get(range).unwrap_or_default()
    }

    /// Returns the indices of the texts of a set.
    pub fn set(&self, index: u32) -> &[u32] {
        self.sets.get(index as usize).map_or(&[], |set| set)
    }
}
