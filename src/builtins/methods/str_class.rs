//! The methods of `str` that ask what its characters are.
//!
//! `{{ "²".isdigit() }}` is `True`. The questions are answered in [`crate::unicode`]; here they are charged for.

use crate::builtins::c_arguments::receiver;
use crate::builtins::table::no_arguments;
use crate::error::Result;
use crate::unicode;
use crate::value::{Arguments, Function, Runtime, Value};

/// The rows.
pub(super) static METHODS: [Function; 12] = [
    no_arguments("isdigit", "str.isdigit", |runtime, arguments| {
        asked(runtime, arguments, unicode::is_digit_str)
    }),
    no_arguments("isalpha", "str.isalpha", |runtime, arguments| {
        asked(runtime, arguments, unicode::is_alpha_str)
    }),
    no_arguments("isalnum", "str.isalnum", |runtime, arguments| {
        asked(runtime, arguments, unicode::is_alnum_str)
    }),
    no_arguments("isspace", "str.isspace", |runtime, arguments| {
        asked(runtime, arguments, unicode::is_space_str)
    }),
    no_arguments("isupper", "str.isupper", |runtime, arguments| {
        asked(runtime, arguments, unicode::is_upper_str)
    }),
    no_arguments("islower", "str.islower", |runtime, arguments| {
        asked(runtime, arguments, unicode::is_lower_str)
    }),
    no_arguments("istitle", "str.istitle", |runtime, arguments| {
        asked(runtime, arguments, unicode::is_title_str)
    }),
    no_arguments("isnumeric", "str.isnumeric", |runtime, arguments| {
        asked(runtime, arguments, unicode::is_numeric_str)
    }),
    no_arguments("isdecimal", "str.isdecimal", |runtime, arguments| {
        asked(runtime, arguments, unicode::is_decimal_str)
    }),
    no_arguments("isascii", "str.isascii", |runtime, arguments| {
        asked(runtime, arguments, unicode::is_ascii_str)
    }),
    no_arguments("isidentifier", "str.isidentifier", |runtime, arguments| {
        asked(runtime, arguments, unicode::is_identifier)
    }),
    no_arguments("isprintable", "str.isprintable", |runtime, arguments| {
        asked(runtime, arguments, unicode::is_printable_str)
    }),
];

fn asked<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, ask: fn(&str) -> bool) -> Result<Value<'a>> {
    let text = receiver(&mut arguments)?;
    runtime.meter.charge_unicode(text.as_str())?;
    Ok(Value::Bool(ask(text.as_str())))
}
