//! minijinja as a port: one JSON request a line on standard input, one answer a line on standard output.
//!
//! ```text
//! {"id": 1, "template": "{{ x }}", "context": {"x": 1}}   ->   {"id":1,"output":"1"}
//! ```
//!
//! How the engine is set up is in `environment.rs`. It knows neither the contract of `apply_chat_template` nor spans.

mod environment;

use std::io::{BufRead, Write, stdin, stdout};

use jiff::civil::DateTime;
use minijinja::value::Serde;
use minijinja::{Error, ErrorKind};
use serde_json::{Value, json};

use environment::{Raised, environment};

fn main() -> std::io::Result<()> {
    for line in stdin().lock().lines() {
        let answer = answer(&line?);
        let mut stdout = stdout().lock();
        writeln!(stdout, "{answer}")?;
        stdout.flush()?;
    }
    Ok(())
}

fn answer(line: &str) -> Value {
    let request: Value = match serde_json::from_str(line) {
        Ok(request) => request,
        Err(error) => return unread(line, &error),
    };
    let id = &request["id"];
    if request["describe"] == true {
        return json!({"id": id, "port": {
            "name": "minijinja", "version": "3.1.0 with pycompat", "language": "Rust",
            "homepage": "https://github.com/mitsuhiko/minijinja", "requests": ["render"], "limits": "off",
        }});
    }
    if request.get("apply").is_some() || request["generation"] == true {
        return json!({"id": id, "unsupported": "it renders, and has no spans"});
    }
    let (Some(template), true) = (request["template"].as_str(), request["context"].is_object()) else {
        return json!({"id": id, "error": {"kind": "request", "message": "a template and a context are missing", "line": null}});
    };
    let now = request["now"].as_str().and_then(|now| now.parse::<DateTime>().ok());
    match render(template, &request["context"], now) {
        Ok(output) => json!({"id": id, "output": output}),
        Err(error) => json!({"id": id, "error": {"kind": kind(&error), "message": message(&error), "line": error.line()}}),
    }
}

/// Returns the answer to a line that serde_json cannot read: it has `NaN` or `Infinity`, which Python's json writes, or is no request.
fn unread(line: &str, error: &serde_json::Error) -> Value {
    let plain = line.replace("-Infinity", "0").replace("Infinity", "0").replace("NaN", "0");
    match serde_json::from_str::<Value>(&plain) {
        Ok(request) => json!({"id": request["id"], "unsupported": "serde_json reads neither NaN nor Infinity"}),
        Err(_) => json!({"id": null, "error": {"kind": "request", "message": error.to_string(), "line": null}}),
    }
}

fn render(template: &str, context: &Value, now: Option<DateTime>) -> Result<String, Error> {
    // `--plain` makes an environment without Python's methods and the filters of minijinja-contrib.
    let is_plain = std::env::args().any(|argument| argument == "--plain");
    environment(now, is_plain).template_from_str(template)?.render(Serde(context))
}

/// Returns the protocol's kind that is nearest to what jinja2 raises.
fn kind(error: &Error) -> &'static str {
    if raised(error).is_some() {
        return "raised";
    }
    match error.kind() {
        ErrorKind::SyntaxError | ErrorKind::BadEscape | ErrorKind::UnknownFilter | ErrorKind::UnknownTest => "syntax",
        ErrorKind::UndefinedError | ErrorKind::UnknownFunction | ErrorKind::UnknownMethod => "undefined",
        ErrorKind::MissingArgument | ErrorKind::TooManyArguments | ErrorKind::NonKey | ErrorKind::BadSerialization => "type",
        ErrorKind::CannotUnpack => "value",
        _ => "runtime",
    }
}

fn message(error: &Error) -> String {
    match raised(error) {
        Some(Raised(message)) => message.clone(),
        None => error.detail().map_or_else(|| error.kind().to_string(), str::to_owned),
    }
}

fn raised(error: &Error) -> Option<&Raised> {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if let Some(raised) = error.downcast_ref() {
            return Some(raised);
        }
        cause = error.source();
    }
    None
}
