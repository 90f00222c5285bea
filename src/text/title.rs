//! Title case of jinja2's filter `title`, which differs from `str.title`.
//!
//! ```text
//! title("they're foo-bar x1y_z")    "They're Foo-Bar X1y_z"
//! ```
//!
//! A word starts after a hyphen, whitespace or an opening bracket. Its first character is converted to upper case and the rest to lower
//! case. The two parts are converted separately, so the rule of the final sigma sees only the rest. The rule is jinja2's `do_title`;
//! `str.title` is `unicode::to_title`.

use super::slice::split_at_char;
use crate::unicode::{is_whitespace, to_lower, to_upper};

/// Returns whether a character ends a word.
fn separates_words(char: char) -> bool {
    matches!(char, '-' | '(' | '{' | '[' | '<') || is_whitespace(char)
}

/// Returns the text in title case.
pub fn title(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for word in text.split_inclusive(separates_words) {
        if word.is_ascii() {
            let start = output.len();
            output.push_str(word);
            output.get_mut(start..).map(str::make_ascii_lowercase);
            output.get_mut(start..start + 1).map(str::make_ascii_uppercase);
            continue;
        }
        // A separator at the end of the piece has no case, and does not change whether a sigma before it is final.
        let (first, rest) = split_at_char(word, 1);
        output.push_str(&to_upper(first));
        output.push_str(&to_lower(rest));
    }
    output
}
