//! Indices that count code points, and slices of a string.
//!
//! ```text
//! slice("abcdef", Some(5), Some(2), Some(-1))    Some("fed")
//! char_at("añb", -2)                             Some("ñ")
//! resolve_index(-2, 3)                           Some(1)
//! ```
//!
//! [`SliceIndices`] holds the indices that a slice takes from any sequence, so lists use it too. The rules are CPython's `sliceobject.c`
//! `PySlice_Unpack` and `PySlice_AdjustIndices`. In a string outside ASCII, finding an index takes time linear in the index.

use std::borrow::Cow;

/// Converts an integer to `usize`, or returns `None` if it is negative. An integer that does not fit becomes `usize::MAX`. No sequence is
/// longer, so an index that is too large stays too large, even where pointers have 32 bits.
pub(super) fn clamp_to_usize(int: i64) -> Option<usize> {
    (int >= 0).then(|| usize::try_from(int).unwrap_or(usize::MAX))
}

/// Converts an index into a sequence of `len` elements to an offset from the start. A negative index counts from the end; the result is
/// `None` if that is before the first element. The result may be after the last element.
#[inline]
pub fn resolve_index(index: i64, len: usize) -> Option<usize> {
    match clamp_to_usize(index) {
        Some(position) => Some(position),
        None => len.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}

/// Returns the number of code points of a string.
pub fn char_count(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// Returns the byte offset of the code point at `index`, or the length of the text if the index is too large.
///
/// It reads the text only up to that code point, so cutting pieces off a long string stays linear.
pub fn byte_offset(text: &str, index: usize) -> usize {
    match text.as_bytes().get(..index) {
        Some(bytes) if bytes.is_ascii() => index,
        _ => text.char_indices().nth(index).map_or(text.len(), |(byte, _)| byte),
    }
}

/// Returns the byte offset of a slice bound, adjusted as Python does. It reads only the text between the bound and the end of the text that
/// the bound counts from.
fn bound_offset(text: &str, bound: i64) -> usize {
    match clamp_to_usize(bound) {
        Some(index) => byte_offset(text, index),
        None => usize::try_from(bound.unsigned_abs())
            .ok()
            .and_then(|from_end| text.char_indices().nth_back(from_end.checked_sub(1)?))
            .map_or(0, |(byte, _)| byte),
    }
}

/// Splits a string after its first `count` code points.
pub fn split_at_char(text: &str, count: usize) -> (&str, &str) {
    text.split_at_checked(byte_offset(text, count)).unwrap_or((text, ""))
}

/// Returns the code point at an index. A negative index counts from the end.
pub fn char_at(text: &str, index: i64) -> Option<&str> {
    let byte = match clamp_to_usize(index) {
        Some(index) => byte_offset(text, index),
        None => {
            let from_end = usize::try_from(index.unsigned_abs()).ok()?.checked_sub(1)?;
            text.char_indices().nth_back(from_end)?.0
        }
    };
    let char = text.get(byte..)?.chars().next()?;
    text.get(byte..byte.checked_add(char.len_utf8())?)
}

/// The indices that a slice takes from a sequence: `count` of them from `start`, `step` apart.
///
/// The bounds are adjusted as Python does, so `range(start, stop, step)` has these indices. `start` and `stop` may be -1 if the step
/// is negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceIndices {
    /// The first index, if there is one.
    pub start: i64,
    /// The index before which the slice stops.
    pub stop: i64,
    /// The distance between neighbouring indices, never zero.
    pub step: i64,
    /// The number of indices that the slice takes.
    pub count: usize,
}

impl SliceIndices {
    /// Returns whether the slice takes all elements of a sequence of `len` elements in their order.
    pub fn is_all(&self, len: usize) -> bool {
        self.start == 0 && self.step == 1 && self.count == len
    }

    /// Returns the indices of `[start:stop:step]` in a sequence of `len` elements, or `None` if the step is zero. Python reports that as
    /// `slice step cannot be zero`.
    pub fn new(len: usize, start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Option<Self> {
        let len = i64::try_from(len).unwrap_or(i64::MAX);
        let step = step.unwrap_or(1);
        let (lowest, highest) = if step < 0 { (-1, len.saturating_sub(1)) } else { (0, len) };
        let adjust = |bound: i64| {
            let from_start = if bound < 0 { bound.saturating_add(len) } else { bound };
            from_start.clamp(lowest, highest)
        };
        let (first, last) = if step < 0 { (highest, lowest) } else { (lowest, highest) };
        let start = start.map_or(first, adjust);
        let stop = stop.map_or(last, adjust);
        let distance = if step < 0 {
            start.saturating_sub(stop)
        } else {
            stop.saturating_sub(start)
        };
        // The count is rounded up, because the first index counts however large the step is.
        let stride = step.unsigned_abs();
        let count = u64::try_from(distance).unwrap_or(0).checked_add(stride.checked_sub(1)?)?;
        let count = usize::try_from(count.checked_div(stride)?).ok()?;
        Some(Self {
            start,
            stop,
            step,
            count,
        })
    }

    /// Returns an iterator over the indices in the order of the slice.
    pub fn positions(self) -> impl Iterator<Item = usize> + Clone {
        let Self { start, step, count, .. } = self;
        let at = move |number: usize| {
            let offset = i64::try_from(number).ok()?.checked_mul(step)?;
            usize::try_from(start.checked_add(offset)?).ok()
        };
        (0..count).map_while(at)
    }
}

/// Returns `text[start:stop:step]`, or `None` if the step is zero. The result is borrowed if the step is one.
pub fn slice(text: &str, start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Option<Cow<'_, str>> {
    if step.is_none_or(|step| step == 1) {
        let from = start.map_or(0, |start| bound_offset(text, start));
        let to = stop.map_or(text.len(), |stop| bound_offset(text, stop));
        return Some(Cow::Borrowed(text.get(from..to).unwrap_or_default()));
    }
    let len = char_count(text);
    let indices = SliceIndices::new(len, start, stop, step)?;
    let SliceIndices { step, count, .. } = indices;
    let start = indices.positions().next().unwrap_or(len);
    if count <= 1 {
        let (_, from_start) = split_at_char(text, start);
        let (piece, _) = split_at_char(from_start, count);
        return Some(Cow::Borrowed(piece));
    }
    let stride = usize::try_from(step.unsigned_abs()).unwrap_or(usize::MAX);
    let piece = if step > 0 {
        text.chars().skip(start).step_by(stride).take(count).collect()
    } else {
        let after = len.saturating_sub(1).saturating_sub(start);
        text.chars().rev().skip(after).step_by(stride).take(count).collect()
    };
    Some(Cow::Owned(piece))
}
