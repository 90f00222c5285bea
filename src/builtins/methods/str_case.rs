//! The methods of `str` that change the case of letters, and those that check the characters.
//!
//! `{{ "straße".upper() }}` is `STRASSE`, and `{{ "²".isdigit() }}` is `True`. The mappings and the checks are in [`crate::unicode`]. The
//! result for a Markup is a Markup (markupsafe 3.0.4 `Markup.upper` and the others).

use crate::builtins::table::built_ins;
use crate::error::Result;
use crate::meter::Claim;
use crate::unicode;
use crate::value::{Runtime, Str, Value};

/// The size in bytes from which the memory for a string in another case is claimed before the string is made.
const LARGE: usize = 1 << 20;

/// Claims the memory by which a string can grow when its case changes. One byte becomes at most three, and one byte of ASCII becomes one;
/// `tests/reference/unicode_tables.py` asserts that. The claims are released when the result has been made and claimed itself.
pub fn claim_mapping(runtime: &mut Runtime<'_>, text: &str) -> Result<Option<[Claim; 2]>> {
    if text.len() < LARGE || text.is_ascii() {
        return Ok(None);
    }
    Ok(Some([runtime.meter.claim(text.len())?, runtime.meter.claim(text.len())?]))
}

/// Changes the case of a string by a function. The result for a Markup is a Markup, and a string that does not change is returned itself,
/// not copied. The size is checked afterwards.
pub fn map_text<'a>(runtime: &mut Runtime<'a>, text: Str<'a>, map: fn(&str) -> String) -> Result<Value<'a>> {
    runtime.meter.charge_unicode(text.as_str())?;
    let claims = claim_mapping(runtime, text.as_str())?;
    let mapped = map(text.as_str());
    drop(claims);
    if mapped == text.as_str() {
        return Ok(Value::Str(text));
    }
    let mapped = runtime.text(mapped)?;
    Ok(Value::Str(mapped.with_markup(text.is_markup())))
}

built_ins! { METHODS:
    /// Returns the text in lower case.
    NoArguments "str.lower" | "Markup.lower"[1] fn lower(runtime, &text: Str) -> Text { map_text(runtime, text, unicode::to_lower) }

    /// Returns the text in upper case.
    NoArguments "str.upper" | "Markup.upper"[1] fn upper(runtime, &text: Str) -> Text { map_text(runtime, text, unicode::to_upper) }

    /// Returns the text with each word in title case.
    NoArguments "str.title" | "Markup.title"[1] fn title(runtime, &text: Str) -> Text { map_text(runtime, text, unicode::to_title) }

    /// Returns the text with its first character in title case, and the rest in lower case.
    NoArguments "str.capitalize" | "Markup.capitalize"[1] fn capitalize(runtime, &text: Str) -> Text {
        map_text(runtime, text, unicode::capitalize)
    }

    /// Returns the text for a comparison without case.
    NoArguments "str.casefold" | "Markup.casefold"[1] fn casefold(runtime, &text: Str) -> Text {
        map_text(runtime, text, unicode::casefold)
    }

    /// Returns the text with upper case for lower case, and the reverse.
    NoArguments "str.swapcase" | "Markup.swapcase"[1] fn swapcase(runtime, &text: Str) -> Text {
        map_text(runtime, text, unicode::swapcase)
    }

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
