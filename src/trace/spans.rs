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
/// A span of [`Prompt::reference_spans`](crate::Prompt::reference_spans) can end after the text, because transformers adds the length of a block to
/// its start, even if a filter shortens the block later. It then ends equally far after the text in both units.
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

/// The distance in code points between two code points whose byte offsets are stored.
const STRIDE: usize = 64;

/// The code points of a string.
#[derive(Debug)]
pub struct Points<'t> {
    text: &'t str,
    /// The byte offset of each [`STRIDE`]th code point. The list is empty for a string of ASCII characters.
    starts: Vec<usize>,
    /// The number of code points.
    count: usize,
}

impl<'t> Points<'t> {
    /// Counts the code points of a string.
    pub fn new(text: &'t str) -> Self {
        if text.is_ascii() {
            let (starts, count) = (Vec::new(), text.len());
            return Self { text, starts, count };
        }
        Self {
            text,
            starts: text.char_indices().step_by(STRIDE).map(|(byte, _)| byte).collect(),
            count: text.chars().count(),
        }
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
            return self.text.len().saturating_add(after);
        }
        let Some(start) = self.starts.get(point / STRIDE).copied() else {
            return point;
        };
        let rest = self.text.get(start..).unwrap_or_default();
        let offset = rest.char_indices().nth(point % STRIDE);
        start.saturating_add(offset.map_or(rest.len(), |(offset, _)| offset))
    }

    /// Returns the number of code points before a byte.
    pub fn point(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        if self.starts.is_empty() {
            return byte;
        }
        let stride = self.starts.partition_point(|start| *start <= byte).saturating_sub(1);
        let start = self.starts.get(stride).copied().unwrap_or_default();
        let part = self.text.get(start..byte).unwrap_or_default();
        stride.saturating_mul(STRIDE).saturating_add(part.chars().count())
    }
}

#[cfg(test)]
mod tests {
    use super::{STRIDE, Spans};

    #[test]
    fn each_code_point_has_its_byte_in_both_directions() {
        for length in [1, STRIDE - 1, STRIDE, STRIDE + 1, 3 * STRIDE] {
            let text = "aé日🙂".chars().cycle().take(length).collect::<String>() + "é";
            let starts: Vec<usize> = text.char_indices().map(|(byte, _)| byte).chain([text.len()]).collect();
            let bytes: Vec<_> = starts.iter().map(|start| *start..text.len()).collect();
            let points: Vec<_> = (0..starts.len()).map(|point| point..starts.len() - 1).collect();
            assert_eq!(Spans::from_bytes(bytes.clone(), &text).code_points, points);
            assert_eq!(Spans::from_code_points(points, &text).bytes, bytes);
        }
    }
}
