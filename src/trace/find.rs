//! Finds the string or the literal at an address.
//!
//! ```text
//! a piece of message 3 at 0x7f32c0a3   ->   byte 2 of the value of `content` in message 3
//! ```
//!
//! If no two strings of the input share memory, the values of a message are added when the first piece that it owns is looked for. A string
//! that is in no message, or deeper in one, adds all other values.

use std::ops::Range;

use super::known::{Role, Spot, StringId, sort_by_address};
use super::map::{InputMap, RECENT};
use super::source::{Owner, PieceOrigin};

/// The largest number of strings of a message that are compared one after the other. For a larger message, all strings are sorted and
/// searched by address.
const MAX_NEAR: usize = 32;

/// Returns the index in [`InputMap::recent`] of a literal at an address. The allocator aligns literals to 16 bytes, and few are shorter.
fn recent_place(address: usize) -> usize {
    (address >> 4) % RECENT
}

impl InputMap<'_> {
    /// Adds the values of the message that owns the next string to look for.
    #[inline]
    pub(super) fn approach(&mut self, owner: Owner) {
        if let (Some(message), true) = (owner.index(), self.unseen.is_some()) {
            self.near = match self.message_spots.get(message) {
                Some(spots) if !spots.is_empty() => spots.clone(),
                _ => self.add_message(message),
            };
            if self.near.len() > MAX_NEAR {
                self.add_unseen();
            }
        }
    }

    /// Adds the values of a message, and returns the range of their spots.
    fn add_message(&mut self, message: usize) -> Range<usize> {
        let start = self.spots.len();
        if let Some(mut unseen) = self.unseen.take() {
            self.steps = self.steps.saturating_add(unseen.add_message(self, message));
            self.unseen = Some(unseen);
        }
        let spots = start..self.spots.len();
        if self.message_spots.len() <= message {
            self.message_spots.resize(message.saturating_add(1), 0..0);
        }
        if let Some(place) = self.message_spots.get_mut(message) {
            *place = spots.clone();
        }
        spots
    }

    /// Adds all values that the map does not have yet.
    #[cold]
    pub(super) fn add_unseen(&mut self) {
        if let Some(mut unseen) = self.unseen.take() {
            self.steps = self.steps.saturating_add(unseen.add_rest(self));
            self.sort();
            self.free_spare();
        }
    }

    /// Adds the keys of objects. Those of the root are variables and not among them.
    #[cold]
    fn add_keys(&mut self) {
        self.has_keys = true;
        let values = (0..).zip(&self.values);
        let entries = values.filter(|(_, value)| value.role != Role::Borrowed && value.is_entry());
        self.keys.reserve_exact(entries.clone().count());
        self.keys
            .extend(entries.map(|(index, value)| Spot::new(value.key, StringId::key(index))));
        self.is_ambiguous |= sort_by_address(&mut self.keys);
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
        let key = self.keys.get(self.last_key.wrapping_add(1));
        if let Some(spot) = key.filter(|spot| spot.has(address, length)).copied() {
            self.last_key = self.last_key.wrapping_add(1);
            return self.source(spot, address);
        }
        self.search(address, length)
    }

    /// Returns the string that contains the start of another one, if it is in the message that [`InputMap::approach`] was called for.
    #[inline]
    fn find_near(&self, address: usize, length: usize) -> Option<Spot> {
        let near = self.spots.get(self.near.clone())?;
        near.iter().find(|spot| spot.has(address, length)).copied()
    }

    /// Searches for the text at an address, as [`InputMap::find`] does, among all strings and literals.
    #[inline(never)]
    fn search(&mut self, address: usize, length: usize) -> (PieceOrigin, usize) {
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
            // Most templates write the first message before the loop over the others.
            self.approach(Owner::message(0));
            if let Some(spot) = self.find_near(address, length) {
                return self.source(spot, address);
            }
            self.add_unseen();
            return self.search(address, length);
        }
        if !self.has_keys {
            self.add_keys();
        }
        if let Some((index, spot)) = find_in(&self.keys, address, length) {
            self.last_key = index;
            return self.source(spot, address);
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
        let next = |spots: &[Spot]| {
            let after = spots.partition_point(|spot| spot.start <= address);
            spots.get(after).map(|spot| spot.start)
        };
        let strings = [next(&self.spots), next(&self.keys)];
        let literal = self.literals.and_then(|literals| literals.next_start(address));
        strings.into_iter().flatten().chain(literal).min().unwrap_or(usize::MAX)
    }

    /// Returns the origin of a place in a string, and the address after the string.
    fn source(&mut self, spot: Spot, address: usize) -> (PieceOrigin, usize) {
        self.is_ambiguous |= spot.is_shared;
        let index = spot.string.index();
        let is_token = self.value(index).is_some_and(|value| value.role == Role::Token);
        let source = match u32::try_from(address.saturating_sub(spot.start)) {
            _ if is_token && !spot.string.is_key() => PieceOrigin::Token(self.path(index)),
            Ok(at) => PieceOrigin::Input(spot.string, at),
            // A place after the first 4 GiB of a string does not fit.
            Err(_) => self.changed(index),
        };
        (source, spot.end)
    }

    /// Returns the string that contains the start of another one, which is given by its address and length.
    pub(super) fn find_spot(&mut self, address: usize, length: usize) -> Option<Spot> {
        let (index, spot) = find_in(self.spots.get(..self.sorted)?, address, length)?;
        self.last_spot = index;
        Some(spot)
    }
}

/// Returns the spot of a sorted list that contains the start of a string, and its index.
fn find_in(spots: &[Spot], address: usize, length: usize) -> Option<(usize, Spot)> {
    // Literals are often in another part of the memory.
    if spots.first()?.start > address || spots.last()?.end < address {
        return None;
    }
    let index = spots.partition_point(|spot| spot.start <= address).checked_sub(1)?;
    let found = spots.get(index).filter(|spot| spot.has(address, length))?;
    Some((index, *found))
}
