//! Replacement: `str.replace`.
//!
//! ```text
//! replace("abc", "", "-", -1)    "-a-b-c-"    the empty string occurs around each character
//! replace("aaa", "a", "b", 2)    "bba"
//! ```
//!
//! A negative count replaces all occurrences. The rule is CPython's `unicodeobject.c` `replace`.

use super::search::{count_occurrences, find_all};
use std::borrow::Cow;
use std::fmt::{Result, Write};

/// Returns the number of occurrences that [`replace`] replaces.
pub fn count_replaced(text: &str, old: &str, count: i64) -> usize {
    let found = count_occurrences(text, old);
    usize::try_from(count).map_or(found, |limit| limit.min(found))
}

/// Returns the length in bytes of [`replace`]'s result, or `None` if the length overflows. `replaced` is the number of replacements.
pub fn replaced_len(text: &str, old: &str, new: &str, replaced: usize) -> Option<usize> {
    let removed = replaced.checked_mul(old.len())?;
    text.len().checked_sub(removed)?.checked_add(replaced.checked_mul(new.len())?)
}

/// `str.replace`: replaces the first `count` occurrences of `old`, or all if `count` is negative. The result is borrowed if nothing is
/// replaced.
pub fn replace<'a>(text: &'a str, old: &str, new: &str, count: i64) -> Cow<'a, str> {
    let limit = usize::try_from(count).unwrap_or(usize::MAX);
    if limit == 0 {
        return Cow::Borrowed(text);
    }
    if old.is_empty() {
        return Cow::Owned(text.replacen(old, new, limit));
    }
    if find_all(text, old).next().is_none() {
        return Cow::Borrowed(text);
    }
    let mut replaced = String::with_capacity(text.len());
    // Writing to a String cannot fail.
    let _ = write_replaced(&mut replaced, text, old, new, limit);
    Cow::Owned(replaced)
}

/// Writes a text with the first `limit` occurrences of `old` replaced.
pub fn write_replaced(output: &mut impl Write, text: &str, old: &str, new: &str, limit: usize) -> Result {
    let mut from = 0_usize;
    let occurrences = text
        .match_indices(old)
        .take(if old.is_empty() { limit } else { 0 })
        .map(|(at, _)| at);
    for at in occurrences.chain(find_all(text, old).take(if old.is_empty() { 0 } else { limit })) {
        output.write_str(text.get(from..at).unwrap_or_default())?;
        output.write_str(new)?;
        from = at.saturating_add(old.len());
    }
    output.write_str(text.get(from..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_string_occurs_around_each_character() {
        assert_eq!(replace("abc", "", "-", -1), "-a-b-c-");
        assert_eq!(replace("abc", "", "-", 2), "-a-bc");
        assert_eq!(replace("", "", "-", -1), "-");
        assert_eq!(count_replaced("añc", "", -1), 4);
        assert_eq!(replaced_len("añc", "", "-", 4), Some(8));
    }

    #[test]
    fn the_count_limits_the_replacements() {
        assert_eq!(replace("aaa", "a", "b", 2), "bba");
        assert_eq!(replace("aaaaa", "aa", "é", -1), "ééa");
        assert_eq!(replace("añañ-ñ", "ñ", "", 9), "aa-");
        assert!(matches!(replace("abc", "", "-", 0), Cow::Borrowed("abc")));
        assert_eq!(replaced_len("aaa", "a", "bb", 2), Some(5));
        assert!(matches!(replace("aaa", "a", "b", 0), Cow::Borrowed("aaa")));
        assert!(matches!(replace("aaa", "b", "c", -1), Cow::Borrowed("aaa")));
    }
}
