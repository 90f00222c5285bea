//! Headline case: the filter `title`, which is not `str.title`.
//!
//! ```text
//! title("they're foo-bar x1y_z")    "They're Foo-Bar X1y_z"
//! ```
//!
//! A word begins behind a hyphen, whitespace or an opening bracket; its first character goes to upper
//! case and the rest to lower case, each as a text of its own, so that a final sigma sees only the
//! rest. The rule is that of jinja2's `do_title`; the `str` method is in `unicode::to_title`.

use super::slice::split_at_char;
use crate::unicode::{is_whitespace, to_lower, to_upper};

/// Whether a word ends at the character and the next begins behind it.
fn separates_words(char: char) -> bool {
    matches!(char, '-' | '(' | '{' | '[' | '<') || is_whitespace(char)
}

/// The text in headline case.
pub fn title(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for word in text.split_inclusive(separates_words) {
        // A separator at the end of the piece has no case, and a sigma in front of it is as final as
        // one at the end.
        let (first, rest) = split_at_char(word, 1);
        output.push_str(&to_upper(first));
        output.push_str(&to_lower(rest));
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_behind_separators() {
        assert_eq!(title("they're foo-bar x1y_z"), "They're Foo-Bar X1y_z");
        assert_eq!(title("(a {b [c <d /e --f\u{a0}g"), "(A {B [C <D /e --F\u{a0}G");
    }

    #[test]
    fn the_rest_of_a_word_is_lowered_by_itself() {
        assert_eq!(title("ßa ΑΣ ΑΑΣ-ΑΑΣα"), "SSa Ασ Αας-Αασα");
    }
}
