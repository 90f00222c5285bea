//! Makes segments of the pieces of an output.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::pieces::{Owner, Piece, Pieces, Source, to_offset};
use super::places::{Known, Node, Places, ROOT, Role, Step};
use super::texts::Texts;
use super::{Place, Segment};
use crate::number::text::write_digits;

/// The bytes between two counted positions of a text.
const STRIDE: usize = 1024;

/// The code points of a text, counted up to each of its strides.
struct Counts<'t> {
    text: &'t str,
    /// The code points before each stride. Empty for a text that is ASCII or has a single stride.
    strides: Vec<usize>,
    is_ascii: bool,
}

impl<'t> Counts<'t> {
    fn new(text: &'t str) -> Self {
        let is_ascii = text.is_ascii();
        let mut strides = Vec::new();
        if !is_ascii && text.len() > STRIDE {
            let mut before = 0_usize;
            for chunk in text.as_bytes().chunks(STRIDE) {
                strides.push(before);
                before = before.saturating_add(count_starts(chunk));
            }
        }
        Self { text, strides, is_ascii }
    }

    /// Returns the number of code points before a byte.
    fn before(&self, byte: usize) -> usize {
        if self.is_ascii {
            return byte;
        }
        let stride = byte / STRIDE;
        let (before, start) = match self.strides.get(stride) {
            Some(before) => (*before, stride.saturating_mul(STRIDE)),
            None => (0, 0),
        };
        before.saturating_add(count_starts(self.text.as_bytes().get(start..byte).unwrap_or_default()))
    }
}

/// Returns the number of code points of a text.
fn count(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// Returns the number of code points that begin in these bytes.
fn count_starts(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

/// Makes the origins of segments.
struct Origins<'p, 'a> {
    places: &'p Places<'a>,
    texts: Texts,
    /// The indices of the text of each node and of each set, or [`NONE`].
    nodes: Vec<u32>,
    sets: Vec<u32>,
    counts: HashMap<u32, Counts<'a>>,
    /// The pointer of the container of the last value.
    pointer: String,
    /// The containers from the root to that one, each with the length of its pointer.
    open: Vec<(u32, usize)>,
    /// The buffer of the containers that are opened.
    opened: Vec<u32>,
}

/// The bytes of the pointers of most containers.
const POINTER_BYTES: usize = 64;

/// The index of a text that is not made yet.
const NONE: u32 = u32::MAX;

impl<'a> Origins<'_, 'a> {
    fn place(&mut self, piece: &Piece) -> Place {
        match piece.source {
            Source::Template(line) => Place::Template(line),
            Source::Token(node) => Place::Token(self.text(node, true)),
            Source::Input(string, at) => match self.places.strings.get(string as usize).copied() {
                Some(known) => self.input(string, known, at),
                None => Place::Made,
            },
            Source::Changed(set) => Place::Changed(self.set(set)),
            Source::Made | Source::Generation => Place::Made,
        }
    }

    fn input(&mut self, string: u32, known: Known<'a>, at: u32) -> Place {
        let byte = at as usize;
        let point = match byte {
            0 => 0,
            // Most strings are printed once, and a short part is counted as quickly as looked up.
            1..=STRIDE => known.text.get(..byte).map_or(0, count),
            _ => self
                .counts
                .entry(string)
                .or_insert_with(|| Counts::new(known.text))
                .before(byte),
        };
        Place::Input {
            path: self.text(known.node, false),
            starts: [to_offset(point), at],
            is_key: known.role == Role::Key,
        }
    }

    /// Returns the index of the texts of a set.
    fn set(&mut self, set: u32) -> u32 {
        if let Some(index) = self.sets.get(set as usize).filter(|index| **index != NONE) {
            return *index;
        }
        let places = self.places;
        let texts = places.sets.get(set).iter().map(|node| self.text(*node, false)).collect();
        let index = self.texts.add_set(texts);
        if let Some(kept) = self.sets.get_mut(set as usize) {
            *kept = index;
        }
        index
    }

    /// Returns the index of the text of a node: the name of a token, or the JSON pointer of another value.
    fn text(&mut self, node: u32, is_token: bool) -> u32 {
        if let Some(index) = self.nodes.get(node as usize).filter(|index| **index != NONE) {
            return *index;
        }
        let index = match self.places.nodes.get(node as usize).map(|node| node.step) {
            Some(Step::Key(name)) if is_token => self.texts.add(|text| text.push_str(name)),
            _ => self.add_pointer(node),
        };
        if let Some(kept) = self.nodes.get_mut(node as usize) {
            *kept = index;
        }
        index
    }

    /// Adds the JSON pointer of a node.
    fn add_pointer(&mut self, node: u32) -> u32 {
        let nodes = &self.places.nodes;
        let Some(Node { parent, step, .. }) = nodes.get(node as usize).filter(|_| node != ROOT) else {
            return self.texts.add(|_| ());
        };
        self.open_container(*parent);
        let pointer = &self.pointer;
        self.texts.add(|text| {
            text.push_str(pointer);
            push_step(step, text);
        })
    }

    /// Makes the pointer of a container. It shares its beginning with that of the last one: most values are printed in the order of the
    /// input.
    fn open_container(&mut self, mut container: u32) {
        let nodes = &self.places.nodes;
        self.opened.clear();
        loop {
            // A container has a greater index than those around it.
            while self.open.last().is_some_and(|(last, _)| *last > container) {
                self.open.pop();
            }
            if container == ROOT || self.open.last().is_some_and(|(last, _)| *last == container) {
                break;
            }
            self.opened.push(container);
            container = nodes.get(container as usize).map_or(ROOT, |node| node.parent);
        }
        self.pointer.truncate(self.open.last().map_or(0, |(_, length)| *length));
        for container in self.opened.iter().rev() {
            if let Some(node) = nodes.get(*container as usize) {
                push_step(&node.step, &mut self.pointer);
            }
            self.open.push((*container, self.pointer.len()));
        }
    }
}

/// Appends a step of a JSON pointer.
fn push_step(step: &Step<'_>, pointer: &mut String) {
    pointer.push('/');
    match step {
        Step::Index(index) => write_digits(u64::from(*index), pointer),
        Step::Key(key) if !key.bytes().any(|byte| matches!(byte, b'~' | b'/')) => pointer.push_str(key),
        Step::Key(key) => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
    }
}

impl Places<'_> {
    /// Returns the segments of a text.
    pub fn segments(&self, pieces: &Pieces, text: &str) -> Vec<Segment> {
        let mut origins = Origins {
            places: self,
            texts: Texts::with_capacity(),
            nodes: vec![NONE; self.nodes.len()],
            sets: vec![NONE; self.sets.len()],
            counts: HashMap::new(),
            pointer: String::with_capacity(POINTER_BYTES),
            open: Vec::new(),
            opened: Vec::new(),
        };
        // The texts are complete when all segments are made.
        let shared = Arc::new(OnceLock::new());
        let is_ascii = text.is_ascii();
        let mut segments = Vec::with_capacity(pieces.len());
        let mut point = 0_usize;
        let mut end = |piece: &Piece| {
            let Range { start, end } = piece.bytes();
            let first = point;
            point = match is_ascii {
                true => end,
                false => point.saturating_add(text.get(start..end).map_or(0, count)),
            };
            segments.push(Segment {
                bytes: [start, end].map(to_offset),
                code_points: [first, point].map(to_offset),
                place: origins.place(piece),
                owner: piece.owner,
                texts: Arc::clone(&shared),
            });
        };
        // What follows the last piece is made.
        let rest = Piece::new(pieces.filled()..text.len(), Source::Made, Owner::NOBODY);
        let rest = Some(&rest).filter(|rest| !rest.bytes().is_empty());
        let with_origin = pieces.list().iter().filter(|piece| piece.source != Source::Generation);
        let mut open: Option<Piece> = None;
        with_origin.chain(rest).for_each(|piece| match &mut open {
            Some(last) if piece.follows(last) => last.extend(piece),
            _ => {
                if let Some(last) = open.replace(*piece) {
                    end(&last);
                }
            }
        });
        if let Some(last) = open {
            end(&last);
        }
        let mut texts = origins.texts;
        texts.finish();
        // Nobody else has set them.
        let _ = shared.set(texts);
        segments
    }
}
