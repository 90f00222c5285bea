//! Word counting: the filter `wordcount`.
//!
//! ```text
//! count_words("they're x_1 – ok")    4
//! ```
//!
//! A word is a match of `\w+` in Python's `re`. The rule is jinja2's `do_wordcount`.

use crate::unicode::is_word;

/// Returns the number of runs of word characters in a string.
pub fn count_words(text: &str) -> usize {
    text.split(|char| !is_word(char)).filter(|run| !run.is_empty()).count()
}
