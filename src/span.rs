//! Positions in a source as byte offsets. Lines and columns are computed by [`crate::source::Source`] only when they are needed.

/// A half-open range of bytes of a normalised source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span from `start` to `end`.
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Returns the smallest span that covers both spans.
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}
