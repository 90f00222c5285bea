//! The separators and the indentation of JSON text, as `json.dumps` takes them.
//!
//! ```text
//! Layout::default()                 {"a": [1, 2]}
//! Layout::indented("  ".into())     each member on a line of its own
//! ```
//!
//! The rule is CPython 3.13 `json/encoder.py` `JSONEncoder.__init__` and `_json.c`.

use std::borrow::Cow;

/// The separators and the indentation of JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The indentation of one level, or `None` for text on one line. With an empty indentation, each member still has its own line.
    pub indent: Option<Cow<'static, str>>,
    /// The separator between two members.
    pub item_separator: Cow<'static, str>,
    /// The separator between a key and its value.
    pub key_separator: Cow<'static, str>,
}

/// The longest indentation that needs no allocation.
const BLANKS: &str = "                                                                ";

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
    };

    /// Returns the layout with a line for each member, indented by `indent` per level. As in Python, there is no blank after a comma.
    pub fn indented(indent: impl Into<Cow<'static, str>>) -> Self {
        Self {
            indent: Some(indent.into()),
            item_separator: Cow::Borrowed(","),
            ..Self::PLAIN
        }
    }

    /// Returns the layout with a line for each member, indented by a number of blanks per level, or `None` if the number is large.
    pub fn indented_by(blanks: i64) -> Option<Self> {
        // Python multiplies a blank by the number, so a negative number means no blanks.
        let blanks = usize::try_from(blanks.max(0)).ok()?;
        BLANKS.get(..blanks).map(Self::indented)
    }

    /// Returns the number of bytes of both separators.
    #[inline]
    pub fn separators_len(&self) -> usize {
        self.item_separator.len() + self.key_separator.len()
    }

    /// Writes the separator between two members. The compiler writes a constant without a call.
    #[inline(always)]
    pub fn write_item_separator(&self, out: &mut String) {
        match &*self.item_separator {
            ", " => out.push_str(", "),
            "," => out.push(','),
            separator => out.push_str(separator),
        }
    }

    /// Writes the closing quotation mark of a key, and the separator between the key and its value.
    #[inline]
    pub fn write_key_end(&self, out: &mut String) {
        match &*self.key_separator {
            ": " => out.push_str("\": "),
            separator => {
                out.push('"');
                out.push_str(separator);
            }
        }
    }
}
