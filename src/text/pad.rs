//! Padding to a width: `center`, `ljust`, `rjust`, `zfill` and `expandtabs` of Python's `str`.
//!
//! ```text
//! pad("ab", Padding::for_center(2, 5), '*')    "**ab*"    an odd width puts the extra character on the left
//! zfill("-5", 4)                               "-005"
//! expand_tabs("a\tb", 4)                       "a   b"
//! ```
//!
//! A few bytes of input can ask for more than the available memory. Each function therefore has a companion that returns the length of
//! the result, and returns `None` if the memory cannot be allocated. The rules are CPython's `unicodeobject.c`: `unicode_center_impl`,
//! `pad`, `unicode_zfill_impl`, `unicode_expandtabs_impl`.

use super::slice::{char_count, clamp_to_usize};
use std::borrow::Cow;

/// The number of fill characters on each side of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Padding {
    /// The number of fill characters before the text.
    pub left: usize,
    /// The number of fill characters after the text.
    pub right: usize,
}

/// Returns the number of characters by which a string of `len` code points is shorter than the width.
fn count_missing(len: usize, width: i64) -> usize {
    clamp_to_usize(width).map_or(0, |width| width.saturating_sub(len))
}

impl Padding {
    /// Returns the padding of `str.ljust` for a string of `len` code points.
    pub fn for_ljust(len: usize, width: i64) -> Self {
        Self {
            left: 0,
            right: count_missing(len, width),
        }
    }

    /// Returns the padding of `str.rjust` for a string of `len` code points.
    pub fn for_rjust(len: usize, width: i64) -> Self {
        Self {
            left: count_missing(len, width),
            right: 0,
        }
    }

    /// Returns the padding of `str.center` for a string of `len` code points.
    pub fn for_center(len: usize, width: i64) -> Self {
        let missing = count_missing(len, width);
        let is_odd_width = width & 1 == 1;
        let extra = usize::from(is_odd_width && missing & 1 == 1);
        let left = (missing >> 1) + extra;
        Self {
            left,
            right: missing.saturating_sub(left),
        }
    }

    /// Returns whether there are no fill characters on either side.
    pub fn is_empty(self) -> bool {
        self.left == 0 && self.right == 0
    }
}

/// Returns the length in bytes of [`pad`]'s result, or `None` if the length overflows.
pub fn padded_len(text: &str, padding: Padding, fill: char) -> Option<usize> {
    let count = padding.left.checked_add(padding.right)?;
    text.len().checked_add(count.checked_mul(fill.len_utf8())?)
}

/// Returns the text with fill characters on both sides, or `None` if the memory cannot be allocated.
pub fn pad(text: &str, padding: Padding, fill: char) -> Option<Cow<'_, str>> {
    if padding.is_empty() {
        return Some(Cow::Borrowed(text));
    }
    let mut output = with_capacity(padded_len(text, padding, fill)?)?;
    output.extend(std::iter::repeat_n(fill, padding.left));
    output.push_str(text);
    output.extend(std::iter::repeat_n(fill, padding.right));
    Some(Cow::Owned(output))
}

/// Returns an empty string with room for `bytes` bytes, or `None` if the memory cannot be allocated.
fn with_capacity(bytes: usize) -> Option<String> {
    let mut output = String::new();
    output.try_reserve_exact(bytes).ok()?;
    Some(output)
}

/// `str.zfill`: inserts zeros between a leading sign and the rest of the text.
///
/// The result is as long as the text padded by [`Padding::for_rjust`] with `'0'`.
pub fn zfill(text: &str, width: i64) -> Option<Cow<'_, str>> {
    let padding = Padding::for_rjust(char_count(text), width);
    if padding.is_empty() {
        return Some(Cow::Borrowed(text));
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = text.strip_suffix(unsigned).unwrap_or_default();
    let mut output = with_capacity(padded_len(text, padding, '0')?)?;
    output.push_str(sign);
    output.extend(std::iter::repeat_n('0', padding.left));
    output.push_str(unsigned);
    Some(Cow::Owned(output))
}

/// Splits a string at its tabs. Each piece comes with the number of blanks that replace its tab; the last piece has no tab.
fn split_at_tabs(text: &str, tab_size: i64) -> impl Iterator<Item = (&str, Option<usize>)> {
    let tab_size = clamp_to_usize(tab_size).unwrap_or(0);
    let mut column: usize = 0;
    text.split_inclusive('\t').map(move |piece| {
        let Some(before_tab) = piece.strip_suffix('\t') else {
            return (piece, None);
        };
        let line = before_tab.rsplit(['\n', '\r']).next().unwrap_or_default();
        let line_start = if line.len() == before_tab.len() { column } else { 0 };
        column = line_start.saturating_add(char_count(line));
        let over = column.checked_rem(tab_size).unwrap_or(0);
        let blanks = tab_size.saturating_sub(over);
        // Only the column modulo the tab size matters, and after a tab that is zero.
        column = 0;
        (before_tab, Some(blanks))
    })
}

/// Returns the length in bytes of [`expand_tabs`]'s result, or `None` if the length overflows.
pub fn expanded_len(text: &str, tab_size: i64) -> Option<usize> {
    split_at_tabs(text, tab_size).try_fold(0_usize, |len, (piece, blanks)| {
        len.checked_add(piece.len())?.checked_add(blanks.unwrap_or(0))
    })
}

/// `str.expandtabs`: replaces each tab by blanks up to the next multiple of the tab size, or removes it if the tab size is not positive.
pub fn expand_tabs(text: &str, tab_size: i64) -> Option<Cow<'_, str>> {
    if !text.contains('\t') {
        return Some(Cow::Borrowed(text));
    }
    let mut output = with_capacity(expanded_len(text, tab_size)?)?;
    for (piece, blanks) in split_at_tabs(text, tab_size) {
        output.push_str(piece);
        output.extend(std::iter::repeat_n(' ', blanks.unwrap_or(0)));
    }
    Some(Cow::Owned(output))
}
