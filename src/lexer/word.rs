//! Blanks and names: `name_length("x² + 1")` is 3 bytes, although `x²` is not an identifier.
//!
//! A blank is a character of Python's `\s`. A name is a run of characters of Python's `\w` and of the pattern in jinja2 3.1.6
//! `_identifier.py`, which has the other characters that an identifier could contain in Unicode 11. The caller checks that the name is an
//! identifier.

use crate::unicode;

/// Returns the length of the blanks at the start of `text`.
pub fn blank_length(text: &str) -> usize {
    text.find(|char| !unicode::is_whitespace(char)).unwrap_or(text.len())
}

/// Returns the text without the blanks at its end.
pub fn trim_end_blanks(text: &str) -> &str {
    text.trim_end_matches(unicode::is_whitespace)
}

/// Returns the text without the blanks at the end of its last line.
pub fn trim_end_indent(text: &str) -> &str {
    text.trim_end_matches(|char| char != '\n' && unicode::is_whitespace(char))
}

/// Returns the length of the name at the start of `text`.
pub fn name_length(text: &str) -> usize {
    text.find(|char| !unicode::is_name(char)).unwrap_or(text.len())
}
