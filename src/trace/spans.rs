//! Stretches of a text in code points and in bytes.
//!
//! ```text
//! "<user>é<bot>Hi"   ->   code points 12..14, bytes 13..15
//! ```
//!
//! Python counts code points and Rust bytes; tokenizers return offsets in either.

use std::ops::Range;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::Segment;

/// The spans of a text in two units, in the same order.
///
/// A span of [`Prompt::generation`](crate::Prompt::generation) can end after the text, because transformers adds the length of a block to
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
    pub(super) fn pairs(&self) -> Vec<[usize; 2]> {
        pairs(&self.code_points)
    }

    /// Makes spans from spans in code points. A position after the end of the text is equally far after the end in bytes, so that
    /// [`assistant_mask`](crate::assistant_mask) is equal in both units.
    pub fn from_code_points(spans: Vec<Range<usize>>, text: &str) -> Self {
        let points = Points::new(&spans, text);
        let byte = |point: usize| points.as_ref().map_or(point, |points| points.byte(point));
        let bytes = spans.iter().map(|span| byte(span.start)..byte(span.end)).collect();
        Self {
            code_points: spans,
            bytes,
        }
    }

    /// Makes spans from spans in bytes of a text with known segments. If they are sorted, each part of the text is counted at most twice.
    pub fn from_segments(bytes: Vec<Range<usize>>, text: &str, segments: &[Segment]) -> Self {
        let is_ascii = segments.last().is_none_or(|last| last.code_points().end == text.len());
        let point = |byte: usize, last: &mut (usize, usize)| {
            if is_ascii {
                return byte;
            }
            let index = segments.partition_point(|segment| segment.bytes().end < byte);
            let point = segments.get(index).map_or(0, |segment| {
                let (bytes, points) = (segment.bytes(), segment.code_points());
                let (from, first) = match *last {
                    (from, first) if bytes.start <= from && from <= byte => (from, first),
                    _ => (bytes.start, points.start),
                };
                let part = text.get(from..byte).unwrap_or_default();
                match bytes.len() == points.len() {
                    true => first.saturating_add(part.len()),
                    false => first.saturating_add(part.chars().count()),
                }
            });
            *last = (byte, point);
            point
        };
        // The last start and the last end in both units.
        let (mut start, mut end) = ((0, 0), (0, 0));
        let code_points = bytes.iter().map(|span| {
            let first = point(span.start, &mut start);
            first..point(span.end, &mut end)
        });
        Self {
            code_points: code_points.collect(),
            bytes,
        }
    }

    /// Makes spans from spans in bytes, which must not end within a code point.
    pub fn from_bytes(spans: Vec<Range<usize>>, text: &str) -> Self {
        let points = Points::new(&spans, text);
        let point = |byte: usize| points.as_ref().map_or(byte, |points| points.point(byte));
        let code_points = spans.iter().map(|span| point(span.start)..point(span.end)).collect();
        Self {
            code_points,
            bytes: spans,
        }
    }
}

/// The number of code points between two whose byte offsets are stored.
const STRIDE: usize = 64;

/// The code points of a text that is not ASCII.
struct Points<'t> {
    text: &'t str,
    /// The first byte of the first code point of each stride.
    starts: Vec<usize>,
    count: usize,
}

impl<'t> Points<'t> {
    /// Returns `None` if both units are equal or there are no spans.
    fn new(spans: &[Range<usize>], text: &'t str) -> Option<Self> {
        let differ = !spans.is_empty() && !text.is_ascii();
        differ.then(|| Self {
            text,
            starts: text.char_indices().step_by(STRIDE).map(|(byte, _)| byte).collect(),
            count: text.chars().count(),
        })
    }

    /// Returns the first byte of a code point. An index after the end of the text becomes a byte equally far after the end.
    fn byte(&self, point: usize) -> usize {
        if let Some(after) = point.checked_sub(self.count) {
            return self.text.len().saturating_add(after);
        }
        let start = self.starts.get(point / STRIDE).copied().unwrap_or_default();
        let rest = self.text.get(start..).unwrap_or_default();
        let offset = rest.char_indices().nth(point % STRIDE);
        start.saturating_add(offset.map_or(rest.len(), |(offset, _)| offset))
    }

    /// Returns the number of code points before a byte.
    fn point(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
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
