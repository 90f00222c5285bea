//! How JSON text is laid out: separators and indentation, as `json.dumps` takes them.
//!
//! ```text
//! Layout::default()                 {"a": [1, 2]}
//! Layout::indented("  ".into())     each member on a line of its own
//! Layout::compact()                 {"a":[1,2]}
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

/// What most indentations are a piece of.
const BLANKS: &str = "                                                                ";

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

    /// Nothing that could be left out.
    pub fn compact() -> Self {
        Self {
            indent: None,
            item_separator: Cow::Borrowed(","),
            key_separator: Cow::Borrowed(":"),
        }
    }

    /// Begins a new line at a level, where lines are broken: behind an opening bracket at the level of its members, before a closing
    /// one at its own. Empty containers have no lines.
    pub fn break_line(&self, level: usize, out: &mut String) {
        if let Some(indent) = &self.indent {
            out.push('\n');
            match BLANKS.get(..indent.len().saturating_mul(level)) {
                Some(blanks) if BLANKS.starts_with(indent) => out.push_str(blanks),
                _ => (0..level).for_each(|_| out.push_str(indent)),
            }
        }
    }

    /// Separates a member of this level from the one before it.
    pub fn separate_items(&self, level: usize, out: &mut String) {
        out.push_str(&self.item_separator);
        self.break_line(level, out);
    }

    /// How many bytes [`Layout::break_line`] writes, to be asked before it does.
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
            layout.separate_items(1, &mut out);
            out
        };
        assert_eq!(written(&Layout::default()), ", ");
        assert_eq!(written(&Layout::indented(String::new())), "\n,\n");
        assert_eq!(written(&Layout::indented("\t".to_owned())), "\n\t\t,\n\t");
    }
}
