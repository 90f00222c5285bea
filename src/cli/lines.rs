//! Reading lines of a limited length.

use std::io::{BufRead, Read, Result};

/// Appends the next line, with its line feed, to `text`, and returns its length in bytes. Returns `None` at the end of the input. A line
/// that is longer than the limit is skipped.
pub fn read_line(input: &mut impl BufRead, limit: u64, text: &mut Vec<u8>) -> Result<Option<u64>> {
    let start = text.len();
    let mut length = input.by_ref().take(limit.saturating_add(1)).read_until(b'\n', text)? as u64;
    if length > limit {
        if !text.ends_with(b"\n") {
            length = length.saturating_add(input.skip_until(b'\n')? as u64);
        }
        text.truncate(start);
    }
    Ok((length > 0).then_some(length))
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
