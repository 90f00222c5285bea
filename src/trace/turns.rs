//! The turns of messages: which parts of a prompt each message owns.
//!
//! ```text
//! <|im_start|>user⏎ Hi <|im_end|>⏎   ->   header, body with the field `content`, close
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::assistant::AssistantSpans;
use super::control::last_control_token;
use super::{Place, Segment, Spans};

/// The parts of a prompt that a message owns.
///
/// A message can own several stretches of the text, of which each has a header, a body and a close. Any of them can be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Turn {
    /// The index of the message.
    pub message: usize,
    /// The text before the body, such as `<|im_start|>user` and a line break.
    pub header: Spans,
    /// The text from the first field of the message to the last. If the model writes the message, it begins where the model begins.
    pub body: Spans,
    /// The text after the body, such as `<|im_end|>` and a line break.
    pub close: Spans,
    /// The fields of the message in the order in which they are first printed. The role is not among them.
    pub fields: Vec<Field>,
}

/// A field of a message that a template has printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// The place of the field in the message, such as `content` or `tool_calls/0/function/name`.
    pub name: String,
    /// The characters that come from the field.
    pub spans: Spans,
}

/// The form of the conformance protocol, whose places are in code points.
impl Serialize for Turn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Turn", 5)?;
        object.serialize_field("message", &self.message)?;
        object.serialize_field("header", &self.header.pairs())?;
        object.serialize_field("body", &self.body.pairs())?;
        object.serialize_field("close", &self.close.pairs())?;
        object.serialize_field("fields", &self.fields)?;
        object.end()
    }
}

/// The form of the conformance protocol, whose places are in code points.
impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Field", 2)?;
        object.serialize_field("name", &self.name)?;
        object.serialize_field("spans", &self.spans.pairs())?;
        object.end()
    }
}

/// The segments that a message owns.
#[derive(Debug, Default)]
pub(super) struct Owned<'s> {
    /// The index of the message.
    message: usize,
    /// All segments of the prompt.
    segments: &'s [Segment],
    /// The stretches without a gap, in order.
    pub stretches: Vec<Range<usize>>,
    /// The byte ranges of what the template prints of the message: all segments but the template's own text, tokens, and the role.
    printed: Vec<Range<usize>>,
    /// The byte ranges of what comes from other messages, tools and documents.
    pub foreign: Vec<Range<usize>>,
}

/// Returns the segments of each message up to the last that owns any.
pub(super) fn group_by_message(segments: &[Segment]) -> Vec<Owned<'_>> {
    let last = segments.iter().filter_map(|segment| segment.message()).max();
    let group = |message| Owned {
        message,
        segments,
        ..Owned::default()
    };
    let mut groups: Vec<_> = (0..last.map_or(0, |last| last.saturating_add(1))).map(group).collect();
    for segment in segments {
        let Some(message) = segment.message() else { continue };
        let Some(owned) = groups.get_mut(message) else { continue };
        match owned.stretches.last_mut() {
            Some(last) if last.end == segment.bytes().start => last.end = segment.bytes().end,
            _ => owned.stretches.push(segment.bytes()),
        }
        match segment.place {
            Place::Template(_) | Place::Token(_) => {}
            Place::Made => owned.printed.push(segment.bytes()),
            Place::Input { .. } | Place::Changed(_) => owned.add_input(segment, message),
        }
    }
    groups
}

impl<'s> Owned<'s> {
    /// Returns the segments in a byte range. An edge of the range is not within a field of the message.
    pub fn within(&self, range: &Range<usize>) -> impl Iterator<Item = &'s Segment> + use<'s> {
        let (message, end) = (self.message, range.end);
        let first = self.segments.partition_point(|segment| segment.bytes().end <= range.start);
        let segments = self.segments.get(first..).unwrap_or_default().iter();
        let segments = segments.take_while(move |segment| segment.bytes().start < end);
        segments.filter(move |segment| segment.message() == Some(message))
    }

    /// Returns the byte ranges of what the template prints of the message in a stretch.
    pub fn printed(&self, stretch: &Range<usize>) -> &[Range<usize>] {
        let start = self.printed.partition_point(|printed| printed.end <= stretch.start);
        let end = self.printed.partition_point(|printed| printed.start < stretch.end);
        self.printed.get(start..end).unwrap_or_default()
    }

    fn add_input(&mut self, segment: &Segment, message: usize) {
        let (mut is_own, mut is_role, mut is_foreign) = (false, false, false);
        for path in segment.paths() {
            match find_field(path, message) {
                Some("role") => is_role = true,
                Some(_) => is_own = true,
                None => {
                    is_foreign |= ["/messages", "/tools", "/documents"]
                        .iter()
                        .any(|root| path.starts_with(root))
                }
            }
        }
        if is_own {
            self.printed.push(segment.bytes());
        } else if is_foreign && !is_role {
            self.foreign.push(segment.bytes());
        }
    }
}

/// Returns the fields of a message from which a segment's characters come. The name is empty for the whole message.
fn fields(segment: &Segment, message: usize) -> impl Iterator<Item = &str> {
    segment.paths().filter_map(move |path| find_field(path, message))
}

/// Returns the field of a message at a JSON pointer.
pub(super) fn find_field(path: &str, message: usize) -> Option<&str> {
    let path = path.strip_prefix("/messages/")?;
    let (index, field) = cut_step(path);
    if index.parse() != Ok(message) {
        return None;
    }
    let depth = match field.strip_prefix("tool_calls/").map(cut_step) {
        Some((_, part)) if part.starts_with("function/") => 3,
        Some(_) => 2,
        None => 0,
    };
    let mut slashes = field.bytes().enumerate().filter(|(_, byte)| *byte == b'/');
    field.get(..slashes.nth(depth).map_or(field.len(), |(at, _)| at))
}

/// Returns the first step of a JSON pointer, and what follows the slash after it.
fn cut_step(path: &str) -> (&str, &str) {
    // The steps are short, so a loop over the bytes is faster than a search.
    let end = path.bytes().position(|byte| byte == b'/').unwrap_or(path.len());
    let rest = path.get(end.saturating_add(1)..).unwrap_or_default();
    (path.get(..end).unwrap_or_default(), rest)
}

/// Returns the turns of the messages that own a part of the text.
pub fn find_turns(text: &str, segments: &[Segment], assistant: &AssistantSpans) -> Vec<Turn> {
    let spans = |bytes| Spans::from_segments(bytes, text, segments);
    let model = match assistant {
        AssistantSpans::Known(spans) => spans.bytes.as_slice(),
        AssistantSpans::Unknown(_) => &[],
    };
    let groups = group_by_message(segments).into_iter().enumerate();
    let groups = groups.filter(|(_, owned)| !owned.stretches.is_empty());
    let turns = groups.map(|(message, owned)| {
        let (mut header, mut body, mut close) = (Vec::new(), Vec::new(), Vec::new());
        for stretch in &owned.stretches {
            let first = model.partition_point(|span| span.start < stretch.start);
            let begin = model.get(first).map(|span| span.start).filter(|start| *start < stretch.end);
            let part = split(text, stretch, owned.printed(stretch), begin);
            let edges = [stretch.start, part.start, part.end, stretch.end];
            for (list, edge) in [&mut header, &mut body, &mut close].into_iter().zip(edges.windows(2)) {
                match edge {
                    [start, end] if start < end => list.push(*start..*end),
                    _ => {}
                }
            }
        }
        Turn {
            message,
            header: spans(header),
            body: spans(body),
            close: spans(close),
            fields: find_fields(message, &owned)
                .map(|(name, bytes)| Field {
                    name,
                    spans: spans(bytes),
                })
                .collect(),
        }
    });
    turns.collect()
}

/// Returns the body of a stretch.
fn split(text: &str, stretch: &Range<usize>, printed: &[Range<usize>], begin: Option<usize>) -> Range<usize> {
    let whole = printed.first().zip(printed.last()).map(|(first, last)| first.start..last.end);
    let (start, end) = match (whole, begin) {
        (Some(body), begin) => (begin.unwrap_or(body.start).min(body.start), body.end),
        (None, Some(begin)) => (begin, begin),
        (None, None) => {
            // A turn without fields ends with a control token, and begins with another one.
            let token = last_control_token(text.get(stretch.clone()).unwrap_or_default());
            let at = token
                .filter(|token| token.start > 0)
                .map(|token| stretch.start.saturating_add(token.start));
            let at = at.unwrap_or(stretch.end);
            (at, at)
        }
    };
    start..end
}

/// Returns the fields of a message with the byte ranges of their characters.
fn find_fields(message: usize, owned: &Owned<'_>) -> impl Iterator<Item = (String, Vec<Range<usize>>)> {
    let mut found: Vec<(&str, Vec<Range<usize>>)> = Vec::new();
    let mut indices: BTreeMap<&str, usize> = BTreeMap::new();
    for segment in owned.stretches.iter().flat_map(|stretch| owned.within(stretch)) {
        for name in fields(segment, message).filter(|name| !["", "role"].contains(name)) {
            let index = *indices.entry(name).or_insert(found.len());
            if index == found.len() {
                found.push((name, Vec::new()));
            }
            let Some((_, ranges)) = found.get_mut(index) else { continue };
            match ranges.last_mut() {
                Some(last) if last.end >= segment.bytes().start => last.end = segment.bytes().end,
                _ => ranges.push(segment.bytes()),
            }
        }
    }
    found.into_iter().map(|(name, ranges)| (name.to_owned(), ranges))
}
