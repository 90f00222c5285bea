//! Words, as `\w+` of Python's `re` finds them: the filter `wordcount`.
//!
//! ```text
//! count_words("they're x_1 – ok")    4
//! ```
//!
//! The rule is that of jinja2's `do_wordcount`.

use crate::unicode::is_word;

/// How many runs of word characters the text has.
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
        // A combining mark is no word character, a superscript is one.
        assert_eq!(count_words("e\u{301}e x²y"), 3);
    }
}
