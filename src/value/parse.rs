//! Python's `int(value)`, and how texts are read as numbers.
//!
//! ```text
//! int(' 1_000 ')     1000
//! int('x')           ValueError: invalid literal for int() with base 10: 'x'
//! int([])            TypeError: int() argument must be a string, a bytes-like object or a real number, not 'list'
//! ```
//!
//! What digits mean is [`crate::number::parse`]'s; here is which characters are digits and blanks, and how a complaint shows the value.

use super::Value;
use super::runtime::Runtime;
use crate::error::{Error, Result};
use crate::number::parse::{CharacterRules, parse_int};
use crate::number::{Int, NumberRef, int_float};
use crate::text::quote;
use crate::unicode;

/// How Python's `int()` and `float()` read the characters of a string.
pub const CHARACTERS: CharacterRules = CharacterRules {
    decimal: unicode::decimal_value,
    is_space: unicode::is_whitespace,
    repr: quote::repr,
};

/// The same of a Markup, whose repr says so.
const MARKUP_CHARACTERS: CharacterRules = CharacterRules {
    repr: |text| format!("Markup({})", quote::repr(text)),
    ..CHARACTERS
};

/// The text of a string, and the rules by which it is read as a number.
pub(super) fn readable<'v>(value: &'v Value<'_>) -> Option<(&'v str, &'static CharacterRules)> {
    match value {
        Value::Str(text) if text.is_markup() => Some((text.as_str(), &MARKUP_CHARACTERS)),
        Value::Str(text) => Some((text.as_str(), &CHARACTERS)),
        _ => None,
    }
}

impl<'a> Runtime<'a> {
    /// `int(value)`
    pub fn int(&mut self, value: &Value<'a>) -> Result<Int> {
        match (value.as_number(), value) {
            (Some(NumberRef::Int(int)), _) => return Ok(int.to_int()),
            (Some(NumberRef::Float(float)), _) => return Ok(int_float::truncate(float)?),
            (None, Value::Undefined(undefined)) => return Err(undefined.error()),
            _ => {}
        }
        let Some((text, characters)) = readable(value) else {
            let ty = value.ty().name();
            return Err(Error::type_error(format!(
                "int() argument must be a string, a bytes-like object or a real number, not '{ty}'"
            )));
        };
        self.meter.charge_scan(text.len())?;
        Ok(parse_int(text, 10, characters)?)
    }
}
