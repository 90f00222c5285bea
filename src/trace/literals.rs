//! The string literals of a template, by address.

use super::source::PieceOrigin;

/// The string literals of a template, by address.
#[derive(Debug, Default)]
pub struct Literals(Vec<(usize, usize, u32)>);

impl Literals {
    /// Adds a literal that begins on a line.
    pub fn push(&mut self, text: &str, line: u32) {
        let start = text.as_ptr().addr();
        if !text.is_empty() {
            self.0.push((start, start + text.len(), line));
        }
    }

    /// Sorts the literals, after all are added.
    pub fn sort(&mut self) {
        self.0.sort_unstable();
    }

    /// Returns the origin of the literal with an index and the end of the literal, or `None` if an address is not in it.
    #[inline]
    pub(super) fn get(&self, index: usize, address: usize) -> Option<(PieceOrigin, usize)> {
        let (start, end, line) = *self.0.get(index)?;
        (start <= address && address < end).then_some((PieceOrigin::Template(line), end))
    }

    /// Returns the index of the last literal that begins at or before an address.
    pub(super) fn find_index(&self, address: usize) -> Option<usize> {
        self.0.partition_point(|(start, ..)| *start <= address).checked_sub(1)
    }

    /// Returns the address of the first literal after an address.
    pub(super) fn next_start(&self, address: usize) -> Option<usize> {
        let after = self.0.partition_point(|(start, ..)| *start <= address);
        self.0.get(after).map(|(start, ..)| *start)
    }
}
