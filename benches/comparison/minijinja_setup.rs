//! Sets up minijinja as a server would do to replace transformers: with Python's methods, Python's JSON, and the functions of transformers.
//!
//! ```text
//! environment().render_str("{{ [1, {'a': 2}]|tojson }}", ())  ->  [1, {"a": 2}]
//! ```
//!
//! It supports only what the five templates and those of the corpus need.

use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, Error, ErrorKind};
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// The value of `strftime_now("%d %b %Y")` at [`super::NOW`]. As a constant, it costs minijinja no time.
const TODAY: &str = "02 Jan 2026";

/// Returns an environment that renders as transformers 5 does.
pub fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the default delimiters are valid"));
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_filter("tojson", tojson);
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("strftime_now", strftime_now);
    environment
}

fn raise_exception(message: String) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, message))
}

fn strftime_now(_format: String) -> &'static str {
    TODAY
}

/// Returns JSON as Python's `json.dumps(value, ensure_ascii=False, indent=indent)` does.
fn tojson(value: &Value, kwargs: Kwargs) -> Result<Value, Error> {
    let indent: Option<usize> = kwargs.get("indent")?;
    kwargs.assert_all_used()?;
    let written = match indent {
        Some(width) => write(value, PrettyFormatter::with_indent(" ".repeat(width).as_bytes())),
        None => write(value, OneLine),
    };
    let json = written.map_err(|error| Error::new(ErrorKind::BadSerialization, "not JSON").with_source(error))?;
    Ok(Value::from_safe_string(json))
}

fn write(value: &Value, formatter: impl Formatter) -> serde_json::Result<String> {
    let mut bytes = Vec::with_capacity(128);
    value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))?;
    Ok(String::from_utf8(bytes).expect("serde_json writes UTF-8"))
}

/// Formats JSON as Python does on one line: with a blank after each comma and each colon.
struct OneLine;

impl Formatter for OneLine {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
