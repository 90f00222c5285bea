//! The shapes of number literals, and their values: `float_length("1.5e3+x")` is 5, `integer_length("007")` is 2.
//!
//! The rules are `float_re`, `integer_re` and `wrap` of jinja2 3.1.6 `lexer.py`, where a digit is any decimal digit of Unicode
//! (`\d`). Only digits of radix 2 and 8, the zeros, and a first decimal digit have to be ASCII. What a float may not follow is the
//! business of `token.rs`.

use crate::unicode;

/// The length of the float that `code` begins with: `(\d+_)*\d+((\.(\d+_)*\d+)?e[+\-]?(\d+_)*\d+|\.(\d+_)*\d+)`.
pub fn float_length(code: &str) -> Option<usize> {
    let whole = grouped_digits(code)?;
    let fraction = after(code, whole).strip_prefix('.').and_then(grouped_digits);
    let mantissa = fraction.map_or(whole, |digits| whole.saturating_add(1).saturating_add(digits));
    match exponent(after(code, mantissa)) {
        Some(exponent) => Some(mantissa.saturating_add(exponent)),
        None => fraction.map(|_| mantissa),
    }
}

/// The length of the integer that `code` begins with: `0b(_?[0-1])+|0o(_?[0-7])+|0x(_?[\da-f])+|[1-9](_?\d)*|0(_?0)*`.
pub fn integer_length(code: &str) -> Option<usize> {
    let digits: fn(char) -> bool = match code.as_bytes() {
        [b'0', b'b' | b'B', ..] => |digit| matches!(digit, '0' | '1'),
        [b'0', b'o' | b'O', ..] => |digit| digit.is_digit(8),
        [b'0', b'x' | b'X', ..] => |digit| digit.is_ascii_hexdigit() || is_decimal(digit),
        [b'1'..=b'9', ..] => return Some(spaced_digits(after(code, 1), is_decimal).saturating_add(1)),
        _ => |_| false,
    };
    if !code.starts_with('0') {
        return None;
    }
    match spaced_digits(after(code, 2), digits) {
        0 => Some(spaced_digits(after(code, 1), |digit| digit == '0').saturating_add(1)),
        length => Some(length.saturating_add(2)),
    }
}

fn exponent(code: &str) -> Option<usize> {
    let digits = code.strip_prefix(['e', 'E'])?;
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    let length = grouped_digits(unsigned)?;
    Some(code.len().saturating_sub(unsigned.len()).saturating_add(length))
}

/// The length of `(\d+_)*\d+`: single underscores between digits.
fn grouped_digits(code: &str) -> Option<usize> {
    let first = code.chars().next().filter(|char| is_decimal(*char))?;
    let length = first.len_utf8();
    Some(spaced_digits(after(code, length), is_decimal).saturating_add(length))
}

/// The length of `(_?\d)*` for the given digits.
fn spaced_digits(code: &str, is_digit: fn(char) -> bool) -> usize {
    let mut rest = code;
    loop {
        let digit = rest.strip_prefix('_').unwrap_or(rest);
        match digit.strip_prefix(is_digit) {
            Some(behind) => rest = behind,
            None => return code.len().saturating_sub(rest.len()),
        }
    }
}

fn is_decimal(char: char) -> bool {
    char.is_ascii_digit() || (!char.is_ascii() && unicode::is_decimal(char))
}

fn after(code: &str, length: usize) -> &str {
    code.get(length..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_need_digits_on_both_sides_of_the_point_or_an_exponent() {
        let lengths = [
            "1.5e3+x", "1e3", "007.5", "1_0.0_1", "1.", "1.e3", "1__0.5", "1e", "1.5e+", "٣.٥",
        ]
        .map(float_length);
        let expected = [Some(5), Some(3), Some(5), Some(7), None, None, None, None, Some(3), Some(5)];
        assert_eq!(lengths, expected);
    }

    #[test]
    fn integers_have_no_leading_zero() {
        let lengths = ["1_000", "007", "0_0", "0x_1F", "0xg", "0b12", "0O17", "1__0", "1٣", "٣"].map(integer_length);
        let expected = [
            Some(5),
            Some(2),
            Some(3),
            Some(5),
            Some(1),
            Some(3),
            Some(4),
            Some(1),
            Some(3),
            None,
        ];
        assert_eq!(lengths, expected);
    }
}
