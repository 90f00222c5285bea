//! Blanks and names: `name_length("x² + 1")` is 3 bytes, although `x²` is not an identifier.
//!
//! A blank is a character of Python's `\s`. A name is a run of characters of Python's `\w` and of the pattern in jinja2 3.1.6
//! `_identifier.py`, which has the other characters that an identifier could contain in Unicode 11. The caller checks that the name is an
//! identifier.

use crate::unicode;

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
    text.find(|char| !unicode::is_name(char)).unwrap_or(text.len())
}
