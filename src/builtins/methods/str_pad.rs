//! The methods of `str` that pad it to a width.
//!
//! ```text
//! {{ "ab".center(5, "*") }}       **ab*
//! {{ "-5".zfill(4) }}             -005
//! ```
//!
//! The padding is in [`crate::text::pad`]. The size of its result is checked before. The errors are those of CPython 3.13 (`convert_uc`). A
//! Markup escapes its fill character first, as markupsafe 3.0.4 does.

use crate::builtins::arguments::{read_c_int, read_size};
use crate::builtins::table::built_ins;
use crate::error::{Error, Result};
use crate::limits::{Limit, LimitExceeded};
use crate::text::pad::{self, Padding};
use crate::text::slice::char_count;
use crate::value::{Runtime, Str, Value, markup};
use std::borrow::Cow;

/// Checks and charges the length of a result. `None` is a length that does not fit in a `usize`.
fn check_len(runtime: &mut Runtime<'_>, len: Option<usize>) -> Result<()> {
    let len = len.unwrap_or(usize::MAX);
    runtime.meter.check_size(len)?;
    runtime.meter.charge_scan(len)
}

/// Returns the padded text, as a Markup if the text is one. A string that is wide enough already is returned itself, not copied.
fn to_value<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>, padded: Option<Cow<'_, str>>) -> Result<Value<'a>> {
    match padded {
        Some(Cow::Borrowed(_)) => Ok(Value::Str(*text)),
        Some(Cow::Owned(padded)) => {
            let padded = runtime.text(padded)?;
            Ok(Value::Str(padded.with_markup(text.is_markup())))
        }
        None => Err(Error::memory(LimitExceeded::from_sizes(
            Limit::Value,
            usize::MAX,
            isize::MAX.unsigned_abs(),
        ))),
    }
}

/// Returns the character of the argument `fillchar`.
fn read_fill_character(fill: &Value<'_>) -> Result<char> {
    let Value::Str(fill) = fill else {
        let ty = fill.ty().name();
        return Err(Error::type_error(format!(
            "The fill character must be a unicode character, not {ty}"
        )));
    };
    let mut characters = fill.as_str().chars();
    match (characters.next(), characters.next()) {
        (Some(fill), None) => Ok(fill),
        _ => Err(Error::type_error("The fill character must be exactly one character long")),
    }
}

fn pad<'a>(
    runtime: &mut Runtime<'a>,
    text: &Str<'a>,
    width: &Value<'a>,
    mut fill: Value<'a>,
    padding: fn(usize, i64) -> Padding,
) -> Result<Value<'a>> {
    if text.is_markup() {
        fill = Value::Str(markup::escape(runtime, &fill)?);
    }
    let width = read_size(width)?;
    let fill = read_fill_character(&fill)?;
    runtime.meter.charge_scan(text.as_str().len())?;
    let padding = padding(char_count(text.as_str()), width);
    check_len(runtime, pad::padded_len(text.as_str(), padding, fill))?;
    match pad::pad(text.as_str(), padding, fill) {
        Some(Cow::Owned(padded)) => {
            let at = padding.left.saturating_mul(fill.len_utf8());
            let padded = runtime.framed_text(padded, text, at)?;
            Ok(Value::Str(padded.with_markup(text.is_markup())))
        }
        padded => to_value(runtime, text, padded),
    }
}

built_ins! { METHODS:
    /// Pads the text to a width, on both sides.
    Positional "str.center" | "Markup.center"[3]
    fn center(runtime, &text: Str, width: Count, fillchar: OneOf["*", "é", "ab"] = " ") -> Text {
        pad(runtime, &text, &width, fillchar, Padding::for_center)
    }

    /// Pads the text to a width, at its end.
    Positional "str.ljust" | "Markup.ljust"[3]
    fn ljust(runtime, &text: Str, width: Count, fillchar: OneOf["*", "é", "ab"] = " ") -> Text {
        pad(runtime, &text, &width, fillchar, Padding::for_ljust)
    }

    /// Pads the text to a width, at its start.
    Positional "str.rjust" | "Markup.rjust"[3]
    fn rjust(runtime, &text: Str, width: Count, fillchar: OneOf["*", "é", "ab"] = " ") -> Text {
        pad(runtime, &text, &width, fillchar, Padding::for_rjust)
    }

    /// Pads a number with zeros to a width, after its sign.
    OneArgument "str.zfill" | "Markup.zfill"[2] fn zfill(runtime, &text: Str, width: Count) -> Text {
        let width = read_size(&width)?;
        runtime.meter.charge_scan(text.as_str().len())?;
        let padding = Padding::for_rjust(char_count(text.as_str()), width);
        check_len(runtime, pad::padded_len(text.as_str(), padding, '0'))?;
        to_value(runtime, &text, pad::zfill(text.as_str(), width))
    }

    /// Replaces each tab by blanks up to the next multiple of a size.
    Clinic "str.expandtabs" | "Markup.expandtabs"[1] fn expandtabs(runtime, &text: Str, tabsize: Count = 8) -> Text {
        let tab_size = i64::from(read_c_int(&tabsize)?);
        runtime.meter.charge_scan(text.as_str().len())?;
        check_len(runtime, pad::expanded_len(text.as_str(), tab_size))?;
        to_value(runtime, &text, pad::expand_tabs(text.as_str(), tab_size))
    }
}
