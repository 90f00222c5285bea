//! Filters that lay text out: `indent`, `truncate`, `wordwrap`.
//!
//! ```text
//! {{ "hello world foo"|truncate(9) }}       hello...
//! {{ "aaa bbb ccc"|wordwrap(7) }}           aaa bbb and, on a line of its own, ccc
//! ```
//!
//! The algorithms are in [`crate::text`]; here is what becomes of arguments that are no strings or integers, since the reference only
//! computes with them. After jinja2 3.1.6 `filters.py`: `do_indent`, `do_truncate`, `do_wordwrap`.

use super::pythonic::{blanks, python_attribute};
use super::sequence::length_of;
use super::{flag, given, written};
use crate::builtins::call;
use crate::error::{Error, ErrorKind, Result};
use crate::text::indent::{Indent, write_indented};
use crate::text::wrap::{Wrap, wrap_line, write_wrapped};
use crate::text::{escape, lines, truncate};
use crate::value::{Arguments, Runtime, Str, Value, ops, print};
use std::num::NonZeroUsize;

/// The text with blanks, or a given string, before its lines but the first.
///
/// `{{ "a\nb"|indent(2) == "a\n  b" }} -> True`
pub(super) fn indent<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let indentation = match arguments.take(1) {
        None => Str::from("    "),
        Some(Value::Str(text)) => text,
        Some(width) => blanks(runtime, &width)?,
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
        lines = ops::add(runtime, &Value::Str(text.piece(first)), &rest)?;
    }
    if indent.first {
        ops::add(runtime, &Value::Str(indentation.clone()), &lines)
    } else {
        Ok(lines)
    }
}

/// The reference adds a line break to the value in place, and so says `+=`. A list takes that, and then has no lines.
fn not_indentable<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Error {
    if let Value::List(_) = value {
        return Error::new(ErrorKind::Attribute, "'list' object has no attribute 'splitlines'");
    }
    match ops::add(runtime, value, &Value::text("\n")) {
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
    let value = given(&mut arguments, 0);
    let length = arguments.take(1).unwrap_or(Value::Int(255));
    let end = arguments.take(3).unwrap_or(Value::text("..."));
    let leeway = arguments
        .take(4)
        .filter(|leeway| !matches!(leeway, Value::None))
        .unwrap_or(Value::Int(5));
    let end_length = length_of(runtime, &end)?;
    check_at_least(runtime, "length", &length, &end_length)?;
    check_at_least(runtime, "leeway", &leeway, &Value::Int(0))?;
    let value_length = length_of(runtime, &value)?;
    let tolerated = ops::add(runtime, &length, &leeway)?;
    if ops::less_equal(runtime, &value_length, &tolerated)? {
        return Ok(value);
    }
    let kills_words = flag(runtime, &arguments, 2)?;
    let kept = ops::subtract(runtime, &length, &end_length)?;
    let beginning = match (&value, kept.as_int().map(usize::try_from)) {
        (Value::Str(text), Some(Ok(kept))) => Value::Str(text.piece(truncate::shorten(text.as_str(), kept, kills_words))),
        _ => {
            let beginning = ops::slice(runtime, &value, None, Some(&kept), None)?;
            if kills_words {
                beginning
            } else {
                let rsplit = python_attribute(runtime, &beginning, "rsplit")?;
                call::call(runtime, &rsplit, &mut Arguments::one(Value::text(" ")))?
            }
        }
    };
    ops::add(runtime, &beginning, &end)
}

/// The reference asserts this.
fn check_at_least<'a>(runtime: &mut Runtime<'a>, name: &str, value: &Value<'a>, least: &Value<'a>) -> Result<()> {
    if ops::greater_equal(runtime, value, least)? {
        return Ok(());
    }
    let (least, value) = (print::to_str(runtime, least)?, print::to_str(runtime, value)?);
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
    let separator = match given(&mut arguments, 3) {
        Value::None => Str::from("\n"),
        Value::Str(separator) => separator,
        other => return Err(lacks(runtime, &other, "join")),
    };
    let text = match given(&mut arguments, 0) {
        Value::Str(text) => text,
        other => return Err(lacks(runtime, &other, "splitlines")),
    };
    // It goes word by word, and twice.
    runtime.meter.charge_scan(text.as_str().len().saturating_mul(8))?;
    if text.as_str().is_empty() {
        return Ok(Value::Str(Str::from("").with_markup(separator.is_markup())));
    }
    let width = arguments.take(1).unwrap_or(Value::Int(79));
    let wrap = Wrap {
        width: wrap_width(runtime, &width)?,
        breaks_long_words: arguments.get(2).is_none() || flag(runtime, &arguments, 2)?,
        splits_on_hyphens: matches!(arguments.get(4), None | Some(Value::Bool(true))),
        prefers_hyphens: arguments.get(4).is_none() || flag(runtime, &arguments, 4)?,
    };
    let wrapped = wrapped(runtime, &text, &separator, wrap)?;
    if matches!(width, Value::Float(float) if float >= 1.0) && wrap.breaks_long_words {
        // A float is a width as good as any until a word has to be cut at it.
        let unbroken = Wrap {
            breaks_long_words: false,
            ..wrap
        };
        if self::wrapped(runtime, &text, &separator, unbroken)?.as_str() != wrapped.as_str() {
            return Err(Error::type_error(
                "slice indices must be integers or None or have an __index__ method",
            ));
        }
    }
    Ok(Value::Str(wrapped))
}

/// The text wrapped. A separator that is a Markup escapes what it joins.
fn wrapped<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>, separator: &Str<'a>, wrap: Wrap) -> Result<Str<'a>> {
    let wrapped = written(runtime, |mut output| {
        if !separator.is_markup() {
            return write_wrapped(&mut output, text.as_str(), separator.as_str(), wrap);
        }
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
    Ok(wrapped.with_markup(separator.is_markup()))
}

/// The error of a value that lacks a method of `str`.
fn lacks<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &'static str) -> Error {
    match python_attribute(runtime, value, name) {
        Err(error) => error,
        // An attribute of a namespace.
        Ok(found) => Error::type_error(format!("'{}' object is not callable", found.ty().name())),
    }
}

/// A width above zero; of a float the whole part counts, since no line has a part of a character.
fn wrap_width<'a>(runtime: &mut Runtime<'a>, width: &Value<'a>) -> Result<NonZeroUsize> {
    if ops::less_equal(runtime, width, &Value::Int(0))? {
        let width = print::repr(runtime, width)?;
        return Err(Error::value(format!("invalid width {width} (must be > 0)")));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "above zero; the fraction shall go, and beyond the largest the cast stops"
    )]
    let whole = match width {
        Value::Float(float) => *float as usize,
        other => other.as_int().and_then(|int| usize::try_from(int).ok()).unwrap_or(usize::MAX),
    };
    Ok(NonZeroUsize::new(whole).unwrap_or(NonZeroUsize::MIN))
}
