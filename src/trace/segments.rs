//! Makes segments of the pieces of an output.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::pieces::{Owner, Piece, Pieces, Source};
use super::places::{Known, Node, Places, ROOT, Role, Step};
use super::{Origin, Segment};

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

/// Makes the origins of segments, and shares their texts.
struct Origins<'p, 'a> {
    places: &'p Places<'a>,
    paths: HashMap<u32, Arc<str>>,
    sets: HashMap<u32, Arc<[Arc<str>]>>,
    counts: HashMap<u32, Counts<'a>>,
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
        let name = match self.places.nodes.get(node as usize) {
            Some(Node {
                step: Step::Key(name), ..
            }) => *name,
            _ => "",
        };
        Arc::clone(self.paths.entry(node).or_insert_with(|| name.into()))
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
        let places = self.places;
        Arc::clone(self.paths.entry(node).or_insert_with(|| pointer(&places.nodes, node).into()))
    }
}

/// Returns the JSON pointer of a node.
fn pointer(nodes: &[Node<'_>], mut node: u32) -> String {
    let mut steps = Vec::new();
    while let (Some(Node { parent, step, .. }), true) = (nodes.get(node as usize), node != ROOT) {
        steps.push(step);
        node = *parent;
    }
    let mut pointer = String::new();
    for step in steps.into_iter().rev() {
        pointer.push('/');
        match step {
            Step::Index(index) => pointer.push_str(&index.to_string()),
            Step::Key(key) => key.chars().for_each(|char| match char {
                '~' => pointer.push_str("~0"),
                '/' => pointer.push_str("~1"),
                char => pointer.push(char),
            }),
        }
    }
    pointer
}

impl Places<'_> {
    /// Returns the segments of a text.
    pub fn segments(&self, pieces: &Pieces, text: &str) -> Vec<Segment> {
        let mut merged = Pieces::default();
        for piece in pieces.list().iter().filter(|piece| piece.source != Source::Generation) {
            merged.fill(piece.start, Source::Made, Owner::NOBODY);
            merged.push(*piece);
        }
        merged.fill(text.len(), Source::Made, Owner::NOBODY);
        let mut origins = Origins {
            places: self,
            paths: HashMap::new(),
            sets: HashMap::new(),
            counts: HashMap::new(),
        };
        let mut segments = Vec::with_capacity(merged.len());
        let mut point = 0_usize;
        for piece in merged.list() {
            let start = point;
            point = point.saturating_add(count_starts(text.as_bytes().get(piece.start..piece.end).unwrap_or_default()));
            segments.push(Segment {
                bytes: piece.start..piece.end,
                code_points: start..point,
                origin: origins.origin(piece),
                message: piece.owner.index(),
            });
        }
        segments
    }
}
