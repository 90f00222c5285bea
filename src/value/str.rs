//! Strings: borrowed or shared text, with a flag for Markup.
//!
//! A piece of a string is a view of the same bytes and copies nothing.

use std::ops::Range;
use std::rc::Rc;

use crate::meter::Claim;
use crate::trace::Pieces;

/// A Python `str`, or a `markupsafe.Markup`.
#[derive(Clone, Debug)]
pub struct Str<'a>(Memory<'a>);

/// The bytes of a string. Each kind has a variant for `str` and one for Markup. The tag has the size of a word, so that a string moves in
/// whole words.
#[derive(Clone, Debug)]
#[repr(u64)]
enum Memory<'a> {
    Borrowed(&'a str),
    BorrowedMarkup(&'a str),
    /// A byte range of a string that the render made.
    Shared(Rc<OwnedText>, u32, u32),
    SharedMarkup(Rc<OwnedText>, u32, u32),
}

/// A string that the render made, with the claim to its memory.
#[derive(Debug)]
pub(super) struct OwnedText {
    text: String,
    /// Where the bytes came from, if the render records that.
    pieces: Pieces,
    /// The text, or `None` while only its allocation is kept for a later string.
    claim: Option<Claim>,
}

impl OwnedText {
    pub fn new(text: String, pieces: Pieces, claim: Claim) -> Self {
        Self {
            text,
            pieces,
            claim: Some(claim),
        }
    }

    /// Removes the empty buffer of a recycled text.
    pub fn take_buffer(&mut self) -> String {
        std::mem::take(&mut self.text)
    }
}

impl<'a> Str<'a> {
    pub(super) fn owned(text: Rc<OwnedText>) -> Self {
        let len = u32::try_from(text.text.len()).unwrap_or(u32::MAX);
        Self(Memory::Shared(text, 0, len))
    }

    /// Returns whether the render made the text.
    #[inline]
    pub(super) fn is_made(&self) -> bool {
        matches!(self.0, Memory::Shared(..) | Memory::SharedMarkup(..))
    }

    /// Empties the text and returns it, if no other value uses it and its capacity is at most `most` bytes.
    #[inline]
    pub(super) fn into_buffer(self, most: usize) -> Option<Rc<OwnedText>> {
        let (Memory::Shared(mut text, ..) | Memory::SharedMarkup(mut text, ..)) = self.0 else {
            return None;
        };
        let owned = Rc::get_mut(&mut text).filter(|owned| owned.text.capacity() <= most)?;
        owned.text.clear();
        owned.pieces = Pieces::default();
        owned.claim = None;
        Some(text)
    }

    /// Returns the pieces of the text that this string is a view of, and the byte range of the view. A borrowed string has none.
    #[inline]
    pub(super) fn pieces(&self) -> Option<(&Pieces, Range<usize>)> {
        match &self.0 {
            Memory::Shared(owned, start, end) | Memory::SharedMarkup(owned, start, end) => {
                Some((&owned.pieces, *start as usize..*end as usize))
            }
            _ => None,
        }
    }

    /// Returns whether pieces are recorded for the text that this string is a view of.
    #[inline]
    pub(super) fn has_pieces(&self) -> bool {
        match &self.0 {
            Memory::Shared(owned, ..) | Memory::SharedMarkup(owned, ..) => !owned.pieces.is_empty(),
            _ => false,
        }
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

    /// Returns the text.
    #[inline]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Memory::Borrowed(text) | Memory::BorrowedMarkup(text) => text,
            Memory::Shared(owned, start, end) | Memory::SharedMarkup(owned, start, end) => {
                owned.text.get(*start as usize..*end as usize).unwrap_or_default()
            }
        }
    }

    #[inline]
    pub fn is_markup(&self) -> bool {
        matches!(self.0, Memory::BorrowedMarkup(_) | Memory::SharedMarkup(..))
    }

    /// Returns the text as a Markup or as a `str`.
    #[must_use]
    pub fn with_markup(self, is_markup: bool) -> Self {
        Self(match (self.0, is_markup) {
            (Memory::Borrowed(text) | Memory::BorrowedMarkup(text), false) => Memory::Borrowed(text),
            (Memory::Borrowed(text) | Memory::BorrowedMarkup(text), true) => Memory::BorrowedMarkup(text),
            (Memory::Shared(text, start, end) | Memory::SharedMarkup(text, start, end), false) => Memory::Shared(text, start, end),
            (Memory::Shared(text, start, end) | Memory::SharedMarkup(text, start, end), true) => {
                Memory::SharedMarkup(text, start, end)
            }
        })
    }

    /// Returns the text of a byte range as a string of the same type. For a range that splits a character, the string is empty.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        match &self.0 {
            Memory::Borrowed(text) => Self(Memory::Borrowed(text.get(range).unwrap_or_default())),
            Memory::Shared(owned, start, end) => Self(stretch(owned, *start, *end, range)),
            _ => self.clone().with_markup(false).slice(range).with_markup(true),
        }
    }

    /// Returns a view of `part`, which must be a subslice of this string's text.
    #[must_use]
    pub fn piece(&self, part: &str) -> Self {
        let start = part.as_ptr().addr().wrapping_sub(self.as_str().as_ptr().addr());
        self.slice(start..start + part.len())
    }

    /// Returns the text and its pieces for modification in place, or the string itself if another value uses the text too.
    pub(super) fn try_into_parts(self) -> Result<(String, Pieces), Self> {
        let is_markup = self.is_markup();
        match self.0 {
            Memory::Shared(owned, 0, end) | Memory::SharedMarkup(owned, 0, end) if end as usize == owned.text.len() => {
                let owned = Rc::try_unwrap(owned).map(|owned| (owned.text, owned.pieces));
                owned.map_err(|owned| Self(Memory::Shared(owned, 0, end)).with_markup(is_markup))
            }
            bytes => Err(Self(bytes)),
        }
    }

    /// Returns the text, if it is borrowed from the input or the template.
    pub fn borrowed(&self) -> Option<&'a str> {
        match self.0 {
            Memory::Borrowed(text) | Memory::BorrowedMarkup(text) => Some(text),
            Memory::Shared(..) | Memory::SharedMarkup(..) => None,
        }
    }
}

impl<'a> From<&'a str> for Str<'a> {
    fn from(text: &'a str) -> Self {
        Self(Memory::Borrowed(text))
    }
}

/// Returns a byte range of a view, which itself is the bytes from `start` to `end` of a string that the render made.
fn stretch<'a>(owned: &Rc<OwnedText>, start: u32, end: u32, range: Range<usize>) -> Memory<'a> {
    let from = start as usize + range.start;
    let to = (start as usize + range.end).min(end as usize);
    match (u32::try_from(from), u32::try_from(to)) {
        (Ok(from), Ok(to)) => Memory::Shared(Rc::clone(owned), from, to),
        _ => Memory::Borrowed(""),
    }
}
