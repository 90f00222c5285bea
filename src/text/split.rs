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

/// `str.split` without a separator: returns an iterator over the pieces between runs of whitespace, without empty pieces.
pub fn split_whitespace(text: &str, maxsplit: i64) -> impl Iterator<Item = &str> {
    let start = |text| Some(strip_start(text, None)).filter(|rest| !rest.is_empty());
    pieces(start(text), maxsplit, move |text| {
        let end = text.find(is_whitespace).unwrap_or(text.len());
        let (piece, rest) = text.split_at_checked(end)?;
        Some((piece, start(rest)))
    })
}

/// `str.rsplit` without a separator: returns an iterator over the pieces from the last to the first, without empty pieces.
pub fn rsplit_whitespace(text: &str, maxsplit: i64) -> impl Iterator<Item = &str> {
    let end = |text| Some(strip_end(text, None)).filter(|rest| !rest.is_empty());
    pieces(end(text), maxsplit, move |text| {
        let piece = text.rsplit(is_whitespace).next()?;
        Some((piece, end(text.strip_suffix(piece)?)))
    })
}

/// `str.split` with a separator: returns an iterator over the pieces, or `None` if the separator is empty.
pub fn split<'a>(text: &'a str, separator: &'a str, maxsplit: i64) -> Option<impl Iterator<Item = &'a str>> {
    let split_off = |text| {
        let (piece, _, rest) = split_at_separator(text, find_first(text, separator), separator)?;
        Some((piece, Some(rest)))
    };
    (!separator.is_empty()).then(|| pieces(Some(text), maxsplit, split_off))
}

/// `str.rsplit` with a separator: returns an iterator over the pieces from the last to the first, or `None` if the separator is empty.
pub fn rsplit<'a>(text: &'a str, separator: &'a str, maxsplit: i64) -> Option<impl Iterator<Item = &'a str>> {
    let limit = usize::try_from(maxsplit).map_or(usize::MAX, |limit| limit.saturating_add(1));
    (!separator.is_empty()).then(|| text.rsplitn(limit, separator))
}

/// Returns an iterator over at most `maxsplit` pieces of a string and the rest. `split_off` returns the next piece, and the rest if more
/// pieces follow.
fn pieces<'a>(
    text: Option<&'a str>,
    maxsplit: i64,
    split_off: impl Fn(&'a str) -> Option<(&'a str, Option<&'a str>)>,
) -> impl Iterator<Item = &'a str> {
    let (mut rest, mut splits) = (text, 0..u64::try_from(maxsplit).unwrap_or(u64::MAX));
    iter::from_fn(move || {
        let text = rest.take()?;
        let split = splits.next().and_then(|_| split_off(text));
        let (piece, after) = split.unwrap_or((text, None));
        rest = after;
        Some(piece)
    })
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
