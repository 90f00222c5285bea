//! Groups the segments of a prompt by the messages that own them.

use std::ops::Range;

use crate::trace::{InputPart, Part as Piece, Paths, Place, Trace};

/// A byte range that belongs to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    message: usize,
    pub start: usize,
    pub end: usize,
}

impl Stretch {
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// The byte ranges of a prompt that belong to messages, in three lists. In each list, the ranges of one message follow one another, in the
/// order of the text.
#[derive(Debug)]
pub(super) struct Groups<'s> {
    trace: &'s Trace,
    /// The byte ranges that messages own. Ranges of one message do not touch.
    stretches: Vec<Stretch>,
    /// The byte ranges that come from the fields of a message other than its role, or that the render made, such as a number.
    printed: Vec<Stretch>,
    /// The byte ranges that come from other messages, tools and documents.
    foreign: Vec<Stretch>,
}

/// What a message owns of a prompt: its stretches, and what is in them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owned<'g> {
    pub message: usize,
    pub trace: &'g Trace,
    pub stretches: &'g [Stretch],
    printed: &'g [Stretch],
    foreign: &'g [Stretch],
}

/// Groups the parts of a prompt by their messages.
pub(super) fn group_by_message(trace: &Trace) -> Groups<'_> {
    let mut groups = Groups {
        trace,
        stretches: Vec::new(),
        printed: Vec::new(),
        foreign: Vec::new(),
    };
    for segment in trace.parts() {
        let Some(message) = segment.message() else { continue };
        let Range { start, end } = segment.bytes();
        let stretch = Stretch { message, start, end };
        match groups.stretches.last_mut() {
            Some(last) if last.end == start && last.message == message => last.end = end,
            _ => groups.stretches.push(stretch),
        }
        match segment.place {
            Place::Template(_) | Place::Token(_) | Place::Clock => {}
            Place::Made => groups.printed.push(stretch),
            Place::Input { .. } | Place::Changed(_) => match find_share(segment, trace.paths()) {
                Some(Share::Own) => groups.printed.push(stretch),
                Some(Share::Foreign) => groups.foreign.push(stretch),
                None => {}
            },
        }
    }
    for list in [&mut groups.stretches, &mut groups.printed, &mut groups.foreign] {
        list.sort_by_key(|stretch| stretch.message);
    }
    groups
}

impl Groups<'_> {
    /// Returns what each message owns, without the messages that own nothing.
    pub fn iter(&self) -> impl Iterator<Item = Owned<'_>> {
        let (mut printed, mut foreign) = (self.printed.as_slice(), self.foreign.as_slice());
        let stretches = self.stretches.chunk_by(|one, next| one.message == next.message);
        stretches.map(move |stretches| {
            let message = stretches.first().map_or(0, |first| first.message);
            Owned {
                message,
                trace: self.trace,
                stretches,
                printed: split_message(&mut printed, message),
                foreign: split_message(&mut foreign, message),
            }
        })
    }
}

/// Takes the stretches of a message from the start of a list.
fn split_message<'g>(list: &mut &'g [Stretch], message: usize) -> &'g [Stretch] {
    let other = list.iter().position(|stretch| stretch.message != message);
    let (own, rest) = list.split_at(other.unwrap_or(list.len()));
    *list = rest;
    own
}

/// How characters are related to the message that owns them.
enum Share {
    /// The characters come from a field of the message other than the role.
    Own,
    /// The characters come from other messages, tools or documents.
    Foreign,
}

/// Returns the relation of a segment to its message.
fn find_share(segment: &Piece, paths: &Paths) -> Option<Share> {
    let (mut is_role, mut is_foreign) = (false, false);
    for path in segment.path_indices(paths) {
        let is_own = paths.owner(path).0.index() == segment.message();
        match paths.part(path) {
            InputPart::Role if is_own => is_role = true,
            _ if is_own => return Some(Share::Own),
            InputPart::Root | InputPart::Other => {}
            _ => is_foreign = true,
        }
    }
    (is_foreign && !is_role).then_some(Share::Foreign)
}

impl<'g> Owned<'g> {
    /// Returns the segments of the message that overlap a byte range. The range does not begin or end within a field of the message.
    pub fn within(&self, range: &Range<usize>) -> impl Iterator<Item = &'g Piece> + use<'g> {
        let (message, end) = (self.message, range.end);
        let segments = self.trace.parts();
        let first = segments.partition_point(|segment| segment.bytes().end <= range.start);
        let segments = segments.get(first..).unwrap_or_default().iter();
        let segments = segments.take_while(move |segment| segment.bytes().start < end);
        segments.filter(move |segment| segment.message() == Some(message))
    }

    /// Returns the stretches in a byte range that come from the fields of the message other than its role, or that the render made.
    pub fn printed(&self, range: &Range<usize>) -> &'g [Stretch] {
        overlap(self.printed, range)
    }

    /// Returns the stretches in a byte range that come from other messages, tools and documents.
    pub fn foreign(&self, range: &Range<usize>) -> &'g [Stretch] {
        overlap(self.foreign, range)
    }
}

/// Returns the stretches that overlap a byte range.
fn overlap<'g>(stretches: &'g [Stretch], range: &Range<usize>) -> &'g [Stretch] {
    let start = stretches.partition_point(|stretch| stretch.end <= range.start);
    let rest = stretches.get(start..).unwrap_or_default();
    let end = rest.partition_point(|stretch| stretch.start < range.end);
    rest.get(..end).unwrap_or_default()
}

/// Returns the fields of the owning message that a segment comes from, as indices of paths, without the role and the whole message.
pub(super) fn find_fields<'p>(segment: &'p Piece, paths: &'p Paths) -> impl Iterator<Item = u32> + use<'p> {
    let own = segment
        .path_indices(paths)
        .filter(|path| paths.owner(*path).0.index() == segment.message());
    own.filter_map(|path| match paths.part(path) {
        InputPart::Role | InputPart::Message => None,
        _ => Some(paths.field(path)),
    })
}

/// Returns whether a field has one of these names and is in the message itself, not in one of its calls.
pub(super) fn is_field(paths: &Paths, field: u32, names: &[&str]) -> bool {
    paths.message(paths.parent(field)).is_some() && names.contains(&paths.key(field))
}
