//! Formats a local time as Python's `datetime.strftime` does on Linux in the C locale.
//!
//! ```text
//! strftime(&time, "%A, %B %-d, %Y", 1000)  ->  Friday, January 2, 2026
//! ```
//!
//! The rule has two parts. CPython 3.13 replaces `%f`, `%z`, `%:z` and `%Z` (`_datetimemodule.c` `wrap_strftime`) and chooses the size of
//! the buffer (`timemodule.c` `time_strftime`); this file does the same. glibc 2.36 does the rest (`strftime_l.c`); see [`directives`].

mod directives;

use std::borrow::Cow;
use std::fmt::Write;

use crate::clock::LocalTime;
use crate::error::{Error, Result};
use crate::limits::{Limit, LimitExceeded};
use crate::number::text::write_digits;

/// The number of bytes by which a formatted time is usually longer than its format.
const USUAL: usize = 16;

/// A formatted time.
pub struct Formatted {
    pub text: String,
    /// The number of bytes that were formatted, which is the cost. The text is empty if the result does not fit into Python's buffer,
    /// although its start was formatted.
    pub written: usize,
}

/// Formats a time.
///
/// # Errors
/// If the text would have more than `max_len` bytes. A directive with a large width, such as `%999999d`, fails before it is written.
pub fn strftime(time: &LocalTime, format: &str, max_len: usize) -> Result<Formatted> {
    let format = replace_fractions_and_zones(time, format);
    let mut output = Output {
        text: String::with_capacity(format.len() + USUAL),
        room: buffer_size(format.chars().count()),
        max_len,
    };
    let result = directives::write(time, &format, &mut output);
    let written = output.text.len();
    let text = match result {
        Ok(()) => output.text,
        // timemodule.c time_strftime: if the text does not fit into the largest buffer, the result is empty.
        Err(Overrun::Buffer) => String::new(),
        Err(Overrun::Limit(bytes)) => return Err(Error::limit(LimitExceeded::from_sizes(Limit::Value, bytes, max_len))),
    };
    Ok(Formatted { text, written })
}

/// Returns the format with the digits of `%f`, and without `%z`, `%:z` and `%Z`, which are empty for a time without a zone.
///
/// A percent sign and the character after it belong together, so `%%f` is kept. `%-f` and `%5f` are kept for glibc, which does not know
/// `f`. The digits of a replaced `%f` may become a width, as in `%5%fd`. U+0000 ends the format.
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
            Some(':') if characters.as_str().starts_with('z') => {
                characters.next();
            }
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

/// Returns the size in characters of the largest buffer that Python passes to glibc, including the final zero.
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

/// The text that has been written, and the room that is left.
struct Output {
    text: String,
    /// The number of characters that are left in Python's buffer, including the final zero.
    room: usize,
    max_len: usize,
}

/// The reason why writing stopped.
enum Overrun {
    /// Python's buffer is full.
    Buffer,
    /// The text would have this number of bytes, which is more than the caller's limit.
    Limit(usize),
}

impl Output {
    /// Writes a string, with fill characters before it up to a width.
    fn write(&mut self, text: &str, width: usize, fill: char) -> Result<(), Overrun> {
        self.write_fill(text.chars().count(), text.len(), width, fill)?;
        self.text.push_str(text);
        Ok(())
    }

    /// Writes a number, with fill characters before it up to a width.
    fn write_number(&mut self, number: u32, width: usize, fill: char) -> Result<(), Overrun> {
        let length = number.checked_ilog10().map_or(1, |power| power as usize + 1);
        self.write_fill(length, length, width, fill)?;
        write_digits(number.into(), &mut self.text);
        Ok(())
    }

    /// Writes the fill characters before a string, and checks that the text itself fits.
    fn write_fill(&mut self, length: usize, bytes: usize, width: usize, fill: char) -> Result<(), Overrun> {
        let missing = width.saturating_sub(length);
        let characters = length.saturating_add(missing);
        let bytes = bytes.saturating_add(missing).saturating_add(self.text.len());
        // The comparison is strict because the final zero needs room too.
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
