//! The input map: which string, literal or container is at an address, and where it is in the input.
//!
//! ```text
//! 0x7f32c0a1, 5 bytes   ->   /messages/0/content, from byte 2 on
//! ```
//!
//! A string that a template reads is borrowed, and so is each part of it. The address of a part shows which string it comes from, so values
//! do not store their origins.

use std::ops::Range;

use super::known::{Known, Role, Spot, StringId, sort_by_address};
use super::literals::Literals;
use super::paths::{Paths, ROOT, Step};
use super::sets::Sets;
use super::source::{Address, FEW, Owner, PieceOrigin, free_spare, to_offset};
use super::union::Union;
use crate::error::Result;
use crate::meter::Meter;

/// A value of the input that can have values in it, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Container(u32);

impl Container {
    /// The root of the input.
    pub const ROOT: Self = Self(ROOT);
}

/// The place of a list or a dict in memory: its address, and the number of items of a list.
pub type Storage = (usize, Option<usize>);

/// The strings and containers of the input, and the literals of the template, by their addresses.
#[derive(Debug)]
pub struct InputMap<'a> {
    /// The values: a container before what is in it, and what is in it without a gap.
    pub(super) values: Vec<Known<'a>>,
    /// The strings by address, from [`InputMap::sort`] on. The keys are added when a string is first found to be in no value and no literal.
    pub(super) spots: Vec<Spot>,
    has_keys: bool,
    /// The index of the spot that was found last.
    last_spot: usize,
    /// The paths of the values that were found, and of their containers.
    pub(super) paths: Paths,
    /// The containers between a value and the first one that has a path.
    without_path: Vec<u32>,
    /// The index of the list of messages, or the root if there is none.
    messages: u32,
    /// The lists and dicts, sorted when the first of them is looked for.
    containers: Vec<(Storage, u32)>,
    are_containers_sorted: bool,
    /// The index of the container that was found last.
    last_container: usize,
    /// Whether the messages that the template sees are among the containers.
    pub has_messages: bool,
    /// Whether a string or a message was found that shares its memory with another one, so that the map cannot tell which one was printed.
    pub is_ambiguous: bool,
    literals: Option<&'a Literals>,
    /// The index of the literal that was found last.
    last_literal: usize,
    /// The indices of the literals that were found last, by a few bits of their addresses. The rounds of a loop write the same literals.
    recent: [usize; RECENT],
    pub(super) sets: Sets,
}

/// The number of literals in [`InputMap::recent`].
const RECENT: usize = 32;

/// Returns the index in [`InputMap::recent`] of a literal at an address. The allocator aligns literals to 16 bytes, and few are shorter.
fn recent_place(address: usize) -> usize {
    (address >> 4) % RECENT
}

impl<'a> InputMap<'a> {
    /// Makes a map without values, for a template with these literals.
    pub fn new(literals: Option<&'a Literals>) -> Self {
        let mut values = Vec::with_capacity(FEW);
        values.push(Known {
            text: "",
            key: "",
            outer: ROOT,
            item: 0,
            path: ROOT,
            role: Role::Entry,
        });
        Self {
            values,
            spots: Vec::with_capacity(FEW),
            has_keys: false,
            last_spot: 0,
            paths: Paths::new(),
            without_path: Vec::new(),
            messages: ROOT,
            containers: Vec::with_capacity(FEW),
            are_containers_sorted: false,
            last_container: 0,
            has_messages: false,
            is_ambiguous: false,
            literals,
            last_literal: 0,
            recent: [0; RECENT],
            sets: Sets::default(),
        }
    }

    /// Adds a value of a container and returns it. `text` is the string, or empty for another value.
    #[inline]
    pub fn add(&mut self, Container(outer): Container, step: Step<'a>, text: &'a str) -> Container {
        let (key, item, role) = match step {
            Step::Key(key) => (key, 0, Role::Entry),
            Step::Borrowed(key) => (key, 0, Role::Borrowed),
            Step::Index(item) => ("", item, Role::Item),
            Step::Token(name) => (name, 0, Role::Token),
        };
        let index = to_offset(self.values.len());
        self.values.push(Known {
            text,
            key,
            outer,
            item,
            path: ROOT,
            role,
        });
        if outer == ROOT && key == "messages" && role != Role::Token {
            self.messages = index;
        }
        if !text.is_empty() {
            self.spots.push(Spot::new(text, StringId::value(index)));
        }
        if role == Role::Borrowed && !key.is_empty() {
            self.spots.push(Spot::new(key, StringId::key(index)));
        }
        Container(index)
    }

    /// Adds the place of a list or a dict in memory. In the map of a traced render, only the list of messages and the messages are needed.
    pub fn add_storage(&mut self, Container(index): Container, storage: Option<Storage>) {
        let is_near = |outer: u32| outer == ROOT || self.value(outer).is_some_and(|outer| outer.outer == ROOT);
        if self.literals.is_none() || self.value(index).is_some_and(|value| is_near(value.outer)) {
            self.containers.extend(storage.map(|storage| (storage, index)));
        }
    }

    /// Sorts the strings after all values are added.
    pub fn sort(&mut self) {
        self.is_ambiguous = sort_by_address(&mut self.spots);
        free_spare(&mut self.spots);
        free_spare(&mut self.values);
    }

    /// Adds the keys of objects to the strings. Those of the root are variables and not among them.
    #[cold]
    fn add_keys(&mut self) {
        self.has_keys = true;
        for (index, value) in (0..).zip(&self.values) {
            if value.role != Role::Borrowed && value.is_entry() {
                self.spots.push(Spot::new(value.key, StringId::key(index)));
            }
        }
        self.is_ambiguous |= sort_by_address(&mut self.spots);
    }

    fn value(&self, index: u32) -> Option<&Known<'a>> {
        self.values.get(index as usize)
    }

    /// Returns a string or a key, with the index of its value.
    pub(super) fn string(&self, string: StringId) -> &'a str {
        match self.value(string.index()) {
            Some(value) if string.is_key() => value.key,
            Some(value) => value.text,
            None => "",
        }
    }

    /// Returns the path of a value, which the first call makes.
    #[inline]
    pub(super) fn path(&mut self, index: u32) -> u32 {
        match self.value(index) {
            Some(value) if value.path == ROOT && index != ROOT => self.make_path(index),
            Some(value) => value.path,
            None => ROOT,
        }
    }

    /// Makes the paths of a value and of its containers.
    fn make_path(&mut self, index: u32) -> u32 {
        let mut next = index;
        while let Some(value) = self.value(next).filter(|value| value.path == ROOT && next != ROOT) {
            let outer = value.outer;
            self.without_path.push(next);
            next = outer;
        }
        let mut path = self.value(next).map_or(ROOT, |value| value.path);
        while let Some(index) = self.without_path.pop() {
            let Some(value) = self.values.get_mut(index as usize) else {
                continue;
            };
            path = self.paths.add(path, value, index);
            value.path = path;
        }
        path
    }

    /// Adds the places of the messages that the template sees, if they are not those of the input. Returns the number of places that were
    /// added. The messages can be found after that.
    pub fn add_messages(&mut self, list: Option<Storage>, messages: impl Iterator<Item = (usize, Storage)>) -> usize {
        let is_known = list.is_some_and(|list| self.find_container(list).is_some());
        let before = self.containers.len();
        if !is_known {
            let own = (0..)
                .zip(&self.values)
                .filter(|(_, value)| value.message(self.messages).is_some());
            let mut own = own.map(|(index, value)| (value.item as usize, index)).peekable();
            for (index, storage) in messages {
                while own.next_if(|(message, _)| *message < index).is_some() {}
                let found = own.next_if(|(message, _)| *message == index);
                self.containers.extend(found.map(|(_, index)| (storage, index)));
            }
        }
        self.has_messages = true;
        self.are_containers_sorted &= self.containers.len() == before;
        self.containers.len().saturating_sub(before)
    }

    /// Returns the owner for the message at a place in memory.
    pub fn message(&mut self, storage: Storage) -> Option<Owner> {
        let index = self.find_container(storage)?;
        self.value(index)?.message(self.messages)
    }

    /// Returns the JSON pointer of a list or a dict.
    pub fn container_pointer(&mut self, storage: Storage) -> Option<String> {
        let index = self.find_container(storage)?;
        Some(self.find_pointer(index))
    }

    fn find_pointer(&mut self, index: u32) -> String {
        let path = self.path(index);
        self.paths.find_pointer(path)
    }

    /// Returns the index of the list or dict at a place in memory.
    fn find_container(&mut self, storage: Storage) -> Option<u32> {
        if !std::mem::replace(&mut self.are_containers_sorted, true) {
            // The sort is stable: of two values in one place, the first is found.
            self.containers.sort_by_key(|(storage, _)| *storage);
            let is_ambiguous = &mut self.is_ambiguous;
            self.containers.dedup_by(|next, kept| {
                let is_same = next.0 == kept.0;
                *is_ambiguous |= is_same && next.1 != kept.1;
                is_same
            });
        }
        let found = |index: usize| matches!(self.containers.get(index), Some((found, _)) if *found == storage);
        // A loop often goes over containers in the order in which they are in memory.
        let last = self.last_container;
        let near = [last.wrapping_add(1), last, last.wrapping_sub(1)];
        let index = near.into_iter().find(|index| found(*index));
        let index = index.unwrap_or_else(|| self.containers.partition_point(|(other, _)| *other < storage));
        if !found(index) {
            return None;
        }
        self.last_container = index;
        self.containers.get(index).map(|(_, index)| *index)
    }

    /// Returns the JSON pointer of a string that is a value.
    pub fn string_pointer(&mut self, text: &str) -> Option<String> {
        let Spot { string, .. } = *self.find_spot(Address::of(text).get(), text.len())?;
        let is_whole = !string.is_key() && std::ptr::eq(self.string(string), text);
        is_whole.then(|| self.find_pointer(string.index()))
    }

    /// Returns the origin of the text at an address, and the address after the last byte with that origin. An empty string can also be at
    /// the end of a known one.
    #[inline]
    fn find(&mut self, address: usize, length: usize) -> (PieceOrigin, usize) {
        // A template often writes its literals and the strings in the order in which they are in memory.
        let last = self.last_spot;
        for near in [last.wrapping_add(1), last, last.wrapping_add(2)] {
            if let Some(spot) = self.spots.get(near).filter(|spot| spot.has(address, length)).copied() {
                self.last_spot = near;
                return self.source(spot, address);
            }
        }
        let recent = self.recent.get(recent_place(address)).copied().unwrap_or_default();
        let near = self.find_literal(recent, address);
        near.or_else(|| self.find_literal(self.last_literal + 1, address))
            .unwrap_or_else(|| self.search(address, length))
    }

    /// Searches for the text at an address, as [`InputMap::find`] does, among all strings and literals.
    #[inline(never)]
    fn search(&mut self, address: usize, length: usize) -> (PieceOrigin, usize) {
        if let Some(spot) = self.find_spot(address, length).copied() {
            return self.source(spot, address);
        }
        let literal = self.literals.and_then(|literals| literals.find_index(address));
        if let Some(found) = literal.and_then(|literal| self.find_literal(literal, address)) {
            return found;
        }
        if length == 0 {
            return (PieceOrigin::Made, address);
        }
        if !self.has_keys {
            self.add_keys();
            if let Some(spot) = self.find_spot(address, length).copied() {
                return self.source(spot, address);
            }
        }
        (PieceOrigin::Made, self.next_start(address))
    }

    /// Returns the origin of the literal with an index and the address after it, or `None` if an address is not in it.
    #[inline]
    fn find_literal(&mut self, index: usize, address: usize) -> Option<(PieceOrigin, usize)> {
        let found = self.literals?.get(index, address)?;
        self.last_literal = index;
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
        let is_token = self.value(index).is_some_and(|value| value.role == Role::Token);
        let source = match u32::try_from(address.saturating_sub(spot.start)) {
            _ if is_token && !spot.string.is_key() => PieceOrigin::Token(self.path(index)),
            Ok(at) => PieceOrigin::Input(spot.string, at),
            // A place after the first 4 GiB of a string does not fit.
            Err(_) => self.changed(index),
        };
        (source, spot.end)
    }

    /// Returns the origin of a string that is made from a value.
    fn changed(&mut self, index: u32) -> PieceOrigin {
        let path = self.path(index);
        PieceOrigin::Changed(self.sets.intern(&self.paths, &[path]))
    }

    /// Returns the string that contains the start of another one, which is given by its address and length.
    fn find_spot(&mut self, address: usize, length: usize) -> Option<&Spot> {
        // Literals are often in another part of the memory.
        if self.spots.first()?.start > address || self.spots.last()?.end < address {
            return None;
        }
        let index = self.spots.partition_point(|spot| spot.start <= address).checked_sub(1)?;
        let found = self.spots.get(index).filter(|spot| spot.has(address, length))?;
        self.last_spot = index;
        Some(found)
    }

    /// Returns the origin of a string that is not empty, if all of it has one.
    #[inline]
    pub fn find_whole(&mut self, address: Address, length: usize) -> Option<PieceOrigin> {
        let (source, end) = self.find(address.get(), 1);
        (end.saturating_sub(address.get()) >= length).then_some(source)
    }

    /// Calls a function with each part of a string that has one origin: the byte range of the part, and the origin.
    #[inline]
    pub fn for_each_part(&mut self, address: Address, length: usize, mut add: impl FnMut(&mut Self, Range<usize>, PieceOrigin)) {
        let first = address.get();
        let last = first + length;
        let mut at = first;
        while at < last {
            let (source, end) = self.find(at, 1);
            let end = end.max(at + 1).min(last);
            add(self, at.saturating_sub(first)..end.saturating_sub(first), source);
            at = end;
        }
    }

    /// Returns the owner of a string with this origin that is written in the turn of a message. A message always owns its content.
    pub fn owner(&mut self, source: PieceOrigin, turn: Owner) -> Owner {
        let source = match source {
            PieceOrigin::Memory(address) => self.find(address.get(), 1).0,
            source => source,
        };
        self.owner_of_known(source, turn)
    }

    /// Returns the owner of a string as [`InputMap::owner`] does, for an origin that is not a place in memory.
    pub(super) fn owner_of_known(&mut self, source: PieceOrigin, turn: Owner) -> Owner {
        let (message, is_content) = match source {
            PieceOrigin::Input(string, _) => {
                let path = self.path(string.index());
                self.paths.owner(path)
            }
            PieceOrigin::Changed(set) => {
                let mut all = self.sets.get(set).iter().map(|path| self.paths.owner(*path));
                let first = all.next().unwrap_or_default();
                if all.all(|other| other == first) {
                    first
                } else {
                    (Owner::NONE, false)
                }
            }
            _ => (Owner::NONE, false),
        };
        if is_content { message } else { turn.or(message) }
    }

    /// Returns the origin of a string that is made from the string at an address.
    pub fn mark_changed(&mut self, text: &str) -> PieceOrigin {
        match self.find(Address::of(text).get(), text.len()).0 {
            PieceOrigin::Input(string, _) => self.changed(string.index()),
            source => source,
        }
    }

    /// Adds the origin of a borrowed string to a union.
    pub fn extend_with_text(&mut self, union: &mut Union, text: &str) {
        let (source, _) = self.find(Address::of(text).get(), text.len());
        self.extend(union, source, text.len());
    }

    /// Adds the origin of a piece with this length to a union.
    pub fn extend(&mut self, union: &mut Union, source: PieceOrigin, length: usize) {
        match source {
            PieceOrigin::Memory(address) => {
                self.for_each_part(address, length, |map, _, source| map.extend_with_known(union, source))
            }
            source => self.extend_with_known(union, source),
        }
    }

    fn extend_with_known(&mut self, union: &mut Union, source: PieceOrigin) {
        match source {
            PieceOrigin::Input(string, _) => {
                let path = self.path(string.index());
                union.insert(&self.paths, path);
            }
            PieceOrigin::Changed(set) => self.sets.get(set).iter().for_each(|path| union.insert(&self.paths, *path)),
            PieceOrigin::Clock => union.rest = Some(source),
            PieceOrigin::Template(_) if !matches!(union.rest, Some(PieceOrigin::Template(_) | PieceOrigin::Clock)) => {
                union.rest = Some(source)
            }
            PieceOrigin::Token(_) if union.rest.is_none() => union.rest = Some(source),
            _ => {}
        }
    }

    /// Adds the whole input to a union, for a value whose strings are not known.
    pub fn extend_with_all(&self, union: &mut Union) {
        union.insert(&self.paths, ROOT);
    }

    /// Converts a union to one origin.
    pub fn finish(&mut self, union: Union) -> PieceOrigin {
        match union.rest {
            _ if !union.paths.is_empty() => PieceOrigin::Changed(self.sets.intern(&self.paths, &union.paths)),
            Some(rest) => rest,
            None => PieceOrigin::Made,
        }
    }

    /// Returns the number of values.
    pub fn count_values(&self) -> usize {
        self.values.len()
    }

    /// Claims the memory of the origins that were made since the last call.
    pub fn claim(&mut self, meter: &mut Meter<'_>) -> Result<()> {
        self.sets.claim(meter)
    }
}
