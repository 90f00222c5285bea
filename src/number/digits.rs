//! Floats as decimal digits, correctly rounded: the notations `e`, `f`, `g` and `repr`.
//!
//! `2.675` with two places is `2.67`, because the float is a little below 2.675. Ties go to the even digit. The rules are CPython's
//! `pystrtod.c` (`PyOS_double_to_string`) and `float_repr`. The digits come from Rust's formatter, which is exact for any precision.
//! Width, grouping and positive signs are added by the callers.

use super::error::too_wide;
use crate::error::Result;

/// The largest number of digits after the point, and of significant digits, that a float can have. All further digits are zeros.
const MAX_EXACT_DIGITS: usize = 1074;

/// The number of characters of a formatted float that can be digits of its exact value: 309 before the point, and those after it.
const MAX_EXACT_CHARACTERS: usize = 309 + MAX_EXACT_DIGITS;

/// Returns the number of steps that it costs to find the digits of a formatted float, whose text has that number of bytes. Rust computes
/// long rows of digits with big integers.
pub fn count_steps(bytes: usize) -> u64 {
    bytes.min(MAX_EXACT_CHARACTERS) as u64
}

/// The arrangement of digits and exponent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// `1.500000e+00`: `precision` digits after the point.
    Exponent,
    /// `1.500000`: `precision` digits after the point.
    Fixed,
    /// `1.5`, `1e+20`: `precision` significant digits, without trailing zeros.
    General,
    /// `1.5`, `1e+16`: the fewest digits that are parsed to an equal float. The precision is ignored.
    #[default]
    Shortest,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatFormat {
    /// The arrangement of digits and exponent.
    pub notation: Notation,
    /// The number of digits, as counted by the notation.
    pub precision: usize,
    /// Whether the point is always written, and `General` keeps its trailing zeros: the flag `#`.
    pub is_alternate: bool,
    /// Whether a number without point and exponent gets `.0`.
    pub ends_with_point_zero: bool,
    /// Whether a number that rounds to zero loses its minus: the flag `z`.
    pub drops_negative_zero: bool,
    /// Whether letters are upper case: `1E+20`, `INF`.
    pub is_upper: bool,
}

/// Formats a float, with a minus if it is negative.
///
/// # Errors
/// If the precision asks for more than `max_precision` digits.
pub fn format_float(float: f64, format: &FloatFormat, max_precision: usize) -> Result<String> {
    let is_significant = matches!(format.notation, Notation::General | Notation::Shortest);
    if format.precision > max_precision && (format.is_alternate || !is_significant) {
        return Err(too_wide(format.precision, max_precision));
    }
    let magnitude = float.abs();
    let text = if float.is_nan() {
        "nan".to_owned()
    } else if float.is_infinite() {
        "inf".to_owned()
    } else {
        match format.notation {
            Notation::Fixed => format_fixed(magnitude, format),
            Notation::Exponent => {
                let precision = format.precision.min(MAX_EXACT_DIGITS);
                let mut decimal = Decimal::parse(&format!("{magnitude:.precision$e}"));
                decimal.pad(format.precision.saturating_add(1));
                decimal.format_exponential(format.is_alternate)
            }
            Notation::General => format_general(magnitude, format),
            Notation::Shortest => find_shortest(magnitude).format_general(16, format),
        }
    };
    let is_zero = || {
        !text
            .bytes()
            .take_while(|byte| *byte != b'e')
            .any(|byte| matches!(byte, b'1'..=b'9' | b'i'))
    };
    let is_negative = float.is_sign_negative() && !float.is_nan() && !(format.drops_negative_zero && is_zero());
    let mut signed = if is_negative { format!("-{text}") } else { text };
    if format.is_upper {
        signed.make_ascii_uppercase();
    }
    Ok(signed)
}

/// Formats a magnitude with `precision` digits after the point.
fn format_fixed(magnitude: f64, format: &FloatFormat) -> String {
    let precision = format.precision.min(MAX_EXACT_DIGITS);
    let mut text = format!("{magnitude:.precision$}");
    if format.is_alternate && precision == 0 {
        text.push('.');
    }
    push_zeros(&mut text, format.precision.saturating_sub(precision));
    text
}

/// Formats a magnitude with `precision` significant digits, at least one.
fn format_general(magnitude: f64, format: &FloatFormat) -> String {
    let wanted = format.precision.max(1);
    let precision = wanted.saturating_sub(1).min(MAX_EXACT_DIGITS);
    let mut decimal = Decimal::parse(&format!("{magnitude:.precision$e}"));
    if format.is_alternate {
        decimal.pad(wanted);
    } else {
        decimal.trim();
    }
    // The point and the zero that may be added take the place of one digit.
    let room = wanted.saturating_sub(usize::from(format.ends_with_point_zero));
    decimal.format_general(room, format)
}

/// Returns the fewest digits that are parsed to an equal float. Of two equally near candidates the even one wins: `1 + 2**-17` is
/// `1.0000076293945312`.
fn find_shortest(magnitude: f64) -> Decimal {
    let scientific = format!("{magnitude:e}");
    let decimal = Decimal::parse(&scientific);
    // Rust rounds such a tie up. The exact value of a tie has one digit more, so at most 18, which is too few for 26 bits of fraction
    // (5**26 has 19 digits). With 15 digits or fewer no two strings are parsed to equal floats.
    let can_be_tie = decimal.digits.len() > 15 && (magnitude * f64::from(1 << 25)).fract() == 0.0;
    if !can_be_tie {
        return decimal;
    }
    let precision = decimal.digits.len().saturating_sub(1);
    let even = format!("{magnitude:.precision$e}");
    if even.parse() == Ok(magnitude) {
        Decimal::parse(&even)
    } else {
        decimal
    }
}

/// The digits of a number and the position of its point.
struct Decimal {
    /// The digits, at least one.
    digits: String,
    /// The number of digits before the point. It is larger than the number of digits if zeros follow them, and negative if zeros precede
    /// them.
    point: i64,
}

impl Decimal {
    /// Parses Rust's scientific notation, such as `1.25e-7`.
    fn parse(scientific: &str) -> Self {
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
        Self {
            digits: mantissa.chars().filter(|digit| *digit != '.').collect(),
            point: exponent.parse::<i64>().unwrap_or(0).saturating_add(1),
        }
    }

    /// Appends zeros up to a number of digits.
    fn pad(&mut self, length: usize) {
        let missing = length.saturating_sub(self.digits.len());
        push_zeros(&mut self.digits, missing);
    }

    /// Removes trailing zeros, but not the first digit.
    fn trim(&mut self) {
        let length = self.digits.trim_end_matches('0').len().max(1);
        self.digits.truncate(length);
    }

    /// Formats the number with an exponent if the point is far from the digits, and without one otherwise.
    fn format_general(&self, room: usize, format: &FloatFormat) -> String {
        if self.point <= -4 || self.point > i64::try_from(room).unwrap_or(i64::MAX) {
            self.format_exponential(format.is_alternate)
        } else {
            self.format_plain(format)
        }
    }

    /// Formats the number as in `1.25e-07`.
    fn format_exponential(&self, is_alternate: bool) -> String {
        let (first, rest) = self.digits.split_at_checked(1).unwrap_or(("0", ""));
        let point = if rest.is_empty() && !is_alternate { "" } else { "." };
        let exponent = self.point.saturating_sub(1);
        let sign = if exponent < 0 { '-' } else { '+' };
        let exponent = exponent.unsigned_abs();
        format!("{first}{point}{rest}e{sign}{exponent:02}")
    }

    /// Formats the number as in `0.000125` or `1250.0`.
    fn format_plain(&self, format: &FloatFormat) -> String {
        let before = usize::try_from(self.point).unwrap_or(0);
        let mut text = String::with_capacity(self.digits.len().saturating_add(before).saturating_add(8));
        let (whole, fraction) = self.digits.split_at_checked(before).unwrap_or((&self.digits, ""));
        text.push_str(if whole.is_empty() { "0" } else { whole });
        push_zeros(&mut text, before.saturating_sub(self.digits.len()));
        if !fraction.is_empty() || format.is_alternate || format.ends_with_point_zero {
            text.push('.');
        }
        if fraction.is_empty() && format.ends_with_point_zero {
            text.push('0');
        }
        push_zeros(&mut text, usize::try_from(self.point.saturating_neg()).unwrap_or(0));
        text.push_str(fraction);
        text
    }
}

/// Appends `count` zeros.
fn push_zeros(text: &mut String, count: usize) {
    text.extend(std::iter::repeat_n('0', count));
}
