//! Text without its ends: `str.strip`, `lstrip` and `rstrip`.
//!
//! ```text
//! strip("\u{a0}a b\x1f")                           "a b"
//! strip_chars("xy</answer>", "</answer>")          "xy"    a set of characters, not a suffix
//! ```
//!
//! The results are pieces of the text. The rule is that of CPython's `unicodeobject.c`, `do_strip`
//! and `_PyUnicode_XStrip`; removal of a whole prefix or suffix is `str::strip_prefix` of `std`.

use crate::unicode::is_whitespace;

/// `str.strip()`
#[inline]
pub fn strip(text: &str) -> &str {
    // Of most texts nothing is taken off.
    match text.as_bytes() {
        [b'!'..=b'~'] | [b'!'..=b'~', .., b'!'..=b'~'] => text,
        _ => text.trim_matches(is_whitespace),
    }
}

/// `str.lstrip()`
pub fn strip_start(text: &str) -> &str {
    text.trim_start_matches(is_whitespace)
}

/// `str.rstrip()`
pub fn strip_end(text: &str) -> &str {
    text.trim_end_matches(is_whitespace)
}

/// `str.strip(chars)`
pub fn strip_chars<'a>(text: &'a str, chars: &str) -> &'a str {
    let set = CharSet::new(chars);
    text.trim_matches(|char| set.contains(char))
}

/// `str.lstrip(chars)`
pub fn strip_start_chars<'a>(text: &'a str, chars: &str) -> &'a str {
    let set = CharSet::new(chars);
    text.trim_start_matches(|char| set.contains(char))
}

/// `str.rstrip(chars)`
pub fn strip_end_chars<'a>(text: &'a str, chars: &str) -> &'a str {
    let set = CharSet::new(chars);
    text.trim_end_matches(|char| set.contains(char))
}

/// A set of characters; asking it does not search the string that it was made from, which may be as
/// long as the text.
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

/// The bit that stands for the character, if it is ASCII.
fn ascii_bit(char: char) -> Option<u128> {
    char.is_ascii().then(|| 1_u128.checked_shl(u32::from(char))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_is_pythons() {
        assert_eq!(strip("\u{a0} a b \u{1f}"), "a b");
        assert_eq!(strip("\u{200b}a"), "\u{200b}a");
        assert_eq!(
            [strip("a"), strip("a b"), strip(" a"), strip("a\u{3000}"), strip("é ")],
            ["a", "a b", "a", "a", "é"]
        );
        assert_eq!([strip(""), strip(" "), strip("\u{2003}\t")], ["", "", ""]);
        assert_eq!(strip_start(" a "), "a ");
        assert_eq!(strip_end(" a "), " a");
    }

    #[test]
    fn chars_are_a_set() {
        assert_eq!(strip_chars("xy</answer>", "</answer>"), "xy");
        assert_eq!(strip_chars("éaé\u{7f}", "\u{7f}é"), "a");
        assert_eq!(strip_start_chars("aab", "a"), "b");
        assert_eq!(strip_end_chars("baa", "a"), "b");
        assert_eq!(strip_chars(" a ", ""), " a ");
    }
}
