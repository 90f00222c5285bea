//! The lines of a string: `str.splitlines`.
//!
//! ```text
//! split_lines("a\nb\r\n", false)    "a", "b"        no empty line after the last line break
//! split_lines("a\nb\r\n", true)     "a\n", "b\r\n"
//! ```
//!
//! The rules are CPython's `stringlib/split.h` `splitlines` and `unicodetype_db.h` `_PyUnicode_IsLinebreak`.

/// Returns whether a character ends a line for Python. The sequence `\r\n` ends one line.
pub fn is_line_break(char: char) -> bool {
    matches!(char, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns an iterator over the lines of a string. The lines include their line breaks if `keeps_ends` is set.
pub fn split_lines(text: &str, keeps_ends: bool) -> Lines<'_> {
    Lines { rest: text, keeps_ends }
}

/// An iterator over lines, created by [`split_lines`].
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    rest: &'a str,
    keeps_ends: bool,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let line = self.rest.split(is_line_break).next().unwrap_or_default();
        let (_, from_end) = self.rest.split_at_checked(line.len())?;
        let mut chars = from_end.chars();
        if chars.next() == Some('\r') {
            let after_return = chars.as_str();
            if after_return.starts_with('\n') {
                chars.next();
            }
        }
        let next_line = chars.as_str();
        let line_with_end = self.rest.len() - next_line.len();
        let (with_end, _) = self.rest.split_at_checked(line_with_end)?;
        self.rest = next_line;
        Some(if self.keeps_ends { with_end } else { line })
    }
}
