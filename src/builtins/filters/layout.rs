//! Filters that change the lines or the length of a string: `indent`, `truncate`, `wordwrap`.
//!
//! The algorithms are in [`crate::text`]. The reference does not check the types of the arguments, so much of this file is about arguments
//! of other types. The rules are those of jinja2 3.1.6 `filters.py`: `do_indent`, `do_truncate`, `do_wordwrap`.

use super::python_calls::{get_attribute, repeat_blank};
use super::sequence::length_of;
use crate::builtins::call;
use crate::builtins::table::built_ins;
use crate::error::{Error, ErrorKind, Result};
use crate::text::lines::{Indent, write_indented};
use crate::text::wrap::{Wrap, breaks_word, write_wrapped};
use crate::text::{escape, lines, words};
use crate::value::{Arguments, Runtime, Str, Value, markup, not_callable, ops, print};
use std::fmt;

built_ins! { FILTERS:
    /// Indents all lines of the text but the first, by a number of blanks or by a string.
    ///
    /// `{{ "a\nb"|indent(2) == "a\n  b" }} -> True`
    Python "do_indent" fn indent(runtime, s: Text, width: Count = 4, first: Flag = false, blank: Flag = false) -> Str {
        let indentation = match width {
            Value::Int(4) => Str::from("    "),
            Value::Str(text) => text,
            width => repeat_blank(runtime, &width)?,
        };
        let Value::Str(text) = &s else {
            return Err(not_indentable(runtime, &s));
        };
        // A short line takes as long as a few bytes.
        runtime.meter.charge_scan(text.as_str().len().saturating_mul(2))?;
        let indent = Indent {
            first: ops::is_true(runtime, &first)?,
            blank: ops::is_true(runtime, &blank)?,
        };
        if indentation.is_markup() && !text.is_markup() {
            return indent_with_markup(runtime, text, &indentation, indent);
        }
        let indented = build_str(runtime, &[text, &indentation], &|mut output| {
            write_indented(&mut output, text.as_str(), indentation.as_str(), indent)
        })?;
        Ok(Value::Str(indented.with_markup(text.is_markup())))
    }

    /// Cuts the text to a length and adds an ellipsis. Words stay whole, unless `killwords` is true.
    ///
    /// `{{ "hello world foo"|truncate(9, leeway=0) }} -> hello...`
    Python "do_truncate" fn truncate(
        runtime, @env, s: Text, length: Count = 255, killwords: Flag = false, end: Text = "...", leeway: Count = None
    ) -> Str {
        let leeway = if let Value::None = leeway { Value::Int(5) } else { leeway };
        let end_length = length_of(runtime, &end)?;
        check_at_least(runtime, "length", &length, &end_length)?;
        check_at_least(runtime, "leeway", &leeway, &Value::Int(0))?;
        let value_length = length_of(runtime, &s)?;
        let tolerated = ops::add(runtime, &length, &leeway)?;
        if ops::less_equal(runtime, &value_length, &tolerated)? {
            return Ok(s);
        }
        let kills_words = ops::is_true(runtime, &killwords)?;
        let kept_length = ops::subtract(runtime, &length, &end_length)?;
        let beginning = match (&s, kept_length.as_int().map(usize::try_from)) {
            (Value::Str(text), Some(Ok(kept))) => Value::Str(text.piece(words::shorten(text.as_str(), kept, kills_words))),
            _ => {
                let beginning = ops::slice(runtime, &s, None, Some(&kept_length), None)?;
                if kills_words {
                    beginning
                } else {
                    let rsplit = get_attribute(runtime, &beginning, "rsplit")?;
                    call::call(runtime, &rsplit, &mut Arguments::one(Value::text(" ")))?
                }
            }
        };
        ops::add(runtime, &beginning, &end)
    }

    /// Breaks each line of the text into lines of at most a given width.
    ///
    /// `{{ "aaa bbb ccc"|wordwrap(7, wrapstring="/") }} -> aaa bbb/ccc`
    Python "do_wordwrap" fn wordwrap(
        runtime, @environment, s: Text, width: Count = 79, break_long_words: Flag = true, wrapstring: Text = None,
        break_on_hyphens: Flag = true
    ) -> Str {
        let separator = match wrapstring {
            Value::None => Str::from("\n"),
            Value::Str(separator) => separator,
            other => return Err(missing_method(runtime, &other, "join")),
        };
        let text = match s {
            Value::Str(text) => text,
            other => return Err(missing_method(runtime, &other, "splitlines")),
        };
        // Each word is visited twice.
        runtime.meter.charge_scan(text.as_str().len().saturating_mul(8))?;
        if text.as_str().is_empty() {
            return Ok(Value::Str(Str::from("").with_markup(separator.is_markup())));
        }
        let wrap = Wrap {
            width: read_width(runtime, &width)?,
            breaks_long_words: ops::is_true(runtime, &break_long_words)?,
            splits_on_hyphens: matches!(break_on_hyphens, Value::Bool(true)),
            prefers_hyphens: ops::is_true(runtime, &break_on_hyphens)?,
        };
        // A word cannot be cut at a float. If the width is below one, the reference cuts after one character instead.
        if matches!(width, Value::Float(float) if float >= 1.0) && breaks_word(text.as_str(), wrap) {
            return Err(ops::no_bound());
        }
        Ok(Value::Str(wrap_text(runtime, &text, &separator, wrap)?))
    }
}

/// Indents a plain text by a Markup, which escapes the lines that it is added to.
fn indent_with_markup<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>, indentation: &Str<'a>, indent: Indent) -> Result<Value<'a>> {
    let escaped = markup::escape_text(runtime, text)?;
    let later = Indent { first: false, ..indent };
    let lines = build_str(runtime, &[&escaped, indentation], &|mut output| {
        write_indented(&mut output, escaped.as_str(), indentation.as_str(), later)
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
        ops::add(runtime, &Value::Str(*indentation), &lines)
    } else {
        Ok(lines)
    }
}

/// Returns the error of indenting a value that is not a string. The reference begins with `value += "\n"`, which a list allows.
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

/// Returns an error if `value < least`, which the reference asserts.
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

/// Wraps a string. A separator that is a Markup escapes the lines.
fn wrap_text<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>, separator: &Str<'a>, wrap: Wrap) -> Result<Str<'a>> {
    let wrapped = build_str(runtime, &[text, separator], &|mut output| {
        let write = if separator.is_markup() {
            escape::write_escaped
        } else {
            fmt::Write::write_str
        };
        write_wrapped(&mut output, text.as_str(), separator.as_str(), wrap, write)
    })?;
    Ok(wrapped.with_markup(separator.is_markup()))
}

/// Returns the error of calling a method of `str` that a value lacks.
fn missing_method<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &'static str) -> Error {
    match get_attribute(runtime, value, name) {
        Err(error) => error,
        // Only a namespace can have an attribute of that name.
        Ok(attribute) => not_callable(&attribute),
    }
}

/// Reads a width, which must be above zero. A float is rounded down.
fn read_width<'a>(runtime: &mut Runtime<'a>, width: &Value<'a>) -> Result<usize> {
    if ops::less_equal(runtime, width, &Value::Int(0))? {
        let width = print::repr(runtime, width)?;
        return Err(Error::value(format!("invalid width {width} (must be > 0)")));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the width is positive; the cast rounds down and saturates"
    )]
    let whole = match width {
        Value::Float(float) => *float as usize,
        other => other.as_int().and_then(|int| usize::try_from(int).ok()).unwrap_or(usize::MAX),
    };
    Ok(whole)
}

/// Returns the text that a function writes. Its length is checked before it is built. Parts of the text may be copied from the sources,
/// which a traced render records.
fn build_str<'a>(
    runtime: &mut Runtime<'a>,
    sources: &[&Str<'a>],
    write: &dyn Fn(&mut dyn fmt::Write) -> fmt::Result,
) -> Result<Str<'a>> {
    let length = runtime.meter.measure_scanned(|output| write(output))?;
    runtime.composed_text(length, sources, write)
}
