//! How JSON text is laid out: separators and indentation, as `json.dumps` takes them.
//!
//! ```text
//! Layout::default()                 {"a": [1, 2]}
//! Layout::indented("  ".into())     each member on a line of its own
//! ```
//!
//! Knows no values: the writer asks for a separator or a line break where one belongs. The rule is CPython 3.11 `json/encoder.py`
//! `JSONEncoder.__init__` and `_make_iterencode`.

use std::borrow::Cow;

/// The separators and the indentation of JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// What stands before a member for each level; none for a text of one line. An empty one still breaks the lines.
    pub indent: Option<String>,
    /// Between two members.
    pub item_separator: Cow<'static, str>,
    /// Between a key and its value.
    pub key_separator: Cow<'static, str>,
}

/// What most lines begin with a piece of.
const LINE: &str = "\n                                                                ";

impl Default for Layout {
    fn default() -> Self {
        Self::PLAIN
    }
}

impl Layout {
    /// One line, and a blank behind each separator.
    pub const PLAIN: Self = Self {
        indent: None,
        item_separator: Cow::Borrowed(", "),
        key_separator: Cow::Borrowed(": "),
    };

    /// A line for each member; separators as Python then chooses them, without a blank at the end of a line.
    pub fn indented(indent: String) -> Self {
        Self {
            indent: Some(indent),
            item_separator: Cow::Borrowed(","),
            key_separator: Cow::Borrowed(": "),
        }
    }

    /// Begins a new line at a level, where lines are broken: behind an opening bracket at the level of its members, before a closing
    /// one at its own. Empty containers have no lines.
    pub fn break_line(&self, level: usize, out: &mut String) {
        let Some(indent) = &self.indent else { return };
        match LINE.get(..self.line_break_length(level)) {
            Some(line) if line.ends_with(indent) => out.push_str(line),
            _ => {
                out.push('\n');
                (0..level).for_each(|_| out.push_str(indent));
            }
        }
    }

    /// How many bytes [`Layout::break_line`] writes, to be asked before it does.
    #[inline]
    pub fn line_break_length(&self, level: usize) -> usize {
        self.indent
            .as_ref()
            .map_or(0, |indent| indent.len().saturating_mul(level).saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_with_any_indent() {
        let written = |layout: &Layout| {
            let mut out = String::new();
            layout.break_line(2, &mut out);
            let length = out.len();
            assert_eq!(layout.line_break_length(2), length);
            out
        };
        assert_eq!(written(&Layout::default()), "");
        assert_eq!(written(&Layout::indented(String::new())), "\n");
        assert_eq!(written(&Layout::indented("\t".to_owned())), "\n\t\t");
        assert_eq!(written(&Layout::indented("  ".to_owned())), "\n    ");
    }
}
