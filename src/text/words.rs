//! Words: the filters `title`, `truncate` and `wordcount`.
//!
//! ```text
//! title("they're foo-bar x1y_z")          "They're Foo-Bar X1y_z"
//! shorten("hello world foo", 8, false)    "hello"       cut at the last blank
//! shorten("hello world foo", 8, true)     "hello wo"
//! count_words("they're x_1 – ok")         4
//! ```
//!
//! The rules are jinja2's `do_title`, `do_truncate` and `do_wordcount`.

use super::slice::split_at_char;
use crate::unicode::{is_whitespace, is_word, to_lower, to_upper};

/// Returns the text in title case, which differs from that of `str.title`.
///
/// A word starts after a hyphen, whitespace or an opening bracket. Its first character is converted to upper case and the rest to lower
/// case. The two parts are converted separately, so the rule of the final sigma sees only the rest.
pub fn title(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for word in text.split_inclusive(|char| matches!(char, '-' | '(' | '{' | '[' | '<') || is_whitespace(char)) {
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

/// Returns the first `length` code points of a string. Unless `kills_words` is set, they are cut at their last blank. The filter decides
/// whether a string is too long, and adds the ellipsis.
pub fn shorten(text: &str, length: usize, kills_words: bool) -> &str {
    let (beginning, _) = split_at_char(text, length);
    match beginning.rsplit_once(' ') {
        Some((before, _)) if !kills_words => before,
        _ => beginning,
    }
}

/// Returns the number of words in a string: the matches of `\w+` in Python's `re`.
pub fn count_words(text: &str) -> usize {
    text.split(|char| !is_word(char)).filter(|run| !run.is_empty()).count()
}
