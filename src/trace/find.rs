//! Finds the string or the literal at an address.
//!
//! ```text
//! a piece of message 3 at 0x7f32c0a3   ->   byte 2 of the value of `content` in message 3
//! ```
//!
//! If no two strings of the input share memory, the fields of a message are added when the first piece that it owns is looked for, and what
//! is in them when a piece is in no field. A string that is not in its message adds all messages.

use std::ops::Range;

use super::known::{Spot, StringId, holds};
use super::map::{InputMap, RECENT};
use super::source::{Owner, PieceOrigin, to_offset};

/// The largest number of values of a message whose strings are compared one after the other. If a message has more, all strings are sorted
/// and searched by address.
const MAX_NEAR: usize = 48;

/// Returns the index in [`InputMap::recent`] of a literal at an address. The allocator aligns literals to 16 bytes, and few are shorter.
fn recent_place(address: usize) -> usize {
    (address >> 4) % RECENT
}

impl InputMap<'_> {
    /// Adds the fields of the message that owns the next string to look for. If none does, it may be in the first message: most templates
    /// write that before the loop over the others.
    #[inline]
    pub fn approach(&mut self, owner: Owner) {
        let owner = owner.or(Owner::message(0));
        if owner != self.near && self.unseen.is_some() {
            if let Some(message) = owner.index() {
                self.near = owner;
                if self.messages.get(message).is_none_or(|[fields, _]| fields.is_empty()) {
                    self.add_message(message);
                }
            }
        }
    }

    /// Adds the fields of a message. If the map has them already, adds the values in the fields. Returns whether a value was added.
    fn add_message(&mut self, message: usize) -> bool {
        if self.messages.len() <= message {
            self.messages.resize(message.saturating_add(1), [0..0, 0..0]);
        }
        let start = self.values.len();
        if let (Some(mut unseen), Some([fields, _])) = (self.unseen.take(), self.messages.get(message)) {
            let is_new = fields.is_empty();
            match is_new {
                true => unseen.add_fields(self, message),
                false => unseen.add_nested(self, message),
            }
            self.unseen = Some(unseen);
            let added = start..self.values.len();
            if let Some([fields, nested]) = self.messages.get_mut(message) {
                *(if is_new { fields } else { nested }) = added;
            }
        }
        let added = self.values.len() - start;
        if added > MAX_NEAR {
            self.add_unseen();
        }
        added > 0
    }

    /// Adds all messages that the map does not have yet.
    #[cold]
    pub(super) fn add_unseen(&mut self) {
        if let Some(mut unseen) = self.unseen.take() {
            for message in 0..unseen.count() {
                if self.messages.get(message).is_none_or(|[fields, _]| fields.is_empty()) {
                    unseen.add_fields(self, message);
                }
                unseen.add_nested(self, message);
            }
            (self.near, self.messages) = (Owner::NONE, Vec::new());
            self.sort();
        }
    }

    /// Returns the origin of the text at an address, and the address after the last byte with that origin. An empty string can also be at
    /// the end of a known one.
    #[inline]
    pub(super) fn find(&mut self, address: usize, length: usize) -> (PieceOrigin, usize) {
        if let Some(spot) = self.find_near(address, length) {
            return self.source(spot, address);
        }
        // A template often writes its literals and the strings in the order in which they are in memory.
        let last = self.last_spot;
        for near in [last.wrapping_add(1), last, last.wrapping_add(2)] {
            if let Some(spot) = self.spots.get(near).filter(|spot| spot.has(address, length)).copied() {
                self.last_spot = near;
                return self.source(spot, address);
            }
        }
        let recent = self.recent.get(recent_place(address)).copied().unwrap_or_default();
        if let Some(found) = self.find_literal(recent, address) {
            return found;
        }
        self.search(address, length)
    }

    /// Returns the string that contains the start of another one, if it is a value in the message that [`InputMap::approach`] was called
    /// for.
    #[inline]
    fn find_near(&self, address: usize, length: usize) -> Option<Spot> {
        let [fields, nested] = self.messages.get(self.near.index()?)?;
        let find = |range: &Range<usize>| {
            let place = (self.values.get(range.clone())?.iter()).position(|value| holds(value.text, address, length))?;
            let index = range.start + place;
            Some(Spot::new(self.values.get(index)?.text, StringId::value(to_offset(index))))
        };
        find(fields).or_else(|| find(nested))
    }

    /// Returns the key that contains the start of a string, as [`InputMap::find_near`] does.
    fn find_near_key(&self, address: usize, length: usize) -> Option<Spot> {
        let ranges = self.messages.get(self.near.index()?)?;
        let mut values = ranges.iter().cloned().flatten();
        let key = |index: usize| self.values.get(index).map_or("", |value| value.key);
        let index = values.find(|index| holds(key(*index), address, length))?;
        Some(Spot::new(key(index), StringId::key(to_offset(index))))
    }

    /// Searches for the text at an address, as [`InputMap::find`] does, among all strings and literals.
    #[inline(never)]
    fn search(&mut self, address: usize, length: usize) -> (PieceOrigin, usize) {
        if let Some(spot) = self.find_near_key(address, length) {
            return self.source(spot, address);
        }
        if let Some(spot) = self.find_spot(address, length) {
            return self.source(spot, address);
        }
        let literal = self.literals.and_then(|literals| literals.find_index(address));
        if let Some(found) = literal.and_then(|literal| self.find_literal(literal, address)) {
            return found;
        }
        if length == 0 {
            return (PieceOrigin::Made, address);
        }
        if self.unseen.is_some() {
            if !self.near.index().is_some_and(|message| self.add_message(message)) {
                self.add_unseen();
            }
            return self.find(address, length);
        }
        (PieceOrigin::Made, self.next_start(address))
    }

    /// Returns the origin of the literal with an index and the address after it, or `None` if an address is not in it.
    #[inline]
    fn find_literal(&mut self, index: usize, address: usize) -> Option<(PieceOrigin, usize)> {
        let found = self.literals?.get(index, address)?;
        if let Some(recent) = self.recent.get_mut(recent_place(address)) {
            *recent = index;
        }
        Some(found)
    }

    /// Returns the address of the first known string after an address.
    #[cold]
    fn next_start(&self, address: usize) -> usize {
        let after = self.spots.partition_point(|spot| spot.start <= address);
        let string = self.spots.get(after).map(|spot| spot.start);
        let literal = self.literals.and_then(|literals| literals.next_start(address));
        string.into_iter().chain(literal).min().unwrap_or(usize::MAX)
    }

    /// Returns the origin of a place in a string, and the address after the string.
    fn source(&mut self, spot: Spot, address: usize) -> (PieceOrigin, usize) {
        self.is_ambiguous |= spot.is_shared;
        let index = spot.string.index();
        let source = match u32::try_from(address.saturating_sub(spot.start)) {
            _ if !spot.string.is_key() && self.paths.is_token(index) => PieceOrigin::Token(index),
            Ok(at) => PieceOrigin::Input(spot.string, at),
            // A place after the first 4 GiB of a string does not fit.
            Err(_) => self.changed(index),
        };
        (source, spot.end)
    }

    /// Returns the string or key that contains the start of a string, which is given by its address and length.
    pub(super) fn find_spot(&mut self, address: usize, length: usize) -> Option<Spot> {
        // Literals are often in another part of the memory.
        if self.spots.first()?.start > address || self.spots.last()?.end < address {
            return None;
        }
        let index = self.spots.partition_point(|spot| spot.start <= address).checked_sub(1)?;
        let spot = *self.spots.get(index).filter(|spot| spot.has(address, length))?;
        self.last_spot = index;
        Some(spot)
    }
}
