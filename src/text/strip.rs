//! Stripping: `strip`, `lstrip` and `rstrip` of Python's `str`.
//!
//! ```text
//! strip("\u{a0}a b\x1f", None)                      "a b"
//! strip("xy</answer>", Some("</answer>"))          "xy"    a set of characters, not a suffix
//! ```
//!
//! The results are borrowed from the text. The rules are CPython's `unicodeobject.c` `do_strip` and `_PyUnicode_XStrip`.

use crate::unicode::is_whitespace;

/// Returns the text that `str.strip(chars)` returns. Without `chars` it strips whitespace.
#[inline]
pub fn strip<'a>(text: &'a str, chars: Option<&str>) -> &'a str {
    match (chars, text.as_bytes()) {
        (Some(chars), _) => text.trim_matches(is_one_of(chars)),
        // Most strings neither start nor end with whitespace.
        (None, [b'!'..=b'~'] | [b'!'..=b'~', .., b'!'..=b'~']) => text,
        (None, _) => text.trim_matches(is_whitespace),
    }
}

/// Returns the text that `str.lstrip(chars)` returns. Without `chars` it strips whitespace.
pub fn strip_start<'a>(text: &'a str, chars: Option<&str>) -> &'a str {
    match chars {
        Some(chars) => text.trim_start_matches(is_one_of(chars)),
        None => text.trim_start_matches(is_whitespace),
    }
}

/// Returns the text that `str.rstrip(chars)` returns. Without `chars` it strips whitespace.
pub fn strip_end<'a>(text: &'a str, chars: Option<&str>) -> &'a str {
    match chars {
        Some(chars) => text.trim_end_matches(is_one_of(chars)),
        None => text.trim_end_matches(is_whitespace),
    }
}

/// The length in bytes up to which a set of characters is searched as it is.
const FEW: usize = 16;

/// Returns whether a character is one of `chars`. Many are sorted once, because they may be as many as those of the text.
fn is_one_of(chars: &str) -> impl Fn(char) -> bool {
    let mut sorted = Vec::new();
    if chars.len() > FEW {
        sorted.extend(chars.chars());
        sorted.sort_unstable();
    }
    move |char| match sorted.as_slice() {
        [] => chars.chars().any(|other| other == char),
        sorted => sorted.binary_search(&char).is_ok(),
    }
}
