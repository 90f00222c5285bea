//! Errors of reading JSON text, and of serializing values to it.
//!
//! ```text
//! {"a" 1}   ->   Expecting ':' delimiter: line 1 column 6 (char 5)
//! ```
//!
//! The messages are those of CPython 3.13: `json/decoder.py` `JSONDecodeError`, and the UTF-8 decoder in `unicodeobject.c`. This crate has
//! its own messages for input that Python reads and this crate does not: lone surrogates, and values beyond the limits.

use std::str::Utf8Error;

use crate::error::{Error, ErrorClass, Excerpt};
use crate::limits::{Limit, LimitExceeded};
use crate::source::Source;
use crate::span::Span;

/// The error of JSON text that could not be read, or of a value that could not be serialized. The message is Python's if Python has one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct JsonError {
    kind: JsonErrorKind,
    message: String,
    reached: Option<LimitExceeded>,
    /// The offset of the byte that the message is about.
    offset: Option<usize>,
}

/// The kind of a [`JsonError`].
///
/// ```
/// use chat_template::json::{JsonErrorKind, read};
///
/// assert_eq!(read("[1,]").unwrap_err().kind(), JsonErrorKind::Syntax);
/// assert_eq!(read(r#""\ud83d""#).unwrap_err().kind(), JsonErrorKind::LoneSurrogate);
/// assert_eq!(read(&"[".repeat(1 << 20)).unwrap_err().kind(), JsonErrorKind::TooDeep);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// The text is not JSON: `[1,]`. Python raises JSONDecodeError.
    Syntax,
    /// An integer has more digits than Python reads. Python raises ValueError.
    TooManyDigits,
    /// A string has one half of a surrogate pair: `"\ud83d"`. Python reads it, but Rust's strings cannot hold it.
    LoneSurrogate,
    /// Arrays and objects nest deeper than the limit. Python raises RecursionError, but only at a greater depth.
    TooDeep,
    /// The values take more memory than the limit, not counting the characters of strings, or the text of a serialized value is longer
    /// than the limit. Python has no such limit.
    TooLarge,
    /// Reading takes more time than the limit, or was cancelled. Python has no such limit.
    TimedOut,
    /// The bytes are not UTF-8. Python raises UnicodeDecodeError.
    Encoding,
    /// A value does not support serialization, or a key is not a string.
    Refused,
}

impl JsonError {
    /// Returns the kind of the error.
    pub fn kind(&self) -> JsonErrorKind {
        self.kind
    }

    /// Returns the line of the text that the message is about, with its line number and a caret below the position. The result is `None`
    /// if the message is not about a position.
    ///
    /// ```
    /// let text = "[1,\n 2 3]";
    /// let error = chat_template::json::read(text).unwrap_err();
    /// assert_eq!(error.excerpt(text).unwrap(), "2 |  2 3]\n  |    ^");
    ///
    /// let text = "[1,\n";
    /// let error = chat_template::json::read(text).unwrap_err();
    /// assert_eq!(error.excerpt(text).unwrap(), "1 | [1,\n  |    ^");
    /// ```
    pub fn excerpt(&self, text: &str) -> Option<String> {
        let (before, after) = text.split_at_checked(self.offset?)?;
        // A text that ends too early is shown up to its last character.
        let before = if after.is_empty() { before.trim_end() } else { before };
        // A `Source` has one character for each line break.
        let start = before.len().saturating_sub(before.matches("\r\n").count());
        let start = u32::try_from(start).ok()?;
        let span = Span::new(start, start.saturating_add(1));
        Some(Excerpt::new(&Source::new(text), span).to_string())
    }

    pub(super) fn new(kind: JsonErrorKind, message: impl Into<String>, offset: Option<usize>) -> Self {
        Self {
            kind,
            message: message.into(),
            reached: None,
            offset,
        }
    }

    /// Returns a syntax error, without its position. Errors of the reader are boxed to keep its results small.
    #[cold]
    pub(super) fn syntax(complaint: &str, offset: usize) -> Box<Self> {
        Box::new(Self::new(JsonErrorKind::Syntax, complaint, Some(offset)))
    }

    /// Returns the error of a limit, without its position.
    #[cold]
    pub(super) fn of_limit(kind: JsonErrorKind, reached: LimitExceeded, offset: Option<usize>) -> Self {
        Self {
            reached: Some(reached),
            ..Self::new(kind, reached.to_string(), offset)
        }
    }

    /// Returns the error of values that take more bytes than the limit.
    #[cold]
    pub(super) fn too_large(bytes: usize, limit: usize, offset: Option<usize>) -> Self {
        Self::of_limit(
            JsonErrorKind::TooLarge,
            LimitExceeded::from_sizes(Limit::JsonValues, bytes, limit),
            offset,
        )
    }

    /// Returns the error of a value that nests deeper than the limit.
    #[cold]
    pub(super) fn too_deep(limit: usize, offset: Option<usize>) -> Self {
        let reached = LimitExceeded::from_sizes(Limit::JsonDepth, limit.saturating_add(1), limit);
        Self::of_limit(JsonErrorKind::TooDeep, reached, offset)
    }

    /// Adds the position in the text that was read.
    #[cold]
    pub(super) fn located(mut self, text: &str) -> Self {
        if let Some(offset) = self.offset {
            self.message = format!("{}: {}", self.message, describe_position(text, offset));
        }
        self
    }

    /// Returns the error of bytes that are not UTF-8, with Python's message.
    pub(super) fn encoding(bytes: &[u8], error: Utf8Error) -> Self {
        let start = error.valid_up_to();
        let first = bytes.get(start).copied().unwrap_or_default();
        let (length, reason) = match error.error_len() {
            None => (bytes.len().saturating_sub(start), "unexpected end of data"),
            Some(1) if !(0xC2..=0xF4).contains(&first) => (1, "invalid start byte"),
            Some(length) => (length, "invalid continuation byte"),
        };
        let place = match length {
            0 | 1 => format!("byte {first:#04x} in position {start}"),
            _ => format!("bytes in position {start}-{}", (start + length).saturating_sub(1)),
        };
        let message = format!("'utf-8' codec can't decode {place}: {reason}");
        Self::new(JsonErrorKind::Encoding, message, None)
    }
}

/// Converts the error to the crate's [`Error`](crate::Error): one of class [`ErrorClass::Request`], or of a limit.
impl From<JsonError> for Error {
    fn from(error: JsonError) -> Self {
        let own = match error.reached {
            Some(reached) => Error::limit_with_message(reached, error.message.clone()),
            None => Error::value(error.message.clone()).with_class(ErrorClass::Request),
        };
        own.with_source(error)
    }
}

/// Returns a position as `JSONDecodeError` shows it. Columns count code points, and only line feeds end a line.
fn describe_position(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    format!("line {line} column {column} (char {})", before.chars().count())
}
