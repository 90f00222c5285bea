//! Filters on text: `upper`, `lower`, `capitalize`, `title`, `center`, `trim`, `replace`, `string`, `wordcount`, `format`.
//!
//! ```text
//! {{ none|upper }}                     NONE      what is no string becomes one
//! {{ " a "|trim }}                     a
//! {{ "%s-%s"|format(1, 2) }}           1-2
//! ```
//!
//! The algorithms are in [`crate::text`] and in the methods of `str`. After jinja2 3.1.6 `filters.py`: `do_upper` and its neighbours.

use super::{given, plain};
use crate::builtins::call;
use crate::builtins::methods::mapped_text;
use crate::error::{Error, Result};
use crate::text::{strip, title, word};
use crate::unicode;
use crate::value::{Arguments, Entries, Key, Runtime, Str, Value, ops, print};

/// The text as Python's `soft_str` makes it, given to a method of `str`.
fn method<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &'static str, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = print::to_str(runtime, value)?;
    arguments.push_front(Value::Str(text));
    call::call_method(runtime, &Str::from(name), &mut arguments)
}

/// The text in upper case.
///
/// `{{ "ß"|upper }} -> SS`
pub(super) fn upper<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = print::to_str(runtime, &given(&mut arguments, 0))?;
    mapped_text(runtime, text, unicode::to_upper)
}

/// The text in lower case.
///
/// `{{ "ΑΣ"|lower }} -> ας`
pub(super) fn lower<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = print::to_str(runtime, &given(&mut arguments, 0))?;
    mapped_text(runtime, text, unicode::to_lower)
}

/// The first character in title case, the rest in lower case.
///
/// `{{ "hELLO"|capitalize }} -> Hello`
pub(super) fn capitalize<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = print::to_str(runtime, &given(&mut arguments, 0))?;
    mapped_text(runtime, text, unicode::capitalize)
}

/// Every word with a capital; never a Markup.
///
/// `{{ "they're foo-bar"|title }} -> They're Foo-Bar`
pub(super) fn title<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = print::to_str(runtime, &given(&mut arguments, 0))?;
    runtime.meter.charge_unicode(text.as_str())?;
    // Each word is a text of its own on the way.
    runtime.meter.charge_scan(text.as_str().len().saturating_mul(2))?;
    runtime.str(title::title(text.as_str()))
}

/// The text in the middle of so many columns.
///
/// `[{{ "ab"|center(5) }}] -> [  ab ]`
pub(super) fn center<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let width = arguments.take(1).unwrap_or(Value::Int(80));
    method(runtime, &given(&mut arguments, 0), "center", Arguments::one(width))
}

/// The text without whitespace, or without the characters of a set, at its ends.
///
/// `{{ " a "|trim }} -> a`
pub(super) fn trim<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let chars = given(&mut arguments, 1);
    let value = given(&mut arguments, 0);
    if !matches!(chars, Value::None) {
        return method(runtime, &value, "strip", Arguments::one(chars));
    }
    let text = print::to_str(runtime, &value)?;
    runtime.meter.charge_scan(text.as_str().len())?;
    Ok(Value::Str(text.piece(strip::strip(text.as_str(), None))))
}

/// The text with one string in the place of another; never a Markup.
///
/// `{{ "aaa"|replace("a", "b", 2) }} -> bba`
pub(super) fn replace<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let [text, old, new] = [0, 1, 2].map(|index| given(&mut arguments, index));
    let mut replacement = Arguments::one(Value::Str(plain(runtime, &text)?));
    replacement.push(Value::Str(plain(runtime, &old)?));
    replacement.push(Value::Str(plain(runtime, &new)?));
    let count = given(&mut arguments, 3);
    if !matches!(count, Value::None) {
        replacement.push(count);
    }
    call::call_method(runtime, &Str::from("replace"), &mut replacement)
}

/// The text of a value; a Markup stays one.
///
/// `{{ [1, "a"]|string|length }} -> 8`
pub(super) fn string<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    print::to_str(runtime, &given(&mut arguments, 0)).map(Value::Str)
}

/// The number of words.
///
/// `{{ "one two-three"|wordcount }} -> 3`
pub(super) fn wordcount<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = print::to_str(runtime, &given(&mut arguments, 0))?;
    runtime.meter.charge_scan(text.as_str().len())?;
    Ok(Value::from(word::count_words(text.as_str())))
}

/// `text % arguments`, with the positional arguments as a tuple or those with names as a dict.
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
    let text = Value::Str(print::to_str(runtime, &given(&mut arguments, 0))?);
    let fields = if keywords.is_empty() {
        runtime.tuple(positional)?
    } else {
        let named: Entries<'a> = keywords.into_iter().map(|(name, value)| (Key::from(name), value)).collect();
        Value::Dict(runtime.dict(named)?)
    };
    ops::modulo(runtime, &text, &fields)
}
