//! Quoted text: `repr` and `ascii` of Python's `str`.
//!
//! ```text
//! write_repr(output, "it's")               "it's"      double quotes, because the text has a single quote
//! write_repr(output, "é\u{a0}\n")          'é\xa0\n'   unprintable characters are escaped
//! ```
//!
//! The rule is CPython's `unicodeobject.c` `unicode_repr`.

use std::fmt::{Result, Write};

use super::message::MAX_MESSAGE;
use super::scan_blocks::{self, skip_blocks};
use crate::unicode::is_printable;

/// The number of bytes without escapes after which they are written, so that a writer that charges sees them in time.
const PIECE: usize = 16 << 10;

/// Returns the quote of a `repr`: a double quote if the text has single quotes and no double ones, a single quote otherwise.
fn choose_quote(has_single: bool, has_double: bool) -> u8 {
    if has_single && !has_double { b'"' } else { b'\'' }
}

/// Returns `repr(text)` for a message. Only the beginning of a string of more than [`MAX_MESSAGE`] bytes is included.
pub fn repr(text: &str) -> String {
    let head = (MAX_MESSAGE + 1..text.len()).find_map(|end| text.get(..end));
    super::written::write_to_string(|output| match head {
        None => write_repr(output, text),
        // The quotes depend on the whole string.
        Some(head) => write_escaped(output, head, choose_quote(text.contains('\''), text.contains('"'))),
    })
}

/// Writes `repr(text)`.
pub fn write_repr(output: &mut impl Write, text: &str) -> Result {
    let needs_escape = |byte: u8| !(b' '..=b'~').contains(&byte) | (byte == b'"') | (byte == b'\'') | (byte == b'\\');
    if !scan_blocks::has_match(text.as_bytes(), needs_escape) {
        output.write_char('\'')?;
        output.write_str(text)?;
        return output.write_char('\'');
    }
    write_escaped(output, text, choose_quote(text.contains('\''), text.contains('"')))
}

/// Writes a string with escapes between two quotes.
fn write_escaped(output: &mut impl Write, text: &str, quote_byte: u8) -> Result {
    let quote = char::from(quote_byte);
    output.write_char(quote)?;
    let mut plain_from = 0;
    let mut at = 0_usize;
    loop {
        at += plain_length(text.as_bytes().get(at..).unwrap_or_default(), quote_byte);
        let Some(char) = text.get(at..).and_then(|rest| rest.chars().next()) else {
            break;
        };
        let next = at + char.len_utf8();
        let is_special = char == quote || char == '\\';
        if is_special || !is_printable(char) {
            output.write_str(text.get(plain_from..at).unwrap_or_default())?;
            plain_from = next;
            if is_special {
                output.write_char('\\')?;
                output.write_char(char)?;
            } else {
                write_escape(output, char)?;
            }
        } else if next.saturating_sub(plain_from) >= PIECE {
            output.write_str(text.get(plain_from..next).unwrap_or_default())?;
            plain_from = next;
        }
        at = next;
    }
    output.write_str(text.get(plain_from..).unwrap_or_default())?;
    output.write_char(quote)
}

/// Returns the number of leading bytes that are printable ASCII, and neither the given quote nor a backslash.
fn plain_length(bytes: &[u8], quote: u8) -> usize {
    let needs_escape = |byte: u8| !(b' '..=b'~').contains(&byte) | (byte == quote) | (byte == b'\\');
    let tail = skip_blocks(bytes, needs_escape);
    let plain = tail.iter().position(|byte| needs_escape(*byte)).unwrap_or(tail.len());
    bytes.len() - tail.len() + plain
}

/// Writes the escape of a character that is neither a quote nor a backslash.
fn write_escape(output: &mut impl Write, char: char) -> Result {
    match char {
        '\t' => output.write_str("\\t"),
        '\n' => output.write_str("\\n"),
        '\r' => output.write_str("\\r"),
        _ => write_code(output, char),
    }
}

/// Writes a character as an escape of its code point: `\xe9`, `\u20ac`, `\U0001f600`.
pub fn write_code(output: &mut impl Write, char: char) -> Result {
    let code = u32::from(char);
    let (letter, digits) = match code {
        0..=0xff => ("\\x", 2),
        0x100..=0xffff => ("\\u", 4),
        _ => ("\\U", 8),
    };
    output.write_str(letter)?;
    write_hex(output, code, digits)
}

/// Writes the last hexadecimal digits of a number.
pub fn write_hex(output: &mut impl Write, number: u32, digits: u32) -> Result {
    (0..digits).rev().try_for_each(|place| {
        let digit = number >> place.saturating_mul(4) & 0xf;
        output.write_char(char::from_digit(digit, 16).unwrap_or('0'))
    })
}

/// Writes the `ascii` of a value whose `repr` is given: all characters outside ASCII are escaped.
pub fn write_ascii(output: &mut impl Write, repr: &str) -> Result {
    for piece in repr.split_inclusive(|char: char| !char.is_ascii()) {
        match piece.char_indices().next_back() {
            Some((at, char)) if !char.is_ascii() => {
                output.write_str(piece.get(..at).unwrap_or_default())?;
                write_code(output, char)?;
            }
            _ => output.write_str(piece)?,
        }
    }
    Ok(())
}
