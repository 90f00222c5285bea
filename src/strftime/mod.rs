//! Writes a local time by a format, as Python's `datetime.strftime` does on Linux in the C locale.
//!
//! ```text
//! strftime(&time, "%A, %B %-d, %Y", 1000)  ->  Friday, January 2, 2026
//! ```
//!
//! Two authors share the rule. CPython 3.11 replaces `%f`, `%z` and `%Z` itself (`_datetimemodule.c` `wrap_strftime`) and chooses the
//! size of the buffer (`timemodule.c` `time_strftime`); that is this file. glibc 2.36 does the rest (`strftime_l.c`); that is
//! [`directives`]. Neither knows which clock the time came from.

mod directives;

use std::borrow::Cow;
use std::fmt::Write;

use crate::clock::LocalTime;
use crate::error::{Error, Result};
use crate::limits::{Limit, Reached};

/// Bytes by which a date is longer than its format, mostly.
const USUAL: usize = 16;

/// The most digits of a number.
const NUMBER: usize = 10;

/// The time as the format says.
///
/// # Errors
/// When the text would have more than `max_len` bytes; a width such as `%999999d` is refused before anything of it is written.
pub fn strftime(time: &LocalTime, format: &str, max_len: usize) -> Result<String> {
    let format = replace_fractions_and_zones(time, format);
    let mut output = Output {
        text: String::with_capacity(format.len().saturating_add(USUAL)),
        room: buffer_size(format.chars().count()),
        max_len,
    };
    match directives::write(time, &format, &mut output) {
        Ok(()) => Ok(output.text),
        // timemodule.c time_strftime: what did not fit into the largest buffer is taken for an empty result.
        Err(Overrun::Buffer) => Ok(String::new()),
        Err(Overrun::Limit(bytes)) => Err(Error::limit(Reached::from_sizes(Limit::Value, bytes, max_len))),
    }
}

/// The format with `%f` replaced, and with `%z` and `%Z` removed, which a time without a zone answers with nothing.
///
/// A percent sign takes the character after it along, so that `%%f` stays; but `%-f` and `%5f` are left for glibc, which knows no
/// `f`, and the digits of a replaced `%f` may become a width: `%5%fd`. U+0000 ends the format.
fn replace_fractions_and_zones<'f>(time: &LocalTime, format: &'f str) -> Cow<'f, str> {
    if !format.bytes().any(|byte| matches!(byte, b'f' | b'z' | b'Z' | b'\0')) {
        return Cow::Borrowed(format);
    }
    let mut replaced = String::with_capacity(format.len());
    let mut rest = format.split_once('\0').map_or(format, |(before, _)| before);
    while let Some((plain, directive)) = rest.split_once('%') {
        replaced.push_str(plain);
        let mut characters = directive.chars();
        match characters.next() {
            Some('z' | 'Z') => {}
            Some('f') => {
                // Writing to a String cannot fail.
                let _ = write!(replaced, "{:06}", time.microsecond());
            }
            Some(other) => replaced.extend(['%', other]),
            None => replaced.push('%'),
        }
        rest = characters.as_str();
    }
    replaced.push_str(rest);
    Cow::Owned(replaced)
}

/// How many characters the largest buffer takes that Python offers to glibc, the final zero included.
///
/// The buffer doubles from 1024 until it has 256 times the length of the format.
fn buffer_size(format_length: usize) -> usize {
    let enough = format_length.saturating_mul(256);
    let mut size: usize = 1024;
    while size < enough {
        size = size.saturating_mul(2);
    }
    size
}

/// The text being written, and what may still be.
struct Output {
    text: String,
    /// Characters that Python's buffer still takes, the final zero included.
    room: usize,
    max_len: usize,
}

/// Why writing stopped.
enum Overrun {
    /// Python's buffer is full.
    Buffer,
    /// The text would have so many bytes, which is more than the caller's limit.
    Limit(usize),
}

impl Output {
    /// Writes a text, with as many fill characters before it as it lacks to the width.
    fn write(&mut self, text: &str, width: usize, fill: char) -> Result<(), Overrun> {
        self.write_fill(text.chars().count(), text.len(), width, fill)?;
        self.text.push_str(text);
        Ok(())
    }

    /// The same for a number.
    fn write_number(&mut self, number: u32, width: usize, fill: char) -> Result<(), Overrun> {
        let mut digits = ['0'; NUMBER];
        let mut first = digits.len();
        let mut left = number;
        for (place, digit) in digits.iter_mut().enumerate().rev() {
            *digit = char::from_digit(left % 10, 10).unwrap_or('0');
            left /= 10;
            first = place;
            if left == 0 {
                break;
            }
        }
        let digits = digits.get(first..).unwrap_or_default();
        self.write_fill(digits.len(), digits.len(), width, fill)?;
        self.text.extend(digits);
        Ok(())
    }

    /// Writes the fill characters before a text of so many characters and bytes, which may follow if this gives no error.
    fn write_fill(&mut self, length: usize, bytes: usize, width: usize, fill: char) -> Result<(), Overrun> {
        let missing = width.saturating_sub(length);
        let characters = length.saturating_add(missing);
        let bytes = bytes.saturating_add(missing).saturating_add(self.text.len());
        // The comparison is strict because the final zero needs its place too.
        self.room = self
            .room
            .checked_sub(characters)
            .filter(|room| *room > 0)
            .ok_or(Overrun::Buffer)?;
        if bytes > self.max_len {
            return Err(Overrun::Limit(bytes));
        }
        if missing > 0 {
            self.text.extend(std::iter::repeat_n(fill, missing));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str, format: &str) -> String {
        strftime(&time.parse().unwrap(), format, 1 << 20).unwrap()
    }

    #[test]
    fn python_replaces_before_glibc_reads() {
        let format = |format| at("2026-01-02T03:04:05.000123", format);
        assert_eq!(format("%f|%%f|%z%Z|%-f|%"), "000123|%f||%-f|%");
        assert_eq!(format("%E%f"), "%E000123");
        assert_eq!(format("%5%fd"), "");
        assert_eq!(format("a%\0b"), "a%");
    }

    #[test]
    fn a_text_beyond_the_buffer_is_empty() {
        let format = |format: &str| at("2026-01-02T03:04:05", format).len();
        assert_eq!(format("%1023d"), 1023);
        assert_eq!(format("%2047d"), 2047);
        assert_eq!(format("%2048d"), 0);
        assert_eq!(format("aaaaaaaa%2047d"), 2055);
        assert_eq!(format("%99999999999999999999d"), 0);
    }

    #[test]
    fn a_text_beyond_the_limit_is_refused() {
        let time = "2026-01-02T03:04:05".parse().unwrap();
        assert!(strftime(&time, "%1000d", 999).is_err());
        assert!(strftime(&time, "%1000d", 1000).is_ok());
    }
}
