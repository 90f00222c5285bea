//! Character references of HTML turned into characters: `html.unescape`, which is `Markup.unescape`.
//!
//! ```text
//! unescape("&lt;&#39;&#x80;")    "<'€"
//! unescape("&notit;")            "¬it;"    the longest known prefix counts
//! ```
//!
//! The result has at most twice the bytes of the text. The rule is that of CPython's `html/__init__.py`.

use super::entities::ENTITIES;
use crate::number::text::MAX_DIGITS;
use std::borrow::Cow;

/// A decimal reference with more digits than Python turns into an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyDigits {
    /// How many digits the reference has; Python's message names the number.
    pub digits: usize,
}

/// The longest name, without its semicolon, that is looked for in the table.
const MAX_NAME_CHARS: usize = 32;

/// The text with its references resolved; borrowed if it has no ampersand.
pub fn unescape(text: &str) -> Result<Cow<'_, str>, TooManyDigits> {
    let Some((mut plain, mut rest)) = text.split_once('&') else {
        return Ok(Cow::Borrowed(text));
    };
    let mut output = String::with_capacity(text.len());
    loop {
        output.push_str(plain);
        let after_reference = push_reference(&mut output, rest)?;
        match after_reference.split_once('&') {
            Some(parts) => (plain, rest) = parts,
            None => {
                output.push_str(after_reference);
                return Ok(Cow::Owned(output));
            }
        }
    }
}

/// Appends what the reference behind an ampersand stands for, and returns the text behind it.
fn push_reference<'a>(output: &mut String, text: &'a str) -> Result<&'a str, TooManyDigits> {
    if let Some(number) = text.strip_prefix('#') {
        let hexadecimal = number.strip_prefix(['x', 'X']).and_then(|hex| split_number(hex, 16));
        if let Some((digits, rest)) = hexadecimal {
            push_code(output, code_of(digits, 16));
            return Ok(rest);
        }
        if let Some((digits, rest)) = split_number(number, 10) {
            if digits.len() > MAX_DIGITS {
                return Err(TooManyDigits { digits: digits.len() });
            }
            push_code(output, code_of(digits, 10));
            return Ok(rest);
        }
    }
    Ok(push_named(output, text))
}

/// The digits that the text begins with, and what follows them and their semicolon.
fn split_number(text: &str, radix: u32) -> Option<(&str, &str)> {
    let end = text.find(|char: char| !char.is_digit(radix)).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    (!digits.is_empty()).then(|| (digits, rest.strip_prefix(';').unwrap_or(rest)))
}

/// The number that the digits make, saturating far above all code points.
fn code_of(digits: &str, radix: u32) -> u32 {
    digits
        .chars()
        .filter_map(|char| char.to_digit(radix))
        .fold(0, |code: u32, digit| code.saturating_mul(radix).saturating_add(digit))
}

/// What Windows-1252 has where Latin-1 has control characters, from U+0080 on.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’', '“', '”',
    '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Appends the character that a number stands for, or nothing for those that HTML forbids.
fn push_code(output: &mut String, code: u32) {
    let windows = code.checked_sub(0x80).and_then(|offset| usize::try_from(offset).ok());
    if let Some(&char) = windows.and_then(|offset| WINDOWS_1252.get(offset)) {
        return output.push(char);
    }
    let is_noncharacter = matches!(code, 0xfdd0..=0xfdef) || code & 0xfffe == 0xfffe;
    match (code, char::from_u32(code)) {
        (0, _) | (_, None) => output.push('\u{fffd}'),
        (1..=8 | 0xb | 0xe..=0x1f | 0x7f, _) => {}
        (_, Some(_)) if is_noncharacter => {}
        (_, Some(char)) => output.push(char),
    }
}

/// Appends what the longest known name at the beginning of the text stands for, or an ampersand.
fn push_named<'a>(output: &mut String, text: &'a str) -> &'a str {
    // What is not a known name is taken with it and copied; so a shorter name may begin the piece,
    // and no other reference begins inside.
    let is_end = |char| matches!(char, '\t' | '\n' | '\u{c}' | ' ' | '<' | '&' | '#' | ';');
    let name_end = text
        .char_indices()
        .enumerate()
        .find(|&(count, (_, char))| count == MAX_NAME_CHARS || is_end(char))
        .map_or(text.len(), |(_, (at, _))| at);
    let is_terminated = name_end > 0 && text.get(name_end..).is_some_and(|rest| rest.starts_with(';'));
    let end = name_end.saturating_add(usize::from(is_terminated));
    for len in (2..=end).rev() {
        let Some((name, rest)) = text.split_at_checked(len) else {
            continue;
        };
        if let Ok(found) = ENTITIES.binary_search_by_key(&name, |&(name, _)| name) {
            output.push_str(ENTITIES.get(found).map_or("", |&(_, characters)| characters));
            return rest;
        }
    }
    output.push('&');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unescaped(text: &str) -> String {
        unescape(text).map(Cow::into_owned).unwrap_or_default()
    }

    #[test]
    fn names_need_no_semicolon_if_html_says_so() {
        assert_eq!(unescaped("&lt;&LT&amp&rarr;&rarr"), "<<&→&rarr");
        assert_eq!(unescaped("&notit; &notin; &notanything"), "¬it; ∉ ¬anything");
        assert_eq!(unescaped("&; & &x; && a"), "&; & &x; && a");
    }

    #[test]
    fn numbers_are_corrected() {
        assert_eq!(
            unescaped("&#65;&#x41&#X42;&#128;&#0;&#xd800;&#x110000;"),
            "AAB€\u{fffd}\u{fffd}\u{fffd}"
        );
        assert_eq!(unescaped("&#11;&#xfdd0;&#x1ffff;&#127;&#13;&#129;"), "\r\u{81}");
        assert_eq!(unescaped("&#;&#x;&#xg"), "&#;&#x;&#xg");
        assert_eq!(unescaped("&#99999999999999999999;"), "\u{fffd}");
    }

    #[test]
    fn digits_are_limited_as_in_int() {
        let text = format!("&#{};", "1".repeat(4301));
        assert_eq!(unescape(&text), Err(TooManyDigits { digits: 4301 }));
        let text = format!("&#x{}41;", "0".repeat(5000));
        assert_eq!(unescaped(&text), "A");
    }
}
