//! The input map: which string, literal or container is at an address, and where it is in the input.
//!
//! ```text
//! 0x7f32c0a1, 5 bytes   ->   /messages/0/content, from byte 2 on
//! ```
//!
//! A string that a template reads is borrowed, and so is each part of it. The address of a part shows which string it comes from, so values
//! do not store their origins.

use std::fmt;
use std::ops::Range;

use super::known::{Known, Role, Spot, StringId, sort_by_address};
use super::literals::Literals;
use super::paths::{Paths, ROOT};
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

    /// Returns the container that was added a number of values later.
    #[must_use]
    pub fn after(self, count: usize) -> Self {
        Self(self.0.saturating_add(to_offset(count)))
    }
}

/// The place of a list or a dict in memory: its address, and the number of items of a list.
pub type Storage = (usize, Option<usize>);

/// The strings and containers of the input, and the literals of the template, by their addresses.
#[derive(Debug)]
pub struct InputMap<'a> {
    /// The values: a container before what is in it, and what is in it without a gap.
    pub(super) values: Vec<Known<'a>>,
    /// The strings by address, from [`InputMap::sort`] on, and with them the keys that may be in the memory of another string.
    pub(super) spots: Vec<Spot>,
    /// The other keys by address. They are added when a string is first found to be in no value and no literal.
    pub(super) keys: Vec<Spot>,
    pub(super) has_keys: bool,
    /// Adds the values that the map does not have yet. `None` if it has all.
    pub(super) unseen: Option<Box<dyn Unseen<'a> + 'a>>,
    /// The cost in steps of the values that were added after the map was made, until [`InputMap::claim`] charges it.
    pub(super) steps: usize,
    /// The number of spots that are sorted.
    pub(super) sorted: usize,
    /// The range of the spots of each message, once its values are added.
    pub(super) message_spots: Vec<Range<usize>>,
    /// The range of the spots of the message that [`InputMap::approach`] was called for.
    pub(super) near: Range<usize>,
    /// The indices of the spot and of the key that were found last.
    pub(super) last_spot: usize,
    pub(super) last_key: usize,
    /// The paths of the values that were found, and of their containers.
    pub(super) paths: Paths,
    /// The containers between a value and the first one that has a path.
    without_path: Vec<u32>,
    /// The index of the list of messages, or the root if there is none.
    pub(super) messages: u32,
    /// The lists and dicts, sorted when the first of them is looked for.
    pub(super) containers: Vec<(Storage, u32)>,
    are_containers_sorted: bool,
    /// The index of the container that was found last.
    last_container: usize,
    /// Whether the messages that the template sees are among the containers.
    pub has_messages: bool,
    /// Whether a string or a message was found that shares its memory with another one, so that the map cannot tell which one was printed.
    pub is_ambiguous: bool,
    pub(super) literals: Option<&'a Literals>,
    /// The indices of the literals that were found last, by a few bits of their addresses. The rounds of a loop write the same literals.
    pub(super) recent: [usize; RECENT],
    pub(super) sets: Sets,
}

/// Adds values of an input to its map when a string of them is looked for.
pub trait Unseen<'a>: fmt::Debug {
    /// Adds the values of a message without those inside of them, and returns their cost in steps.
    fn add_message(&mut self, map: &mut InputMap<'a>, message: usize) -> usize;

    /// Adds all other values, and returns their cost in steps.
    fn add_rest(&mut self, map: &mut InputMap<'a>) -> usize;
}

/// The number of values from which their list grows by a quarter, and not to twice its size.
const MANY: usize = 4096;

/// The number of literals in [`InputMap::recent`].
pub(super) const RECENT: usize = 32;

impl<'a> InputMap<'a> {
    /// Makes a map without values, for a template with these literals.
    pub fn new(literals: Option<&'a Literals>) -> Self {
        let mut values = Vec::with_capacity(FEW);
        values.push(Known {
            text: "",
            key: "",
            outer: ROOT,
            position: 0,
            path: ROOT,
            role: Role::Entry,
        });
        Self {
            values,
            spots: Vec::with_capacity(FEW),
            has_keys: false,
            unseen: None,
            steps: 0,
            sorted: 0,
            message_spots: Vec::new(),
            near: 0..0,
            keys: Vec::new(),
            last_spot: 0,
            last_key: 0,
            paths: Paths::new(),
            without_path: Vec::new(),
            messages: ROOT,
            containers: Vec::with_capacity(FEW),
            are_containers_sorted: false,
            last_container: 0,
            has_messages: false,
            is_ambiguous: false,
            literals,
            recent: [0; RECENT],
            sets: Sets::default(),
        }
    }

    /// Adds the value at a position of a container, perhaps under a key, and returns it. `text` is the string, or empty for another value.
    #[inline]
    pub fn add(&mut self, Container(outer): Container, (position, role, key): (u32, Role, &'a str), text: &'a str) -> Container {
        let count = self.values.len();
        if count == self.values.capacity() && count > MANY {
            self.values.reserve_exact(count / 4);
        }
        let index = to_offset(count);
        self.values.push(Known {
            text,
            key,
            outer,
            position,
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

    /// Makes room for a number of messages, each with a few values, of which some are printed.
    pub fn reserve_messages(&mut self, count: usize) {
        self.values.reserve(count.saturating_mul(4));
        self.spots.reserve(count.saturating_mul(3));
        self.containers.reserve(count);
        self.message_spots.reserve(count);
        self.paths.reserve(count.saturating_mul(3));
    }

    /// Adds the place of a list or a dict in memory. In the map of a traced render, only the list of messages and the messages are needed.
    pub fn add_storage(&mut self, Container(index): Container, storage: Option<Storage>) {
        let is_near = |outer: u32| outer == ROOT || self.value(outer).is_some_and(|outer| outer.outer == ROOT);
        if self.literals.is_none() || self.value(index).is_some_and(|value| is_near(value.outer)) {
            self.containers.extend(storage.map(|storage| (storage, index)));
        }
    }

    /// Sets what adds the values that are not added yet. No two strings share memory.
    pub fn set_unseen(&mut self, unseen: Box<dyn Unseen<'a> + 'a>) {
        self.unseen = Some(unseen);
    }

    /// Frees the memory that is not needed when no more values are added.
    pub fn free_spare(&mut self) {
        free_spare(&mut self.spots);
        free_spare(&mut self.values);
        free_spare(&mut self.containers);
    }

    /// Sorts the strings after all values are added.
    pub fn sort(&mut self) {
        self.near = 0..0;
        self.is_ambiguous |= sort_by_address(&mut self.spots);
        self.sorted = self.spots.len();
    }

    pub(super) fn value(&self, index: u32) -> Option<&Known<'a>> {
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

    /// Returns the index of the path of a value. The first call makes the path.
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
        self.without_path.push(index);
        let mut path = ROOT;
        while let Some(last) = self.without_path.last().copied() {
            let outer = self.value(last).map_or(ROOT, |value| value.outer);
            path = self.value(outer).map_or(ROOT, |outer| outer.path);
            if path == ROOT && outer != ROOT {
                self.without_path.push(outer);
                continue;
            }
            self.without_path.pop();
            if let Some(value) = self.values.get_mut(last as usize) {
                path = self.paths.add(path, value);
                value.path = path;
            }
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
            let mut own = own.map(|(index, value)| (value.position as usize, index)).peekable();
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
        let is_exact = self.are_containers_sorted || self.unseen.is_some();
        if let Some(index) = self.find_near_container(storage).filter(|_| is_exact) {
            return Some(index);
        }
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
        let place = self.containers.partition_point(|(other, _)| *other < storage);
        let (found, index) = *self.containers.get(place)?;
        self.last_container = place;
        (found == storage).then_some(index)
    }

    /// Returns the index of a list or dict that is next to the one that was found last. A loop often goes over containers in their order.
    fn find_near_container(&mut self, storage: Storage) -> Option<u32> {
        let last = self.last_container;
        let mut near = [last.wrapping_add(1), last, last.wrapping_sub(1)].into_iter();
        let found = |index: &usize| self.containers.get(*index).is_some_and(|(found, _)| *found == storage);
        self.last_container = near.find(found)?;
        self.containers.get(self.last_container).map(|(_, index)| *index)
    }

    /// Returns the JSON pointer of a string that is a value.
    pub fn string_pointer(&mut self, text: &str) -> Option<String> {
        let Spot { string, .. } = self.find_spot(Address::of(text).get(), text.len())?;
        let is_whole = !string.is_key() && std::ptr::eq(self.string(string), text);
        is_whole.then(|| self.find_pointer(string.index()))
    }

    /// Returns the origin of a string that is made from a value.
    pub(super) fn changed(&mut self, index: u32) -> PieceOrigin {
        let path = self.path(index);
        PieceOrigin::Changed(self.sets.intern(&self.paths, &[path]))
    }

    /// Returns the origin of a string that is not empty, if all of it has one.
    #[inline]
    pub fn find_whole(&mut self, address: Address, length: usize, owner: Owner) -> Option<PieceOrigin> {
        self.approach(owner);
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

    /// Returns the number of values, after all are added.
    pub fn count_values(&mut self) -> usize {
        self.add_unseen();
        self.values.len()
    }

    /// Charges the values that were added since the last call, and claims the memory of the origins that were made.
    pub fn claim(&mut self, meter: &mut Meter<'_>) -> Result<()> {
        meter.charge(std::mem::take(&mut self.steps) as u64)?;
        self.sets.claim(meter)
    }
}
