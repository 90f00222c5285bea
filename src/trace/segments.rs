//! Makes the parts of an output from its pieces, and segments from the parts.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;

use super::Segment;
use super::known::StringId;
use super::map::InputMap;
use super::paths::Paths;
use super::pieces::{Piece, Pieces};
use super::source::{Owner, PieceOrigin, to_offset};
use super::spans::Points;
use crate::text::slice::char_count;

/// The number of bytes before a part of a string up to which their code points are counted each time. For later parts, the offsets of the
/// string's code points are stored.
const SHORT: usize = 1024;

/// Where the characters of an output came from. It is empty if the render was not traced.
#[derive(Clone, Default)]
pub struct Trace(Option<Box<Traced>>);

#[derive(Clone)]
struct Traced {
    parts: Vec<Part>,
    /// The values of the input.
    paths: Arc<Paths>,
    /// The segments, which the first call of [`Trace::segments`] makes.
    segments: OnceLock<Vec<Segment>>,
}

/// A stretch of an output whose characters came from one place.
#[derive(Clone, Copy)]
pub struct Part {
    /// The first byte and the byte after the last, in 32 bits each to save memory: a prompt has a part for every few words.
    bytes: [u32; 2],
    owner: Owner,
    pub place: Place,
}

/// The origin of a part in a small form: indices into [`Paths`] replace strings, and ends of ranges follow from the length of the part.
#[derive(Clone, Copy)]
pub enum Place {
    Template(u32),
    Token(u32),
    Input {
        path: u32,
        /// The index of the first character in the string, in code points and in bytes.
        starts: [u32; 2],
        is_key: bool,
    },
    Changed(u32),
    Clock,
    Made,
}

impl Part {
    /// Returns the byte range of the part.
    pub fn bytes(&self) -> Range<usize> {
        let [start, end] = self.bytes;
        start as usize..end as usize
    }

    /// Returns the index of the message that owns the part, if one does.
    pub fn message(&self) -> Option<usize> {
        self.owner.index()
    }

    /// Returns whether characters of the input are in the part, also changed ones.
    pub fn is_input(&self) -> bool {
        matches!(self.place, Place::Input { .. } | Place::Changed(_))
    }

    /// Returns the indices of the strings of the input that the characters came from.
    pub fn path_indices<'p>(&self, paths: &'p Paths) -> impl Iterator<Item = u32> + use<'p> {
        let (path, set): (_, &[u32]) = match self.place {
            Place::Input { path, .. } => (Some(path), &[]),
            Place::Changed(set) => (None, paths.set(set)),
            _ => (None, &[]),
        };
        path.into_iter().chain(set.iter().copied())
    }

    /// Returns whether another part is the same, with paths of its own.
    pub(super) fn is_equal(&self, paths: &Paths, other: &Self, others: &Paths) -> bool {
        let names = self.path_indices(paths).map(|path| paths.pointer(path));
        let is_same = match (self.place, other.place) {
            (Place::Template(line), Place::Template(other)) => line == other,
            (Place::Token(name), Place::Token(other)) => paths.pointer(name) == others.pointer(other),
            (
                Place::Input { starts, is_key, .. },
                Place::Input {
                    starts: other_starts,
                    is_key: is_other_key,
                    ..
                },
            ) => starts == other_starts && is_key == is_other_key,
            (Place::Changed(_), Place::Changed(_)) | (Place::Clock, Place::Clock) | (Place::Made, Place::Made) => true,
            _ => false,
        };
        (self.bytes, self.owner) == (other.bytes, other.owner)
            && is_same
            && names.eq(other.path_indices(others).map(|path| others.pointer(path)))
    }
}

impl Trace {
    /// Returns the parts, in the order of the output.
    pub fn parts(&self) -> &[Part] {
        self.0.as_ref().map_or(&[], |traced| &traced.parts)
    }

    /// Returns the values of the input.
    pub fn paths(&self) -> &Paths {
        static NO_PATHS: Paths = Paths::empty();
        self.0.as_ref().map_or(&NO_PATHS, |traced| &traced.paths)
    }

    /// Returns the segments of the output, whose text is passed. The first call makes them.
    pub fn segments(&self, text: &str) -> &[Segment] {
        let Some(traced) = &self.0 else { return &[] };
        traced.segments.get_or_init(|| {
            let is_ascii = text.is_ascii();
            let mut point = 0;
            let segments = traced.parts.iter().map(|part| {
                let [start, end] = part.bytes;
                let first = point;
                point = match is_ascii {
                    true => end,
                    false => first.saturating_add(to_offset(text.get(start as usize..end as usize).map_or(0, char_count))),
                };
                Segment {
                    part: *part,
                    code_points: [first, point],
                    paths: Arc::clone(&traced.paths),
                }
            });
            segments.collect()
        })
    }

    /// Returns the sum of the numbers of values that the parts come from.
    pub fn count_paths(&self) -> u64 {
        let counts = self.parts().iter().map(|part| match part.place {
            Place::Input { .. } => 1,
            Place::Changed(set) => self.paths().set(set).len() as u64,
            Place::Template(_) | Place::Token(_) | Place::Clock | Place::Made => 0,
        });
        counts.sum()
    }

    /// Returns the sum of the lengths of all JSON pointers of the parts in bytes. If an upper bound of the sum, which is found faster, is at
    /// most `allowed`, returns that bound.
    pub fn count_pointer_bytes(&self, allowed: u64) -> u64 {
        let longest_set = self.paths().sets.iter().map(|set| set.len()).max().unwrap_or_default().max(1);
        let most = self.parts().len().saturating_mul(longest_set);
        let most = most.saturating_mul(self.paths().longest_pointer()) as u64;
        if most <= allowed {
            return most;
        }
        let lengths = self.paths().pointer_lengths();
        let indices = self.parts().iter().flat_map(|part| part.path_indices(self.paths()));
        let lengths = indices.filter_map(|path| lengths.get(path as usize).copied());
        lengths.fold(0, |sum: u64, length| sum.saturating_add(u64::from(length)))
    }
}

impl PartialEq for Trace {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.parts().iter().zip(other.parts());
        self.parts().len() == other.parts().len() && pairs.all(|(one, two)| one.is_equal(self.paths(), two, other.paths()))
    }
}

impl Eq for Trace {}

impl fmt::Debug for Trace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = self.parts().iter().map(|part| (part.bytes(), part.message()));
        formatter.debug_list().entries(ranges).finish()
    }
}

impl<'a> InputMap<'a> {
    /// Returns the parts of the output, which has a length in bytes. They take the paths, so this can be called only once.
    pub fn take_trace(&mut self, pieces: &Pieces, length: usize) -> Trace {
        // Nothing more is looked for.
        (self.spots, self.messages, self.unseen) = (Vec::new(), Vec::new(), None);
        let mut paths = std::mem::replace(&mut self.paths, Paths::empty());
        paths.finish();
        paths.sets = self.sets.take();
        // The render made the text after the last piece.
        let rest = Piece::new(pieces.filled()..length, PieceOrigin::Made, Owner::NONE);
        let rest = Some(&rest).filter(|rest| !rest.bytes().is_empty());
        let mut parts: Vec<Part> = Vec::with_capacity(pieces.len());
        let mut points = HashMap::default();
        let mut last: Option<&Piece> = None;
        for piece in pieces.list().iter().chain(rest) {
            if piece.source == PieceOrigin::Generation {
                continue;
            }
            let bytes @ [_, end] = piece.offsets();
            match parts.last_mut() {
                Some(part) if last.is_some_and(|last| piece.follows(last)) => part.bytes[1] = end,
                _ => parts.push(Part {
                    bytes,
                    owner: piece.owner,
                    place: self.place(piece.source, &mut points),
                }),
            }
            last = Some(piece);
        }
        Trace(Some(Box::new(Traced {
            parts,
            paths: Arc::new(paths),
            segments: OnceLock::new(),
        })))
    }

    /// Returns the origin of a resolved piece. `points` has the offsets of the code points of strings of which a part far from the start was
    /// written.
    #[inline(always)]
    fn place(&self, source: PieceOrigin, points: &mut HashMap<StringId, Points<'a>, RandomState>) -> Place {
        match source {
            PieceOrigin::Template(line) => Place::Template(line),
            PieceOrigin::Token(path) => Place::Token(path),
            PieceOrigin::Input(string, at) => Place::Input {
                path: string.index(),
                starts: [
                    match at as usize {
                        0 => 0,
                        byte => to_offset(self.count_points(string, byte, points)),
                    },
                    at,
                ],
                is_key: string.is_key(),
            },
            PieceOrigin::Changed(set) => Place::Changed(set),
            PieceOrigin::Clock => Place::Clock,
            // A resolved piece has none of the other origins.
            _ => Place::Made,
        }
    }

    /// Returns the number of code points before a byte of a string.
    fn count_points(&self, string: StringId, byte: usize, points: &mut HashMap<StringId, Points<'a>, RandomState>) -> usize {
        let text = self.string(string);
        match byte {
            // Most strings are printed once. Counting a short part is as fast as a lookup.
            ..=SHORT => text.get(..byte).map_or(0, char_count),
            _ => points.entry(string).or_insert_with(|| Points::new(text)).point(byte),
        }
    }
}
