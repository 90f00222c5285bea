//! Equality of short strings without a function call.
//!
//! ```text
//! is_equal("content", "content")  ->  true
//! ```
//!
//! Names of keys and attributes have a few bytes. The operator `==` calls `memcmp`, which costs more than the comparison itself. Two
//! overlapping loads return the same result.

/// The maximum length in bytes of strings that are compared without a call of `memcmp`.
pub const SHORT: usize = 32;

#[inline]
pub fn is_equal(left: &str, right: &str) -> bool {
    is_equal_to_short(left, right) || (left.len() > SHORT && left == right)
}

/// Returns whether a string is equal to one of at most [`SHORT`] bytes.
#[inline(always)]
pub fn is_equal_to_short(left: &str, short: &str) -> bool {
    let (left, right) = (left.as_bytes(), short.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    match left.len() {
        0..=3 => left.iter().eq(right),
        4..=7 => left.first_chunk::<4>() == right.first_chunk() && left.last_chunk::<4>() == right.last_chunk(),
        8..=16 => left.first_chunk::<8>() == right.first_chunk() && left.last_chunk::<8>() == right.last_chunk(),
        17..=SHORT => left.first_chunk::<16>() == right.first_chunk() && left.last_chunk::<16>() == right.last_chunk(),
        _ => false,
    }
}
