//! The strings of the input, sorted by their addresses.
//!
//! ```text
//! /messages/0/role at 0x10, 4 bytes   /messages/2/role at 0x10, 4 bytes   ->   one string, which is shared
//! ```

use std::cmp::Reverse;

/// What a string of the input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A value of a container.
    Value,
    /// The key of an entry.
    Key,
    /// The text of a special token.
    Token,
}

/// A string of the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub text: &'a str,
    pub path: u32,
    pub role: Role,
    /// Whether another string of the input is in the same memory.
    pub is_shared: bool,
}

impl<'a> Known<'a> {
    pub fn new(text: &'a str, path: u32, role: Role) -> Self {
        let is_shared = false;
        Self {
            text,
            path,
            role,
            is_shared,
        }
    }

    pub fn address(&self) -> usize {
        start(self.text)
    }

    pub fn end(&self) -> usize {
        end(self.text)
    }
}

fn start(text: &str) -> usize {
    text.as_ptr().addr()
}

fn end(text: &str) -> usize {
    text.as_bytes().as_ptr_range().end.addr()
}

/// Sorts strings by address. Of several strings at one address, the longest is kept, with the first of its paths, and is shared. Returns
/// whether a string is in the memory of one that begins earlier.
pub(super) fn sort_by_address(strings: &mut Vec<Known<'_>>) -> bool {
    strings.sort_unstable_by_key(Known::address);
    let mut overlaps = false;
    strings.dedup_by(|next, kept| {
        let order = |known: &Known<'_>| (Reverse(known.text.len()), known.path);
        let is_same = next.address() == kept.address();
        if is_same && order(next) < order(kept) {
            *kept = *next;
        }
        kept.is_shared |= is_same;
        overlaps |= !is_same && next.address() < kept.end();
        is_same
    });
    overlaps
}

/// Marks the sorted strings in whose memory a key is.
pub(super) fn mark_shared(strings: &mut [Known<'_>], mut keys: Vec<&str>) {
    keys.sort_unstable_by_key(|key| start(key));
    let mut keys = keys.into_iter().peekable();
    for known in strings {
        while keys.next_if(|key| end(key) <= known.address()).is_some() {}
        known.is_shared |= keys.peek().is_some_and(|key| start(key) < known.end());
    }
}
