//! What a prompt was copied and made from, by address.

use std::ops::Range;
use std::sync::Arc;

use super::map::InputMap;
use super::paths::ROOT;
use super::pieces::Pieces;
use super::source::{Owner, PieceOrigin};

/// What a render keeps of the places in memory from which its prompt came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// None of them.
    Nothing,
    /// The address of each part that was copied.
    Addresses,
    /// Also from which strings the other parts were made, and the message that owns each part.
    Sources,
}

/// The parts of an output that were copied from memory or made, in the order of the output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// The parts.
    pub list: Vec<Copied>,
    /// The strings of the input, if the render kept [`Keeps::Sources`].
    pub sources: Option<Box<Sources>>,
}

/// A part of an output. Text of the template is a part only if the render kept the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The first byte in the output, and the byte after the last.
    pub at: usize,
    pub end: usize,
    pub from: From,
    owner: Owner,
}

/// Where a part of an output came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The address of the bytes.
    Memory(usize),
    /// The index of the set of values from which it was made.
    Set(u32),
    /// It was made, from something that is not known.
    Made,
    /// The template, or a token of the model.
    Template,
}

/// The strings of an input by address, and the values that contain them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    /// The addresses of the first byte and of the end, and the index of the value. A key has the index of its value.
    strings: Vec<(usize, usize, u32)>,
    parents: Vec<u32>,
    sets: Vec<Arc<[u32]>>,
}

impl Copied {
    /// Returns the addresses of a part that was copied.
    pub fn memory(&self) -> Option<Range<usize>> {
        match self.from {
            From::Memory(start) => Some(start..start.wrapping_add(self.end.saturating_sub(self.at))),
            _ => None,
        }
    }

    /// Returns the index of the message that owns the part.
    pub fn message(&self) -> Option<usize> {
        self.owner.index()
    }
}

impl Sources {
    /// Returns the index of the value of a string or a key, or of its container. The root is 0.
    pub fn find(&self, address: usize) -> Option<u32> {
        let after = self.strings.partition_point(|(start, ..)| *start <= address);
        let (_, end, value) = self.strings.get(after.checked_sub(1)?)?;
        (address < *end).then_some(*value)
    }

    /// Returns the container of a value. That of the root is the root.
    pub fn parent(&self, value: u32) -> u32 {
        self.parents.get(value as usize).copied().unwrap_or(ROOT)
    }

    /// Returns a value and the containers around it.
    pub fn around(&self, value: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(value), |value| (*value != ROOT).then(|| self.parent(*value)))
    }

    /// Returns the values of a set.
    pub fn set(&self, index: u32) -> &[u32] {
        self.sets.get(index as usize).map_or(&[], |set| set)
    }
}

impl Pieces {
    /// Returns the parts of an output. `map` is that of a render that is traced, whose pieces are resolved, and has the sources if they are
    /// asked for.
    pub fn list_copies(&self, map: Option<&InputMap<'_>>, has_sources: bool) -> Copies {
        let part = |source: PieceOrigin| match source {
            PieceOrigin::Memory(address) => Some(From::Memory(address.get())),
            PieceOrigin::Input(string, at) => {
                let address = map.map(|map| map.string(string).as_ptr().addr().wrapping_add(at as usize));
                Some(address.map_or(From::Made, From::Memory))
            }
            PieceOrigin::Changed(set) if has_sources => Some(From::Set(set)),
            PieceOrigin::Changed(_) | PieceOrigin::Clock | PieceOrigin::Made => Some(From::Made),
            PieceOrigin::Template(_) | PieceOrigin::Token(_) => has_sources.then_some(From::Template),
            PieceOrigin::Generation => None,
        };
        let mut list = Vec::with_capacity(self.list().len());
        list.extend(self.list().iter().filter_map(|piece| {
            let Range { start: at, end } = piece.bytes();
            let (from, owner) = (part(piece.source)?, piece.owner);
            Some(Copied { at, end, from, owner })
        }));
        let sources = map.filter(|_| has_sources).map(|map| Box::new(map.list_sources()));
        Copies { list, sources }
    }
}

impl InputMap<'_> {
    /// Returns the strings and keys by address, and the values that contain them.
    fn list_sources(&self) -> Sources {
        let strings = self.spots.iter().map(|spot| (spot.start, spot.end, spot.string.index()));
        let strings = strings.filter(|(.., value)| !self.paths.is_token(*value)).collect();
        Sources {
            strings,
            parents: self.paths.parents(),
            sets: self.sets.list().to_vec(),
        }
    }
}
