//! Python's `str(value)`, which an output writes, and `repr(value)`, which containers write of their items.
//!
//! ```text
//! {{ 'a' }} {{ ['a', 1.0, none, nope] }}    a ['a', 1.0, None, Undefined]
//! ```
//!
//! Text is appended to the output, charged piece by piece and checked against the limit as it grows. Numbers are converted by
//! [`crate::number::text`], strings by [`crate::text::quote`], and other objects by [`super::objects`].

use super::objects;
use crate::error::Result;
use crate::meter::LONG;
use crate::number::text;
use crate::text::quote;
use crate::value::{Escapes, Range, Runtime, Str, Value};

/// The number of steps that it costs to find the shortest digits of a float.
pub const DIGITS: u64 = 12;

/// The containers around the value that is being printed, as CPython's `Py_ReprEnter` records them.
#[derive(Clone, Copy)]
pub(super) struct Enclosing<'p, 'a> {
    value: &'p Value<'a>,
    outer: Option<&'p Enclosing<'p, 'a>>,
    /// Whether one of the containers is a namespace. Only a namespace can contain itself.
    has_namespace: bool,
    /// The number of objects that are being printed.
    depth: u32,
}

#[inline]
pub fn write_str<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, out: &mut String) -> Result<()> {
    match value {
        Value::Str(text) => {
            runtime.record(text, out.len())?;
            write_piece(runtime, text.as_str(), out)
        }
        Value::Undefined(_) => Ok(()),
        _ => write_repr(runtime, value, out),
    }
}

/// Returns `str(value)`. A string or Markup stays as it is.
pub fn to_str<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Str<'a>> {
    match value {
        Value::Str(text) => Ok(*text),
        Value::Undefined(_) => Ok(Str::from("")),
        _ => runtime.capture_text(|runtime, out| write_repr(runtime, value, out)),
    }
}

pub fn repr<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<String> {
    let mut out = String::new();
    runtime.with_own_text(|runtime| write_repr(runtime, value, &mut out))?;
    Ok(out)
}

pub fn ascii<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<String> {
    let repr = repr(runtime, value)?;
    escape_non_ascii(runtime, &repr)
}

/// Returns a `repr` with an escape for each character outside ASCII.
pub fn escape_non_ascii(runtime: &mut Runtime<'_>, repr: &str) -> Result<String> {
    let mut ascii = String::new();
    runtime.with_own_text(|runtime| runtime.meter.write_scanned(&mut ascii, |out| quote::write_ascii(out, repr)))?;
    runtime.meter.check_size(ascii.len())?;
    Ok(ascii)
}

pub fn write_repr<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, out: &mut String) -> Result<()> {
    write_nested(runtime, value, None, out)
}

/// Appends `repr(value)` of a value within other values.
pub(super) fn write_nested<'a>(
    runtime: &mut Runtime<'a>,
    value: &Value<'a>,
    enclosing: Option<&Enclosing<'_, 'a>>,
    out: &mut String,
) -> Result<()> {
    match value {
        Value::None => write_piece(runtime, "None", out),
        Value::Bool(true) => write_piece(runtime, "True", out),
        Value::Bool(false) => write_piece(runtime, "False", out),
        Value::Int(int) => write_int(runtime, *int, out),
        Value::Big(big) => {
            runtime.meter.charge(big.bit_length() >> 4)?;
            let digits = text::int_text(*big)?;
            write_piece(runtime, &digits, out)
        }
        Value::Float(float) => {
            runtime.meter.charge(DIGITS)?;
            write_piece(runtime, &text::float_text(*float), out)
        }
        Value::Str(text) if text.is_markup() => {
            out.push_str("Markup(");
            write_quoted(runtime, text, out)?;
            write_piece(runtime, ")", out)
        }
        Value::Str(text) => write_quoted(runtime, text, out),
        Value::Undefined(_) => write_piece(runtime, "Undefined", out),
        Value::Range(Range {
            start, stop, step: 1, ..
        }) => write_piece(runtime, &format!("range({start}, {stop})"), out),
        Value::Range(Range { start, stop, step, .. }) => write_piece(runtime, &format!("range({start}, {stop}, {step})"), out),
        Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Keys(_) | Value::Values(_) | Value::Items(_) => {
            write_container(runtime, value, enclosing, out)
        }
        Value::Namespace(id) => objects::write_namespace(runtime, *id, value, enclosing, out),
        _ => objects::write_object(runtime, value, enclosing, out),
    }
}

fn write_container<'a>(
    runtime: &mut Runtime<'a>,
    value: &Value<'a>,
    enclosing: Option<&Enclosing<'_, 'a>>,
    out: &mut String,
) -> Result<()> {
    runtime.meter.check_stack()?;
    if let Some(dots) = find_dots(runtime, enclosing, value)? {
        return write_piece(runtime, dots, out);
    }
    let enclosing = &Enclosing::new(value, enclosing);
    match value {
        Value::List(items) => write_items(runtime, items.iter(), ("[", "]"), enclosing, out),
        Value::Tuple(items) => {
            let close = if items.len() == 1 { ",)" } else { ")" };
            write_items(runtime, items.iter(), ("(", close), enclosing, out)
        }
        Value::Keys(dict) => write_items(runtime, dict.keys(), ("dict_keys([", "])"), enclosing, out),
        Value::Values(dict) => {
            let values = dict.iter().map(|(_, value)| value);
            write_items(runtime, values, ("dict_values([", "])"), enclosing, out)
        }
        Value::Items(dict) => write_pairs(runtime, dict.iter(), ["dict_items([", "(", ", ", ")", "])"], enclosing, out),
        Value::Dict(dict) => write_dict(runtime, dict.iter(), enclosing, out),
        _ => Ok(()),
    }
}

fn write_items<'a>(
    runtime: &mut Runtime<'a>,
    items: impl Iterator<Item = Value<'a>>,
    (open, close): (&str, &str),
    enclosing: &Enclosing<'_, 'a>,
    out: &mut String,
) -> Result<()> {
    write_piece(runtime, open, out)?;
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_nested(runtime, &item, Some(enclosing), out)?;
    }
    write_piece(runtime, close, out)
}

/// Appends the `repr` of a dict with these entries.
pub(super) fn write_dict<'a>(
    runtime: &mut Runtime<'a>,
    entries: impl Iterator<Item = (Value<'a>, Value<'a>)>,
    enclosing: &Enclosing<'_, 'a>,
    out: &mut String,
) -> Result<()> {
    write_pairs(runtime, entries, ["{", "", ": ", "", "}"], enclosing, out)
}

/// Appends pairs between brackets, each with strings before, within and after it.
fn write_pairs<'a>(
    runtime: &mut Runtime<'a>,
    pairs: impl Iterator<Item = (Value<'a>, Value<'a>)>,
    [open, before, within, after, close]: [&str; 5],
    enclosing: &Enclosing<'_, 'a>,
    out: &mut String,
) -> Result<()> {
    write_piece(runtime, open, out)?;
    for (index, (key, value)) in pairs.enumerate() {
        out.push_str(if index > 0 { ", " } else { "" });
        out.push_str(before);
        write_nested(runtime, &key, Some(enclosing), out)?;
        out.push_str(within);
        write_nested(runtime, &value, Some(enclosing), out)?;
        out.push_str(after);
    }
    write_piece(runtime, close, out)
}

fn write_quoted<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>, out: &mut String) -> Result<()> {
    let start = out.len() + 1;
    if text.as_str().len() >= LONG {
        let meter = &mut runtime.meter;
        meter.write_scanned(out, |out| quote::write_repr(out, text.as_str()))?;
    } else {
        // Writing to a string cannot fail.
        let _ = quote::write_repr(out, text.as_str());
        runtime.meter.charge_scan(out.len() - start)?;
        runtime.meter.check_output(out.len())?;
    }
    if runtime.tape.is_some() {
        let written = out.get(start..out.len().saturating_sub(1)).unwrap_or_default();
        runtime.record_escaped(text, start, written, Escapes::Backslash)?;
    }
    Ok(())
}

#[inline]
pub(super) fn write_int<'a>(runtime: &mut Runtime<'a>, int: i64, out: &mut String) -> Result<()> {
    runtime.meter.charge(1)?;
    text::write_int(int, out);
    runtime.meter.check_output(out.len())
}

/// Appends a string as it is.
#[inline]
pub(super) fn write_piece<'a>(runtime: &mut Runtime<'a>, text: &str, out: &mut String) -> Result<()> {
    runtime.meter.charge_bytes(text.len())?;
    runtime.meter.check_output(out.len() + text.len())?;
    out.push_str(text);
    Ok(())
}

/// Returns the dots that are printed for an object within itself, and charges for looking at the objects around it.
pub(super) fn find_dots<'a>(
    runtime: &mut Runtime<'a>,
    enclosing: Option<&Enclosing<'_, 'a>>,
    value: &Value<'a>,
) -> Result<Option<&'static str>> {
    let Some(enclosing) = enclosing.filter(|enclosing| enclosing.has_namespace) else {
        return Ok(None);
    };
    runtime.meter.charge(u64::from(enclosing.depth) >> 3)?;
    Ok(enclosing.dots(value))
}

impl<'p, 'a> Enclosing<'p, 'a> {
    /// Adds a container to the ones enclosing it.
    pub(super) fn new(value: &'p Value<'a>, outer: Option<&'p Enclosing<'p, 'a>>) -> Self {
        let is_namespace = matches!(value, Value::Namespace(_));
        Self {
            value,
            outer,
            has_namespace: is_namespace || outer.is_some_and(|outer| outer.has_namespace),
            depth: outer.map_or(1, |outer| outer.depth.saturating_add(1)),
        }
    }

    /// Returns the dots that replace a container within itself, or `None` if it is not within itself.
    fn dots(&self, value: &Value<'a>) -> Option<&'static str> {
        let mut all = std::iter::successors(Some(self), |enclosing| enclosing.outer);
        let is_open = all.any(|Enclosing { value: open, .. }| match (value, open) {
            (Value::Keys(value), Value::Keys(open))
            | (Value::Values(value), Value::Values(open))
            | (Value::Items(value), Value::Items(open)) => value.shares_storage(open),
            _ => value.shares_storage(open),
        });
        is_open.then_some(match value {
            Value::Dict(_) | Value::Namespace(_) => "{...}",
            Value::List(_) => "[...]",
            Value::Tuple(_) => "(...)",
            _ => "...",
        })
    }
}
