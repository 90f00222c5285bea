//! minijinja as a server sets it up for chat templates: blocks trimmed, loop controls, Python's methods, the functions and the
//! `tojson` of transformers, and what minijinja-contrib has of Jinja's own built-ins.
//!
//! Everything else has its defaults. `{% generation %}` is unknown to it: there is no way to add a statement.

use std::fmt;
use std::io;

use jiff::Zoned;
use jiff::civil::DateTime;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, Error, ErrorKind};
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// The message of `raise_exception`, as the source of the error, which distinguishes it from an error of the engine.
#[derive(Debug)]
pub struct Raised(pub String);

impl fmt::Display for Raised {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Raised {}

/// Returns an environment whose `strftime_now` sees this time, or that of the clock. A plain one has neither Python's methods nor the
/// filters of minijinja-contrib.
pub fn environment(now: Option<DateTime>, is_plain: bool) -> Environment<'static> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the default delimiters are valid"));
    if !is_plain {
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        minijinja_contrib::add_to_environment(&mut environment);
    }
    environment.add_filter("tojson", tojson);
    environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(Error::from(ErrorKind::InvalidOperation).with_source(Raised(message)))
    });
    environment.add_function("strftime_now", move |format: String| -> Result<String, Error> {
        let now = now.unwrap_or_else(|| Zoned::now().datetime());
        jiff::fmt::strtime::format(&format, now).map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
    });
    environment
}

/// Returns JSON as Python's `json.dumps(value, ensure_ascii=False, indent=indent)` does. Other arguments are an error.
fn tojson(value: &Value, kwargs: Kwargs) -> Result<String, Error> {
    let indent: Option<usize> = kwargs.get("indent")?;
    kwargs.assert_all_used()?;
    let mut bytes = Vec::new();
    let written = match indent {
        Some(width) => {
            let blanks = " ".repeat(width);
            value.serialize(&mut Serializer::with_formatter(
                &mut bytes,
                PrettyFormatter::with_indent(blanks.as_bytes()),
            ))
        }
        None => value.serialize(&mut Serializer::with_formatter(&mut bytes, OneLine)),
    };
    written.map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))
}

/// Formats JSON as Python does on one line: with a blank after each comma and each colon.
struct OneLine;

impl Formatter for OneLine {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, is_first: bool) -> io::Result<()> {
        if is_first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, is_first: bool) -> io::Result<()> {
        if is_first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
