//! Search within bounds: `find`, `rfind`, `count`, `startswith` and `endswith` of Python's `str`.
//!
//! ```text
//! find("hello", "", Some(5), None)     Some(5)
//! find("hello", "", Some(10), None)    None      a start after the end finds nothing
//! count("aaaa", "aa", None, None)      2
//! ```
//!
//! Bounds and results count code points. The rules are CPython's `unicodeobject.c`: `ADJUST_INDICES`, `any_find_slice`, `tailmatch`.

use super::slice::{byte_offset, char_count, resolve_index};

/// A part of a string, and the index of its first code point in the text.
struct Window<'a> {
    text: &'a str,
    first: usize,
}

/// Returns the part of a string between two bounds, or `None` if the start is after the end. Python then finds nothing, not even the empty
/// string.
fn cut_window(text: &str, start: Option<i64>, end: Option<i64>) -> Option<Window<'_>> {
    if start.is_none() && end.is_none() {
        return Some(Window { text, first: 0 });
    }
    let len = char_count(text);
    let adjust = |bound: i64| resolve_index(bound, len).unwrap_or(0);
    let first = start.map_or(0, adjust);
    let count = end.map_or(len, adjust).min(len).checked_sub(first)?;
    let from_first = text.get(byte_offset(text, first)..)?;
    let piece = from_first.get(..byte_offset(from_first, count))?;
    Some(Window { text: piece, first })
}

impl Window<'_> {
    /// Converts a byte offset in the window to the index of a code point in the whole string.
    fn char_index(&self, byte: usize) -> Option<usize> {
        self.first.checked_add(char_count(self.text.get(..byte)?))
    }
}

/// `str.find`: returns the index of the first occurrence within the bounds, or `None` instead of -1.
pub fn find(text: &str, wanted: &str, start: Option<i64>, end: Option<i64>) -> Option<usize> {
    let window = cut_window(text, start, end)?;
    window.char_index(find_first(window.text, wanted)?)
}

/// The number of occurrences of the first character that are tried before the standard library's search takes over, which is linear in
/// the worst case.
const CANDIDATES: usize = 16;

/// Returns the byte offset of the first occurrence of `wanted`.
///
/// It searches for the first character of `wanted` and compares the rest. In prompts that character is usually as rare as the whole string
/// that is sought, so this is several times faster than a substring search.
pub fn find_first(text: &str, wanted: &str) -> Option<usize> {
    let Some(head) = wanted.chars().next() else { return Some(0) };
    let mut from = 0;
    for _ in 0..CANDIDATES {
        let rest = text.get(from..)?;
        let at = rest.find(head)?;
        if rest.get(at..).is_some_and(|tail| tail.starts_with(wanted)) {
            return from.checked_add(at);
        }
        from = from.checked_add(at)?.checked_add(head.len_utf8())?;
    }
    text.get(from..)?.find(wanted)?.checked_add(from)
}

/// `str.rfind`: returns the index of the last occurrence within the bounds, or `None` instead of -1.
pub fn rfind(text: &str, wanted: &str, start: Option<i64>, end: Option<i64>) -> Option<usize> {
    let window = cut_window(text, start, end)?;
    window.char_index(find_last(window.text, wanted)?)
}

/// Returns the byte offset of the last occurrence of `wanted`. It searches for the last character of `wanted`, as [`find_first`] does for
/// the first.
pub fn find_last(text: &str, wanted: &str) -> Option<usize> {
    let Some(tail) = wanted.chars().next_back() else {
        return Some(text.len());
    };
    let mut before = text;
    for _ in 0..CANDIDATES {
        let at = before.rfind(tail)?;
        if let Some(rest) = before.get(..at.checked_add(tail.len_utf8())?)?.strip_suffix(wanted) {
            return Some(rest.len());
        }
        before = before.get(..at)?;
    }
    before.rfind(wanted)
}

/// `str.count`: returns the number of non-overlapping occurrences within the bounds. The empty string occurs around each character.
pub fn count(text: &str, wanted: &str, start: Option<i64>, end: Option<i64>) -> usize {
    cut_window(text, start, end).map_or(0, |window| count_occurrences(window.text, wanted))
}

/// Returns the number of non-overlapping occurrences of `wanted`.
pub(super) fn count_occurrences(text: &str, wanted: &str) -> usize {
    match wanted.as_bytes() {
        [] => char_count(text) + 1,
        // Counting bytes is many times faster than a search for each of them.
        [byte] => text.bytes().filter(|other| other == byte).count(),
        _ => find_all(text, wanted).count(),
    }
}

/// Returns the byte offsets of the non-overlapping occurrences of `wanted`, which is not empty, from left to right.
pub(super) fn find_all(text: &str, wanted: &str) -> impl Iterator<Item = usize> {
    let mut from = 0_usize;
    std::iter::from_fn(move || {
        let rest = text.get(from..)?;
        // Occurrences often follow each other directly.
        let at = if rest.starts_with(wanted) {
            from
        } else {
            from.checked_add(find_first(rest, wanted)?)?
        };
        from = at.checked_add(wanted.len())?;
        Some(at)
    })
}

/// `str.startswith` and `str.endswith`: returns the text between the bounds, or `None` if the start is after the end.
pub fn between(text: &str, start: Option<i64>, end: Option<i64>) -> Option<&str> {
    cut_window(text, start, end).map(|window| window.text)
}
