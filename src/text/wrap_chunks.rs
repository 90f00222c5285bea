//! Chunks between which a line may be broken: the splitting of Python's `textwrap`.
//!
//! ```text
//! Chunks::new("a goof-ball -- use -b", true)    "a" " " "goof-" "ball" " " "--" " " "use" " " "-b"
//! ```
//!
//! The chunks follow one another without a gap. The rule is that of CPython's `textwrap.py`,
//! `TextWrapper.wordsep_re` and `wordsep_simple_re`; the words in quotes below are from its comments.

use crate::unicode::{is_decimal, is_word};

/// Iterator over chunks, each either whitespace or (part of) a word.
#[derive(Debug, Clone)]
pub struct Chunks<'a> {
    text: &'a str,
    at: usize,
    splits_on_hyphens: bool,
}

impl<'a> Chunks<'a> {
    /// The chunks of one line; words are also split behind hyphens and around dashes if asked for.
    pub fn new(text: &'a str, splits_on_hyphens: bool) -> Self {
        Self {
            text,
            at: 0,
            splits_on_hyphens,
        }
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let place = Place::new(self.text, self.at)?;
        let first = place.after.chars().next()?;
        let len = if is_blank(first) {
            run_len(place.after, is_blank)
        } else if !self.splits_on_hyphens {
            run_len(place.after, |char| !is_blank(char))
        } else if place.is_at_dash_between_words() {
            run_len(place.after, |char| char == '-')
        } else {
            self.word_len(place.after)
        };
        let (chunk, _) = place.after.split_at_checked(len)?;
        self.at = self.at.saturating_add(len);
        Some(chunk)
    }
}

impl Chunks<'_> {
    /// The length of the "word, possibly hyphenated" that the text from here on begins with.
    fn word_len(&self, after: &str) -> usize {
        for (offset, char) in after.char_indices().skip(1) {
            if is_blank(char) {
                return offset;
            }
            // Only what begins with a hyphen can end a word before its end.
            let place = Place::new(self.text, self.at.saturating_add(offset));
            if let Some(place) = place.filter(|_| char == '-') {
                if place.is_at_hyphen_of_compound() {
                    return offset.saturating_add(1);
                }
                if place.is_at_dash_between_words() {
                    return offset;
                }
            }
        }
        after.len()
    }
}

/// The whitespace of `textwrap`: ASCII only, so that a no-break space does not break.
fn is_blank(char: char) -> bool {
    matches!(char, '\t'..='\r' | ' ')
}

/// `[^\d\W]`
fn is_letter(char: char) -> bool {
    is_word(char) && !is_decimal(char)
}

/// `[\w!"'&.,?]`
fn is_word_or_punctuation(char: char) -> bool {
    is_word(char) || matches!(char, '!' | '"' | '\'' | '&' | '.' | ',' | '?')
}

/// How many bytes of the text are covered by characters of that kind.
fn run_len(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|char| !belongs(char)).unwrap_or(text.len())
}

/// A place between two characters.
struct Place<'a> {
    before: &'a str,
    after: &'a str,
}

impl<'a> Place<'a> {
    fn new(text: &'a str, at: usize) -> Option<Self> {
        let (before, after) = text.split_at_checked(at)?;
        Some(Self { before, after })
    }

    /// An "em-dash between words": two hyphens or more behind a word or its punctuation and before a
    /// word character. Behind a hyphen it is false, so that a run of hyphens is walked only from its start.
    fn is_at_dash_between_words(&self) -> bool {
        let follows_word = self.before.chars().next_back().is_some_and(is_word_or_punctuation);
        if !follows_word || !self.after.starts_with("--") {
            return false;
        }
        self.after.trim_start_matches('-').chars().next().is_some_and(is_word)
    }

    /// The hyphen of a "hyphenated word": behind two letters, or a letter, a hyphen and a letter
    /// together with it, and before two letters that may have a hyphen between them.
    fn is_at_hyphen_of_compound(&self) -> bool {
        let mut before = self.before.chars().rev();
        let follows = match (before.next(), before.next(), before.next()) {
            (Some(last), Some('-'), Some(first)) => is_letter(last) && is_letter(first),
            (Some(last), Some(first), _) => is_letter(last) && is_letter(first),
            _ => false,
        };
        let mut after = self.after.chars().skip(1);
        let precedes = match (after.next(), after.next(), after.next()) {
            (Some(first), Some('-'), Some(last)) => is_letter(first) && is_letter(last),
            (Some(first), Some(last), _) => is_letter(first) && is_letter(last),
            _ => false,
        };
        follows && precedes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(text: &str) -> Vec<&str> {
        Chunks::new(text, true).collect()
    }

    #[test]
    fn words_are_split_behind_hyphens() {
        assert_eq!(
            chunks("a goof-ball, use -b"),
            ["a", " ", "goof-", "ball,", " ", "use", " ", "-b"]
        );
        assert_eq!(chunks("x-y-zz a-1 ab-c1"), ["x-y-", "zz", " ", "a-1", " ", "ab-c1"]);
        assert_eq!(chunks("a-b"), ["a-b"]);
        assert_eq!(Chunks::new("goof-ball x", false).collect::<Vec<_>>(), ["goof-ball", " ", "x"]);
    }

    #[test]
    fn dashes_between_words_are_chunks() {
        assert_eq!(chunks("you--me, me.--you"), ["you", "--", "me,", " ", "me.", "--", "you"]);
        assert_eq!(chunks("a -- b--"), ["a", " ", "--", " ", "b--"]);
    }

    #[test]
    fn only_ascii_whitespace_separates() {
        assert_eq!(chunks("a\u{a0}b\u{2003}c \t d"), ["a\u{a0}b\u{2003}c", " \t ", "d"]);
    }
}
