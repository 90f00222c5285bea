//! The input map: which string, literal or container is at an address, and where it is in the input.
//!
//! ```text
//! 0x7f32c0a1, 5 bytes   ->   /messages/0/content, from byte 2 on
//! ```
//!
//! A string that a template reads is borrowed, and so is each part of it. The address of a part shows which string it comes from, so values
//! do not store their origins.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::known::{Known, Role, Spot, StringId, sort_by_address};
use super::literals::Literals;
use super::paths::{Paths, ROOT};
use super::sets::Sets;
use super::source::{Address, FEW, Owner, PieceOrigin, free_spare};
use super::union::Union;
use crate::error::Result;
use crate::meter::{Meter, STEP_BYTES};

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
    /// The strings of each value. A value has one index here and in [`InputMap::paths`].
    pub(super) values: Vec<Known<'a>>,
    /// The paths of the values: a container before what is in it.
    pub(super) paths: Paths,
    /// The strings and the keys by address: all, or those that are in no message.
    pub(super) spots: Vec<Spot>,
    /// Adds the messages. `None` if the map has all values.
    pub(super) unseen: Option<Box<dyn Unseen<'a> + 'a>>,
    /// The number of values whose cost is charged, and the number of bytes of their keys.
    charged: [usize; 2],
    /// The ranges of the values of each message: its fields, and what is in them. They are empty until they are added.
    pub(super) messages: Vec<[Range<usize>; 2]>,
    /// The message that [`InputMap::approach`] was called for last.
    pub(super) near: Owner,
    /// The index of the spot that was found last.
    pub(super) last_spot: usize,
    /// The lists and dicts by address, if there are no literals: the map of a traced render does not need them.
    containers: Vec<(Storage, u32)>,
    /// Where the inputs and their first items are in memory, and whether the value in each place was added. A value that is added twice is a
    /// part of another input.
    roots: HashMap<Storage, bool, RandomState>,
    /// Whether a string was found that shares its memory with another one, so that the map cannot tell which one was printed.
    pub is_ambiguous: bool,
    pub(super) literals: Option<&'a Literals>,
    /// The indices of the literals that were found last, by a few bits of their addresses. The rounds of a loop write the same literals.
    pub(super) recent: [usize; RECENT],
    pub(super) sets: Sets,
}

/// Adds the messages of an input to its map when a string of one of them is looked for.
pub trait Unseen<'a>: fmt::Debug {
    /// Returns the number of messages.
    fn count(&self) -> usize;

    /// Adds a message and its fields without what is in them.
    fn add_fields(&mut self, map: &mut InputMap<'a>, message: usize);

    /// Adds what is in the fields of a message, unless it is added.
    fn add_nested(&mut self, map: &mut InputMap<'a>, message: usize);
}

/// The number of values from which their list grows by a quarter, and not to twice its size.
const MANY: usize = 4096;

/// The number of literals in [`InputMap::recent`].
pub(super) const RECENT: usize = 32;

impl<'a> InputMap<'a> {
    /// Makes a map without values, for a template with these literals.
    pub fn new(literals: Option<&'a Literals>) -> Self {
        let mut values = Vec::with_capacity(FEW);
        values.push(Known { text: "", key: "" });
        Self {
            values,
            paths: Paths::new(),
            spots: Vec::new(),
            unseen: None,
            charged: [0; 2],
            messages: Vec::new(),
            near: Owner::NONE,
            last_spot: 0,
            containers: Vec::new(),
            roots: HashMap::default(),
            is_ambiguous: false,
            literals,
            recent: [0; RECENT],
            sets: Sets::default(),
        }
    }

    /// Adds the value at a position of a container, perhaps under a key, and returns it. `text` is the string, or empty for another value.
    #[inline]
    pub fn add(&mut self, Container(outer): Container, place: (u32, Role, &'a str), text: &'a str) -> Container {
        let count = self.values.len();
        if count == self.values.capacity() && count > MANY {
            self.values.reserve_exact(count / 4);
        }
        self.values.push(Known { text, key: place.2 });
        Container(self.paths.add(outer, place))
    }

    /// Makes room for a number of messages, each with a few values.
    pub fn reserve_messages(&mut self, count: usize) {
        self.values.reserve(count.saturating_mul(4));
        self.messages.reserve(count);
        self.paths.reserve(count.saturating_mul(4));
    }

    /// Records where an input, or its first item, is in memory. Call this before the input is added.
    pub fn add_root(&mut self, place: Option<Storage>) {
        self.roots.extend(place.map(|place| (place, false)));
    }

    /// Records where a list or a dict is in memory.
    pub fn add_storage(&mut self, Container(index): Container, storage: Option<Storage>) {
        let Some(storage) = storage else { return };
        if self.literals.is_none() {
            self.containers.push((storage, index));
        } else if let Some(was_added) = self.roots.get_mut(&storage) {
            self.is_ambiguous |= std::mem::replace(was_added, true);
        }
    }

    /// Sorts the values, whose cost was charged. `unseen` adds the messages later, if no two strings of the input share memory.
    pub fn complete(&mut self, unseen: Option<Box<dyn Unseen<'a> + 'a>>) {
        self.charged = [self.values.len(), self.paths.keys_len()];
        self.unseen = unseen;
        self.sort();
    }

    /// Sorts the strings and the containers of all values that are added, and frees spare memory unless more are.
    pub(super) fn sort(&mut self) {
        self.spots.clear();
        self.spots.reserve_exact(self.values.len().saturating_mul(2));
        for (index, value) in (0..).zip(&self.values) {
            if !value.text.is_empty() {
                self.spots.push(Spot::new(value.text, StringId::value(index)));
            }
            if !value.key.is_empty() && self.paths.is_entry(index) {
                self.spots.push(Spot::new(value.key, StringId::key(index)));
            }
        }
        self.is_ambiguous |= sort_by_address(&mut self.spots);
        // Of two values in one place, the first is found.
        self.containers.sort_by_key(|(storage, _)| *storage);
        self.containers.dedup_by_key(|(storage, _)| *storage);
        if self.unseen.is_none() {
            free_spare(&mut self.spots);
            free_spare(&mut self.values);
            free_spare(&mut self.containers);
        }
    }

    /// Returns a string or a key, with the index of its value.
    pub(super) fn string(&self, string: StringId) -> &'a str {
        match self.values.get(string.index() as usize) {
            Some(value) if string.is_key() => value.key,
            Some(value) => value.text,
            None => "",
        }
    }

    /// Returns the owner for the message at a place in memory.
    pub fn message(&self, storage: Storage) -> Option<Owner> {
        self.paths.message(self.find_container(storage)?)
    }

    /// Returns the JSON pointer of a list or a dict.
    pub fn container_pointer(&self, storage: Storage) -> Option<String> {
        self.find_container(storage).map(|index| self.paths.find_pointer(index))
    }

    /// Returns the index of the list or dict at a place in memory.
    fn find_container(&self, storage: Storage) -> Option<u32> {
        let place = self.containers.binary_search_by_key(&storage, |(storage, _)| *storage).ok()?;
        self.containers.get(place).map(|(_, index)| *index)
    }

    /// Returns the JSON pointer of a string that is a value.
    pub fn string_pointer(&mut self, text: &str) -> Option<String> {
        let Spot { string, .. } = self.find_spot(Address::of(text).get(), text.len())?;
        let is_whole = !string.is_key() && std::ptr::eq(self.string(string), text);
        is_whole.then(|| self.paths.find_pointer(string.index()))
    }

    /// Returns the origin of a string that is made from a value.
    pub(super) fn changed(&mut self, index: u32) -> PieceOrigin {
        PieceOrigin::Changed(self.sets.intern(&self.paths, &[index]))
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
    pub(super) fn for_each_part(
        &mut self,
        address: Address,
        length: usize,
        mut add: impl FnMut(&mut Self, Range<usize>, PieceOrigin),
    ) {
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
    pub(super) fn owner_of_known(&self, source: PieceOrigin, turn: Owner) -> Owner {
        let (message, is_content) = match source {
            PieceOrigin::Input(string, _) => self.paths.owner(string.index()),
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
            PieceOrigin::Input(string, _) => union.insert(&self.paths, string.index()),
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
        let counts = [self.values.len(), self.paths.keys_len()];
        let [values, bytes] = std::mem::replace(&mut self.charged, counts);
        let steps = counts[0].saturating_sub(values) + counts[1].saturating_sub(bytes) / STEP_BYTES;
        meter.charge(steps as u64)?;
        self.sets.claim(meter)
    }
}
