//! The chunks between which a line may be broken, as Python's `textwrap` splits a line.
//!
//! ```text
//! Chunks::new("a goof-ball -- use -b", true)    "a" " " "goof-" "ball" " " "--" " " "use" " " "-b"
//! ```
//!
//! The chunks cover the line without gaps. The rules are CPython's `textwrap.py` `TextWrapper.wordsep_re` and `wordsep_simple_re`; the
//! quoted words below are from its comments.

use crate::unicode::{is_decimal, is_word};

/// An iterator over chunks: runs of whitespace, and words or parts of words.
#[derive(Debug, Clone)]
pub struct Chunks<'a> {
    text: &'a str,
    at: usize,
    splits_on_hyphens: bool,
}

impl<'a> Chunks<'a> {
    /// Returns the chunks of one line. If `splits_on_hyphens` is set, words are also split after hyphens and around dashes.
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
        self.at += len;
        Some(chunk)
    }
}

impl Chunks<'_> {
    /// Returns the length of the "word, possibly hyphenated" at the start of `after`.
    fn word_len(&self, after: &str) -> usize {
        for (offset, char) in after.char_indices().skip(1) {
            if is_blank(char) {
                return offset;
            }
            // Only a hyphen can end a word early.
            let place = Place::new(self.text, self.at + offset);
            if let Some(place) = place.filter(|_| char == '-') {
                if place.is_at_hyphen_of_compound() {
                    return offset + 1;
                }
                if place.is_at_dash_between_words() {
                    return offset;
                }
            }
        }
        after.len()
    }
}

/// Returns whether `textwrap` takes a character for whitespace: only in ASCII, so a no-break space does not break a line.
fn is_blank(char: char) -> bool {
    matches!(char, '\t'..='\r' | ' ')
}

/// Returns whether `[^\d\W]` matches a character.
fn is_letter(char: char) -> bool {
    is_word(char) && !is_decimal(char)
}

/// Returns whether `[\w!"'&.,?]` matches a character.
fn is_word_or_punctuation(char: char) -> bool {
    is_word(char) || matches!(char, '!' | '"' | '\'' | '&' | '.' | ',' | '?')
}

/// Returns the length in bytes of the leading characters that satisfy `belongs`.
fn run_len(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|char| !belongs(char)).unwrap_or(text.len())
}

/// A position between two characters.
struct Place<'a> {
    before: &'a str,
    after: &'a str,
}

impl<'a> Place<'a> {
    fn new(text: &'a str, at: usize) -> Option<Self> {
        let (before, after) = text.split_at_checked(at)?;
        Some(Self { before, after })
    }

    /// Returns whether an "em-dash between words" starts here: two or more hyphens after a word or its punctuation and before a word
    /// character. After a hyphen the answer is false, so a run of hyphens is scanned only from its start.
    fn is_at_dash_between_words(&self) -> bool {
        let follows_word = self.before.chars().next_back().is_some_and(is_word_or_punctuation);
        if !follows_word || !self.after.starts_with("--") {
            return false;
        }
        self.after.trim_start_matches('-').chars().next().is_some_and(is_word)
    }

    /// Returns whether the hyphen of a "hyphenated word" is here. Before it must be two letters, or a letter, a hyphen and a letter;
    /// after it two letters, which may have a hyphen between them.
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
