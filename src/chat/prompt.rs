//! The prompt of a conversation: its text, and the spans of `{% generation %}` blocks.
//!
//! ```text
//! "<user>é<bot>Hi"   ->   code points 12..14, bytes 13..15
//! ```
//!
//! Python counts code points and Rust bytes; tokenizers return offsets in either.

use std::ops::Range;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::ControlToken;
use crate::trace::Segment;

/// The prompt of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompt {
    /// The text to be tokenized, with no special tokens added.
    pub text: String,
    /// The spans of `{% generation %}` blocks as transformers counts them. Empty unless [`ApplyOptions::generation`] is set.
    ///
    /// [`ApplyOptions::generation`]: super::ApplyOptions::generation
    pub generation: Spans,
    /// The places of `{% generation %}` blocks in the text. Empty unless [`ApplyOptions::true_spans`] is set.
    ///
    /// [`ApplyOptions::true_spans`]: super::ApplyOptions::true_spans
    pub true_spans: Spans,
    /// Where the characters of the text came from. Empty unless [`ApplyOptions::trace`] is set.
    ///
    /// [`ApplyOptions::trace`]: super::ApplyOptions::trace
    pub segments: Vec<Segment>,
    /// The control tokens that the input wrote, at least in part. Empty unless the policy is
    /// [`ControlPolicy::Split`](super::ControlPolicy::Split).
    pub untrusted: Vec<ControlToken>,
    /// The number of steps that the render took; [`Limits::steps`](crate::Limits::steps) is their limit.
    pub steps: u64,
}

/// ```
/// use chat_template::{ApplyOptions, ChatTemplate};
///
/// let template = ChatTemplate::from_source("{% generation %}é{% endgeneration %}", &[]);
/// let options = ApplyOptions { true_spans: true, ..Default::default() };
/// let prompt = template.apply(&serde_json::json!([{}]), &options)?;
/// let json = serde_json::to_value(&prompt).unwrap();
/// assert_eq!(json["text"], "é");
/// assert_eq!(json["true_spans"], serde_json::json!({"code_points": [[0, 1]], "bytes": [[0, 2]]}));
/// assert_eq!(json["steps"], prompt.steps);
/// # Ok::<(), chat_template::Error>(())
/// ```
impl Serialize for Prompt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Prompt", 5)?;
        object.serialize_field("text", &self.text)?;
        object.serialize_field("generation", &self.generation)?;
        object.serialize_field("true_spans", &self.true_spans)?;
        object.serialize_field("segments", &self.segments)?;
        object.serialize_field("steps", &self.steps)?;
        object.end()
    }
}

/// The spans of a text in two units, in the same order.
///
/// A span of [`Prompt::generation`] can end after the text, because transformers adds the length of a block to its start, even if a filter
/// shortens the block later. It then ends equally far after the text in both units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spans {
    /// The spans in code points, which are the indices of Python.
    pub code_points: Vec<Range<usize>>,
    /// The spans in bytes of UTF-8, which are the indices of Rust.
    pub bytes: Vec<Range<usize>>,
}

/// A span is an array of its start and its end.
impl Serialize for Spans {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pairs = |spans: &[Range<usize>]| -> Vec<[usize; 2]> { spans.iter().map(|span| [span.start, span.end]).collect() };
        let mut object = serializer.serialize_struct("Spans", 2)?;
        object.serialize_field("code_points", &pairs(&self.code_points))?;
        object.serialize_field("bytes", &pairs(&self.bytes))?;
        object.end()
    }
}

impl Spans {
    /// Makes spans from spans in code points. A position after the text is equally far after its end in bytes, so that
    /// [`assistant_mask`](super::assistant_mask) is equal in both units.
    pub(super) fn from_code_points(spans: Vec<Range<usize>>, text: &str) -> Self {
        let starts = starts(&spans, text);
        let byte = |point: usize| match &starts {
            Some(starts) => match point.checked_sub(starts.len()) {
                Some(after) => text.len().saturating_add(after),
                None => starts.get(point).copied().unwrap_or(text.len()),
            },
            None => point,
        };
        let bytes = spans.iter().map(|span| byte(span.start)..byte(span.end)).collect();
        Self {
            code_points: spans,
            bytes,
        }
    }

    /// Makes spans from spans in bytes, which must not end within a code point.
    pub(super) fn from_bytes(spans: Vec<Range<usize>>, text: &str) -> Self {
        let starts = starts(&spans, text);
        let point = |byte: usize| match &starts {
            Some(starts) => starts.partition_point(|start| *start < byte),
            None => byte,
        };
        let code_points = spans.iter().map(|span| point(span.start)..point(span.end)).collect();
        Self {
            code_points,
            bytes: spans,
        }
    }
}

/// Returns the start of each code point in bytes, or `None` if both units are equal or there are no spans.
fn starts(spans: &[Range<usize>], text: &str) -> Option<Vec<usize>> {
    let differ = !spans.is_empty() && !text.is_ascii();
    differ.then(|| text.char_indices().map(|(byte, _)| byte).collect())
}
