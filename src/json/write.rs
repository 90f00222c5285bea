//! Writes JSON text as `json.dumps` does: strings, floats, and whole trees on one line.
//!
//! ```text
//! é"\n   ->   "é\"\n"      and with ensure_ascii   "\u00e9\"\n"
//! ```
//!
//! The rules are CPython 3.13 `_json.c` `escape_unicode` and `ascii_escape_unicode` for strings, and `json/encoder.py` `floatstr` for
//! floats. The filter `tojson` writes template values and calls these functions.

use std::fmt;

use super::scan::{is_short_and_plain, plain_ascii_length, plain_length};
use super::tree::Data;
use crate::number::text::{float_text, write_digits};
use crate::text::quote;

/// Writes a string with its quotation marks. `ensure_ascii` escapes U+007F and all characters outside ASCII.
#[inline(always)]
pub fn write_string(text: &str, ensure_ascii: bool, out: &mut String) {
    out.push('"');
    if !write_short(text, ensure_ascii, out) {
        // Writing to a string cannot fail.
        let _ = write_escaped(text, ensure_ascii, out);
    }
    out.push('"');
}

/// Writes the characters of a string if it is short and needs no escapes. Returns whether it is.
#[inline(always)]
pub(crate) fn write_short(text: &str, ensure_ascii: bool, out: &mut String) -> bool {
    let stays = !ensure_ascii && is_short_and_plain(text.as_bytes());
    if stays {
        out.push_str(text);
    }
    stays
}

/// Writes the characters of a string with escapes.
#[inline(always)]
pub(crate) fn write_escaped(text: &str, ensure_ascii: bool, out: &mut impl fmt::Write) -> fmt::Result {
    if ensure_ascii {
        write_pieces(text, plain_ascii_length, out)
    } else {
        write_pieces(text, plain_length, out)
    }
}

/// Writes a string with escapes. `plain_length` returns the number of leading bytes that need no escape.
#[inline(never)]
fn write_pieces(text: &str, plain_length: impl Fn(&[u8]) -> usize, out: &mut impl fmt::Write) -> fmt::Result {
    let mut rest = text;
    // Both length functions stop at a character boundary.
    while let Some((piece, special)) = rest.split_at_checked(plain_length(rest.as_bytes())) {
        out.write_str(piece)?;
        let mut characters = special.chars();
        let Some(character) = characters.next() else {
            break;
        };
        write_escape(character, out)?;
        rest = characters.as_str();
    }
    Ok(())
}

fn write_escape(character: char, out: &mut impl fmt::Write) -> fmt::Result {
    out.write_str(match character {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        _ => return write_units(character, out),
    })
}

#[cold]
fn write_units(character: char, out: &mut impl fmt::Write) -> fmt::Result {
    character.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| {
        out.write_str("\\u")?;
        quote::write_hex(out, u32::from(*unit), 4)
    })
}

/// Writes a float as Python's repr. Values that JSON cannot represent are written as in JavaScript: `NaN`, `Infinity`.
pub fn write_float(float: f64, out: &mut String) {
    match float {
        f64::INFINITY => out.push_str("Infinity"),
        f64::NEG_INFINITY => out.push_str("-Infinity"),
        _ if float.is_nan() => out.push_str("NaN"),
        _ => match to_thousandths(float) {
            Some(thousandths) => write_thousandths(float.is_sign_negative(), thousandths, out),
            None => out.push_str(&float_text(float)),
        },
    }
}

/// Returns the absolute value of a float in thousandths, if the float is the nearest one to a number like `0.125` of at most a billion.
/// No other float has the same decimal digits.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is whole, not negative, and at most 1e12"
)]
fn to_thousandths(float: f64) -> Option<u64> {
    let thousandths = (float * 1e3).round();
    (thousandths.abs() <= 1e12 && thousandths / 1e3 == float).then_some(thousandths.abs() as u64)
}

/// Writes a number of thousandths as a decimal fraction, without trailing zeros except in `.0`.
fn write_thousandths(is_negative: bool, thousandths: u64, out: &mut String) {
    if is_negative {
        out.push('-');
    }
    write_digits(thousandths / 1000, out);
    out.push('.');
    let fraction = thousandths % 1000;
    write_digits(fraction / 100, out);
    if fraction % 100 > 0 {
        write_digits(fraction / 10 % 10, out);
    }
    if fraction % 10 > 0 {
        write_digits(fraction % 10, out);
    }
}

/// Writes a tree as JSON text on one line without blanks. Characters outside ASCII are not escaped, and a tuple becomes an array.
///
/// ```
/// let data = chat_template::json::read(r#"{"a": [1.50, "\u00e9"]}"#)?;
/// assert_eq!(data.to_string(), r#"{"a":[1.5,"é"]}"#);
/// # Ok::<(), chat_template::json::JsonError>(())
/// ```
impl fmt::Display for Data<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_data(self, out)
    }
}

/// Writes a tree on one line without blanks. Characters outside ASCII are not escaped, and a tuple becomes an array.
///
/// The function recurses. The reader and the serializer limit the depth of a tree.
///
/// # Errors
/// Those of the writer.
pub fn write_data(data: &Data<'_>, out: &mut impl fmt::Write) -> fmt::Result {
    match data {
        Data::None => out.write_str("null"),
        Data::Bool(true) => out.write_str("true"),
        Data::Bool(false) => out.write_str("false"),
        Data::Int(int) => write!(out, "{int}"),
        Data::BigInt(int) => write!(out, "{int}"),
        Data::Float(float) => {
            let mut digits = String::new();
            write_float(*float, &mut digits);
            out.write_str(&digits)
        }
        Data::Str(text) => write_quoted(text, out),
        Data::List(items) | Data::Tuple(items) => {
            out.write_char('[')?;
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.write_char(',')?;
                }
                write_data(item, out)?;
            }
            out.write_char(']')
        }
        Data::Object(object) => {
            out.write_char('{')?;
            for (place, (key, value)) in object.entries().iter().enumerate() {
                if place > 0 {
                    out.write_char(',')?;
                }
                write_quoted(key, out)?;
                out.write_char(':')?;
                write_data(value, out)?;
            }
            out.write_char('}')
        }
    }
}

fn write_quoted(text: &str, out: &mut impl fmt::Write) -> fmt::Result {
    out.write_char('"')?;
    write_escaped(text, false, out)?;
    out.write_char('"')
}
