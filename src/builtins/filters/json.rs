//! The filter `tojson`, as transformers 5.24.0 replaces Jinja's: Python's `json.dumps`, without escapes for HTML.
//!
//! This file reads the options, with the names of `transformers/utils/chat_template_utils.py` and the rules of CPython 3.13
//! `json/encoder.py` (`JSONEncoder.__init__`, `iterencode`). [`to_json::write`] writes the value.

use super::python_calls::repeat_blank;
use crate::builtins::table::built_ins;
use crate::error::{Error, Result};
use crate::json::Layout;
use crate::value::{Arguments, Iter, Runtime, Shortcut, Value, ops, to_json};

/// The initial capacity of the output in bytes. The JSON of a tool call or of a tool's description is seldom shorter.
const CAPACITY: usize = 256;

built_ins! { FILTERS:
    /// Returns the value as JSON.
    ///
    /// `{{ [1, none, "é"]|tojson(true) }} -> [1, null, "\u00e9"]`
    Python "_cached_compile_jinja_template.<locals>.tojson".with_shortcut(Shortcut::Write(write_json))
    fn tojson(runtime, x, ensure_ascii: Flag = None, indent: Count = None, separators = None, sort_keys: Flag = None) -> Str {
        // The indentation and the separators are written among the strings, and leave no pieces.
        let has_own_layout = runtime.has_input(&[&indent, &separators])?;
        let options = [ensure_ascii, indent, separators, sort_keys];
        if has_own_layout {
            let mut output = runtime.take_buffer();
            runtime.with_own_text(|runtime| write(runtime, &x, options, &mut output))?;
            return runtime.str(output);
        }
        runtime.capture(|runtime, output| {
            output.reserve(CAPACITY);
            write(runtime, &x, options, output)
        })
    }
}

/// Appends the result of the filter for bound arguments to a string.
fn write_json<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, out: &mut String) -> Result<()> {
    if let (true, Some(value)) = (arguments.is_alone(), arguments.get(0)) {
        return to_json::write(runtime, value, &to_json::Options::default(), out);
    }
    let [value, options @ ..] = arguments.take_first::<5>().map(|argument| argument.unwrap_or(Value::None));
    write(runtime, &value, options, out)
}

/// Appends a value to a string. The options are those of the filter in their order; one that is absent is `None`.
fn write<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, options: [Value<'a>; 4], out: &mut String) -> Result<()> {
    let [ensure_ascii, indent, separators, sort_keys] = options;
    if let (Value::None, Value::None, Value::None, Value::None) = (&ensure_ascii, &indent, &separators, &sort_keys) {
        return to_json::write(runtime, value, &to_json::Options::default(), out);
    }
    let separators = match separators {
        Value::None => None,
        separators => Some(Iter::unpack(runtime, &separators, 2)?),
    };
    let mut options = to_json::Options {
        ensure_ascii: ops::is_true(runtime, &ensure_ascii)?,
        sort_keys: ops::is_true(runtime, &sort_keys)?,
        ..to_json::Options::default()
    };
    // The other options have no effect on a string.
    if matches!(value, Value::Str(_)) {
        return to_json::write(runtime, value, &options, out);
    }
    options.layout = read_layout(runtime, &indent, separators)?;
    to_json::write(runtime, value, &options, out)
}

fn read_layout<'a>(runtime: &mut Runtime<'a>, indent: &Value<'a>, separators: Option<Vec<Value<'a>>>) -> Result<Layout> {
    if let (Value::Int(blanks), None) = (indent, &separators) {
        if let Some(layout) = Layout::indented_by(*blanks) {
            return Ok(layout);
        }
    }
    let texts = separators.iter().flatten().chain([indent]);
    let bytes = texts.filter_map(Value::as_str).map(str::len).sum();
    runtime.meter.charge_bytes(bytes)?;
    let mut layout = match indent {
        Value::None => Layout::default(),
        Value::Str(indent) => Layout::indented(indent.as_str().to_owned()),
        width => Layout::indented(repeat_blank(runtime, width)?.as_str().to_owned()),
    };
    if let Some([item, key]) = separators.as_deref() {
        // `_json.make_encoder` checks its arguments in this order.
        layout.key_separator = read_separator(key, 5)?.into();
        layout.item_separator = read_separator(item, 6)?.into();
    }
    Ok(layout)
}

fn read_separator(value: &Value<'_>, argument: u8) -> Result<String> {
    match value {
        Value::Str(separator) => Ok(separator.as_str().to_owned()),
        other => {
            // Argument Clinic says None and not NoneType.
            let ty = if let Value::None = other { "None" } else { other.ty().name() };
            Err(Error::type_error(format!(
                "make_encoder() argument {argument} must be str, not {ty}"
            )))
        }
    }
}
