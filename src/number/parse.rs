//! Numbers parsed from text: Python's `int(text, base)` and `float(text)`, and Jinja's literals.
//!
//! `int(' 1_000 ')` is 1000, `int('0x1f', 16)` is 31, `float('1_0.5e1')` is 105.0. The rules are CPython's `longobject.c`
//! (`PyLong_FromString`), `floatobject.c` (`PyFloat_FromString`), `pystrtod.c` and `unicodeobject.c`
//! (`_PyUnicode_TransformDecimalAndSpaceToASCII`), and jinja2's `lexer.py` (`Lexer.wrap`).

use std::borrow::Cow;

use num_bigint::{BigInt, BigUint, Sign};

use super::error::{MAX_DIGITS, describe_too_many_digits};
use super::int::Int;
use crate::error::{Error, ErrorKind, Result};
use crate::text::quote;
use crate::unicode::{decimal_value, is_whitespace};

/// Returns Python's `repr` of a string, for error messages. The repr of a Markup differs from that of a `str`.
pub type Repr = fn(&str) -> String;

/// Returns `int(text, base)`.
pub fn parse_int(text: &str, base: i64, repr: Repr) -> Result<Int> {
    read_int(text, base)?.ok_or_else(|| {
        // CPython cuts the text's repr at 200 characters, including the quotes.
        let shown: String = repr(text).chars().take(200).collect();
        Error::value(format!("invalid literal for int() with base {base}: {shown}"))
    })
}

/// Returns `float(text)`.
pub fn parse_float(text: &str, repr: Repr) -> Result<f64> {
    read_float(text).ok_or_else(|| {
        let shown = repr(text);
        Error::value(format!("could not convert string to float: {shown}"))
    })
}

/// Returns `int(text, base)`, or `None` if the text is not an integer. A caller may pass 37 for a base beyond `i64`: both are invalid.
pub fn read_int(text: &str, base: i64) -> Result<Option<Int>> {
    match u32::try_from(base) {
        Ok(base @ (0 | 2..=36)) => read_ascii_int(&to_ascii(text), base),
        _ => Err(Error::value("int() base must be >= 2 and <= 36, or 0")),
    }
}

/// Returns `float(text)`, or `None` if the text is not a float.
pub fn read_float(text: &str) -> Option<f64> {
    read_ascii_float(&to_ascii(text))
}

/// Returns the value of an integer token of Jinja's lexer, such as `0x_1F` or `1_000`.
pub fn parse_int_literal(token: &str) -> Result<Int> {
    parse_int(&token.replace('_', ""), 0, quote::repr)
}

/// Returns the value of a float token of Jinja's lexer, such as `1_0.5e-3`.
///
/// The token may have digits of any script. The reference passes it to `ast.literal_eval`, which accepts only ASCII digits.
pub fn parse_float_literal(token: &str) -> Result<f64> {
    let plain = token.replace('_', "");
    read_ascii_float(&plain).ok_or_else(|| {
        Error::new(
            ErrorKind::Syntax,
            format!("{} (<unknown>, line 1)", describe_bad_literal(&plain)),
        )
    })
}

/// Returns the message of Python's tokenizer for a float with digits outside ASCII.
fn describe_bad_literal(text: &str) -> String {
    let place = text.find(|char: char| !char.is_ascii()).unwrap_or(text.len());
    let (before, odd) = text.split_at_checked(place).unwrap_or((text, ""));
    let is_whole = before.bytes().all(|byte| byte.is_ascii_digit());
    match odd.chars().next() {
        Some(_) if is_whole && before.starts_with('0') && !before.trim_start_matches('0').is_empty() => {
            "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers".to_owned()
        }
        Some(odd) if !before.ends_with(['e', 'E', '+', '-']) => {
            format!("invalid character '{odd}' (U+{:04X})", u32::from(odd))
        }
        _ => "invalid decimal literal".to_owned(),
    }
}

/// Replaces digits and spaces of any script by those of ASCII. The first other character outside ASCII becomes `?` and ends the text.
fn to_ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut ascii = String::with_capacity(text.len());
    for char in text.chars() {
        // The separators U+001C to U+001F are ASCII, so they are kept. C does not take them for spaces.
        if char.is_ascii() {
            ascii.push(char);
        } else if is_whitespace(char) {
            ascii.push(' ');
        } else if let Some(digit) = decimal_value(char).and_then(|value| char::from_digit(value, 10)) {
            ascii.push(digit);
        } else {
            ascii.push('?');
            break;
        }
    }
    Cow::Owned(ascii)
}

/// C's `isspace`.
fn is_c_space(char: char) -> bool {
    matches!(char, ' ' | '\t'..='\r')
}

/// Parses an integer with a prefix and surrounding spaces. The result is `None` if the text is not an integer.
fn read_ascii_int(text: &str, base: u32) -> Result<Option<Int>> {
    let text = text.trim_start_matches(is_c_space);
    let (is_negative, text) = split_sign(text);
    let prefix_base = match text.get(..2) {
        Some("0x" | "0X") => Some(16),
        Some("0o" | "0O") => Some(8),
        Some("0b" | "0B") => Some(2),
        _ => None,
    };
    let radix = match base {
        0 => prefix_base.unwrap_or(10),
        base => base,
    };
    let mut body = text;
    if prefix_base == Some(radix) {
        body = text.get(2..).unwrap_or_default();
        body = body.strip_prefix('_').unwrap_or(body);
    }
    let end = body
        .find(|char: char| char != '_' && !char.is_digit(radix))
        .unwrap_or(body.len());
    let (digits, rest) = body.split_at_checked(end).unwrap_or((body, ""));
    if digits.is_empty() || digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
        return Ok(None);
    }
    let count = digits.bytes().filter(|byte| *byte != b'_').count();
    if count > MAX_DIGITS && !radix.is_power_of_two() {
        return Err(Error::value(describe_too_many_digits(count)));
    }
    // Base 0 parses Python's own literals, in which only zero may start with a zero.
    let is_old_octal = base == 0 && prefix_base.is_none() && digits.starts_with('0');
    if is_old_octal && digits.bytes().any(|byte| !matches!(byte, b'0' | b'_')) {
        return Ok(None);
    }
    if !rest.trim_start_matches(is_c_space).is_empty() {
        return Ok(None);
    }
    let sign = if is_negative { Sign::Minus } else { Sign::Plus };
    Ok(BigUint::parse_bytes(digits.as_bytes(), radix).map(|magnitude| Int::from(BigInt::from_biguint(sign, magnitude))))
}

/// The number of significant digits with which the standard library always finds the nearest float quickly (Mushtak and Lemire, "Fast
/// number parsing without fallback").
const DECISIVE_DIGITS: usize = 19;

/// Parses a float with surrounding spaces. The result is `None` if the text is not a float.
fn read_ascii_float(text: &str) -> Option<f64> {
    let text = text.trim_matches(is_c_space);
    let (is_negative, unsigned) = split_sign(text);
    let is_word = |word: &str| unsigned.eq_ignore_ascii_case(word);
    let magnitude = if is_word("inf") || is_word("infinity") {
        f64::INFINITY
    } else if is_word("nan") {
        f64::NAN
    } else {
        let plain = without_underscores(unsigned)?;
        find_nearest(&plain)?
    };
    Some(if is_negative { -magnitude } else { magnitude })
}

/// Returns whether a string starts with a minus, and the text without its sign.
fn split_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Returns a string without its underscores, or `None` if one of them is not between two digits.
fn without_underscores(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('_') {
        return Some(Cow::Borrowed(text));
    }
    let mut plain = String::with_capacity(text.len());
    let mut previous = ' ';
    for char in text.chars() {
        let is_allowed = match (previous, char) {
            (_, '_') => previous.is_ascii_digit(),
            ('_', _) => char.is_ascii_digit(),
            _ => true,
        };
        if !is_allowed {
            return None;
        }
        if char != '_' {
            plain.push(char);
        }
        previous = char;
    }
    (previous != '_').then_some(Cow::Owned(plain))
}

/// Returns the nearest float to a number of digits with at most one point and an optional exponent, such as `5.` or `.5e-3`. A number
/// that is too large is infinity. Returns `None` if the string is something else.
///
/// The standard library takes about ten microseconds if it cannot decide by the first 19 digits. serde_json takes one, but reads only
/// numbers of the form `0.5e-3`.
pub fn find_nearest(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let has_exponent_digits = exponent.is_none_or(|exponent| {
        let (_, digits) = split_sign(exponent);
        !digits.is_empty() && is_digits(digits)
    });
    if !is_digits(whole) || !is_digits(fraction) || matches!(mantissa, "" | ".") || !has_exponent_digits {
        return None;
    }
    if mantissa.len() <= DECISIVE_DIGITS {
        return text.parse().ok();
    }
    let whole = whole.trim_start_matches('0');
    let json = format!("{whole:0>1}.{fraction:0<1}e{}", exponent.unwrap_or("0"));
    // The number is well-formed, so an error says that it is out of range.
    Some(serde_json::from_str(&json).unwrap_or(f64::INFINITY))
}
