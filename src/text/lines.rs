//! The lines of a string: `str.splitlines` and the filter `indent`.
//!
//! ```text
//! split_lines("a\nb\r\n", false)    "a", "b"        no empty line after the last line break
//! split_lines("a\nb\r\n", true)     "a\n", "b\r\n"
//! write_indented(output, "a\n\nb", "  ", Indent::default())    "a\n\n  b"
//! ```
//!
//! The rules are CPython's `stringlib/split.h` `splitlines` and `unicodetype_db.h` `_PyUnicode_IsLinebreak`, and jinja2's `do_indent`.

use std::fmt::{Result, Write};
use std::iter;

/// Returns whether a character ends a line for Python. The sequence `\r\n` ends one line.
pub fn is_line_break(char: char) -> bool {
    matches!(char, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns an iterator over the lines of a string. The lines include their line breaks if `keeps_ends` is set.
pub fn split_lines(text: &str, keeps_ends: bool) -> impl Iterator<Item = &str> {
    let mut rest = text;
    iter::from_fn(move || {
        let line = rest.split(is_line_break).next()?;
        let from_end = rest.get(line.len()..)?;
        let end = match from_end.strip_prefix("\r\n") {
            Some(_) => 2,
            None => from_end.chars().next().map_or(0, char::len_utf8),
        };
        let (with_end, next_line) = rest.split_at_checked(line.len() + end)?;
        rest = next_line;
        (!with_end.is_empty()).then_some(if keeps_ends { with_end } else { line })
    })
}

/// The lines that are indented in addition to all non-blank lines after the first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Indent {
    /// Whether the first line is indented.
    pub first: bool,
    /// Whether empty lines are indented.
    pub blank: bool,
}

/// Writes a string with an indentation before its lines. Each line break becomes `\n`.
pub fn write_indented(output: &mut impl Write, text: &str, indentation: &str, indent: Indent) -> Result {
    if indent.first {
        output.write_str(indentation)?;
    }
    // The reference appends `\n` first, so a string that ends in a line break has one more line, which is empty. After a final `\r`, the
    // `\n` only completes that line break.
    let ends_in_line = text.is_empty() || text.ends_with(|char| is_line_break(char) && char != '\r');
    let last = ends_in_line.then_some("");
    for (index, line) in split_lines(text, false).chain(last).enumerate() {
        if index > 0 {
            output.write_str("\n")?;
            if indent.blank || !line.is_empty() {
                output.write_str(indentation)?;
            }
        }
        output.write_str(line)?;
    }
    Ok(())
}
