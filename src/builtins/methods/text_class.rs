//! The methods of `str` that ask what its characters are.
//!
//! `{{ "²".isdigit() }}` is `True`. The questions are answered in [`crate::unicode`]; here they are charged for.

use super::argument::receiver;
use super::row::no_arguments;
use crate::error::Result;
use crate::unicode;
use crate::value::{Arguments, Function, Runtime, Value};

/// The rows.
pub(super) static METHODS: [Function; 12] = [
    no_arguments("isdigit", "str.isdigit", is_digit),
    no_arguments("isalpha", "str.isalpha", is_alpha),
    no_arguments("isalnum", "str.isalnum", is_alnum),
    no_arguments("isspace", "str.isspace", is_space),
    no_arguments("isupper", "str.isupper", is_upper),
    no_arguments("islower", "str.islower", is_lower),
    no_arguments("istitle", "str.istitle", is_title),
    no_arguments("isnumeric", "str.isnumeric", is_numeric),
    no_arguments("isdecimal", "str.isdecimal", is_decimal),
    no_arguments("isascii", "str.isascii", is_ascii),
    no_arguments("isidentifier", "str.isidentifier", is_identifier),
    no_arguments("isprintable", "str.isprintable", is_printable),
];

fn asked<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, ask: fn(&str) -> bool) -> Result<Value<'a>> {
    let text = receiver(&mut arguments)?;
    runtime.meter.charge_unicode(text.as_str())?;
    Ok(Value::Bool(ask(text.as_str())))
}

fn is_digit<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    asked(runtime, arguments, unicode::is_digit_str)
}

fn is_alpha<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    asked(runtime, arguments, unicode::is_alpha_str)
}

fn is_alnum<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    asked(runtime, arguments, unicode::is_alnum_str)
}

fn is_space<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    asked(runtime, arguments, unicode::is_space_str)
}

fn is_upper<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    asked(runtime, arguments, unicode::is_upper_str)
}

fn is_lower<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    asked(runtime, arguments, unicode::is_lower_str)
}

fn is_title<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    asked(runtime, arguments, unicode::is_title_str)
}

fn is_numeric<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    asked(runtime, arguments, unicode::is_numeric_str)
}

fn is_decimal<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    asked(runtime, arguments, unicode::is_decimal_str)
}

fn is_ascii<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    asked(runtime, arguments, unicode::is_ascii_str)
}

fn is_identifier<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    asked(runtime, arguments, unicode::is_identifier)
}

fn is_printable<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    asked(runtime, arguments, unicode::is_printable_str)
}
