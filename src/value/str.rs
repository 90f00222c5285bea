//! Strings: text of the input, of the template or of the render, with a flag for Markup.
//!
//! A piece of a string is a view of the same bytes and copies nothing.

use std::num::NonZeroU32;
use std::ops::Range;

/// A Python `str`, or a `markupsafe.Markup`.
#[derive(Clone, Copy, Debug)]
pub struct Str<'a> {
    text: &'a str,
    is_markup: bool,
    /// Whether the render made the text.
    is_made: bool,
    /// The number of the pieces of the text that this string is a view of, if the render has recorded them.
    pieces: Option<NonZeroU32>,
}

impl<'a> Str<'a> {
    /// Makes a string of text that the render made. `pieces` is the number of its pieces.
    #[inline]
    pub(super) fn made(text: &'a str, pieces: Option<NonZeroU32>) -> Self {
        Self {
            text,
            is_markup: false,
            is_made: true,
            pieces,
        }
    }

    /// Returns the number of the pieces of the text that this string is a view of. A string of the input has none.
    #[inline]
    pub(super) fn pieces(&self) -> Option<NonZeroU32> {
        self.pieces
    }

    /// Returns whether both strings are one object: the same bytes in the same place, or a string of which CPython has only one object
    /// (the empty string and strings of one Latin-1 character).
    pub(super) fn shares_storage(&self, other: &Self) -> bool {
        let (left, right) = (self.as_str(), other.as_str());
        let mut characters = left.chars();
        let is_short = characters.next().is_none_or(|first| first <= '\u{ff}') && characters.next().is_none();
        match (self.is_markup(), other.is_markup()) {
            (false, false) if is_short => left == right,
            (one, two) => one == two && std::ptr::eq(left, right) && !left.is_empty(),
        }
    }

    #[inline]
    pub fn as_str(&self) -> &'a str {
        self.text
    }

    #[inline]
    pub fn is_markup(&self) -> bool {
        self.is_markup
    }

    /// Returns the text as a Markup or as a `str`.
    #[must_use]
    pub fn with_markup(self, is_markup: bool) -> Self {
        Self { is_markup, ..self }
    }

    /// Returns the text of a byte range as a string of the same type. For a range that splits a character, the string is empty.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self {
            text: self.text.get(range).unwrap_or_default(),
            ..*self
        }
    }

    /// Returns a view of `part`, which must be a subslice of this string's text.
    #[must_use]
    pub fn piece(&self, part: &str) -> Self {
        let start = part.as_ptr().addr().wrapping_sub(self.as_str().as_ptr().addr());
        self.slice(start..start + part.len())
    }

    /// Returns the text, if it is borrowed from the input or the template.
    pub fn borrowed(&self) -> Option<&'a str> {
        (!self.is_made).then_some(self.text)
    }
}

impl<'a> From<&'a str> for Str<'a> {
    #[inline]
    fn from(text: &'a str) -> Self {
        Self {
            text,
            is_markup: false,
            is_made: false,
            pieces: None,
        }
    }
}
