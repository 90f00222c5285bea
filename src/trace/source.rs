//! The origin and the owner of a piece in a small form.

use super::known::StringId;

/// The origin of a piece, by indices that only its render knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceOrigin {
    /// A `{% generation %}` block wrote these bytes. Other pieces have the origins of the same bytes.
    Generation,
    /// Copied from this place in memory. An [`InputMap`](super::InputMap) knows what is there.
    Memory(Address),
    /// The template's text or a literal that begins on this line.
    Template(u32),
    /// A special token, by the index of its path in the [`InputMap`](super::InputMap).
    Token(u32),
    /// A part of a string or a key of the input, and the byte at which the part begins.
    Input(StringId, u32),
    /// Made from strings of the input: the index of the set of their paths.
    Changed(u32),
    /// Made from the time of the clock.
    Clock,
    /// None of these: a number, the punctuation of a printed list.
    Made,
}

/// An address in memory. It is stored as bytes, which need no alignment, so that a piece is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address([u8; size_of::<usize>()]);

impl Address {
    /// Returns the address of a string.
    pub fn of(text: &str) -> Self {
        Self(text.as_ptr().addr().to_ne_bytes())
    }

    /// Returns the address as a number.
    pub fn get(self) -> usize {
        usize::from_ne_bytes(self.0)
    }

    /// Returns the address a number of bytes later.
    #[must_use]
    pub fn after(self, bytes: usize) -> Self {
        Self(self.get().wrapping_add(bytes).to_ne_bytes())
    }
}

/// The message that owns a piece, if one does: the message in whose turn the piece was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(u32);

impl Owner {
    /// No message.
    pub const NONE: Self = Self(u32::MAX);

    /// Returns the owner for the message with an index.
    pub fn message(index: usize) -> Self {
        Self(to_offset(index))
    }

    /// Returns the index of the message.
    pub fn index(self) -> Option<usize> {
        (self != Self::NONE).then_some(self.0 as usize)
    }

    /// Returns the owner, or another one if there is none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self == Self::NONE { other } else { self }
    }
}

impl Default for Owner {
    fn default() -> Self {
        Self::NONE
    }
}

/// The number of items that a list has memory for from the start. A short conversation needs no more, and glibc's allocator is fastest for
/// blocks of at most 1032 bytes.
pub(super) const FEW: usize = 32;

/// The unused capacity that a finished list or text may keep, in items or bytes.
const MAX_SPARE: usize = 512;

/// Frees the unused memory of a list to which no more items are added, unless it is little.
pub(super) fn free_spare<T>(list: &mut Vec<T>) {
    if list.capacity().saturating_sub(list.len()) > MAX_SPARE {
        list.shrink_to_fit();
    }
}

/// Frees the unused memory of a string to which nothing more is added, unless it is little.
pub fn free_spare_text(text: &mut String) {
    if text.capacity().saturating_sub(text.len()) > MAX_SPARE {
        text.shrink_to_fit();
    }
}

/// Converts an offset to 32 bits. An offset that does not fit becomes `u32::MAX`.
pub(super) fn to_offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
