//! Truncation: the filter `truncate`.
//!
//! ```text
//! shorten("hello world foo", 8, false)     "hello"       cut at the last blank
//! shorten("hello world foo", 8, true)      "hello wo"
//! ```
//!
//! The filter decides whether a string is too long, and adds the ellipsis. The rule is jinja2's `do_truncate`.

use std::borrow::Cow;

use super::slice::split_at_char;

/// The maximum number of bytes of an error message. Messages of the reference can repeat a string of any length.
pub const MAX_MESSAGE: usize = 64 << 10;

/// Returns a string for a message: if it has more than `length` code points, it is cut and ends in an ellipsis.
pub fn elide(text: &str, length: usize) -> Cow<'_, str> {
    match split_at_char(text, length) {
        (_, "") => Cow::Borrowed(text),
        (beginning, _) => Cow::Owned(format!("{beginning}…")),
    }
}

/// Returns the first `length` code points of a string. Unless `kills_words` is set, they are cut at their last blank.
pub fn shorten(text: &str, length: usize, kills_words: bool) -> &str {
    let (beginning, _) = split_at_char(text, length);
    match beginning.rsplit_once(' ') {
        Some((before, _)) if !kills_words => before,
        _ => beginning,
    }
}
