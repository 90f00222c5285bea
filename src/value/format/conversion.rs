//! The conversions of `%`: `'%+08.2f' % 3.14159` is `+0003.14`, `'%#x' % 255` is `0xff`.
//!
//! [`Conversion::read`] parses one conversion and takes the arguments of `(key)` and `*` from a [`Source`]. [`format_number`] formats
//! a number with it. The rules are CPython's `unicodeobject.c` (`unicode_format_arg_parse`, `mainformatlong`, `formatfloat`,
//! `unicode_format_arg_output`). The caller walks the format, handles `%%` and arguments that are not numbers.

use super::percent::Source;
use crate::error::{Error, Result};
use crate::number::error::too_wide;
use crate::number::int_float::{int_to_float, truncate};
use crate::number::spec::{Align, Spec, char_from_code, eat_if};
use crate::number::{Int, IntRef, NumberRef};

/// One conversion without its percent sign: `(key)-08.2f`.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The flags, the precision and the letter, which may be any character. A negative width from a star has been converted to `-`.
    pub spec: Spec,
    /// Whether the conversion has a width.
    pub has_width: bool,
    /// The length in bytes, without the percent sign.
    pub length: usize,
}

impl Conversion {
    /// Parses the conversion at the start of `format`, which starts after a percent sign.
    pub fn read(format: &str, arguments: &mut Source<'_, '_>) -> Result<Self> {
        let mut rest = format;
        let mut spec = Spec::new(Align::Right, '%');
        if rest.starts_with('(') {
            arguments.expect_mapping()?;
            arguments.pick_key(eat_key(&mut rest)?)?;
        }
        while let Some(flag) = eat_if(&mut rest, |char| matches!(char, '-' | '+' | ' ' | '#' | '0')) {
            match flag {
                '-' => spec.align = Align::Left,
                '+' => spec.sign = Some('+'),
                ' ' => spec.sign = spec.sign.or(Some(' ')),
                '#' => spec.is_alternate = true,
                _ => spec.fill = '0',
            }
        }
        let width = if eat_if(&mut rest, |char| char == '*').is_some() {
            let width = read_star(arguments, "ssize_t", i64::MIN..=i64::MAX)?;
            if width < 0 {
                spec.align = Align::Left;
            }
            Some(usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX))
        } else {
            eat_number(&mut rest, i64::MAX, "width too big")?
        };
        spec.width = width.unwrap_or(0);
        if eat_if(&mut rest, |char| char == '.').is_some() {
            spec.precision = Some(if eat_if(&mut rest, |char| char == '*').is_some() {
                let bounds = i64::from(i32::MIN)..=i64::from(i32::MAX);
                usize::try_from(read_star(arguments, "int", bounds)?).unwrap_or(0)
            } else {
                eat_number(&mut rest, i64::from(i32::MAX), "precision too big")?.unwrap_or(0)
            });
        }
        // The flag `-` overrides the flag `0`.
        match (spec.align, spec.fill) {
            (Align::Right, '0') => spec.align = Align::AfterSign,
            _ => spec.fill = ' ',
        }
        // One of C's length modifiers is accepted and ignored.
        eat_if(&mut rest, |char| matches!(char, 'h' | 'l' | 'L'));
        let mut chars = rest.chars();
        spec.letter = chars.next().ok_or_else(|| Error::value("incomplete format"))?;
        Ok(Self {
            spec,
            has_width: width.is_some(),
            length: format.len().saturating_sub(chars.as_str().len()),
        })
    }

    /// Returns the ValueError of an unknown letter, which is raised after the argument has been taken. `index` counts the characters from
    /// the start of the whole format.
    pub fn unsupported_letter(&self, index: usize) -> Error {
        let code = u32::from(self.spec.letter);
        let shown = if (31..127).contains(&code) { self.spec.letter } else { '?' };
        Error::value(format!(
            "unsupported format character '{shown}' (0x{code:x}) at index {index}"
        ))
    }

    /// Returns the TypeError of an argument that is not a number, for a letter that requires one.
    pub fn number_required(&self, type_name: &str) -> Error {
        let letter = self.spec.letter;
        Error::type_error(match letter {
            'x' | 'X' | 'o' => {
                format!("%{letter} format: an integer is required, not {type_name}")
            }
            'd' | 'i' | 'u' => {
                format!("%{letter} format: a real number is required, not {type_name}")
            }
            'c' => "%c requires int or char".to_owned(),
            _ => format!("must be real number, not {type_name}"),
        })
    }

    /// Pads a string to the width for `%s` and `%c`, which ignore the flag `0`.
    pub fn pad_text(&self, text: &str, max_width: usize) -> Result<String> {
        let spec = Spec { fill: ' ', ..self.spec };
        spec.lay_out_text(text, max_width)
    }
}

/// Formats a number for a conversion with one of the letters `d i u o x X c e E f F g G`. Other letters are formatted as `d`.
///
/// # Errors
/// If the width or the precision is above `max_width`, or the letter does not accept the number.
pub fn format_number(conversion: &Conversion, number: NumberRef<'_>, max_width: usize) -> Result<String> {
    match (conversion.spec.letter, number) {
        ('e' | 'E' | 'f' | 'F' | 'g' | 'G', NumberRef::Int(int)) => {
            format_as_float(&conversion.spec, int_to_float(int)?, max_width)
        }
        ('e' | 'E' | 'f' | 'F' | 'g' | 'G', NumberRef::Float(float)) => format_as_float(&conversion.spec, float, max_width),
        ('x' | 'X' | 'o' | 'c', NumberRef::Float(_)) => Err(conversion.number_required("float")),
        ('c', NumberRef::Int(int)) => {
            let code = match int {
                IntRef::Small(small) => small,
                _ => -1,
            };
            let mut buffer = [0; 4];
            conversion.pad_text(char_from_code(code)?.encode_utf8(&mut buffer), max_width)
        }
        (_, NumberRef::Int(int)) => format_as_int(&conversion.spec, int, max_width),
        (_, NumberRef::Float(float)) => format_as_int(&conversion.spec, truncate(float)?.as_ref(), max_width),
    }
}

/// Formats an integer for the letters `d i u o x X`.
fn format_as_int(spec: &Spec, int: IntRef<'_>, max_width: usize) -> Result<String> {
    let precision = spec.precision.unwrap_or(0);
    // CPython adds sign and prefix to the precision in a C int.
    if precision.saturating_add(3) > i32::MAX as usize {
        return Err(Error::overflow("precision too large"));
    }
    if precision > max_width {
        return Err(too_wide(precision, max_width));
    }
    let digits = spec.digits(int)?;
    let zeros = "0".repeat(precision.saturating_sub(digits.len()));
    spec.lay_out_int(int, &format!("{zeros}{digits}"), max_width)
}

/// Formats a float for the letters `e E f F g G`.
fn format_as_float(spec: &Spec, float: f64, max_width: usize) -> Result<String> {
    let text = spec.float_text(float, false, max_width)?;
    spec.lay_out_float(&text, max_width)
}

/// Takes a key in parentheses. The key may contain pairs of parentheses.
fn eat_key<'a>(rest: &mut &'a str) -> Result<&'a str> {
    let mut depth = 0_usize;
    for (place, char) in rest.char_indices() {
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            let key = rest.get(1..place).unwrap_or_default();
            *rest = rest.get(place..).and_then(|rest| rest.strip_prefix(char)).unwrap_or_default();
            return Ok(key);
        }
    }
    Err(Error::value("incomplete format key"))
}

/// Takes a number in ASCII digits, if there is one.
fn eat_number(rest: &mut &str, max: i64, error: &'static str) -> Result<Option<usize>> {
    let end = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
    if digits.is_empty() {
        return Ok(None);
    }
    *rest = after;
    match digits.parse::<i64>() {
        Ok(number) if number <= max => Ok(Some(usize::try_from(number).unwrap_or(usize::MAX))),
        _ => Err(Error::value(error)),
    }
}

/// Takes the integer of a star, which must be within the bounds of a C type.
fn read_star(arguments: &mut Source<'_, '_>, c_type: &str, bounds: std::ops::RangeInclusive<i64>) -> Result<i64> {
    match arguments.next_star()? {
        None => Err(Error::type_error("* wants int")),
        Some(Int::Small(small)) if bounds.contains(&small) => Ok(small),
        Some(_) => Err(Error::overflow(format!("Python int too large to convert to C {c_type}"))),
    }
}
