//! Stretches of a string in code points and in bytes.
//!
//! ```text
//! "<user>é<bot>Hi"   ->   code points 12..14, bytes 13..15
//! ```
//!
//! Python counts code points and Rust bytes; tokenizers return offsets in either.

use std::ops::Range;

use serde::ser::{Serialize, SerializeStruct, Serializer};

/// The spans of a string in two units, in the same order.
///
/// A span of [`Prompt::reference_spans`](crate::Prompt::reference_spans) can end after the text, because transformers adds the length of a
/// block to its start, even if a filter shortens the block later. It then ends equally far after the text in both units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spans {
    /// The spans in code points, which are the indices of Python.
    pub code_points: Vec<Range<usize>>,
    /// The spans in bytes of UTF-8, which are the indices of Rust.
    pub bytes: Vec<Range<usize>>,
}

/// Serializes each span as an array of its start and its end.
impl Serialize for Spans {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Spans", 2)?;
        object.serialize_field("code_points", &self.pairs())?;
        object.serialize_field("bytes", &pairs(&self.bytes))?;
        object.end()
    }
}

fn pairs(spans: &[Range<usize>]) -> Vec<[usize; 2]> {
    spans.iter().map(|span| [span.start, span.end]).collect()
}

impl Spans {
    /// Returns the start and the end of each span in code points.
    pub(crate) fn pairs(&self) -> Vec<[usize; 2]> {
        pairs(&self.code_points)
    }

    /// Makes spans from spans in code points. A position after the end of the text is equally far after the end in bytes, so that
    /// [`assistant_mask`](crate::assistant_mask) is equal in both units.
    pub fn from_code_points(spans: Vec<Range<usize>>, text: &str) -> Self {
        let points = Points::new(if spans.is_empty() { "" } else { text });
        Self {
            bytes: spans
                .iter()
                .map(|span| points.byte(span.start)..points.byte(span.end))
                .collect(),
            code_points: spans,
        }
    }

    /// Makes spans from spans in bytes, which must not end within a code point.
    pub fn from_bytes(spans: Vec<Range<usize>>, text: &str) -> Self {
        Points::new(if spans.is_empty() { "" } else { text }).spans(spans)
    }
}

/// The distance in bytes between two bytes before which the code points are counted. It fits in a byte, and so does a count.
const STRIDE: usize = 128;

/// The code points of a string.
#[derive(Debug)]
pub struct Points<'t> {
    text: &'t str,
    /// The number of code points that begin before each [`STRIDE`]th byte. The list is empty for a string of ASCII characters.
    counts: Vec<usize>,
    /// The number of code points.
    count: usize,
}

impl<'t> Points<'t> {
    /// Counts the code points of a string.
    pub fn new(text: &'t str) -> Self {
        let (mut counts, mut count) = (Vec::new(), text.len());
        if !text.is_ascii() {
            count = 0;
            counts.reserve_exact(text.len().div_ceil(STRIDE));
            for stride in text.as_bytes().chunks(STRIDE) {
                counts.push(count);
                count += count_starts(stride);
            }
        }
        Self { text, counts, count }
    }

    /// Makes spans from spans in bytes, which must not end within a code point.
    pub fn spans(&self, bytes: Vec<Range<usize>>) -> Spans {
        Spans {
            code_points: bytes
                .iter()
                .map(|span| self.point(span.start)..self.point(span.end))
                .collect(),
            bytes,
        }
    }

    /// Returns the first byte of a code point. An index after the end of the text becomes a byte equally far after the end.
    fn byte(&self, point: usize) -> usize {
        if let Some(after) = point.checked_sub(self.count) {
            return self.text.len() + after;
        }
        let stride = self.counts.partition_point(|count| *count <= point).saturating_sub(1);
        let Some(before) = self.counts.get(stride) else {
            return point;
        };
        let start = stride.saturating_mul(STRIDE);
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        let mut starts = (start..).zip(rest).filter(|(_, byte)| is_start(**byte));
        let found = starts.nth(point.saturating_sub(*before));
        found.map_or(self.text.len(), |(byte, _)| byte)
    }

    /// Returns the number of code points before a byte.
    pub fn point(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        let stride = (byte / STRIDE).min(self.counts.len().saturating_sub(1));
        let Some(before) = self.counts.get(stride) else {
            return byte;
        };
        let part = self.text.as_bytes().get(stride.saturating_mul(STRIDE)..byte);
        before + count_starts(part.unwrap_or_default())
    }
}

/// Returns the number of code points that begin in at most [`STRIDE`] bytes of a string.
fn count_starts(bytes: &[u8]) -> usize {
    let count = bytes
        .iter()
        .fold(0_u8, |count, byte| count.wrapping_add(u8::from(is_start(*byte))));
    usize::from(count)
}

/// Returns whether a code point begins at a byte of UTF-8.
fn is_start(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}
