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
