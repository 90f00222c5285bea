//! The values of the input, and their strings and keys sorted by address.
//!
//! ```text
//! /messages/0/role at 0x10, 4 bytes   /messages/2/role at 0x10, 4 bytes   ->   one string, which is shared
//! ```

use std::cmp::Reverse;

/// How a value is in its container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Under a key of an object, or the root.
    Entry,
    /// The item of a list.
    Item,
    /// The text of a special token, whose key is its name.
    Token,
}

/// The strings of a value of the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    /// The string, or an empty one for another value.
    pub text: &'a str,
    /// The key under which the value is.
    pub key: &'a str,
}

/// A string or a key of the input: twice the index of its value, and one more for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StringId(pub(super) u32);

impl StringId {
    pub fn value(index: u32) -> Self {
        Self(index << 1)
    }

    pub fn key(index: u32) -> Self {
        Self(index << 1 | 1)
    }

    /// Returns the index of the value.
    pub fn index(self) -> u32 {
        self.0 >> 1
    }

    pub fn is_key(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The place of a string or a key in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    /// The addresses of the first byte and of the end.
    pub start: usize,
    pub end: usize,
    pub string: StringId,
    /// Whether another string of the input is in the same memory.
    pub is_shared: bool,
}

impl Spot {
    pub fn new(text: &str, string: StringId) -> Self {
        let addresses = text.as_bytes().as_ptr_range();
        Self {
            start: addresses.start.addr(),
            end: addresses.end.addr(),
            string,
            is_shared: false,
        }
    }

    /// Returns whether the string contains the start of another one. An empty one can also be at the end.
    #[inline(always)]
    pub fn has(&self, address: usize, length: usize) -> bool {
        has_start(self.start, self.end, address, length)
    }
}

/// Returns whether a string that is not empty contains the start of another one, as [`Spot::has`] does.
#[inline]
pub(super) fn holds(text: &str, address: usize, length: usize) -> bool {
    let start = text.as_ptr().addr();
    !text.is_empty() && has_start(start, start + text.len(), address, length)
}

#[inline(always)]
fn has_start(start: usize, end: usize, address: usize, length: usize) -> bool {
    start <= address && address < end.saturating_add(usize::from(length == 0))
}

/// Sorts strings by address. Of several strings at one address, a value is kept before keys, and of values the longest, and is shared. Returns
/// whether a string is in the memory of one that begins earlier.
pub(super) fn sort_by_address(spots: &mut Vec<Spot>) -> bool {
    spots.sort_unstable_by_key(|spot| spot.start);
    let mut overlaps = false;
    spots.dedup_by(|next, kept| {
        let order = |spot: &Spot| (spot.string.is_key(), Reverse(spot.end), spot.string.index());
        let is_same = next.start == kept.start;
        if is_same && order(next) < order(kept) {
            *kept = *next;
        }
        kept.is_shared |= is_same;
        overlaps |= !is_same && next.start < kept.end;
        is_same
    });
    overlaps
}
