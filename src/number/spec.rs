//! Format specifications: `'{:012,}'.format(1234567)` is `0,001,234,567`.
//!
//! The form is `[[fill]align][sign][z][#][0][width][,_][.precision][type]` for strings, integers and floats. Errors are those of CPython,
//! in the order of CPython's checks. The rules are `formatter_unicode.c`. The caller handles fields, conversions and nested
//! specifications. It also handles an empty specification, which means `str`, and passes a boolean as an integer. Digits are grouped by
//! the rule of `unicodeobject.c`, `_PyUnicode_InsertThousandsGrouping`.

use super::digits::{FloatFormat, Notation, format_float as float_digits};
use super::error::too_wide;
use super::int::IntRef;
use super::int_float::int_to_float;
use super::text::magnitude_text;
use crate::error::{Error, Result};
use crate::unicode::decimal_value;
use crate::unsupported::SURROGATE;

/// The parameters of formatting besides the value and the specification.
#[derive(Clone, Copy, Debug)]
pub struct SpecRules<'a> {
    /// The type's name in error messages: `bool` and `Markup` have their own.
    pub type_name: &'a str,
    /// The largest width, and the largest precision.
    pub max_width: usize,
}

/// The position of the padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// `<`: padding after the text.
    Left,
    /// `>`: padding before the text.
    Right,
    /// `^`: padding on both sides, with the extra character on the right.
    Center,
    /// `=`: padding between sign and digits.
    AfterSign,
}

/// The parts of a number's text.
#[derive(Clone, Copy, Debug, Default)]
struct Parts<'a> {
    /// `-`, `+`, a space, or nothing.
    sign: &'a str,
    /// `0x` or another prefix, or nothing.
    prefix: &'a str,
    /// The digits before the point. Padding zeros and separators are added to these.
    digits: &'a str,
    /// The text after the digits: point, fraction, exponent. A number without digits, such as `inf`, is entirely in this part.
    rest: &'a str,
}

/// A parsed specification, or a conversion of `%`, which has no separator.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub fill: char,
    pub align: Align,
    pub sign: Option<char>,
    pub drops_negative_zero: bool,
    pub is_alternate: bool,
    pub width: usize,
    pub separator: Option<char>,
    pub precision: Option<usize>,
    pub letter: char,
}

/// The type of a float specification without a letter, as in CPython. A specification may also contain this character.
const NO_LETTER: char = '\0';

/// `str.__format__`: formats a string.
pub fn format_str(text: &str, spec: &str, rules: &SpecRules<'_>) -> Result<String> {
    let spec = Spec::read(spec, 's', Align::Left, rules)?;
    if spec.letter != 's' {
        return Err(unknown_letter(spec.letter, rules));
    }
    let refused = |what: &str| Err(Error::value(format!("{what} not allowed in string format specifier")));
    match spec.sign {
        Some(' ') => return refused("Space"),
        Some(_) => return refused("Sign"),
        None => {}
    }
    if spec.drops_negative_zero {
        return refused("Negative zero coercion (z)");
    }
    if spec.is_alternate {
        return refused("Alternate form (#)");
    }
    if spec.align == Align::AfterSign {
        return refused("'=' alignment");
    }
    let end = spec
        .precision
        .and_then(|precision| text.char_indices().nth(precision))
        .map_or(text.len(), |(end, _)| end);
    spec.lay_out_text(text.get(..end).unwrap_or(text), rules.max_width)
}

/// `int.__format__`: formats an integer.
pub fn format_int(int: IntRef<'_>, spec: &str, rules: &SpecRules<'_>) -> Result<String> {
    let spec = Spec::read(spec, 'd', Align::Right, rules)?;
    match spec.letter {
        'b' | 'c' | 'd' | 'o' | 'x' | 'X' | 'n' => {}
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%' => {
            return spec.format_float(int_to_float(int)?, false, rules);
        }
        letter => return Err(unknown_letter(letter, rules)),
    }
    if spec.precision.is_some() {
        return Err(Error::value("Precision not allowed in integer format specifier"));
    }
    if spec.drops_negative_zero {
        return Err(Error::value(
            "Negative zero coercion (z) not allowed in integer format specifier",
        ));
    }
    if spec.letter == 'c' {
        return spec.format_character(int, rules);
    }
    let digits = spec.digits(int)?;
    spec.lay_out_int(int, &digits, rules.max_width)
}

/// `float.__format__`: formats a float.
pub fn format_float(float: f64, spec: &str, rules: &SpecRules<'_>) -> Result<String> {
    let spec = Spec::read(spec, NO_LETTER, Align::Right, rules)?;
    match spec.letter {
        NO_LETTER | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n' | '%' => spec.format_float(float, spec.letter == NO_LETTER, rules),
        letter => Err(unknown_letter(letter, rules)),
    }
}

impl Spec {
    /// Returns a specification of an alignment and a letter.
    pub fn new(align: Align, letter: char) -> Self {
        Self {
            fill: ' ',
            align,
            sign: None,
            drops_negative_zero: false,
            is_alternate: false,
            width: 0,
            separator: None,
            precision: None,
            letter,
        }
    }

    /// Parses a specification. `letter` and `align` are the defaults of the type.
    fn read(text: &str, letter: char, align: Align, rules: &SpecRules<'_>) -> Result<Self> {
        let mut spec = Self::new(align, letter);
        let mut rest = text;
        let mut chars = text.chars();
        let (first, second) = (chars.next(), chars.next());
        let mut has_fill = false;
        let mut has_align = true;
        if let Some(written) = second.and_then(parse_align) {
            spec.align = written;
            spec.fill = first.unwrap_or(' ');
            has_fill = true;
            rest = chars.as_str();
        } else if let Some(written) = eat_if(&mut rest, |char| parse_align(char).is_some()).and_then(parse_align) {
            spec.align = written;
        } else {
            has_align = false;
        }
        spec.sign = eat_if(&mut rest, |char| matches!(char, ' ' | '+' | '-'));
        spec.drops_negative_zero = eat_if(&mut rest, |char| char == 'z').is_some();
        spec.is_alternate = eat_if(&mut rest, |char| char == '#').is_some();
        if !has_fill && eat_if(&mut rest, |char| char == '0').is_some() {
            spec.fill = '0';
            if !has_align && align == Align::Right {
                spec.align = Align::AfterSign;
            }
        }
        spec.width = eat_number(&mut rest)?.unwrap_or(0);
        spec.separator = eat_if(&mut rest, |char| char == ',');
        if let Some(underscore) = eat_if(&mut rest, |char| char == '_') {
            if spec.separator.is_some() {
                return Err(both_separators());
            }
            spec.separator = Some(underscore);
        }
        if spec.separator == Some('_') && rest.starts_with(',') {
            return Err(both_separators());
        }
        if eat_if(&mut rest, |char| char == '.').is_some() {
            spec.precision = Some(eat_number(&mut rest)?.ok_or_else(|| Error::value("Format specifier missing precision"))?);
        }
        spec.letter = eat_if(&mut rest, |_| true).unwrap_or(letter);
        if !rest.is_empty() {
            let type_name = rules.type_name;
            return Err(Error::value(format!(
                "Invalid format specifier '{text}' for object of type '{type_name}'"
            )));
        }
        spec.check_separator()?;
        Ok(spec)
    }

    /// Fails if the specification has a separator and its type has no groups.
    fn check_separator(&self) -> Result<()> {
        match (self.separator, self.letter) {
            (None, _) | (_, 'd' | 'e' | 'f' | 'g' | 'E' | 'G' | '%' | 'F' | NO_LETTER) | (Some('_'), 'b' | 'o' | 'x' | 'X') => {
                Ok(())
            }
            (Some(separator), letter) => {
                let shown = show_letter(letter);
                Err(Error::value(format!("Cannot specify '{separator}' with '{shown}'.")))
            }
        }
    }

    /// Lays out the parts of a number: `1234567` with `012,` is `0,001,234,567`, and `-42` with `*=+6` is `-***42`.
    fn lay_out(&self, parts: Parts<'_>, max_width: usize) -> Result<String> {
        if self.width > max_width {
            return Err(too_wide(self.width, max_width));
        }
        let Parts {
            sign,
            prefix,
            digits,
            rest,
        } = parts;
        let fixed: usize = [sign, prefix, rest].iter().map(|part| part.chars().count()).sum();
        let room = self.width.saturating_sub(fixed);
        let is_filled = self.fill == '0' && self.align == Align::AfterSign;
        let digits = self.group_digits(digits, if is_filled { room } else { 0 });
        let missing = room.saturating_sub(digits.len());
        let (left, inner, right) = match self.align {
            Align::Left => (0, 0, missing),
            Align::Right => (missing, 0, 0),
            Align::Center => (missing / 2, 0, missing.div_ceil(2)),
            Align::AfterSign => (0, missing, 0),
        };
        let [left, inner, right] = [left, inner, right].map(|count| String::from_iter(std::iter::repeat_n(self.fill, count)));
        Ok([&left, sign, prefix, &inner, &digits, rest, &right].concat())
    }

    /// Lays out a string. A string has no sign, so padding after the sign is padding before the text.
    pub fn lay_out_text(&self, text: &str, max_width: usize) -> Result<String> {
        let parts = Parts {
            rest: text,
            ..Parts::default()
        };
        self.lay_out(parts, max_width)
    }

    /// Groups digits, and fills them with zeros to a minimum width. The result is one character longer if it would start with a separator.
    fn group_digits(&self, digits: &str, min_width: usize) -> String {
        if digits.is_empty() {
            return String::new();
        }
        let size = if matches!(self.letter, 'b' | 'o' | 'x' | 'X') { 4 } else { 3 };
        let mut reversed = String::with_capacity(digits.len().max(min_width).saturating_add(digits.len() / 3));
        let mut left = digits.bytes().rev().map(char::from).peekable();
        let mut in_group = 0_u8;
        while left.peek().is_some() || reversed.len() < min_width {
            if let Some(separator) = self.separator.filter(|_| in_group == size) {
                reversed.push(separator);
                in_group = 0;
            }
            reversed.push(left.next().unwrap_or('0'));
            in_group = in_group.saturating_add(1);
        }
        reversed.chars().rev().collect()
    }

    fn sign_text(&self, is_negative: bool) -> &'static str {
        match self.sign {
            _ if is_negative => "-",
            Some('+') => "+",
            Some(' ') => " ",
            _ => "",
        }
    }

    /// Returns the absolute value of an integer in the base of the letter.
    pub fn digits(&self, int: IntRef<'_>) -> Result<String> {
        match self.letter {
            'b' => magnitude_text(int, 2),
            'o' => magnitude_text(int, 8),
            'x' => magnitude_text(int, 16),
            'X' => Ok(magnitude_text(int, 16)?.to_ascii_uppercase()),
            _ => magnitude_text(int, 10),
        }
    }

    /// Formats an integer that has these digits.
    pub fn lay_out_int(&self, int: IntRef<'_>, digits: &str, max_width: usize) -> Result<String> {
        let prefix = match self.letter {
            _ if !self.is_alternate => "",
            'b' => "0b",
            'o' => "0o",
            'x' => "0x",
            'X' => "0X",
            _ => "",
        };
        let parts = Parts {
            sign: self.sign_text(int.is_negative()),
            prefix,
            digits,
            rest: "",
        };
        self.lay_out(parts, max_width)
    }

    /// Formats an integer as the character with that code point.
    fn format_character(&self, int: IntRef<'_>, rules: &SpecRules<'_>) -> Result<String> {
        let refused = |what: &str| Err(Error::value(format!("{what} not allowed with integer format specifier 'c'")));
        if self.sign.is_some() {
            return refused("Sign");
        }
        if self.is_alternate {
            return refused("Alternate form (#)");
        }
        let IntRef::Small(small) = int else {
            return Err(Error::overflow("Python int too large to convert to C long"));
        };
        let mut buffer = [0; 4];
        let character = char_from_code(small)?.encode_utf8(&mut buffer);
        self.lay_out_text(character, rules.max_width)
    }

    /// Formats a float, or an integer whose specification has a float's letter. If `ends_with_point_zero` is set, the shortest notation
    /// has `.0` after a whole number.
    fn format_float(&self, float: f64, ends_with_point_zero: bool, rules: &SpecRules<'_>) -> Result<String> {
        // CPython's precision is a C int.
        if self.precision.is_some_and(|precision| i32::try_from(precision).is_err()) {
            return Err(Error::value("precision too big"));
        }
        let text = self.float_text(float, ends_with_point_zero, rules.max_width)?;
        self.lay_out_float(&text, rules.max_width)
    }

    /// Returns the text of a float before its layout.
    pub fn float_text(&self, float: f64, ends_with_point_zero: bool, max_precision: usize) -> Result<String> {
        let (notation, default_precision) = match self.letter {
            'e' | 'E' => (Notation::Exponent, 6),
            'f' | 'F' | '%' => (Notation::Fixed, 6),
            NO_LETTER if self.precision.is_none() => (Notation::Shortest, 0),
            _ => (Notation::General, 6),
        };
        let format = FloatFormat {
            notation,
            precision: self.precision.unwrap_or(default_precision),
            is_alternate: self.is_alternate,
            ends_with_point_zero,
            drops_negative_zero: self.drops_negative_zero,
            is_upper: self.letter.is_ascii_uppercase(),
        };
        if self.letter != '%' {
            return float_digits(float, &format, max_precision);
        }
        let mut text = float_digits(float * 100.0, &format, max_precision)?;
        text.push('%');
        Ok(text)
    }

    /// Lays out the text of a float.
    pub fn lay_out_float(&self, text: &str, max_width: usize) -> Result<String> {
        let (is_negative, magnitude) = match text.strip_prefix('-') {
            Some(magnitude) => (true, magnitude),
            None => (false, text),
        };
        let end = magnitude.find(|char: char| !char.is_ascii_digit()).unwrap_or(magnitude.len());
        let (digits, rest) = magnitude.split_at_checked(end).unwrap_or((magnitude, ""));
        let parts = Parts {
            sign: self.sign_text(is_negative),
            prefix: "",
            digits,
            rest,
        };
        self.lay_out(parts, max_width)
    }
}

/// Returns the character with a code point, for `%c` and the letter `c`.
pub fn char_from_code(code: i64) -> Result<char> {
    let code = u32::try_from(code)
        .ok()
        .filter(|code| *code <= u32::from(char::MAX))
        .ok_or_else(|| Error::overflow("%c arg not in range(0x110000)"))?;
    char::from_u32(code).ok_or_else(|| SURROGATE.error())
}

/// Returns the alignment that a character selects.
fn parse_align(char: char) -> Option<Align> {
    match char {
        '<' => Some(Align::Left),
        '>' => Some(Align::Right),
        '^' => Some(Align::Center),
        '=' => Some(Align::AfterSign),
        _ => None,
    }
}

/// Takes the first character if it is wanted.
pub fn eat_if(rest: &mut &str, is_wanted: impl Fn(char) -> bool) -> Option<char> {
    let mut chars = rest.chars();
    let first = chars.next().filter(|char| is_wanted(*char))?;
    *rest = chars.as_str();
    Some(first)
}

/// Takes a number in decimal digits of any script, if there is one.
fn eat_number(rest: &mut &str) -> Result<Option<usize>> {
    let mut number: Option<i64> = None;
    let mut chars = rest.chars();
    while let Some(digit) = chars.next().and_then(decimal_value) {
        let grown = number
            .unwrap_or(0)
            .checked_mul(10)
            .and_then(|number| number.checked_add(i64::from(digit)))
            .ok_or_else(|| Error::value("Too many decimal digits in format string"))?;
        number = Some(grown);
        *rest = chars.as_str();
    }
    Ok(number.map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
}

/// Returns the error of a specification with both separators.
fn both_separators() -> Error {
    Error::value("Cannot specify both ',' and '_'.")
}

/// Returns the error of a type letter that cannot format a value of the type.
fn unknown_letter(letter: char, rules: &SpecRules<'_>) -> Error {
    let shown = show_letter(letter);
    let type_name = rules.type_name;
    Error::value(format!("Unknown format code '{shown}' for object of type '{type_name}'"))
}

/// Returns a letter as error messages show it. A character that is not visible ASCII is shown as its code point.
fn show_letter(letter: char) -> String {
    match u32::from(letter) {
        33..=127 => letter.to_string(),
        code => format!("\\x{code:x}"),
    }
}
