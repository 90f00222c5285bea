//! Makes segments from the pieces of an output.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::known::{Known, Role};
use super::map::InputMap;
use super::pieces::{Piece, Pieces};
use super::source::{Owner, PieceOrigin, to_offset};
use super::spans::Points;
use super::{Place, Segment};
use crate::text::slice::char_count;

/// The number of bytes before a part of a string up to which their code points are counted each time. For later parts, the offsets of the
/// string's code points are stored.
const SHORT: usize = 1024;

/// Makes the origins of segments.
struct Origins<'p, 'a> {
    strings: &'p [Known<'a>],
    /// The offsets of the code points of a string, by the index of the string, if a part was written that is far from its start.
    points: HashMap<u32, Points<'a>, RandomState>,
}

impl<'a> Origins<'_, 'a> {
    #[inline(always)]
    fn place(&mut self, piece: &Piece) -> Place {
        match piece.source {
            PieceOrigin::Template(line) => Place::Template(line),
            PieceOrigin::Token(path) => Place::Token(path),
            PieceOrigin::Input(string, at) => match self.strings.get(string as usize).copied() {
                Some(known) => self.input(string, known, at),
                None => Place::Made,
            },
            PieceOrigin::Changed(set) => Place::Changed(set),
            PieceOrigin::Clock => Place::Clock,
            // A resolved piece has none of the other origins.
            _ => Place::Made,
        }
    }

    fn input(&mut self, string: u32, known: Known<'a>, at: u32) -> Place {
        let byte = at as usize;
        let point = match byte {
            0 => 0,
            // Most strings are printed once. Counting a short part is as fast as a lookup.
            1..=SHORT => known.text.get(..byte).map_or(0, char_count),
            _ => self
                .points
                .entry(string)
                .or_insert_with(|| Points::new(known.text))
                .point(byte),
        };
        Place::Input {
            path: known.path,
            starts: [to_offset(point), at],
            is_key: known.role == Role::Key,
        }
    }
}

/// Returns the sum of the numbers of values that the segments come from.
pub fn count_paths(segments: &[Segment]) -> u64 {
    let Some(paths) = segments.first().map(Segment::input) else {
        return 0;
    };
    let counts = segments.iter().map(|segment| match segment.place {
        Place::Input { .. } => 1,
        Place::Changed(set) => paths.set(set).len() as u64,
        Place::Template(_) | Place::Token(_) | Place::Clock | Place::Made => 0,
    });
    counts.sum()
}

/// Returns the sum of the lengths of all segments' JSON pointers in bytes. If an upper bound of the sum, which is found faster, is at most
/// `allowed`, returns that bound.
pub fn count_pointer_bytes(segments: &[Segment], allowed: u64) -> u64 {
    let Some(paths) = segments.first().map(Segment::input) else {
        return 0;
    };
    let longest_set = paths.sets.iter().map(|set| set.len()).max().unwrap_or_default().max(1);
    let most = segments
        .len()
        .saturating_mul(longest_set)
        .saturating_mul(paths.longest_pointer()) as u64;
    if most <= allowed {
        return most;
    }
    let lengths = paths.pointer_lengths();
    let indices = segments.iter().flat_map(Segment::path_indices);
    let lengths = indices.filter_map(|path| lengths.get(path as usize).copied());
    lengths.fold(0, |sum: u64, length| sum.saturating_add(u64::from(length)))
}

impl InputMap<'_> {
    /// Returns the segments of the output. They take the paths, so this can be called only once.
    pub fn take_segments(&mut self, pieces: &Pieces, text: &str) -> Vec<Segment> {
        let mut paths = std::mem::take(&mut self.paths);
        paths.sets = self.sets.take();
        let paths = Arc::new(paths);
        let mut origins = Origins {
            strings: &self.strings,
            points: HashMap::default(),
        };
        let is_ascii = text.is_ascii();
        let mut segments = Vec::with_capacity(pieces.len());
        let mut point = 0_usize;
        let mut add = |piece: &Piece| {
            let Range { start, end } = piece.bytes();
            let first = point;
            point = if is_ascii {
                end
            } else {
                point + text.get(start..end).map_or(0, char_count)
            };
            segments.push(Segment {
                bytes: [start, end].map(to_offset),
                code_points: [first, point].map(to_offset),
                place: origins.place(piece),
                owner: piece.owner,
                paths: Arc::clone(&paths),
            });
        };
        // The render made the text after the last piece.
        let rest = Piece::new(pieces.filled()..text.len(), PieceOrigin::Made, Owner::NONE);
        let rest = Some(&rest).filter(|rest| !rest.bytes().is_empty());
        let mut open: Option<Piece> = None;
        for piece in pieces.list().iter().chain(rest) {
            match &mut open {
                _ if piece.source == PieceOrigin::Generation => {}
                Some(last) if piece.follows(last) => last.extend(piece),
                Some(last) => {
                    add(last);
                    *last = *piece;
                }
                None => open = Some(*piece),
            }
        }
        if let Some(last) = open {
            add(&last);
        }
        segments
    }
}
