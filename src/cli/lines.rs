//! Reading lines of a limited length.

use std::io::{BufRead, Read, Result};

/// A line that was read.
pub struct Line {
    /// The length of the line in bytes, with its line feed.
    pub length: u64,
    /// Whether the line is longer than the limit.
    pub is_too_long: bool,
}

/// Appends the next line, with its line feed, to `text`. A line that is longer than the limit is skipped. Returns `None` at the end of the
/// input.
pub fn read_line(input: &mut impl BufRead, limit: u64, text: &mut Vec<u8>) -> Result<Option<Line>> {
    let start = text.len();
    let mut length = input.by_ref().take(limit).read_until(b'\n', text)? as u64;
    if length == 0 {
        return Ok(None);
    }
    let is_too_long = length >= limit && !text.ends_with(b"\n");
    if is_too_long {
        text.truncate(start);
        length = length.saturating_add(input.skip_until(b'\n')? as u64);
    }
    Ok(Some(Line { length, is_too_long }))
}
