//! Word counting: the filter `wordcount`.
//!
//! ```text
//! count_words("they're x_1 – ok")    4
//! ```
//!
//! A word is a match of `\w+` in Python's `re`. The rule is jinja2's `do_wordcount`.

use crate::unicode::is_word;

/// Returns the number of runs of word characters in a text.
pub fn count_words(text: &str) -> usize {
    text.split(|char| !is_word(char)).filter(|run| !run.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_word_characters() {
        assert_eq!(count_words("they're x_1 – ok"), 4);
        assert_eq!(count_words(""), 0);
        // A combining mark is not a word character; a superscript is.
        assert_eq!(count_words("e\u{301}e x²y"), 3);
    }
}
