//! The separators and the indentation of JSON text, as `json.dumps` takes them.
//!
//! ```text
//! Layout::default()                 {"a": [1, 2]}
//! Layout::indented("  ".into())     each member on a line of its own
//! ```
//!
//! The writer asks the layout for the text before, between and after the members of a container. The rule is CPython 3.13
//! `json/encoder.py` `JSONEncoder.__init__` and `_json.c`.

use std::borrow::Cow;

/// The separators and the indentation of JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The indentation of one level, or `None` for text on one line. With an empty indentation, each member still has its own line.
    indent: Option<Cow<'static, str>>,
    item_separator: Cow<'static, str>,
    key_separator: Cow<'static, str>,
    preset: Preset,
}

/// The layouts that nearly all JSON text has. They have fast paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Preset {
    /// One line, with a comma and a blank between two members.
    Line,
    /// A line for each member, indented by this number of blanks per level, with a comma at the end of a line.
    Lines(usize),
    /// Any other layout.
    Other,
}

/// A newline and the longest indentation that has a fast path. The start of most lines is copied from it.
const NEWLINE_AND_BLANKS: &str = "\n                                                                ";

impl Default for Layout {
    fn default() -> Self {
        Self::PLAIN
    }
}

impl Layout {
    /// One line, with a blank after each separator.
    pub const PLAIN: Self = Self {
        indent: None,
        item_separator: Cow::Borrowed(", "),
        key_separator: Cow::Borrowed(": "),
        preset: Preset::Line,
    };

    /// Returns the layout with a line for each member, indented by `indent` per level. As in Python, there is no blank after a comma.
    pub fn indented(indent: String) -> Self {
        let preset = if indent.bytes().all(|byte| byte == b' ') {
            Preset::Lines(indent.len())
        } else {
            Preset::Other
        };
        Self::with_lines(Cow::Owned(indent), preset)
    }

    /// Returns the layout with a line for each member, indented by a number of blanks per level, or `None` if the number is too large for
    /// the fast path.
    pub fn indented_by(blanks: i64) -> Option<Self> {
        // Python multiplies a blank by the number, so a negative number means no blanks.
        let blanks = usize::try_from(blanks.max(0)).ok()?;
        let indent = NEWLINE_AND_BLANKS.get(1..blanks.checked_add(1)?)?;
        Some(Self::with_lines(Cow::Borrowed(indent), Preset::Lines(blanks)))
    }

    fn with_lines(indent: Cow<'static, str>, preset: Preset) -> Self {
        Self {
            indent: Some(indent),
            item_separator: Cow::Borrowed(","),
            key_separator: Cow::Borrowed(": "),
            preset,
        }
    }

    /// Sets the separator between two members.
    pub fn set_item_separator(&mut self, separator: String) {
        self.item_separator = Cow::Owned(separator);
        self.preset = Preset::Other;
    }

    /// Sets the separator between a key and its value.
    pub fn set_key_separator(&mut self, separator: String) {
        self.key_separator = Cow::Owned(separator);
    }

    /// Writes the closing quotation mark of a key, and the separator between the key and its value.
    #[inline]
    pub fn write_key_end(&self, out: &mut String) {
        match &*self.key_separator {
            // The compiler writes a constant without a call.
            ": " => out.push_str("\": "),
            separator => {
                out.push('"');
                out.push_str(separator);
            }
        }
    }

    /// Returns what is written around the members of a container at a level.
    #[inline]
    pub fn for_level(&self, level: usize) -> MemberLayout<'_> {
        let separator = match self.preset {
            Preset::Line => Separator::CommaBlank,
            Preset::Lines(blanks) => {
                let length = blanks.saturating_mul(level).saturating_add(1);
                NEWLINE_AND_BLANKS
                    .get(..length)
                    .map_or(Separator::General, |line| Separator::Line(line, blanks))
            }
            Preset::Other => Separator::General,
        };
        MemberLayout {
            layout: self,
            level,
            separator,
        }
    }
}

/// What is written around the members of a container. An empty container has none of them.
#[derive(Clone, Copy, Debug)]
pub struct MemberLayout<'l> {
    layout: &'l Layout,
    level: usize,
    separator: Separator,
}

/// What is written before a member.
#[derive(Clone, Copy, Debug)]
enum Separator {
    /// A comma and a blank, except before the first member.
    CommaBlank,
    /// A comma, except before the first member, then a newline and blanks, and the number of blanks per level.
    Line(&'static str, usize),
    /// The separator and the indentation of the layout.
    General,
}

impl MemberLayout<'_> {
    /// Returns the largest number of bytes that one member adds to its key and value: the separators, the line break and the indentation.
    #[inline]
    pub fn max_length(&self) -> usize {
        let line = match (self.separator, &self.layout.indent) {
            (Separator::CommaBlank, _) | (Separator::General, None) => 0,
            (Separator::Line(line, _), _) => line.len(),
            (Separator::General, Some(indent)) => indent.len().saturating_mul(self.level).saturating_add(1),
        };
        let separators = self.layout.item_separator.len() + self.layout.key_separator.len();
        line.saturating_add(separators)
    }

    /// Writes the text before a member.
    #[inline(always)]
    pub fn write_before(&self, is_first: bool, out: &mut String) {
        match self.separator {
            Separator::CommaBlank if is_first => {}
            Separator::CommaBlank => out.push_str(", "),
            Separator::Line(line, _) => {
                if !is_first {
                    out.push(',');
                }
                out.push_str(line);
            }
            Separator::General => self.write_general(is_first, out),
        }
    }

    /// Writes the text after the last member.
    #[inline]
    pub fn write_after_last(&self, out: &mut String) {
        match self.separator {
            Separator::CommaBlank => {}
            Separator::Line(line, blanks) => {
                let line = line.get(..line.len().saturating_sub(blanks));
                out.push_str(line.unwrap_or_default());
            }
            Separator::General => self.write_newline(self.level.saturating_sub(1), out),
        }
    }

    #[inline(never)]
    fn write_general(&self, is_first: bool, out: &mut String) {
        if !is_first {
            out.push_str(&self.layout.item_separator);
        }
        self.write_newline(self.level, out);
    }

    #[inline(never)]
    fn write_newline(&self, level: usize, out: &mut String) {
        if let Some(indent) = &self.layout.indent {
            out.push('\n');
            (0..level).for_each(|_| out.push_str(indent));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_member_has_a_line_with_any_indentation() {
        let written = |layout: &Layout, level: usize| {
            let mut out = String::from("[");
            let member_layout = layout.for_level(level);
            member_layout.write_before(true, &mut out);
            out.push('0');
            let length = out.len();
            member_layout.write_before(false, &mut out);
            assert_eq!(out.len(), length + member_layout.max_length() - ": ".len());
            out.push('1');
            member_layout.write_after_last(&mut out);
            out + "]"
        };
        assert_eq!(written(&Layout::default(), 2), "[0, 1]");
        assert_eq!(written(&Layout::indented(String::new()), 2), "[\n0,\n1\n]");
        assert_eq!(written(&Layout::indented("\t".to_owned()), 2), "[\n\t\t0,\n\t\t1\n\t]");
        assert_eq!(written(&Layout::indented("  ".to_owned()), 2), "[\n    0,\n    1\n  ]");
        let mut separated = Layout::indented(" ".to_owned());
        separated.set_item_separator(";".to_owned());
        assert_eq!(written(&separated, 2), "[\n  0;\n  1\n ]");
        let [members, end] = [80, 78].map(|blanks| " ".repeat(blanks));
        let deep = format!("[\n{members}0,\n{members}1\n{end}]");
        assert_eq!(written(&Layout::indented("  ".to_owned()), 40), deep);
        assert_eq!(written(&Layout::indented_by(2).unwrap(), 40), deep);
        assert_eq!(Layout::indented_by(64).unwrap(), Layout::indented(" ".repeat(64)));
        assert_eq!(Layout::indented_by(-1).unwrap(), Layout::indented(String::new()));
        assert_eq!(Layout::indented_by(65), None);
    }
}
