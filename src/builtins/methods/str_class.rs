//! The methods of `str` that check its characters.
//!
//! `{{ "²".isdigit() }}` is `True`. The checks themselves are in [`crate::unicode`].

use crate::builtins::table::built_ins;
use crate::error::Result;
use crate::unicode;
use crate::value::{Runtime, Str, Value};

built_ins! { METHODS:
    NoArguments "str.isalnum" fn isalnum(runtime, &text: Str) -> Bool { has_only(runtime, &text, unicode::is_alnum) }
    NoArguments "str.isalpha" fn isalpha(runtime, &text: Str) -> Bool { has_only(runtime, &text, unicode::is_alpha) }
    NoArguments "str.isascii" fn isascii(runtime, &text: Str) -> Bool { check(runtime, &text, str::is_ascii) }
    NoArguments "str.isdecimal" fn isdecimal(runtime, &text: Str) -> Bool { has_only(runtime, &text, unicode::is_decimal) }
    NoArguments "str.isdigit" fn isdigit(runtime, &text: Str) -> Bool { has_only(runtime, &text, unicode::is_digit) }
    NoArguments "str.isidentifier" fn isidentifier(runtime, &text: Str) -> Bool { check(runtime, &text, unicode::is_identifier) }
    NoArguments "str.islower" fn islower(runtime, &text: Str) -> Bool { check(runtime, &text, unicode::is_lower_str) }
    NoArguments "str.isnumeric" fn isnumeric(runtime, &text: Str) -> Bool { has_only(runtime, &text, unicode::is_numeric) }
    NoArguments "str.isprintable" fn isprintable(runtime, &text: Str) -> Bool { check(runtime, &text, unicode::is_printable_str) }
    NoArguments "str.isspace" fn isspace(runtime, &text: Str) -> Bool { has_only(runtime, &text, unicode::is_whitespace) }
    NoArguments "str.istitle" fn istitle(runtime, &text: Str) -> Bool { check(runtime, &text, unicode::is_title_str) }
    NoArguments "str.isupper" fn isupper(runtime, &text: Str) -> Bool { check(runtime, &text, unicode::is_upper_str) }
}

fn has_only<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>, property: fn(char) -> bool) -> Result<Value<'a>> {
    check(runtime, text, |text| unicode::has_only(text, property))
}

/// Returns whether a check holds for a string.
fn check<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>, check: impl Fn(&str) -> bool) -> Result<Value<'a>> {
    runtime.meter.charge_unicode(text.as_str())?;
    Ok(Value::Bool(check(text.as_str())))
}
