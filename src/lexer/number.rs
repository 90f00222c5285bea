//! Finds the end of number literals: `float_length("1.5e3+x")` is 5, and `integer_length("007")` is 2. Lengths are in bytes.
//!
//! The rules are `float_re` and `integer_re` of jinja2 3.1.6 `lexer.py`, in which `\d` is any decimal digit of Unicode. Digits of radix 2
//! and 8, zeros, and the first digit of a decimal integer have to be ASCII. The rule that no float begins after a dot is in `token.rs`.

use crate::unicode;

/// Returns the length of the float at the start of `code`, if there is one.
///
/// The pattern is `(\d+_)*\d+((\.(\d+_)*\d+)?e[+\-]?(\d+_)*\d+|\.(\d+_)*\d+)`.
pub fn float_length(code: &str) -> Option<usize> {
    let whole = grouped_digits(code)?;
    let fraction = after(code, whole).strip_prefix('.').and_then(grouped_digits);
    let mantissa = fraction.map_or(whole, |digits| (whole + 1) + digits);
    match exponent_length(after(code, mantissa)) {
        Some(exponent) => Some(mantissa + exponent),
        None => fraction.map(|_| mantissa),
    }
}

/// Returns the length of the integer at the start of `code`, if there is one.
///
/// The pattern is `0b(_?[0-1])+|0o(_?[0-7])+|0x(_?[\da-f])+|[1-9](_?\d)*|0(_?0)*`.
pub fn integer_length(code: &str) -> Option<usize> {
    let digits: fn(char) -> bool = match code.as_bytes() {
        [b'0', b'b' | b'B', ..] => |digit| matches!(digit, '0' | '1'),
        [b'0', b'o' | b'O', ..] => |digit| digit.is_digit(8),
        [b'0', b'x' | b'X', ..] => |digit| digit.is_ascii_hexdigit() || is_decimal(digit),
        [b'1'..=b'9', ..] => return Some(spaced_digits(after(code, 1), is_decimal) + 1),
        _ => |_| false,
    };
    if !code.starts_with('0') {
        return None;
    }
    match spaced_digits(after(code, 2), digits) {
        0 => Some(spaced_digits(after(code, 1), |digit| digit == '0') + 1),
        length => Some(length + 2),
    }
}

/// Returns the length of the exponent at the start of `code`, if there is one.
fn exponent_length(code: &str) -> Option<usize> {
    let digits = code.strip_prefix(['e', 'E'])?;
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    let length = grouped_digits(unsigned)?;
    Some(code.len() - unsigned.len() + length)
}

/// Returns the length of the digits at the start of `code`, with single underscores between them: `(\d+_)*\d+`.
fn grouped_digits(code: &str) -> Option<usize> {
    let first = code.chars().next().filter(|char| is_decimal(*char))?;
    let length = first.len_utf8();
    Some(spaced_digits(after(code, length), is_decimal) + length)
}

/// Returns the length of the digits at the start of `code`, each after at most one underscore: `(_?\d)*`.
fn spaced_digits(code: &str, is_digit: fn(char) -> bool) -> usize {
    let mut rest = code;
    loop {
        let digit = rest.strip_prefix('_').unwrap_or(rest);
        match digit.strip_prefix(is_digit) {
            Some(after) => rest = after,
            None => return code.len() - rest.len(),
        }
    }
}

fn is_decimal(char: char) -> bool {
    char.is_ascii_digit() || (!char.is_ascii() && unicode::is_decimal(char))
}

fn after(code: &str, length: usize) -> &str {
    code.get(length..).unwrap_or_default()
}
