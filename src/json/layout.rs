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
    /// Whether the indentation is nothing but blanks.
    is_blank: bool,
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
        is_blank: false,
    };

    /// A line for each member; separators as Python then chooses them, without a blank at the end of a line.
    pub fn indented(indent: String) -> Self {
        Self {
            is_blank: indent.bytes().all(|byte| byte == b' '),
            indent: Some(indent),
            item_separator: Cow::Borrowed(","),
            key_separator: Cow::Borrowed(": "),
        }
    }

    /// Writes what stands between two members.
    #[inline]
    pub fn write_item_separator(&self, out: &mut String) {
        // One that the compiler knows is written without a call.
        match &*self.item_separator {
            ", " => out.push_str(", "),
            "," => out.push(','),
            separator => out.push_str(separator),
        }
    }

    /// Writes what stands between a key and its value.
    #[inline]
    pub fn write_key_separator(&self, out: &mut String) {
        match &*self.key_separator {
            ": " => out.push_str(": "),
            separator => out.push_str(separator),
        }
    }

    /// How a line begins at a level: behind an opening bracket at the level of its members, before a closing one at its own. Empty
    /// containers have no lines.
    pub fn line(&self, level: usize) -> Line<'_> {
        match &self.indent {
            None => Line::Same,
            Some(indent) => match LINE.get(..self.line_length(level)) {
                Some(line) if self.is_blank => Line::Short(line),
                _ => Line::Long(indent, level),
            },
        }
    }

    /// How many bytes stand around a member at a level, at most; to be asked before it is written.
    pub fn around_length(&self, level: usize) -> usize {
        let separators = self.item_separator.len().saturating_add(self.key_separator.len());
        self.line_length(level).saturating_add(separators)
    }

    /// How many bytes a [`Line`] has.
    fn line_length(&self, level: usize) -> usize {
        let indent = self.indent.as_ref();
        indent.map_or(0, |indent| indent.len().saturating_mul(level).saturating_add(1))
    }
}

/// How a line begins.
#[derive(Clone, Copy, Debug)]
pub enum Line<'l> {
    /// Not at all: the text has one line.
    Same,
    /// With a break and blanks.
    Short(&'static str),
    /// With a break, and an indentation so many times.
    Long(&'l str, usize),
}

impl Line<'_> {
    /// Begins it.
    #[inline]
    pub fn write(self, out: &mut String) {
        match self {
            Self::Same => {}
            Self::Short(line) => out.push_str(line),
            Self::Long(indent, level) => {
                out.push('\n');
                (0..level).for_each(|_| out.push_str(indent));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_with_any_indent() {
        let written = |layout: &Layout| {
            let mut out = String::new();
            layout.line(2).write(&mut out);
            let length = out.len();
            assert_eq!(layout.line_length(2), length);
            out
        };
        assert_eq!(written(&Layout::default()), "");
        assert_eq!(written(&Layout::indented(String::new())), "\n");
        assert_eq!(written(&Layout::indented("\t".to_owned())), "\n\t\t");
        assert_eq!(written(&Layout::indented("  ".to_owned())), "\n    ");
    }
}
