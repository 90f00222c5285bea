//! Splitting: `split`, `rsplit`, `partition` and `rpartition` of Python's `str`.
//!
//! ```text
//! split_whitespace("  a  b  c ", 1)    "a", "b  c "     the rest keeps its trailing blanks
//! split("a,,b", ",", -1)               "a", "", "b"
//! rsplit("a,b,c", ",", 1)              "c", "a,b"       from the right; the caller reverses the order
//! partition("abc", "x")                ("abc", "", "")
//! ```
//!
//! All pieces are borrowed. A negative `maxsplit` means no limit. For an empty separator the result is `None`; Python reports `empty
//! separator`. The rules are CPython's `stringlib/split.h` and `stringlib/partition.h`.

use std::iter;

use super::search::{find_first, find_last};
use super::strip::{strip_end, strip_start};
use crate::unicode::is_whitespace;

/// The number of splits that are left, or `None` if the number is unlimited.
#[derive(Debug, Clone, Copy)]
struct Allowance(Option<u64>);

impl Allowance {
    fn new(maxsplit: i64) -> Self {
        Self(u64::try_from(maxsplit).ok())
    }

    /// Uses up one split. Returns whether there was one left.
    fn take(&mut self) -> bool {
        match &mut self.0 {
            None => true,
            Some(left) => left.checked_sub(1).map(|fewer| *left = fewer).is_some(),
        }
    }
}

/// `str.split` without a separator: returns an iterator over the pieces between runs of whitespace, without empty pieces.
pub fn split_whitespace(text: &str, maxsplit: i64) -> impl Iterator<Item = &str> {
    pieces_between_whitespace(strip_start(text, None), maxsplit, |text| {
        let end = text.find(is_whitespace).unwrap_or(text.len());
        let (piece, rest) = text.split_at_checked(end)?;
        Some((piece, strip_start(rest, None)))
    })
}

/// `str.rsplit` without a separator: returns an iterator over the pieces from the last to the first, without empty pieces.
pub fn rsplit_whitespace(text: &str, maxsplit: i64) -> impl Iterator<Item = &str> {
    pieces_between_whitespace(strip_end(text, None), maxsplit, |text| {
        let piece = text.rsplit(is_whitespace).next()?;
        Some((piece, strip_end(text.strip_suffix(piece)?, None)))
    })
}

/// Returns an iterator over pieces of a string. `split` returns the first piece, and the rest without the whitespace next to the piece.
fn pieces_between_whitespace<'a>(
    text: &'a str,
    maxsplit: i64,
    split: impl Fn(&'a str) -> Option<(&'a str, &'a str)>,
) -> impl Iterator<Item = &'a str> {
    let (mut rest, mut allowance) = (text, Allowance::new(maxsplit));
    iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if !allowance.take() {
            return Some(std::mem::take(&mut rest));
        }
        let (piece, after) = split(rest)?;
        rest = after;
        Some(piece)
    })
}

/// Converts `maxsplit` to the largest number of pieces.
fn piece_limit(maxsplit: i64) -> usize {
    usize::try_from(maxsplit).map_or(usize::MAX, |limit| limit.saturating_add(1))
}

/// `str.split` with a separator: returns an iterator over the pieces, or `None` if the separator is empty.
pub fn split<'a>(text: &'a str, separator: &'a str, maxsplit: i64) -> Option<impl Iterator<Item = &'a str>> {
    (!separator.is_empty()).then(|| Pieces {
        rest: Some(text),
        separator,
        allowance: Allowance::new(maxsplit),
    })
}

/// An iterator over the pieces between separators.
struct Pieces<'a> {
    rest: Option<&'a str>,
    separator: &'a str,
    allowance: Allowance,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.rest.take()?;
        let found = if self.allowance.take() {
            find_first(text, self.separator)
        } else {
            None
        };
        match split_at_separator(text, found, self.separator) {
            Some((piece, _, rest)) => {
                self.rest = Some(rest);
                Some(piece)
            }
            None => Some(text),
        }
    }
}

/// `str.rsplit` with a separator: returns an iterator over the pieces from the last to the first, or `None` if the separator is empty.
pub fn rsplit<'a>(text: &'a str, separator: &'a str, maxsplit: i64) -> Option<impl Iterator<Item = &'a str>> {
    (!separator.is_empty()).then(|| text.rsplitn(piece_limit(maxsplit), separator))
}

/// The text before a separator, the separator, and the text after it.
pub type Partition<'a> = (&'a str, &'a str, &'a str);

/// `str.partition`: splits at the first separator. Without one, the result is the text and two empty strings.
pub fn partition<'a>(text: &'a str, separator: &str) -> Option<Partition<'a>> {
    if separator.is_empty() {
        return None;
    }
    Some(split_at_separator(text, find_first(text, separator), separator).unwrap_or((text, "", "")))
}

/// `str.rpartition`: splits at the last separator. Without one, the result is two empty strings and the text.
pub fn rpartition<'a>(text: &'a str, separator: &str) -> Option<Partition<'a>> {
    if separator.is_empty() {
        return None;
    }
    Some(split_at_separator(text, find_last(text, separator), separator).unwrap_or(("", "", text)))
}

/// Splits a string around the separator at a byte offset.
fn split_at_separator<'a>(text: &'a str, at: Option<usize>, separator: &str) -> Option<Partition<'a>> {
    let (before, from_separator) = text.split_at_checked(at?)?;
    let (found, after) = from_separator.split_at_checked(separator.len())?;
    Some((before, found, after))
}
