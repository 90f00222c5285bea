//! Stripping: `strip`, `lstrip` and `rstrip` of Python's `str`.
//!
//! ```text
//! strip("\u{a0}a b\x1f")                           "a b"
//! strip_chars("xy</answer>", "</answer>")          "xy"    a set of characters, not a suffix
//! ```
//!
//! The results are borrowed from the text. The rules are CPython's `unicodeobject.c` `do_strip` and `_PyUnicode_XStrip`.

use crate::unicode::is_whitespace;

/// `str.strip()`: removes leading and trailing whitespace.
#[inline]
pub fn strip(text: &str) -> &str {
    // Most texts have no whitespace at their ends.
    match text.as_bytes() {
        [b'!'..=b'~'] | [b'!'..=b'~', .., b'!'..=b'~'] => text,
        _ => text.trim_matches(is_whitespace),
    }
}

/// `str.lstrip()`: removes leading whitespace.
pub fn strip_start(text: &str) -> &str {
    text.trim_start_matches(is_whitespace)
}

/// `str.rstrip()`: removes trailing whitespace.
pub fn strip_end(text: &str) -> &str {
    text.trim_end_matches(is_whitespace)
}

/// `str.strip(chars)`: removes leading and trailing characters of a set.
pub fn strip_chars<'a>(text: &'a str, chars: &str) -> &'a str {
    let set = CharSet::new(chars);
    text.trim_matches(|char| set.contains(char))
}

/// `str.lstrip(chars)`: removes leading characters of a set.
pub fn strip_start_chars<'a>(text: &'a str, chars: &str) -> &'a str {
    let set = CharSet::new(chars);
    text.trim_start_matches(|char| set.contains(char))
}

/// `str.rstrip(chars)`: removes trailing characters of a set.
pub fn strip_end_chars<'a>(text: &'a str, chars: &str) -> &'a str {
    let set = CharSet::new(chars);
    text.trim_end_matches(|char| set.contains(char))
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
