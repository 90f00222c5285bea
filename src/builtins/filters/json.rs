//! The filter `tojson`, as transformers 5.23.0 replaces Jinja's: Python's `json.dumps`, without escapes for HTML.
//!
//! ```text
//! {{ {"b": 1}|tojson }}                         {"b": 1}
//! {{ {"b": 1}|tojson(separators=(",", ":")) }}  {"b":1}
//! ```
//!
//! Here are the options, as `transformers/utils/chat_template_utils.py` names them and CPython 3.11 `json/encoder.py` reads them
//! (`JSONEncoder.__init__`, `_make_iterencode`); what is written is [`write_json`](crate::value::print::write_json)'s business.

use super::pythonic::{blanks, unpack};
use super::{flag, given};
use crate::error::{Error, Result};
use crate::json::Layout;
use crate::text::escape::escape;
use crate::value::{Arguments, Runtime, Str, Value, ops, print};

/// Bytes to begin with: what templates keep as JSON, the arguments of a call or a function's description, is seldom shorter.
const ROOM: usize = 256;

/// The value as JSON text.
///
/// `{{ [1, none, "é"]|tojson(true) }} -> [1, null, "\u00e9"]`
pub(super) fn tojson<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let mut output = room(runtime);
    write_json(runtime, arguments, &mut output)?;
    runtime.str(output)
}

fn room(runtime: &mut Runtime<'_>) -> String {
    let mut room = runtime.heap.recycler.take_buffer();
    room.reserve(ROOM);
    room
}

/// Appends the value as JSON text.
pub(super) fn write_json<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, out: &mut String) -> Result<()> {
    let value = given(&mut arguments, 0);
    let indent = given(&mut arguments, 2);
    let separators = match given(&mut arguments, 3) {
        Value::None => None,
        separators => Some(unpack(runtime, &separators)?),
    };
    let mut options = print::JsonOptions {
        ensure_ascii: flag(runtime, &arguments, 1)?,
        sort_keys: flag(runtime, &arguments, 4)?,
        ..print::JsonOptions::default()
    };
    // A string is written without looking at the rest of the options.
    if matches!(value, Value::Str(_)) {
        return print::write_json(runtime, &value, &options, out);
    }
    let key_separator = separators.as_ref().map(|(_, key)| key.clone());
    if !matches!(indent, Value::None) {
        let between = separators.as_ref().is_some_and(|(item, _)| item.is_markup());
        options.escapes = [indent.is_markup(), indent.is_markup() || between];
    }
    options.layout = layout(runtime, &value, &indent, separators)?;
    print::write_json(runtime, &value, &options, out)?;
    match key_separator {
        Some(key) if options.layout.is_indented() && !matches!(key, Value::Str(_)) => check_pieces(runtime, &value, &key),
        _ => Ok(()),
    }
}

/// Refuses a separator of keys that is no text, where lines are broken: the encoder in Python makes pieces, and joins them at last.
fn check_pieces<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, separator: &Value<'a>) -> Result<()> {
    let mut pieces = 0;
    match has_separator(runtime, value, &mut pieces)? {
        true => {
            let ty = separator.ty().name();
            Err(Error::type_error(format!(
                "sequence item {pieces}: expected str instance, {ty} found"
            )))
        }
        false => Ok(()),
    }
}

/// Whether some dict in the value has members; `pieces` are those that the encoder made before its first separator (CPython 3.11
/// `json/encoder.py`, `_make_iterencode`).
fn has_separator<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, pieces: &mut u64) -> Result<bool> {
    runtime.meter.check_stack()?;
    match value {
        // The brace, the break and the key.
        Value::Dict(dict) if !dict.is_empty() => {
            *pieces = pieces.saturating_add(3);
            Ok(true)
        }
        Value::List(items) | Value::Tuple(items) if !items.is_empty() => {
            for item in items.iter() {
                runtime.meter.charge(1)?;
                // What stands before an item is a piece with it, or one before its pieces.
                *pieces = pieces.saturating_add(1);
                let is_container = matches!(item, Value::List(_) | Value::Tuple(_) | Value::Dict(_));
                if is_container && has_separator(runtime, &item, pieces)? {
                    return Ok(true);
                }
            }
            *pieces = pieces.saturating_add(2);
            Ok(false)
        }
        _ => {
            *pieces = pieces.saturating_add(1);
            Ok(false)
        }
    }
}

fn layout<'a>(
    runtime: &mut Runtime<'a>,
    value: &Value<'a>,
    indent: &Value<'a>,
    separators: Option<(Value<'a>, Value<'a>)>,
) -> Result<Layout> {
    if let (Value::Int(blanks), None) = (indent, &separators) {
        if let Some(layout) = Layout::indented_by(*blanks) {
            return Ok(layout);
        }
    }
    let parts = separators.iter().flat_map(|(item, key)| [item, key]).chain([indent]);
    let bytes = parts.filter_map(Value::as_str).map(str::len).sum();
    runtime.meter.charge_bytes(bytes)?;
    let mut layout = match indent {
        Value::None => Layout::default(),
        Value::Str(indent) => Layout::indented(indent.as_str().to_owned()),
        width => Layout::indented(blanks(runtime, width)?.as_str().to_owned()),
    };
    if let Some((item, key)) = separators {
        if layout.is_indented() {
            // The encoder that breaks lines adds the break to the separator once there are members.
            if !has_members(value) {
                return Ok(layout);
            }
            // The break is a Markup where the indentation is one, and escapes what it is added to.
            let is_markup = indent.is_markup();
            let broken = ops::add(runtime, &item, &Value::Str(Str::from("\n").with_markup(is_markup)))?;
            if let (Value::Str(item), Value::Str(_)) = (&item, broken) {
                layout.set_item_separator(match is_markup && !item.is_markup() {
                    true => escape(item.as_str()).into_owned(),
                    false => item.as_str().to_owned(),
                });
            }
            // Another one is complained about by its place, once all is written.
            if let Value::Str(key) = &key {
                layout.set_key_separator(key.as_str().to_owned());
            }
            return Ok(layout);
        }
        // The order is that of the arguments of `_json.make_encoder`.
        layout.set_key_separator(separator(&key, 5)?);
        layout.set_item_separator(separator(&item, 6)?);
    }
    Ok(layout)
}

fn has_members(value: &Value<'_>) -> bool {
    match value {
        Value::List(items) | Value::Tuple(items) => !items.is_empty(),
        Value::Dict(dict) => !dict.is_empty(),
        _ => false,
    }
}

fn separator(value: &Value<'_>, argument: u8) -> Result<String> {
    match value {
        Value::Str(separator) => Ok(separator.as_str().to_owned()),
        other => {
            // Argument Clinic calls it by its name.
            let ty = if let Value::None = other { "None" } else { other.ty().name() };
            Err(Error::type_error(format!(
                "make_encoder() argument {argument} must be str, not {ty}"
            )))
        }
    }
}
