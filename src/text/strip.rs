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
        (Some(chars), _) => {
            let set = CharSet::new(chars);
            text.trim_matches(|char| set.contains(char))
        }
        // Most strings neither start nor end with whitespace.
        (None, [b'!'..=b'~'] | [b'!'..=b'~', .., b'!'..=b'~']) => text,
        (None, _) => text.trim_matches(is_whitespace),
    }
}

/// Returns the text that `str.lstrip(chars)` returns. Without `chars` it strips whitespace.
pub fn strip_start<'a>(text: &'a str, chars: Option<&str>) -> &'a str {
    match chars {
        Some(chars) => {
            let set = CharSet::new(chars);
            text.trim_start_matches(|char| set.contains(char))
        }
        None => text.trim_start_matches(is_whitespace),
    }
}

/// Returns the text that `str.rstrip(chars)` returns. Without `chars` it strips whitespace.
pub fn strip_end<'a>(text: &'a str, chars: Option<&str>) -> &'a str {
    match chars {
        Some(chars) => {
            let set = CharSet::new(chars);
            text.trim_end_matches(|char| set.contains(char))
        }
        None => text.trim_end_matches(is_whitespace),
    }
}

/// A set of characters. A look-up does not scan the string that the set was made from, which may be as long as the text.
struct CharSet {
    ascii: u128,
    others: Vec<char>,
}

impl CharSet {
    fn new(chars: &str) -> Self {
        let (mut ascii, mut others) = (0, Vec::new());
        for char in chars.chars() {
            match ascii_bit(char) {
                Some(bit) => ascii |= bit,
                None => others.push(char),
            }
        }
        others.sort_unstable();
        Self { ascii, others }
    }

    fn contains(&self, char: char) -> bool {
        match ascii_bit(char) {
            Some(bit) => self.ascii & bit != 0,
            None => self.others.binary_search(&char).is_ok(),
        }
    }
}

/// Returns the bit of an ASCII character in a set, or `None` outside ASCII.
fn ascii_bit(char: char) -> Option<u128> {
    char.is_ascii().then(|| 1_u128.checked_shl(u32::from(char))).flatten()
}
