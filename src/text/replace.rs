//! Replacement: `str.replace`.
//!
//! ```text
//! "abc".replace("", "-")        "-a-b-c-"    the empty string occurs around each character
//! "aaa".replace("a", "b", 2)    "bba"
//! ```
//!
//! A negative count replaces all occurrences. The rule is CPython's `unicodeobject.c` `replace`.

use super::search::{count_occurrences, find_all};
use std::fmt::{Result, Write};

/// Returns the number of occurrences that `str.replace` replaces.
pub fn count_replaced(text: &str, old: &str, count: i64) -> usize {
    let found = count_occurrences(text, old);
    usize::try_from(count).map_or(found, |limit| limit.min(found))
}

/// Returns the length in bytes of the result, or `None` if the length overflows. `replaced` is the number of replacements.
pub fn replaced_len(text: &str, old: &str, new: &str, replaced: usize) -> Option<usize> {
    let removed = replaced.checked_mul(old.len())?;
    text.len().checked_sub(removed)?.checked_add(replaced.checked_mul(new.len())?)
}

/// Writes a string with the first `limit` occurrences of `old` replaced.
pub fn write_replaced(output: &mut impl Write, text: &str, old: &str, new: &str, limit: usize) -> Result {
    let mut from = 0_usize;
    let occurrences = text
        .match_indices(old)
        .take(if old.is_empty() { limit } else { 0 })
        .map(|(at, _)| at);
    for at in occurrences.chain(find_all(text, old).take(if old.is_empty() { 0 } else { limit })) {
        output.write_str(text.get(from..at).unwrap_or_default())?;
        output.write_str(new)?;
        from = at + old.len();
    }
    output.write_str(text.get(from..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replace(text: &str, old: &str, new: &str, count: i64) -> String {
        let replaced = count_replaced(text, old, count);
        let mut output = String::new();
        write_replaced(&mut output, text, old, new, replaced).expect("a string takes all");
        assert_eq!(replaced_len(text, old, new, replaced), Some(output.len()));
        output
    }

    #[test]
    fn the_empty_string_occurs_around_each_character() {
        assert_eq!(replace("abc", "", "-", -1), "-a-b-c-");
        assert_eq!(replace("abc", "", "-", 2), "-a-bc");
        assert_eq!(replace("", "", "-", -1), "-");
        assert_eq!(count_replaced("añc", "", -1), 4);
    }

    #[test]
    fn the_count_limits_the_replacements() {
        assert_eq!(replace("aaa", "a", "b", 2), "bba");
        assert_eq!(replace("aaaaa", "aa", "é", -1), "ééa");
        assert_eq!(replace("añañ-ñ", "ñ", "", 9), "aa-");
        for (old, count) in [("", 0), ("a", 0), ("x", -1)] {
            assert_eq!(replace("abc", old, "-", count), "abc");
        }
    }
}
