//! Filters on text: `upper`, `lower`, `capitalize`, `title`, `center`, `trim`, `replace`, `string`, `wordcount`, `format`.
//!
//! ```text
//! {{ none|upper }}                     NONE      another value becomes a string
//! {{ " a "|trim }}                     a
//! {{ "%s-%s"|format(1, 2) }}           1-2
//! ```
//!
//! The algorithms are in [`crate::text`] and in the methods of `str`. The rules are those of jinja2 3.1.6 `filters.py`: `do_upper` and the
//! others.

use crate::builtins::arguments::{take_or_none, to_plain_str};
use crate::builtins::call;
use crate::builtins::methods::str_case::{claim_mapping, map_text};
use crate::error::{Error, Result};
use crate::text::{strip, title, word};
use crate::unicode;
use crate::value::{Arguments, Entries, Runtime, Str, Value, ops, print};

/// Calls a method of `str` on the text of a value.
fn call_str_method<'a>(
    runtime: &mut Runtime<'a>,
    value: &Value<'a>,
    name: &'static str,
    mut arguments: Arguments<'a>,
) -> Result<Value<'a>> {
    let text = print::to_str(runtime, value)?;
    arguments.push_front(Value::Str(text));
    call::call_method(runtime, &Str::from(name), &mut arguments)
}

/// Returns the text in upper case.
///
/// `{{ "ß"|upper }} -> SS`
pub(super) fn upper<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = print::to_str(runtime, &take_or_none(&mut arguments, 0))?;
    map_text(runtime, text, unicode::to_upper)
}

/// Returns the text in lower case.
///
/// `{{ "ΑΣ"|lower }} -> ας`
pub(super) fn lower<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = print::to_str(runtime, &take_or_none(&mut arguments, 0))?;
    map_text(runtime, text, unicode::to_lower)
}

/// Returns the text with its first character in title case, and the rest in lower case.
///
/// `{{ "hELLO"|capitalize }} -> Hello`
pub(super) fn capitalize<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = print::to_str(runtime, &take_or_none(&mut arguments, 0))?;
    map_text(runtime, text, unicode::capitalize)
}

/// Returns the text with a capital at the start of each word. The result is never a Markup.
///
/// `{{ "they're foo-bar"|title }} -> They're Foo-Bar`
pub(super) fn title<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = print::to_str(runtime, &take_or_none(&mut arguments, 0))?;
    runtime.meter.charge_unicode(text.as_str())?;
    // The reference makes a string of each word.
    runtime.meter.charge_scan(text.as_str().len().saturating_mul(2))?;
    let claims = claim_mapping(runtime, text.as_str())?;
    let titled = title::title(text.as_str());
    drop(claims);
    runtime.str(titled)
}

/// Centers the text in a width.
///
/// `[{{ "ab"|center(5) }}] -> [  ab ]`
pub(super) fn center<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let width = arguments.take(1).unwrap_or(Value::Int(80));
    call_str_method(runtime, &take_or_none(&mut arguments, 0), "center", Arguments::one(width))
}

/// Removes whitespace, or the characters of a set, from the ends of the text.
///
/// `{{ " a "|trim }} -> a`
pub(super) fn trim<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let chars = take_or_none(&mut arguments, 1);
    let value = take_or_none(&mut arguments, 0);
    if !matches!(chars, Value::None) {
        return call_str_method(runtime, &value, "strip", Arguments::one(chars));
    }
    let text = print::to_str(runtime, &value)?;
    runtime.meter.charge_scan(text.as_str().len())?;
    Ok(Value::Str(text.piece(strip::strip(text.as_str(), None))))
}

/// Replaces a string by another one. The result is never a Markup.
///
/// `{{ "aaa"|replace("a", "b", 2) }} -> bba`
pub(super) fn replace<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let [text, old, new] = [0, 1, 2].map(|index| take_or_none(&mut arguments, index));
    let mut replacement = Arguments::one(Value::Str(to_plain_str(runtime, &text)?));
    replacement.push(Value::Str(to_plain_str(runtime, &old)?));
    replacement.push(Value::Str(to_plain_str(runtime, &new)?));
    let count = take_or_none(&mut arguments, 3);
    if !matches!(count, Value::None) {
        replacement.push(count);
    }
    call::call_method(runtime, &Str::from("replace"), &mut replacement)
}

/// Returns the text of a value. A Markup stays one.
///
/// `{{ [1, "a"]|string|length }} -> 8`
pub(super) fn string<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    print::to_str(runtime, &take_or_none(&mut arguments, 0)).map(Value::Str)
}

/// Returns the number of words.
///
/// `{{ "one two-three"|wordcount }} -> 3`
pub(super) fn wordcount<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = print::to_str(runtime, &take_or_none(&mut arguments, 0))?;
    runtime.meter.charge_scan(text.as_str().len())?;
    Ok(Value::from(word::count_words(text.as_str())))
}

/// Returns `text % arguments`. Positional arguments are a tuple, keywords a dict.
///
/// `{{ "%(a)s"|format(a=1) }} -> 1`
pub(super) fn format<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let positional = arguments.take_from(1);
    let keywords = arguments.take_keywords();
    if !positional.is_empty() && !keywords.is_empty() {
        return Err(Error::runtime(
            "can't handle positional and keyword arguments at the same time",
        ));
    }
    let text = Value::Str(print::to_str(runtime, &take_or_none(&mut arguments, 0))?);
    let fields = if keywords.is_empty() {
        runtime.tuple(positional)?
    } else {
        let (mut named, mut claim) = (Entries::default(), None);
        for (name, value) in keywords {
            runtime.insert(&mut named, &mut claim, Value::Str(name), value)?;
        }
        drop(claim);
        Value::Dict(runtime.dict(named)?)
    };
    ops::modulo(runtime, &text, &fields)
}
