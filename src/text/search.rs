//! Searching with bounds: `find`, `rfind`, `count`, `startswith` and `endswith` of Python's `str`.
//!
//! ```text
//! find("hello", "", Some(5), None)     Some(5)
//! find("hello", "", Some(10), None)    None      bounds beyond the end contain nothing
//! count("aaaa", "aa", None, None)      2
//! ```
//!
//! Bounds and results are code points; `index` is `find` with an error of the caller's. The rules are
//! those of CPython's `unicodeobject.c`: `ADJUST_INDICES`, `any_find_slice`, `tailmatch`.

use super::slice::{byte_offset, char_count, resolve_index};

/// A piece of the text, and the number of its first code point.
struct Window<'a> {
    text: &'a str,
    first: usize,
}

/// The piece between the bounds; `None` if the start is behind the end, where Python finds nothing,
/// not even the empty string.
fn window(text: &str, start: Option<i64>, end: Option<i64>) -> Option<Window<'_>> {
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
    /// The number, in the whole text, of the code point at that byte of the window.
    fn char_of_byte(&self, byte: usize) -> Option<usize> {
        self.first.checked_add(char_count(self.text.get(..byte)?))
    }
}

/// `str.find`, with `None` for -1
pub fn find(text: &str, wanted: &str, start: Option<i64>, end: Option<i64>) -> Option<usize> {
    let window = window(text, start, end)?;
    window.char_of_byte(find_first(window.text, wanted)?)
}

/// So many places where only the first character fits are looked at, before the search that stays linear takes over.
const CANDIDATES: usize = 16;

/// The byte at which the text first contains the other. A separator in a prompt is rare, and so is its first character: looking for
/// that alone is several times as fast as looking for all of it.
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

/// `str.rfind`, with `None` for -1
pub fn rfind(text: &str, wanted: &str, start: Option<i64>, end: Option<i64>) -> Option<usize> {
    let window = window(text, start, end)?;
    window.char_of_byte(find_last(window.text, wanted)?)
}

/// The last byte at which the text contains the other: by its last character, as [`find_first`] goes by the first.
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

/// `str.count`: occurrences that do not overlap; the empty string occurs around every character
pub fn count(text: &str, wanted: &str, start: Option<i64>, end: Option<i64>) -> usize {
    window(text, start, end).map_or(0, |window| count_occurrences(window.text, wanted))
}

/// How often the text contains the other without overlap.
pub(super) fn count_occurrences(text: &str, wanted: &str) -> usize {
    if wanted.is_empty() {
        char_count(text).saturating_add(1)
    } else {
        find_all(text, wanted).count()
    }
}

/// The bytes at which the text contains the other, which is not empty, from left to right and without overlap.
pub(super) fn find_all(text: &str, wanted: &str) -> impl Iterator<Item = usize> {
    let mut from = 0_usize;
    std::iter::from_fn(move || {
        let rest = text.get(from..)?;
        // One often follows the other.
        let at = match rest.starts_with(wanted) {
            true => from,
            false => from.checked_add(find_first(rest, wanted)?)?,
        };
        from = at.checked_add(wanted.len())?;
        Some(at)
    })
}

/// `str.startswith` for one prefix
pub fn starts_with(text: &str, prefix: &str, start: Option<i64>, end: Option<i64>) -> bool {
    window(text, start, end).is_some_and(|window| window.text.starts_with(prefix))
}

/// `str.endswith` for one suffix
pub fn ends_with(text: &str, suffix: &str, start: Option<i64>, end: Option<i64>) -> bool {
    window(text, start, end).is_some_and(|window| window.text.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_code_points() {
        assert_eq!(find("ñandú", "n", None, None), Some(2));
        assert_eq!(find("ñandú", "ú", Some(-1), None), Some(4));
        assert_eq!(rfind("aña", "a", None, Some(-1)), Some(0));
        assert_eq!(find("abc", "d", None, None), None);
        assert_eq!(find("abc", "a", Some(i64::MIN), Some(i64::MAX)), Some(0));
    }

    #[test]
    fn the_empty_string_is_found_within_the_bounds() {
        assert_eq!(find("hello", "", Some(5), None), Some(5));
        assert_eq!(find("hello", "", Some(6), None), None);
        assert_eq!(rfind("héllo", "", None, Some(-1)), Some(4));
        assert_eq!(count("héllo", "", None, None), 6);
        assert_eq!(count("hello", "", Some(5), Some(4)), 0);
        assert!(starts_with("hello", "", Some(5), None));
        assert!(!ends_with("hello", "", Some(6), None));
    }

    #[test]
    fn places_are_those_of_a_plain_search() {
        let texts: Vec<String> = (0..4096_u32)
            .map(|bits| (0..12).map(|bit| if bits >> bit & 1 == 1 { 'é' } else { 'b' }).collect())
            .collect();
        for text in texts.iter().map(|text| text.repeat(3)) {
            for wanted in ["é", "bé", "éé", "bbé", "ébé", "éébb", ""] {
                assert_eq!(find_first(&text, wanted), text.find(wanted));
                assert_eq!(find_last(&text, wanted), text.rfind(wanted));
            }
        }
    }

    #[test]
    fn occurrences_do_not_overlap() {
        assert_eq!(count("aaaa", "aa", None, None), 2);
        assert_eq!(count("aaaa", "aa", Some(1), None), 1);
    }

    #[test]
    fn ends_respect_the_bounds() {
        assert!(starts_with("hello", "el", Some(1), None));
        assert!(!starts_with("hello", "el", Some(1), Some(2)));
        assert!(ends_with("hello", "ell", None, Some(-1)));
    }
}
