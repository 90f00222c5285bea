//! Blanks and names: `name_length("x² + 1")` is 3 bytes, although `x²` is not an identifier.
//!
//! A blank is a character of Python's `\s`. A name is a run of characters of Python's `\w` and of the pattern in jinja2 3.1.6
//! `_identifier.py`, which has the other characters that an identifier could contain in Unicode 11. The caller checks that the name is an
//! identifier.

use crate::unicode;

/// Characters that an identifier can contain, that are not in `\w`, and that the pattern lacks because they are newer than Unicode 11.
///
/// The reference computes them: `('a' + c).isidentifier() and not jinja2._identifier.pattern.fullmatch(c)`.
const UNKNOWN: [(char, char); 49] = [
    ('\u{898}', '\u{89f}'),
    ('\u{8ca}', '\u{8d2}'),
    ('\u{b55}', '\u{b55}'),
    ('\u{c3c}', '\u{c3c}'),
    ('\u{cf3}', '\u{cf3}'),
    ('\u{d81}', '\u{d81}'),
    ('\u{eba}', '\u{eba}'),
    ('\u{ece}', '\u{ece}'),
    ('\u{1715}', '\u{1715}'),
    ('\u{180f}', '\u{180f}'),
    ('\u{1abf}', '\u{1ace}'),
    ('\u{1dfa}', '\u{1dfa}'),
    ('\u{200c}', '\u{200d}'),
    ('\u{30fb}', '\u{30fb}'),
    ('\u{a82c}', '\u{a82c}'),
    ('\u{ff65}', '\u{ff65}'),
    ('\u{10eab}', '\u{10eac}'),
    ('\u{10efd}', '\u{10eff}'),
    ('\u{10f82}', '\u{10f85}'),
    ('\u{11070}', '\u{11070}'),
    ('\u{11073}', '\u{11074}'),
    ('\u{110c2}', '\u{110c2}'),
    ('\u{111ce}', '\u{111cf}'),
    ('\u{11241}', '\u{11241}'),
    ('\u{11930}', '\u{11935}'),
    ('\u{11937}', '\u{11938}'),
    ('\u{1193b}', '\u{1193e}'),
    ('\u{11940}', '\u{11940}'),
    ('\u{11942}', '\u{11943}'),
    ('\u{119d1}', '\u{119d7}'),
    ('\u{119da}', '\u{119e0}'),
    ('\u{119e4}', '\u{119e4}'),
    ('\u{11f00}', '\u{11f01}'),
    ('\u{11f03}', '\u{11f03}'),
    ('\u{11f34}', '\u{11f3a}'),
    ('\u{11f3e}', '\u{11f42}'),
    ('\u{13440}', '\u{13440}'),
    ('\u{13447}', '\u{13455}'),
    ('\u{16f4f}', '\u{16f4f}'),
    ('\u{16f7f}', '\u{16f87}'),
    ('\u{16fe4}', '\u{16fe4}'),
    ('\u{16ff0}', '\u{16ff1}'),
    ('\u{1cf00}', '\u{1cf2d}'),
    ('\u{1cf30}', '\u{1cf46}'),
    ('\u{1e08f}', '\u{1e08f}'),
    ('\u{1e130}', '\u{1e136}'),
    ('\u{1e2ae}', '\u{1e2ae}'),
    ('\u{1e2ec}', '\u{1e2ef}'),
    ('\u{1e4ec}', '\u{1e4ef}'),
];

/// Returns the length of the blanks at the start of `text`.
pub fn blank_length(text: &str) -> usize {
    let ascii = text.bytes().take_while(|byte| is_ascii_blank(*byte)).count();
    if text.as_bytes().get(ascii).is_none_or(u8::is_ascii) {
        return ascii;
    }
    text.find(|char| !unicode::is_whitespace(char)).unwrap_or(text.len())
}

/// Returns the text without the blanks at its end.
pub fn trim_end_blanks(text: &str) -> &str {
    trim_end(text, |_| true)
}

/// Returns the text without the blanks at the end of its last line.
pub fn trim_end_indent(text: &str) -> &str {
    trim_end(text, |blank| blank != '\n')
}

/// Returns the text without the blanks at its end for which `is_trimmed` returns true.
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

fn is_ascii_blank(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | 0x1c..=b' ')
}

/// Returns the length of the name at the start of `text`.
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
    fn the_number_of_name_characters_is_that_of_the_reference() {
        assert_eq!(('\0'..=char::MAX).filter(|char| is_name_char(*char)).count(), 140_789);
    }
}
