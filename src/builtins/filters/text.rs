//! Filters on text: `upper`, `lower`, `capitalize`, `title`, `center`, `trim`, `replace`, `indent`, `truncate`, `wordwrap`,
//! `wordcount`, `format`, `string`.
//!
//! ```text
//! {{ none|upper }}                     NONE      what is no string becomes one
//! {{ "hello world"|truncate(9) }}      hello...
//! {{ "%s-%s"|format(1, 2) }}           1-2
//! ```
//!
//! The algorithms are in [`crate::text`] and in the methods of `str`. After jinja2 3.1.6 `filters.py`: `do_upper` and its neighbours.

use super::sort::python_attribute;
use super::{flag, given, plain, written};
use crate::builtins::call;
use crate::error::{Error, ErrorKind, Result};
use crate::text::indent::{Indent, write_indented};
use crate::text::wrap::{Wrap, wrap_line, write_wrapped};
use crate::text::{escape, lines, strip, title, truncate, word};
use crate::value::{Arguments, Entries, Key, Runtime, Str, Value};
use std::num::NonZeroUsize;

/// The text as Python's `soft_str` makes it, given to a method of `str`.
fn method<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &'static str, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = Value::Str(runtime.str_of(value)?);
    call::call_method(runtime, &text, &Str::from(name), arguments)
}

/// The text in upper case.
///
/// `{{ "ß"|upper }} -> SS`
pub(super) fn upper<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    method(runtime, &given(&mut arguments, 0), "upper", Arguments::new())
}

/// The text in lower case.
///
/// `{{ "ΑΣ"|lower }} -> ας`
pub(super) fn lower<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    method(runtime, &given(&mut arguments, 0), "lower", Arguments::new())
}

/// The first character in title case, the rest in lower case.
///
/// `{{ "hELLO"|capitalize }} -> Hello`
pub(super) fn capitalize<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    method(runtime, &given(&mut arguments, 0), "capitalize", Arguments::new())
}

/// Every word with a capital; never a Markup.
///
/// `{{ "they're foo-bar"|title }} -> They're Foo-Bar`
pub(super) fn title<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = runtime.str_of(&given(&mut arguments, 0))?;
    runtime.meter.charge_bytes(text.as_str().len())?;
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
    let text = runtime.str_of(&value)?;
    runtime.meter.charge_bytes(text.as_str().len())?;
    Ok(Value::Str(text.piece(strip::strip(text.as_str()))))
}

/// The text with one string in the place of another; never a Markup.
///
/// `{{ "aaa"|replace("a", "b", 2) }} -> bba`
pub(super) fn replace<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = plain(runtime, &given(&mut arguments, 1))?;
    let old = plain(runtime, &given(&mut arguments, 2))?;
    let new = plain(runtime, &given(&mut arguments, 3))?;
    let mut replacement = Arguments::one(Value::Str(old));
    replacement.push(Value::Str(new));
    let count = given(&mut arguments, 4);
    if !matches!(count, Value::None) {
        replacement.push(count);
    }
    call::call_method(runtime, &Value::Str(text), &Str::from("replace"), replacement)
}

/// The text of a value; a Markup stays one.
///
/// `{{ [1, "a"]|string|length }} -> 8`
pub(super) fn string<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    runtime.str_of(&given(&mut arguments, 0)).map(Value::Str)
}

/// The number of words.
///
/// `{{ "one two-three"|wordcount }} -> 3`
pub(super) fn wordcount<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = runtime.str_of(&given(&mut arguments, 0))?;
    runtime.meter.charge_bytes(text.as_str().len())?;
    let count = word::count_words(text.as_str());
    Ok(Value::Int(i64::try_from(count).unwrap_or(i64::MAX)))
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
    let text = Value::Str(runtime.str_of(&given(&mut arguments, 0))?);
    let fields = if keywords.is_empty() {
        runtime.tuple(positional)?
    } else {
        let named: Entries<'a> = keywords.into_iter().map(|(name, value)| (Key::from(name), value)).collect();
        Value::Dict(runtime.dict(named)?)
    };
    runtime.modulo(&text, &fields)
}

/// The text with blanks, or a given string, before its lines but the first.
///
/// `{{ "a\nb"|indent(2) == "a\n  b" }} -> True`
pub(super) fn indent<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let indentation = match arguments.take(1) {
        None => Str::from("    "),
        Some(Value::Str(text)) => text,
        Some(width) => match runtime.multiply(&Value::text(" "), &width)? {
            Value::Str(text) => text,
            other => return Err(Error::internal(format!("' ' * width is a {}", other.ty().name()))),
        },
    };
    let value = given(&mut arguments, 0);
    let Value::Str(text) = &value else {
        return Err(not_indentable(runtime, &value));
    };
    let indent = Indent {
        first: flag(runtime, &arguments, 2)?,
        blank: flag(runtime, &arguments, 3)?,
    };
    if indentation.is_markup() && !text.is_markup() {
        return indent_with_markup(runtime, text, &indentation, indent);
    }
    let indented = written(runtime, |mut output| {
        write_indented(&mut output, text.as_str(), indentation.as_str(), indent)
    })?;
    Ok(Value::Str(indented.with_markup(text.is_markup())))
}

/// A Markup before each line escapes the line; what becomes of the first one depends on what it is added to.
fn indent_with_markup<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>, indentation: &Str<'a>, indent: Indent) -> Result<Value<'a>> {
    let escaped = escape::escape(text.as_str());
    let later = Indent { first: false, ..indent };
    let lines = written(runtime, |mut output| {
        write_indented(&mut output, &escaped, indentation.as_str(), later)
    })?;
    let mut lines = Value::Str(lines.with_markup(indent.blank));
    if !indent.blank {
        let first = lines::split_lines(text.as_str(), false).next().unwrap_or_default();
        let escaped_first = escape::escaped_len(first);
        let Value::Str(all) = &lines else { return Ok(lines) };
        let rest = Value::Str(all.slice(escaped_first..all.as_str().len()));
        lines = runtime.add(&Value::Str(text.piece(first)), &rest)?;
    }
    if indent.first {
        runtime.add(&Value::Str(indentation.clone()), &lines)
    } else {
        Ok(lines)
    }
}

/// The reference adds a line break to the value in place, and so says `+=`. A list takes that, and then has no lines.
fn not_indentable<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Error {
    if let Value::List(_) = value {
        return Error::new(ErrorKind::Attribute, "'list' object has no attribute 'splitlines'");
    }
    match runtime.add(value, &Value::text("\n")) {
        Err(error) if error.message().starts_with("unsupported operand") => {
            let ty = value.ty().name();
            Error::type_error(format!("unsupported operand type(s) for +=: '{ty}' and 'str'"))
        }
        Err(error) => error,
        Ok(sum) => Error::internal(format!("a line break was added to a {}", sum.ty().name())),
    }
}

/// The text cut to a length, at a blank unless words may be killed, with an ellipsis behind it.
///
/// `{{ "hello world foo"|truncate(9, leeway=0) }} -> hello...`
pub(super) fn truncate<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = given(&mut arguments, 1);
    let length = arguments.take(2).unwrap_or(Value::Int(255));
    let end = arguments.take(4).unwrap_or(Value::text("..."));
    let leeway = arguments
        .take(5)
        .filter(|leeway| !matches!(leeway, Value::None))
        .unwrap_or(Value::Int(5));
    let end_length = length_of(runtime, &end)?;
    check_at_least(runtime, "length", &length, &end_length)?;
    check_at_least(runtime, "leeway", &leeway, &Value::Int(0))?;
    let value_length = length_of(runtime, &value)?;
    let tolerated = runtime.add(&length, &leeway)?;
    if runtime.less_equal(&value_length, &tolerated)? {
        return Ok(value);
    }
    let kills_words = flag(runtime, &arguments, 3)?;
    let kept = runtime.subtract(&length, &end_length)?;
    let beginning = match (&value, kept.as_int().map(usize::try_from)) {
        (Value::Str(text), Some(Ok(kept))) => {
            let beginning = truncate::truncated(text.as_str(), kept, 0, kills_words);
            Value::Str(text.piece(beginning.unwrap_or(text.as_str())))
        }
        _ => {
            let beginning = runtime.slice(&value, None, Some(&kept), None)?;
            if !kills_words {
                python_attribute(runtime, &beginning, "rsplit")?;
            }
            beginning
        }
    };
    runtime.add(&beginning, &end)
}

fn length_of<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Value<'a>> {
    let length = runtime.length(value)?;
    Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX)))
}

/// The reference asserts this.
fn check_at_least<'a>(runtime: &mut Runtime<'a>, name: &str, value: &Value<'a>, least: &Value<'a>) -> Result<()> {
    if runtime.greater_equal(value, least)? {
        return Ok(());
    }
    let (least, value) = (runtime.str_of(least)?, runtime.str_of(value)?);
    Err(Error::runtime(format!(
        "expected {name} >= {}, got {}",
        least.as_str(),
        value.as_str()
    )))
}

/// The text with each of its lines broken into lines of a width.
///
/// `{{ "aaa bbb ccc"|wordwrap(7, wrapstring="/") }} -> aaa bbb/ccc`
pub(super) fn wordwrap<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let separator = match given(&mut arguments, 4) {
        Value::None => Str::from("\n"),
        Value::Str(separator) => separator,
        other => return Err(lacks(runtime, &other, "join")),
    };
    let text = match given(&mut arguments, 1) {
        Value::Str(text) => text,
        other => return Err(lacks(runtime, &other, "splitlines")),
    };
    runtime.meter.charge_bytes(text.as_str().len())?;
    if text.as_str().is_empty() {
        return Ok(Value::Str(Str::from("").with_markup(separator.is_markup())));
    }
    let width = arguments.take(2).unwrap_or(Value::Int(79));
    let wrap = Wrap {
        width: wrap_width(runtime, &width)?,
        breaks_long_words: arguments.get(3).is_none() || flag(runtime, &arguments, 3)?,
        splits_on_hyphens: matches!(arguments.get(5), None | Some(Value::Bool(true))),
        prefers_hyphens: arguments.get(5).is_none() || flag(runtime, &arguments, 5)?,
    };
    let wrapped = written(runtime, |mut output| {
        if !separator.is_markup() {
            return write_wrapped(&mut output, text.as_str(), separator.as_str(), wrap);
        }
        // A Markup escapes what it joins.
        for (number, line) in lines::split_lines(text.as_str(), false).enumerate() {
            if number > 0 {
                output.write_str(separator.as_str())?;
            }
            for (number, piece) in wrap_line(line, wrap).enumerate() {
                if number > 0 {
                    output.write_str(separator.as_str())?;
                }
                escape::write_escaped(&mut output, piece)?;
            }
        }
        Ok(())
    })?;
    Ok(Value::Str(wrapped.with_markup(separator.is_markup())))
}

/// The error of a value that lacks a method of `str`.
fn lacks<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &'static str) -> Error {
    match python_attribute(runtime, value, name) {
        Err(error) => error,
        Ok(_) => Error::type_error(format!("a str is required, not {}", value.ty().name())),
    }
}

/// A width above zero; of a float the whole part counts, since no line has a part of a character.
fn wrap_width<'a>(runtime: &mut Runtime<'a>, width: &Value<'a>) -> Result<NonZeroUsize> {
    if runtime.less_equal(width, &Value::Int(0))? {
        let width = runtime.repr(width)?;
        return Err(Error::value(format!("invalid width {width} (must be > 0)")));
    }
    let whole = match width {
        Value::Float(float) => *float as usize,
        other => other.as_int().and_then(|int| usize::try_from(int).ok()).unwrap_or(usize::MAX),
    };
    Ok(NonZeroUsize::new(whole).unwrap_or(NonZeroUsize::MIN))
}
