//! Makes segments of the pieces of an output.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::pieces::{Owner, Piece, Pieces, Source};
use super::places::{Known, Node, Places, ROOT, Role, Step};
use super::{Origin, Segment};
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

/// Returns the number of code points that begin in these bytes.
fn count_starts(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

/// The number of paths that are kept to be shared.
const KEPT: usize = 16;

/// Makes the origins of segments. Segments of one string are near each other, and share their path.
struct Origins<'p, 'a> {
    places: &'p Places<'a>,
    /// The paths that were made last, each in the place that its node determines.
    paths: [Option<(u32, Arc<str>)>; KEPT],
    sets: HashMap<u32, Arc<[Arc<str>]>>,
    counts: HashMap<u32, Counts<'a>>,
    /// The buffers of the pointer that is made.
    steps: Vec<Step<'a>>,
    pointer: String,
}

impl<'a> Origins<'_, 'a> {
    fn origin(&mut self, piece: &Piece) -> Origin {
        match piece.source {
            Source::Template(line) => Origin::Template { line: line as usize },
            Source::Token(node) => Origin::Token { name: self.name(node) },
            Source::Input(string, at) => match self.places.strings.get(string as usize).copied() {
                Some(known) => {
                    let at = at as usize;
                    self.input(string, known, at..at.saturating_add(piece.end.saturating_sub(piece.start)))
                }
                None => Origin::Made,
            },
            Source::Changed(set) => Origin::Changed { paths: self.paths(set) },
            Source::Made | Source::Generation => Origin::Made,
        }
    }

    fn input(&mut self, string: u32, known: Known<'a>, at_bytes: Range<usize>) -> Origin {
        let at = match known.text.len() {
            // Most strings are printed once, and a short one is counted as quickly as looked up.
            ..=STRIDE => {
                let before = |byte| count_starts(known.text.as_bytes().get(..byte).unwrap_or_default());
                before(at_bytes.start)..before(at_bytes.end)
            }
            _ => {
                let counts = self.counts.entry(string).or_insert_with(|| Counts::new(known.text));
                counts.before(at_bytes.start)..counts.before(at_bytes.end)
            }
        };
        Origin::Input {
            path: self.path(known.node),
            at,
            at_bytes,
            is_key: known.role == Role::Key,
        }
    }

    fn name(&mut self, node: u32) -> Arc<str> {
        self.shared(node, |origins| match origins.places.nodes.get(node as usize) {
            Some(Node {
                step: Step::Key(name), ..
            }) => (*name).into(),
            _ => "".into(),
        })
    }

    fn paths(&mut self, set: u32) -> Arc<[Arc<str>]> {
        if let Some(paths) = self.sets.get(&set) {
            return Arc::clone(paths);
        }
        let paths: Arc<[Arc<str>]> = self.places.sets.get(set).iter().map(|node| self.path(*node)).collect();
        self.sets.insert(set, Arc::clone(&paths));
        paths
    }

    fn path(&mut self, node: u32) -> Arc<str> {
        self.shared(node, |origins| origins.make_pointer(node))
    }

    /// Returns the text that was made for a node, or makes it.
    fn shared(&mut self, node: u32, make: impl FnOnce(&mut Self) -> Arc<str>) -> Arc<str> {
        let place = node as usize % KEPT;
        if let Some(Some((kept, text))) = self.paths.get(place) {
            if *kept == node {
                return Arc::clone(text);
            }
        }
        let text = make(self);
        if let Some(place) = self.paths.get_mut(place) {
            *place = Some((node, Arc::clone(&text)));
        }
        text
    }

    /// Returns the JSON pointer of a node.
    fn make_pointer(&mut self, mut node: u32) -> Arc<str> {
        self.steps.clear();
        self.pointer.clear();
        while let (Some(Node { parent, step, .. }), true) = (self.places.nodes.get(node as usize), node != ROOT) {
            self.steps.push(*step);
            node = *parent;
        }
        while let Some(step) = self.steps.pop() {
            self.pointer.push('/');
            match step {
                Step::Index(index) => write_digits(u64::from(index), &mut self.pointer),
                Step::Key(key) if !key.contains(['~', '/']) => self.pointer.push_str(key),
                Step::Key(key) => self.pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
            }
        }
        self.pointer.as_str().into()
    }
}

impl Places<'_> {
    /// Returns the segments of a text.
    pub fn segments(&self, pieces: &Pieces, text: &str) -> Vec<Segment> {
        let mut origins = Origins {
            places: self,
            paths: [const { None }; KEPT],
            sets: HashMap::new(),
            counts: HashMap::new(),
            steps: Vec::new(),
            pointer: String::new(),
        };
        let is_ascii = text.is_ascii();
        let mut segments = Vec::with_capacity(pieces.len());
        let mut point = 0_usize;
        let mut end = |piece: &Piece| {
            let start = point;
            point = match is_ascii {
                true => piece.end,
                false => point.saturating_add(count_starts(text.as_bytes().get(piece.start..piece.end).unwrap_or_default())),
            };
            segments.push(Segment {
                bytes: piece.start..piece.end,
                code_points: start..point,
                origin: origins.origin(piece),
                message: piece.owner.index(),
            });
        };
        let mut open: Option<Piece> = None;
        let mut pieces = pieces.list().iter().filter(|piece| piece.source != Source::Generation);
        // What follows the last piece is made.
        let mut rest = Some(text.len());
        loop {
            let filled = open.map_or(0, |open| open.end);
            let gap = |end: usize| Piece {
                start: filled,
                end,
                source: Source::Made,
                owner: Owner::NOBODY,
            };
            let next = match pieces.next() {
                Some(piece) => *piece,
                None => match rest.take().filter(|rest| *rest > filled) {
                    Some(rest) => gap(rest),
                    None => break,
                },
            };
            match &mut open {
                Some(last) if next.follows(last) => last.end = next.end,
                _ => {
                    if let Some(last) = open.replace(next) {
                        end(&last);
                    }
                }
            }
        }
        if let Some(last) = open {
            end(&last);
        }
        segments
    }
}
