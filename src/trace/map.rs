//! The input map: which string, literal or container is at an address, and where it is in the input.
//!
//! ```text
//! 0x7f32c0a1, 5 bytes   ->   /messages/0/content, from byte 2 on
//! ```
//!
//! A string that a template reads is borrowed, and so is each part of it. The address of a part shows which string it comes from, so values
//! do not store their origins.

use std::ops::Range;

use super::known::{Known, Role, mark_shared, sort_by_address};
use super::paths::{MESSAGE_DEPTH, Outer, Paths, ROOT, Step};
use super::sets::Sets;
use super::source::{Address, FEW, Owner, PieceOrigin, free_spare};
use super::union::Union;
use crate::error::Result;
use crate::meter::Meter;

/// A container of the input, by the index of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Container(pub(super) u32);

impl Container {
    /// The root of the input.
    pub const ROOT: Self = Self(ROOT);
}

/// The place of a list or a dict in memory: its address, and the number of items of a list.
pub type Storage = (usize, Option<usize>);

/// The strings and containers of the input, and the literals of the template, by their addresses.
#[derive(Debug)]
pub struct InputMap<'a> {
    pub(super) paths: Paths,
    /// The keys of objects. Those of the root are variables and not among them.
    pub(super) keys: Vec<Known<'a>>,
    /// The keys that may be in the memory of another string.
    borrowed_keys: Vec<&'a str>,
    /// The values, sorted by address after [`InputMap::sort`], and after them the keys, also sorted by address. The keys are added when a
    /// string is first found to be in no value and no literal.
    pub(super) strings: Vec<Known<'a>>,
    /// The number of values, if the keys have been added after them.
    values: Option<usize>,
    /// The indices of the value, of the key and of the literal that were found last. The next search often finds the same one or the next.
    last: [usize; 3],
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
    /// The indices of the literals that were found last, by a few bits of their addresses. The rounds of a loop write the same literals.
    recent: [usize; RECENT],
    pub(super) sets: Sets,
}

/// The number of literals in [`InputMap::recent`].
const RECENT: usize = 32;

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
    fn get(&self, index: usize, address: usize) -> Option<(PieceOrigin, usize)> {
        let (start, end, line) = *self.0.get(index)?;
        (start <= address && address < end).then_some((PieceOrigin::Template(line), end))
    }

    /// Returns the index of the last literal that begins at or before an address.
    fn find_index(&self, address: usize) -> Option<usize> {
        self.0.partition_point(|(start, ..)| *start <= address).checked_sub(1)
    }

    /// Returns the address of the first literal after an address.
    fn next_start(&self, address: usize) -> Option<usize> {
        let after = self.0.partition_point(|(start, ..)| *start <= address);
        self.0.get(after).map(|(start, ..)| *start)
    }
}

/// Returns the index in [`InputMap::recent`] of a literal at an address. The allocator aligns literals to 16 bytes, and few are shorter.
fn recent_place(address: usize) -> usize {
    (address >> 4) % RECENT
}

impl<'a> InputMap<'a> {
    /// Makes a map without values, for a template with these literals.
    pub fn new(literals: Option<&'a Literals>) -> Self {
        Self {
            paths: Paths::new(),
            keys: Vec::with_capacity(FEW),
            borrowed_keys: Vec::new(),
            strings: Vec::with_capacity(FEW),
            values: None,
            last: [0; 3],
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

    /// Returns what the values of a container have in common.
    pub fn outer(&self, Container(container): Container) -> Option<Outer> {
        self.paths.outer(container)
    }

    /// Adds a value of a container and returns it. Its key is a string of the input too, unless the container is the root.
    #[inline]
    pub fn add(&mut self, outer: &Outer, step: Step<'a>) -> Container {
        let path = self.paths.add(outer, step);
        if let Step::Key(text) = step {
            if !outer.is_root() {
                self.keys.push(Known::new(text, path, Role::Key));
            }
        }
        Container(path)
    }

    /// Adds a string that is a value of a container.
    #[inline]
    pub fn add_string(&mut self, outer: &Outer, step: Step<'a>, text: &'a str) {
        let Container(path) = self.add(outer, step);
        self.add_known(text, path, Role::Value);
    }

    /// Adds a key that may be in the memory of another string, as a literal of a program is for each of its uses.
    pub fn add_borrowed_key(&mut self, key: &'a str) {
        self.borrowed_keys.push(key);
    }

    /// Adds the text of a special token.
    pub fn add_token(&mut self, name: &str, text: &'a str) {
        let path = self.paths.add_token(name);
        self.add_known(text, path, Role::Token);
    }

    fn add_known(&mut self, text: &'a str, path: u32, role: Role) {
        if !text.is_empty() {
            self.strings.push(Known::new(text, path, role));
        }
    }

    /// Adds the place of a list or a dict in memory. In the map of a traced render, only the list of messages and the messages are needed.
    pub fn add_storage(&mut self, Container(path): Container, storage: Option<Storage>) {
        if self.literals.is_none() || self.paths.depth(path) <= usize::from(MESSAGE_DEPTH) {
            self.containers.extend(storage.map(|storage| (storage, path)));
        }
    }

    /// Sorts the values after all are added. Their indices do not change from now on.
    pub fn sort(&mut self) {
        self.is_ambiguous = sort_by_address(&mut self.strings);
        mark_shared(&mut self.strings, std::mem::take(&mut self.borrowed_keys));
        free_spare(&mut self.strings);
        free_spare(&mut self.keys);
        self.paths.finish();
    }

    /// Adds the keys of objects to the strings, after the values. Returns the number of values.
    #[cold]
    fn add_keys(&mut self) -> usize {
        let mut keys = std::mem::take(&mut self.keys);
        self.is_ambiguous |= sort_by_address(&mut keys);
        let values = self.strings.len();
        self.strings.append(&mut keys);
        self.values = Some(values);
        values
    }

    /// Adds the places of the messages that the template sees, if they are not those of the input. Returns the number of places that were
    /// added. The messages can be found after that.
    pub fn add_messages(&mut self, list: Option<Storage>, messages: impl Iterator<Item = (usize, Storage)>) -> usize {
        let is_known = list.is_some_and(|list| self.find_container(list).is_some());
        let before = self.containers.len();
        if !is_known {
            let mut paths = self.paths.messages().peekable();
            for (index, storage) in messages {
                while paths.next_if(|(message, _)| *message < index).is_some() {}
                let path = paths.next_if(|(message, _)| *message == index);
                self.containers.extend(path.map(|(_, path)| (storage, path)));
            }
        }
        self.has_messages = true;
        self.are_containers_sorted &= self.containers.len() == before;
        self.containers.len().saturating_sub(before)
    }

    /// Returns the owner for the message at a place in memory.
    pub fn message(&mut self, storage: Storage) -> Option<Owner> {
        let path = self.find_container(storage)?;
        self.paths.message(path)
    }

    /// Returns the JSON pointer of a list or a dict.
    pub fn container_pointer(&mut self, storage: Storage) -> Option<String> {
        self.find_container(storage).map(|path| self.paths.find_pointer(path))
    }

    /// Returns the index of the path of the list or dict at a place in memory.
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
        self.containers.get(index).map(|(_, path)| *path)
    }

    /// Returns the JSON pointer of a string that is a value.
    pub fn string_pointer(&mut self, text: &str) -> Option<String> {
        let (index, _) = self.find_value(Address::of(text).get(), text.len())?;
        let known = self.strings.get(index).filter(|known| std::ptr::eq(known.text, text))?;
        Some(self.paths.find_pointer(known.path))
    }

    /// Returns the origin of the text at an address, and the address after the last byte with that origin. An empty string can also be at
    /// the end of a known one.
    #[inline]
    fn find(&mut self, address: usize, length: usize) -> (PieceOrigin, usize) {
        // A template often writes its literals and the strings in the order in which they are in memory.
        let [value, key, literal] = self.last;
        let near = self.find_in(value.wrapping_add(1), address, length);
        if let Some(found) = near.or_else(|| self.find_in(value, address, length)) {
            return self.source(found);
        }
        let recent = self.recent.get(recent_place(address)).copied().unwrap_or_default();
        if let Some(found) = self.find_literal(recent, address) {
            return found;
        }
        if let Some(found) = self.find_literal(literal + 1, address) {
            return found;
        }
        if let Some(found) = self.find_in(key + 1, address, length) {
            return self.source(found);
        }
        if let Some(found) = self.find_value(address, length) {
            return self.source(found);
        }
        let literal = self.literals.and_then(|literals| literals.find_index(address));
        if let Some(found) = literal.and_then(|literal| self.find_literal(literal, address)) {
            return found;
        }
        if length == 0 {
            return (PieceOrigin::Made, address);
        }
        match self.find_key(address, length) {
            Some(found) => self.source(found),
            None => (PieceOrigin::Made, self.next_start(address)),
        }
    }

    /// Returns the origin of the literal with an index and the address after it, or `None` if an address is not in it.
    #[inline]
    fn find_literal(&mut self, index: usize, address: usize) -> Option<(PieceOrigin, usize)> {
        let found = self.literals?.get(index, address)?;
        let [.., literal] = &mut self.last;
        *literal = index;
        if let Some(recent) = self.recent.get_mut(recent_place(address)) {
            *recent = index;
        }
        Some(found)
    }

    /// Returns the address of the first known string after an address.
    #[cold]
    fn next_start(&self, address: usize) -> usize {
        let values = self.values.unwrap_or(self.strings.len());
        let (values, keys) = self.strings.split_at_checked(values).unwrap_or_default();
        let first = |strings: &[Known<'_>]| {
            let after = strings.partition_point(|known| known.address() <= address);
            strings.get(after).map(Known::address)
        };
        let literal = self.literals.and_then(|literals| literals.next_start(address));
        [first(values), first(keys), literal]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(usize::MAX)
    }

    /// Returns the origin of a place in a string, and the address after the string.
    fn source(&mut self, (index, at): (usize, usize)) -> (PieceOrigin, usize) {
        let Some(known) = self.strings.get(index) else {
            return (PieceOrigin::Made, usize::MAX);
        };
        let [value, key, _] = &mut self.last;
        *(if known.role == Role::Key { key } else { value }) = index;
        self.is_ambiguous |= known.is_shared;
        let source = match (known.role, u32::try_from(index), u32::try_from(at)) {
            (Role::Token, ..) => PieceOrigin::Token(known.path),
            (_, Ok(index), Ok(at)) => PieceOrigin::Input(index, at),
            // A place after the first 4 GiB of a string does not fit.
            _ => PieceOrigin::Changed(self.sets.intern(&[known.path])),
        };
        (source, known.end())
    }

    /// Returns the index of the value that contains the start of a string, which is given by its address and length, and the offset of the
    /// string in the value.
    fn find_value(&self, address: usize, length: usize) -> Option<(usize, usize)> {
        let values = self.strings.get(..self.values.unwrap_or(self.strings.len()))?;
        // Literals are often in another part of the memory.
        if values.first()?.address() > address || values.last()?.end() < address {
            return None;
        }
        let after = values.partition_point(|known| known.address() <= address);
        self.find_in(after.checked_sub(1)?, address, length)
    }

    /// Returns the index of the key that contains the start of a string, which is given by its address and length, and the offset of the
    /// string in the key.
    fn find_key(&mut self, address: usize, length: usize) -> Option<(usize, usize)> {
        let values = self.values.unwrap_or_else(|| self.add_keys());
        let keys = self.strings.get(values..)?;
        let after = keys.partition_point(|known| known.address() <= address);
        self.find_in(values + after.checked_sub(1)?, address, length)
    }

    /// Returns the index of a known string and the offset of the given string in it, if the known one contains the start of the given one.
    #[inline(always)]
    fn find_in(&self, index: usize, address: usize, length: usize) -> Option<(usize, usize)> {
        let known = self.strings.get(index)?;
        let at = address.checked_sub(known.address())?;
        (at + length.min(1) <= known.text.len()).then_some((index, at))
    }

    /// Returns the origin of a string that is not empty, if all of it has one.
    #[inline]
    pub fn find_whole(&mut self, address: Address, length: usize) -> Option<PieceOrigin> {
        let (source, end) = self.find(address.get(), 1);
        (end.saturating_sub(address.get()) >= length).then_some(source)
    }

    /// Calls a function with each part of a string that has one origin: the byte range of the part, and the origin.
    #[inline]
    pub fn for_each_part(&mut self, address: Address, length: usize, mut add: impl FnMut(&Self, Range<usize>, PieceOrigin)) {
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
            PieceOrigin::Input(string, _) => match self.strings.get(string as usize) {
                Some(known) => self.paths.owner(known.path),
                None => (Owner::NONE, false),
            },
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
        let (source, _) = self.find(Address::of(text).get(), text.len());
        let path = match source {
            PieceOrigin::Input(string, _) => self.strings.get(string as usize).map(|known| known.path),
            _ => None,
        };
        path.map_or(source, |path| PieceOrigin::Changed(self.sets.intern(&[path])))
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

    fn extend_with_known(&self, union: &mut Union, source: PieceOrigin) {
        match source {
            PieceOrigin::Input(string, _) => {
                if let Some(known) = self.strings.get(string as usize) {
                    union.insert(&self.paths, known.path);
                }
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
            _ if !union.paths.is_empty() => PieceOrigin::Changed(self.sets.intern(&union.paths)),
            Some(rest) => rest,
            None => PieceOrigin::Made,
        }
    }

    /// Returns the number of strings and keys.
    pub fn count_strings(&self) -> usize {
        self.strings.len().saturating_add(self.keys.len())
    }

    /// Claims the memory of the origins that were made since the last call.
    pub fn claim(&mut self, meter: &mut Meter<'_>) -> Result<()> {
        self.sets.claim(meter)
    }
}
