//! The methods of `str` that pad it to a width.
//!
//! ```text
//! {{ "ab".center(5, "*") }}       **ab*
//! {{ "-5".zfill(4) }}             -005
//! ```
//!
//! The padding is in [`crate::text::pad`]. The size of its result is checked before. The errors are those of CPython 3.13 (`convert_uc`). A
//! Markup escapes its fill character first, as markupsafe 3.0.4 does.

use crate::builtins::arguments::{read_c_int, read_size, take_str_receiver};
use crate::error::{Error, Result};
use crate::limits::{Limit, Reached};
use crate::text::pad::{self, Padding};
use crate::text::slice::char_count;
use crate::value::{Arguments, Runtime, Str, Value, markup};
use std::borrow::Cow;

/// Checks and charges the length of a result. `None` is a length that does not fit in a `usize`.
fn check_len(runtime: &mut Runtime<'_>, len: Option<usize>) -> Result<()> {
    let len = len.unwrap_or(usize::MAX);
    runtime.meter.check_size(len)?;
    runtime.meter.charge_scan(len)
}

/// Returns the padded text, as a Markup if the text is one. A text that is wide enough already is returned itself, not copied.
fn to_value<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>, padded: Option<Cow<'_, str>>) -> Result<Value<'a>> {
    match padded {
        Some(Cow::Borrowed(_)) => Ok(Value::Str(text.clone())),
        Some(Cow::Owned(padded)) => {
            let padded = runtime.text(padded)?;
            Ok(Value::Str(padded.with_markup(text.is_markup())))
        }
        None => Err(Error::memory(Reached::from_sizes(
            Limit::Value,
            usize::MAX,
            isize::MAX.unsigned_abs(),
        ))),
    }
}

/// Returns the character of the argument `fillchar`, which is a blank if absent.
fn read_fill_character(fill: Option<&Value<'_>>) -> Result<char> {
    match fill {
        None => Ok(' '),
        Some(Value::Str(fill)) => {
            let mut characters = fill.as_str().chars();
            match (characters.next(), characters.next()) {
                (Some(fill), None) => Ok(fill),
                _ => Err(Error::type_error("The fill character must be exactly one character long")),
            }
        }
        Some(other) => {
            let ty = other.ty().name();
            Err(Error::type_error(format!(
                "The fill character must be a unicode character, not {ty}"
            )))
        }
    }
}

fn pad<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, padding: fn(usize, i64) -> Padding) -> Result<Value<'a>> {
    let text = take_str_receiver(&mut arguments)?;
    let mut fill = arguments.take(2);
    if text.is_markup() {
        if let Some(unescaped) = &fill {
            fill = Some(Value::Str(markup::escape(runtime, unescaped)?));
        }
    }
    let width = read_size(arguments.get(1), 0)?;
    let fill = read_fill_character(fill.as_ref())?;
    runtime.meter.charge_scan(text.as_str().len())?;
    let padding = padding(char_count(text.as_str()), width);
    check_len(runtime, pad::padded_len(text.as_str(), padding, fill))?;
    match pad::pad(text.as_str(), padding, fill) {
        Some(Cow::Owned(padded)) => {
            let at = padding.left.saturating_mul(fill.len_utf8());
            let padded = runtime.framed_text(padded, &text, at)?;
            Ok(Value::Str(padded.with_markup(text.is_markup())))
        }
        padded => to_value(runtime, &text, padded),
    }
}

/// `str.center(width, fillchar)`
pub(super) fn center<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    pad(runtime, arguments, Padding::for_center)
}

/// `str.ljust(width, fillchar)`
pub(super) fn left_justify<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    pad(runtime, arguments, Padding::for_ljust)
}

/// `str.rjust(width, fillchar)`
pub(super) fn right_justify<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    pad(runtime, arguments, Padding::for_rjust)
}

/// `str.zfill(width)`
pub(super) fn zero_fill<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = take_str_receiver(&mut arguments)?;
    let width = read_size(arguments.get(1), 0)?;
    runtime.meter.charge_scan(text.as_str().len())?;
    let padding = Padding::for_rjust(char_count(text.as_str()), width);
    check_len(runtime, pad::padded_len(text.as_str(), padding, '0'))?;
    to_value(runtime, &text, pad::zfill(text.as_str(), width))
}

/// `str.expandtabs(tabsize)`
pub(super) fn expand_tabs<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = take_str_receiver(&mut arguments)?;
    let tab_size = i64::from(read_c_int(arguments.get(1), 8)?);
    runtime.meter.charge_scan(text.as_str().len())?;
    check_len(runtime, pad::expanded_len(text.as_str(), tab_size))?;
    to_value(runtime, &text, pad::expand_tabs(text.as_str(), tab_size))
}
