//! Pieces of a text: `str.split`, `rsplit`, `partition` and `rpartition`.
//!
//! ```text
//! split_whitespace("  a  b  c ", 1)    "a", "b  c "     the rest keeps its trailing blanks
//! split("a,,b", ",", -1)               "a", "", "b"
//! rsplit("a,b,c", ",", 1)              "c", "a,b"       from the right; Python turns it round
//! partition("abc", "x")                ("abc", "", "")
//! ```
//!
//! All pieces are borrowed. A negative `maxsplit` is no limit; an empty separator gives `None`, which
//! Python reports as `empty separator`. The rules are those of CPython's `stringlib/split.h` and
//! `stringlib/partition.h`.

use super::search::{first, last};
use super::strip::{strip_end, strip_start};
use crate::unicode::is_whitespace;

/// How many splits are still allowed.
#[derive(Debug, Clone, Copy)]
struct Allowance(Option<u64>);

impl Allowance {
    fn new(maxsplit: i64) -> Self {
        Self(u64::try_from(maxsplit).ok())
    }

    /// Uses up one split, if one is left.
    fn take(&mut self) -> bool {
        match &mut self.0 {
            None => true,
            Some(left) => left.checked_sub(1).map(|fewer| *left = fewer).is_some(),
        }
    }
}

/// `str.split()` without a separator: runs of whitespace separate, and no piece is empty.
pub fn split_whitespace(text: &str, maxsplit: i64) -> SplitWhitespace<'_> {
    SplitWhitespace {
        rest: text,
        allowance: Allowance::new(maxsplit),
    }
}

/// Iterator over pieces between whitespace; made by [`split_whitespace`].
#[derive(Debug, Clone)]
pub struct SplitWhitespace<'a> {
    rest: &'a str,
    allowance: Allowance,
}

impl<'a> Iterator for SplitWhitespace<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = strip_start(self.rest, None);
        self.rest = "";
        if text.is_empty() {
            return None;
        }
        if !self.allowance.take() {
            return Some(text);
        }
        let end = text.find(is_whitespace).unwrap_or(text.len());
        let (piece, rest) = text.split_at_checked(end)?;
        self.rest = rest;
        Some(piece)
    }
}

/// `str.rsplit()` without a separator; the pieces come from the right.
pub fn rsplit_whitespace(text: &str, maxsplit: i64) -> RSplitWhitespace<'_> {
    RSplitWhitespace {
        rest: text,
        allowance: Allowance::new(maxsplit),
    }
}

/// Iterator over pieces between whitespace from the right; made by [`rsplit_whitespace`].
#[derive(Debug, Clone)]
pub struct RSplitWhitespace<'a> {
    rest: &'a str,
    allowance: Allowance,
}

impl<'a> Iterator for RSplitWhitespace<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = strip_end(self.rest, None);
        self.rest = "";
        if text.is_empty() {
            return None;
        }
        if !self.allowance.take() {
            return Some(text);
        }
        let piece = text.rsplit(is_whitespace).next().unwrap_or_default();
        self.rest = text.strip_suffix(piece).unwrap_or_default();
        Some(piece)
    }
}

/// How many pieces `maxsplit` allows.
fn piece_limit(maxsplit: i64) -> usize {
    usize::try_from(maxsplit).map_or(usize::MAX, |limit| limit.saturating_add(1))
}

/// `str.split(separator, maxsplit)`
pub fn split<'a>(text: &'a str, separator: &'a str, maxsplit: i64) -> Option<impl Iterator<Item = &'a str>> {
    (!separator.is_empty()).then(|| Pieces {
        rest: Some(text),
        separator,
        allowance: Allowance::new(maxsplit),
    })
}

/// Iterator over pieces between separators.
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
            first(text, self.separator)
        } else {
            None
        };
        match cut_out(text, found, self.separator) {
            Some((piece, _, rest)) => {
                self.rest = Some(rest);
                Some(piece)
            }
            None => Some(text),
        }
    }
}

/// `str.rsplit(separator, maxsplit)`; the pieces come from the right.
pub fn rsplit<'a>(text: &'a str, separator: &'a str, maxsplit: i64) -> Option<impl Iterator<Item = &'a str>> {
    (!separator.is_empty()).then(|| text.rsplitn(piece_limit(maxsplit), separator))
}

/// What stands before, at and after a separator.
pub type Partition<'a> = (&'a str, &'a str, &'a str);

/// `str.partition`: around the first separator, or the text and two empty strings.
pub fn partition<'a>(text: &'a str, separator: &str) -> Option<Partition<'a>> {
    if separator.is_empty() {
        return None;
    }
    Some(cut_out(text, first(text, separator), separator).unwrap_or((text, "", "")))
}

/// `str.rpartition`: around the last separator, or two empty strings and the text.
pub fn rpartition<'a>(text: &'a str, separator: &str) -> Option<Partition<'a>> {
    if separator.is_empty() {
        return None;
    }
    Some(cut_out(text, last(text, separator), separator).unwrap_or(("", "", text)))
}

/// What stands around a separator that was found at a byte.
fn cut_out<'a>(text: &'a str, at: Option<usize>, separator: &str) -> Option<Partition<'a>> {
    let (before, from_separator) = text.split_at_checked(at?)?;
    let (found, after) = from_separator.split_at_checked(separator.len())?;
    Some((before, found, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_separates_in_runs() {
        let pieces = |text, maxsplit| split_whitespace(text, maxsplit).collect::<Vec<_>>();
        assert_eq!(pieces("  a  b  c ", -1), ["a", "b", "c"]);
        assert_eq!(pieces("  a  b  c ", 1), ["a", "b  c "]);
        assert_eq!(pieces("  a  b  c ", 0), ["a  b  c "]);
        assert!(pieces(" \u{a0}\u{1f}", -1).is_empty());
    }

    #[test]
    fn whitespace_separates_from_the_right() {
        let pieces = |text, maxsplit| rsplit_whitespace(text, maxsplit).collect::<Vec<_>>();
        assert_eq!(pieces("  a  b  c ", -1), ["c", "b", "a"]);
        assert_eq!(pieces("  a  b  c ", 1), ["c", "  a  b"]);
    }

    #[test]
    fn separators_keep_empty_pieces() {
        let pieces = |text, maxsplit| split(text, ",", maxsplit).map(Iterator::collect::<Vec<_>>);
        assert_eq!(pieces("", -1), Some(vec![""]));
        assert_eq!(pieces("a,,b", -1), Some(vec!["a", "", "b"]));
        assert_eq!(pieces("a,b,c", 1), Some(vec!["a", "b,c"]));
        assert!(split("a", "", -1).is_none());
        let pieces = rsplit("aaa", "aa", -1).map(Iterator::collect::<Vec<_>>);
        assert_eq!(pieces, Some(vec!["", "a"]));
    }

    #[test]
    fn partitions_have_three_parts() {
        assert_eq!(partition("a=b=c", "="), Some(("a", "=", "b=c")));
        assert_eq!(rpartition("a=b=c", "="), Some(("a=b", "=", "c")));
        assert_eq!(partition("abc", "x"), Some(("abc", "", "")));
        assert_eq!(rpartition("abc", "x"), Some(("", "", "abc")));
        assert_eq!(partition("abc", ""), None);
    }
}
