//! Which characters make a blank and which a name: `name_length("x² + 1")` is 3, though `x²` is no identifier.
//!
//! Blanks are Python's `\s`. A name is a run of Python's `\w` and of the characters in the pattern of jinja2 3.1.6 `_identifier.py`,
//! which lists what an identifier may hold beyond `\w` — as Unicode 11 had it. Whether the run is an identifier is not asked here.

use crate::unicode;

/// Identifier characters beyond `\w` that came after Unicode 11, so that the pattern lacks them.
///
/// Asked of the reference: `('a' + c).isidentifier() and not jinja2._identifier.pattern.fullmatch(c)`.
const UNKNOWN: [(char, char); 34] = [
    ('\u{898}', '\u{89f}'),
    ('\u{8ca}', '\u{8d2}'),
    ('\u{b55}', '\u{b55}'),
    ('\u{c3c}', '\u{c3c}'),
    ('\u{d81}', '\u{d81}'),
    ('\u{eba}', '\u{eba}'),
    ('\u{1715}', '\u{1715}'),
    ('\u{180f}', '\u{180f}'),
    ('\u{1abf}', '\u{1ace}'),
    ('\u{1dfa}', '\u{1dfa}'),
    ('\u{a82c}', '\u{a82c}'),
    ('\u{10eab}', '\u{10eac}'),
    ('\u{10f82}', '\u{10f85}'),
    ('\u{11070}', '\u{11070}'),
    ('\u{11073}', '\u{11074}'),
    ('\u{110c2}', '\u{110c2}'),
    ('\u{111ce}', '\u{111cf}'),
    ('\u{11930}', '\u{11935}'),
    ('\u{11937}', '\u{11938}'),
    ('\u{1193b}', '\u{1193e}'),
    ('\u{11940}', '\u{11940}'),
    ('\u{11942}', '\u{11943}'),
    ('\u{119d1}', '\u{119d7}'),
    ('\u{119da}', '\u{119e0}'),
    ('\u{119e4}', '\u{119e4}'),
    ('\u{16f4f}', '\u{16f4f}'),
    ('\u{16f7f}', '\u{16f87}'),
    ('\u{16fe4}', '\u{16fe4}'),
    ('\u{16ff0}', '\u{16ff1}'),
    ('\u{1cf00}', '\u{1cf2d}'),
    ('\u{1cf30}', '\u{1cf46}'),
    ('\u{1e130}', '\u{1e136}'),
    ('\u{1e2ae}', '\u{1e2ae}'),
    ('\u{1e2ec}', '\u{1e2ef}'),
];

/// The length of the blanks that `text` begins with.
pub fn blank_length(text: &str) -> usize {
    let ascii = text.bytes().take_while(|byte| is_ascii_blank(*byte)).count();
    if text.as_bytes().get(ascii).is_none_or(u8::is_ascii) {
        return ascii;
    }
    text.find(|char| !unicode::is_whitespace(char)).unwrap_or(text.len())
}

/// The text without the blanks that it ends with.
pub fn trim_end_blanks(text: &str) -> &str {
    trim_end(text, |_| true)
}

/// The text without the blanks that its last line ends with.
pub fn trim_end_indent(text: &str) -> &str {
    trim_end(text, |blank| blank != '\n')
}

/// The text without the blanks of a kind that it ends with.
fn trim_end(text: &str, is_trimmed: impl Fn(char) -> bool) -> &str {
    let blanks = text.bytes().rev();
    let blanks = blanks
        .take_while(|byte| is_ascii_blank(*byte) && is_trimmed(char::from(*byte)))
        .count();
    let trimmed = text.get(..text.len().saturating_sub(blanks)).unwrap_or_default();
    if trimmed.as_bytes().last().is_none_or(u8::is_ascii) {
        return trimmed;
    }
    trimmed.trim_end_matches(|char| unicode::is_whitespace(char) && is_trimmed(char))
}

/// The blanks of most templates, which are told byte by byte.
fn is_ascii_blank(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | 0x1c..=b' ')
}

/// The length of the name that `text` begins with.
pub fn name_length(text: &str) -> usize {
    text.find(|char| !is_name_char(char)).unwrap_or(text.len())
}

fn is_name_char(char: char) -> bool {
    unicode::is_word(char) || (unicode::is_xid_continue(char) && !is_unknown(char))
}

fn is_unknown(char: char) -> bool {
    UNKNOWN.iter().any(|(first, last)| (*first..=*last).contains(&char))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_pythons() {
        assert_eq!(blank_length(" \u{1c}\u{85}\u{a0}\u{3000}a"), 9);
        assert_eq!(blank_length("\u{200b}"), 0);
        assert_eq!(trim_end_blanks("a \u{1c}\u{a0}\u{3000}\n "), "a");
        assert_eq!(trim_end_blanks(" \u{200b} "), " \u{200b}");
    }

    #[test]
    fn names_are_runs_of_word_characters_and_of_the_marks_that_jinja_knows() {
        assert_eq!(name_length("x²٣_ y"), 6);
        assert_eq!(name_length("e\u{301}-"), 3);
        assert_eq!(name_length("a\u{b55}"), 1);
    }

    #[test]
    fn the_pattern_has_so_many_characters() {
        assert_eq!(('\0'..=char::MAX).filter(|char| is_name_char(*char)).count(), 135_779);
    }
}
