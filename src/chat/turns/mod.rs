//! The turns of messages: which parts of a prompt each message owns.
//!
//! ```text
//! <|im_start|>user⏎ Hi <|im_end|>⏎   ->   header, body with the field `content`, close
//! ```

pub(super) mod assistant;
mod control_tokens;
mod groups;
mod mask;

use std::ops::Range;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use serde::{Serialize, Serializer};

use assistant::AssistantSpans;
use assistant::control::last_control_token;
pub use control_tokens::{ControlPolicy, ControlToken, ControlTokens, TextPiece, TokenOrigin};
use groups::{Owned, Stretch, find_fields, group_by_message};
pub use mask::assistant_mask;

use crate::trace::{Paths, Points, ROOT, Spans, Trace};

/// The parts of a prompt that a message owns.
///
/// A message can own several stretches of the text, each with a header, a body and a close. Any of these can be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Turn {
    /// The index of the message.
    pub message: usize,
    /// The text before the body, such as `<|im_start|>user` and a line break.
    #[serde(serialize_with = "write_pairs")]
    pub header: Spans,
    /// The text from the first field of the message to the last. If the model writes the message, the body begins where the model begins,
    /// unless a field comes earlier.
    #[serde(serialize_with = "write_pairs")]
    pub body: Spans,
    /// The text after the body, such as `<|im_end|>` and a line break.
    #[serde(serialize_with = "write_pairs")]
    pub close: Spans,
    /// The fields of the message in the order in which they are first printed. The role is not among them.
    pub fields: Vec<Field>,
}

/// A field of a message that a template has printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Field {
    /// The place of the field in the message, such as `content` or `tool_calls/0/function/name`.
    pub name: String,
    /// The characters that come from the field.
    #[serde(serialize_with = "write_pairs")]
    pub spans: Spans,
}

/// Writes spans in the form of the conformance protocol, whose places are in code points.
fn write_pairs<S: Serializer>(spans: &Spans, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(spans.code_points.iter().map(|span| [span.start, span.end]))
}

/// Returns the turns of the messages that own a part of the text.
pub fn find_turns(text: &str, trace: &Trace, assistant: &AssistantSpans) -> Vec<Turn> {
    let points = Points::new(if trace.parts().is_empty() { "" } else { text });
    let spans = |bytes| points.spans(bytes);
    let model = assistant.spans().bytes;
    let groups = group_by_message(trace);
    let turns = groups.iter().map(|owned| {
        let (mut header, mut body, mut close) = (Vec::new(), Vec::new(), Vec::new());
        for stretch in owned.stretches.iter().map(Stretch::range) {
            let first = model.partition_point(|span| span.start < stretch.start);
            let begin = model.get(first).map(|span| span.start).filter(|start| *start < stretch.end);
            let part = split(text, &stretch, owned.printed(&stretch), begin);
            let edges = [stretch.start, part.start, part.end, stretch.end];
            for (list, edge) in [&mut header, &mut body, &mut close].into_iter().zip(edges.windows(2)) {
                match edge {
                    [start, end] if start < end => list.push(*start..*end),
                    _ => {}
                }
            }
        }
        Turn {
            message: owned.message,
            header: spans(header),
            body: spans(body),
            close: spans(close),
            fields: list_fields(&owned, &points),
        }
    });
    turns.collect()
}

/// Returns the body of a stretch. `begin` is where the model begins in the stretch, if it does.
fn split(text: &str, stretch: &Range<usize>, printed: &[Stretch], begin: Option<usize>) -> Range<usize> {
    let whole = printed.first().zip(printed.last()).map(|(first, last)| first.start..last.end);
    let (start, end) = match (whole, begin) {
        (Some(body), begin) => (begin.unwrap_or(body.start).min(body.start), body.end),
        (None, Some(begin)) => (begin, begin),
        (None, None) => {
            // Without fields, the body is empty, and the close begins with the last control token, unless the turn begins with it.
            let token = last_control_token(text.get(stretch.clone()).unwrap_or_default());
            let at = token.filter(|token| token.start > 0).map(|token| stretch.start + token.start);
            let at = at.unwrap_or(stretch.end);
            (at, at)
        }
    };
    start..end
}

/// Returns the fields of a message that are printed.
fn list_fields(owned: &Owned<'_>, points: &Points<'_>) -> Vec<Field> {
    let paths = owned.trace.paths();
    let mut fields: IndexMap<u32, Vec<Range<usize>>, RandomState> = IndexMap::default();
    for part in owned.stretches.iter().flat_map(|stretch| owned.within(&stretch.range())) {
        for field in find_fields(part, paths) {
            extend(fields.entry(field).or_default(), part.bytes());
        }
    }
    let fields = fields.into_iter().map(|(field, ranges)| Field {
        name: paths.join_steps(field, find_message(paths, field)),
        spans: points.spans(ranges),
    });
    fields.collect()
}

/// Returns the path of the message that a field is in.
fn find_message(paths: &Paths, field: u32) -> u32 {
    let is_outside = |path: u32| path != ROOT && paths.message(path).is_none();
    std::iter::successors(Some(field), |path| is_outside(*path).then(|| paths.parent(*path)))
        .last()
        .unwrap_or(ROOT)
}

/// Adds a range after the others. Ranges that touch become one.
fn extend(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end >= range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}
