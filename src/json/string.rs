//! Reads the strings of JSON text: borrowed if they have no escapes, decoded otherwise.
//!
//! ```text
//! "plain"  ->  borrowed      "a\n\ud83d\ude00"  ->  owned, the surrogate pair joined
//! ```
//!
//! The rules and the positions of errors are CPython 3.13 `_json.c` `scanstring_unicode` with `strict`. Python's strings can hold a lone
//! surrogate and Rust's cannot. The first one is stored, and is an error if the text has no error for Python.

use std::borrow::Cow;

use super::error::{JsonError, JsonErrorKind};
use super::read::{Reader, STRIDE};

/// The byte that each letter after a backslash is decoded to, or NUL if the letter is not a simple escape. A table is faster than branches,
/// which the processor could not predict.
#[expect(clippy::indexing_slicing, reason = "the compiler checks the bounds of constant expressions")]
const SIMPLE_ESCAPES: [u8; 256] = {
    let mut bytes = [0; 256];
    bytes[b'"' as usize] = b'"';
    bytes[b'\\' as usize] = b'\\';
    bytes[b'/' as usize] = b'/';
    bytes[b'b' as usize] = 0x08;
    bytes[b'f' as usize] = 0x0C;
    bytes[b'n' as usize] = b'\n';
    bytes[b'r' as usize] = b'\r';
    bytes[b't' as usize] = b'\t';
    bytes
};

/// The least capacity in bytes of the buffer for decoded strings. It is enough for most messages, so the buffer seldom grows.
const DECODED_CAPACITY: usize = 1000;

impl<'a> Reader<'a, '_> {
    /// Reads a string, starting at its opening quotation mark.
    #[inline(always)]
    pub(super) fn read_string(&mut self) -> Result<Cow<'a, str>, Box<JsonError>> {
        self.advance(1);
        let start = self.at;
        match (self.read_run(), self.next_byte()) {
            (Some(run), b'"') => {
                self.advance(1);
                Ok(Cow::Borrowed(run))
            }
            (run, _) => self.read_escaped_string(start, run.unwrap_or_default()).map(Cow::Owned),
        }
    }

    /// Takes the characters before the next special byte. That byte is ASCII or the end of the text, so the result is never `None`.
    #[inline]
    fn read_run(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.at = self.marks.find_next(start);
        self.text.get(start..self.at)
    }

    /// Reads a string that has escapes. It is not inlined, to keep the code for other strings short. All strings are decoded into one
    /// buffer and then copied, which is faster than growing each string.
    #[inline(never)]
    fn read_escaped_string(&mut self, start: usize, first_run: &str) -> Result<String, Box<JsonError>> {
        self.decoded.clear();
        self.decoded.reserve(DECODED_CAPACITY);
        self.decoded.push_str(first_run);
        let bytes = self.text.as_bytes();
        let mut next_check = STRIDE;
        loop {
            if self.decoded.len() >= next_check {
                next_check += STRIDE;
                self.check_deadline()?;
            }
            match bytes.get(self.at) {
                Some(b'"') => {
                    self.advance(1);
                    self.count_allocation(0)?;
                    return Ok(self.decoded.as_str().to_owned());
                }
                Some(b'\\') => {
                    let letter = bytes.get(self.at + 1).copied().unwrap_or_default();
                    let character = match SIMPLE_ESCAPES.get(usize::from(letter)) {
                        None | Some(0) => self.read_escape(start)?,
                        Some(byte) => {
                            self.advance(2);
                            char::from(*byte)
                        }
                    };
                    self.decoded.push(character);
                }
                Some(_) => return Err(JsonError::syntax("Invalid control character at", self.at)),
                None => return Err(unterminated_string(start)),
            }
            if let Some(run) = self.read_run() {
                self.decoded.push_str(run);
            }
        }
    }

    /// Reads an escape other than [`SIMPLE_ESCAPES`] and returns its character.
    #[inline(never)]
    fn read_escape(&mut self, start: usize) -> Result<char, Box<JsonError>> {
        let backslash = self.at;
        match self.rest().get(1..).unwrap_or_default() {
            [] => Err(unterminated_string(start)),
            [b'u', rest @ ..] => {
                let code = parse_hex_digits(rest, backslash + 1)?;
                self.advance(6);
                self.read_unicode_escape(code, backslash)
            }
            _ => Err(JsonError::syntax("Invalid \\escape", backslash)),
        }
    }

    /// Returns the character of a `\u` escape that has been taken. Takes the second escape of a surrogate pair.
    fn read_unicode_escape(&mut self, code: u32, backslash: usize) -> Result<char, Box<JsonError>> {
        if let Some(character) = char::from_u32(code) {
            return Ok(character);
        }
        if let (0xD800..=0xDBFF, Some(rest)) = (code, self.rest().strip_prefix(b"\\u")) {
            let second = parse_hex_digits(rest, self.at + 1)?;
            if let 0xDC00..=0xDFFF = second {
                self.advance(6);
                let joined = 0x10000_u32.saturating_add((code & 0x3FF) << 10 | (second & 0x3FF));
                return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        self.lone_surrogate.get_or_insert_with(|| {
            let message = format!("Lone surrogate \\u{code:04x} is not supported");
            JsonError::new(JsonErrorKind::LoneSurrogate, message, Some(backslash))
        });
        Ok(char::REPLACEMENT_CHARACTER)
    }
}

fn unterminated_string(start: usize) -> Box<JsonError> {
    JsonError::syntax("Unterminated string starting at", start.saturating_sub(1))
}

/// Parses the four digits after a `\u`. Errors are at the position of the `u`. As in Python, one more character must follow the digits.
fn parse_hex_digits(rest: &[u8], at: usize) -> Result<u32, Box<JsonError>> {
    let digits = match rest {
        [a, b, c, d, _, ..] => [a, b, c, d],
        _ => return Err(JsonError::syntax("Invalid \\uXXXX escape", at)),
    };
    digits.into_iter().try_fold(0, |code, digit| {
        let digit = char::from(*digit)
            .to_digit(16)
            .ok_or_else(|| JsonError::syntax("Invalid \\uXXXX escape", at))?;
        Ok(code << 4 | digit)
    })
}
