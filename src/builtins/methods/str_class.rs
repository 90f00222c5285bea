//! The methods of `str` that check its characters.
//!
//! `{{ "²".isdigit() }}` is `True`. The checks themselves are in [`crate::unicode`].

use crate::builtins::arguments::take_str_receiver;
use crate::error::Result;
use crate::value::{Arguments, Runtime, Value};

/// Returns whether a check holds for the string that the method is called on.
pub(super) fn check_all<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, check: fn(&str) -> bool) -> Result<Value<'a>> {
    let text = take_str_receiver(&mut arguments)?;
    runtime.meter.charge_unicode(text.as_str())?;
    Ok(Value::Bool(check(text.as_str())))
}
