//! The escapes of string literals: `decode(r"a\tb")` returns `a`, a tab and `b`.
//!
//! As in jinja2 3.1.6 `lexer.py`, `wrap`, the text is encoded as ASCII with `backslashreplace` and then decoded by Python's
//! `unicode-escape` (CPython 3.13 `unicodeobject.c`, `_PyUnicode_DecodeUnicodeEscapeInternal`). An unknown escape therefore keeps its
//! backslash, and a backslash before `é` becomes the text `\xe9`. The escapes `\N{…}` and those of lone surrogates are not supported;
//! they are an error only if the literal is reached.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::text::quote::write_code;
use crate::unsupported::{CHARACTER_NAME, SURROGATE, Unsupported};

/// The reason why a literal cannot be decoded.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// A syntax error with this message, which is CPython's.
    Syntax(&'static str),
    /// An escape that this crate does not support.
    Unsupported(&'static Unsupported),
}

/// Returns the value of a string literal. `body` is its source without the quotes.
///
/// If the literal has a syntax error and an unsupported escape, the syntax error is returned.
pub fn decode(body: &str) -> Result<Cow<'_, str>, Fault> {
    if find_backslash(body).is_none() {
        return Ok(Cow::Borrowed(body));
    }
    let ascii = replace_with_escapes(body);
    let mut decoder = Decoder {
        rest: &ascii,
        // Most escapes are two bytes that decode to one.
        text: String::with_capacity(body.bytes().filter(|byte| *byte != b'\\').count()),
        unsupported: None,
    };
    while let Some(at) = find_backslash(decoder.rest) {
        let (plain, escape) = decoder.rest.split_at(at);
        decoder.text.push_str(plain);
        decoder.rest = escape.get(1..).unwrap_or_default();
        decoder.decode_escape().map_err(Fault::Syntax)?;
    }
    if let Some(row) = decoder.unsupported {
        return Err(Fault::Unsupported(row));
    }
    decoder.text.push_str(decoder.rest);
    Ok(Cow::Owned(decoder.text))
}

/// Returns the offset of the first backslash. A plain loop is faster than `memchr` here, because most literals are a few bytes long.
fn find_backslash(text: &str) -> Option<usize> {
    text.bytes().position(|byte| byte == b'\\')
}

/// Replaces each character outside ASCII by an escape, as Python's `encode("ascii", "backslashreplace")` does.
fn replace_with_escapes(body: &str) -> Cow<'_, str> {
    if body.is_ascii() {
        return Cow::Borrowed(body);
    }
    let mut ascii = String::with_capacity(body.len().saturating_mul(2));
    for char in body.chars() {
        // Writing to a string cannot fail.
        let _ = if char.is_ascii() {
            ascii.write_char(char)
        } else {
            write_code(&mut ascii, char)
        };
    }
    Cow::Owned(ascii)
}

struct Decoder<'a> {
    rest: &'a str,
    text: String,
    /// The first unsupported escape.
    unsupported: Option<&'static Unsupported>,
}

impl Decoder<'_> {
    /// Decodes the escape at the start of the rest, whose backslash has been read.
    fn decode_escape(&mut self) -> Result<(), &'static str> {
        let Some(letter) = self.rest.chars().next() else {
            return Err("\\ at end of string");
        };
        if let '0'..='7' = letter {
            self.decode_octal();
            return Ok(());
        }
        self.rest = self.rest.get(letter.len_utf8()..).unwrap_or_default();
        let char = match letter {
            '\n' => return Ok(()),
            '\\' | '\'' | '"' => letter,
            'a' => '\x07',
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            'x' => return self.decode_hex(2, "truncated \\xXX escape"),
            'u' => return self.decode_hex(4, "truncated \\uXXXX escape"),
            'U' => return self.decode_hex(8, "truncated \\UXXXXXXXX escape"),
            'N' => return self.decode_name(),
            _ => {
                self.text.push('\\');
                letter
            }
        };
        self.text.push(char);
        Ok(())
    }

    /// Decodes one to three octal digits. The largest code, 777, is a valid character.
    fn decode_octal(&mut self) {
        let digits = self.rest.chars().take(3).map_while(|digit| digit.to_digit(8));
        let (length, code) = digits.fold((0_usize, 0), |(length, code), digit| (length + 1, code << 3 | digit));
        self.text.extend(char::from_u32(code));
        self.rest = self.rest.get(length..).unwrap_or_default();
    }

    /// Decodes `length` hexadecimal digits. `message` is the error if there are fewer.
    fn decode_hex(&mut self, length: usize, message: &'static str) -> Result<(), &'static str> {
        let digits = self.rest.get(..length).ok_or(message)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(message);
        }
        let code = u32::from_str_radix(digits, 16).map_err(|_| message)?;
        match char::from_u32(code) {
            Some(char) => self.text.push(char),
            None if code > u32::from(char::MAX) => return Err("illegal Unicode character"),
            None => self.refuse(&SURROGATE),
        }
        self.rest = self.rest.get(length..).unwrap_or_default();
        Ok(())
    }

    /// Records an unsupported escape.
    fn refuse(&mut self, row: &'static Unsupported) {
        self.unsupported.get_or_insert(row);
    }

    /// Skips `{NAME}` and records that it is unsupported. The name is not checked.
    fn decode_name(&mut self) -> Result<(), &'static str> {
        let braced = self.rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let Some((_, rest)) = braced.filter(|(name, _)| !name.is_empty()) else {
            return Err("malformed \\N character escape");
        };
        self.refuse(&CHARACTER_NAME);
        self.rest = rest;
        Ok(())
    }
}
