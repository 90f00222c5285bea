//! Reads lines of a limited length.

use std::io::{BufRead, Read, Result};

/// Appends the next line, with its line feed, to `text`, and returns its length in bytes. Returns `None` at the end of the input. A line
/// that is longer than the limit is skipped.
pub fn read_line(input: &mut impl BufRead, limit: u64, text: &mut Vec<u8>) -> Result<Option<u64>> {
    let start = text.len();
    let Some(mut length) = read_start(input, limit, text)? else {
        return Ok(None);
    };
    if length > limit {
        length = length.saturating_add(skip_rest(input, text)?);
        text.truncate(start);
    }
    Ok(Some(length))
}

/// Appends the next line as [`read_line`] does, but of a longer line only one byte more than the limit. [`skip_rest`] must follow.
pub fn read_start(input: &mut impl BufRead, limit: u64, text: &mut Vec<u8>) -> Result<Option<u64>> {
    let length = input.by_ref().take(limit.saturating_add(1)).read_until(b'\n', text)? as u64;
    Ok((length > 0).then_some(length))
}

/// Skips the rest of a line, and returns its length in bytes. `start` is what was read of the line.
pub fn skip_rest(input: &mut impl BufRead, start: &[u8]) -> Result<u64> {
    match start.last() {
        Some(b'\n') => Ok(0),
        _ => Ok(input.skip_until(b'\n')? as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::read_line;

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        let (mut input, mut text) = (&b"ab\nabc\nabcdef\n\nabcd"[..], Vec::new());
        let lengths = std::iter::from_fn(|| read_line(&mut input, 3, &mut text).unwrap());
        assert_eq!(lengths.collect::<Vec<_>>(), [3, 4, 7, 1, 4]);
        assert_eq!(text, b"ab\n\n");
    }
}
