//! hf-chat-template as a port: one JSON request a line on standard input, one answer a line on standard output.
//!
//! ```text
//! {"id": 1, "template": "{{ x }}", "context": {"x": 1}}   ->   {"id":1,"output":"1"}
//! ```
//!
//! It is used with its defaults, and with its clock of local time if a request has no `now`. A render is its `render_context`; an `apply`
//! is its `render`, with messages, tools and documents as its own types read them. It neither returns spans nor continues a message.

use std::io::{BufRead, Write, stdin, stdout};

use hf_chat_template::{ChatTemplate, Civil, Clock, Error, LocalClock, RenderInput, TokenizerConfig};
use jiff::civil::DateTime;
use serde_json::{Map, Value, json};

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
            "name": "hf-chat-template", "version": "1.0.0", "language": "Rust",
            "homepage": "https://github.com/GregoryBolshakov/hf-chat-template", "requests": ["render", "apply"], "limits": "off",
        }});
    }
    if request["generation"] == true {
        return json!({"id": id, "unsupported": "it has no spans"});
    }
    let now = Now(request["now"].as_str().and_then(|now| now.parse().ok()));
    let rendered = match (&request["apply"], request["template"].as_str(), &request["context"]) {
        (Value::Object(apply), _, _) => match apply.get("continue_final_message") {
            None | Some(Value::Bool(false) | Value::Null) => apply_to(apply, now),
            Some(_) => return json!({"id": id, "unsupported": "it does not continue a message"}),
        },
        (_, Some(template), context @ Value::Object(_)) => render(template, context, now),
        _ => {
            return json!({"id": id, "error": {"kind": "request", "message": "a template and a context are missing", "line": null}});
        }
    };
    match rendered {
        Ok(output) => json!({"id": id, "output": output}),
        Err(Fault::Crate(error)) => json!({"id": id, "error": error_of(&error)}),
        Err(Fault::Input(error)) => json!({"id": id, "error": {"kind": "type", "message": error.to_string(), "line": null}}),
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

/// The reason why there is no prompt: hf-chat-template refuses, or the request does not fit its types.
enum Fault {
    Crate(Error),
    Input(serde_json::Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Crate(error)
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::Input(error)
    }
}

fn render(template: &str, context: &Value, now: Now) -> Result<String, Fault> {
    Ok(ChatTemplate::builder(template).clock(now).build()?.render_context(context)?)
}

/// Returns the prompt of an `apply`. A model's configuration has named templates as a list, and special tokens as entries; the input has
/// the template's own arguments as entries.
fn apply_to(apply: &Map<String, Value>, now: Now) -> Result<String, Fault> {
    let object = |key: &str| apply.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
    let named = |(name, template): (&String, &Value)| json!({"name": name, "template": template});
    let template = match apply.get("template") {
        Some(Value::Object(templates)) => templates.iter().map(named).collect(),
        other => other.cloned().unwrap_or_default(),
    };
    let mut config = object("special_tokens");
    config.insert("chat_template".to_owned(), template);
    let config: TokenizerConfig = serde_json::from_value(Value::Object(config))?;
    let mut builder = ChatTemplate::builder_from_config(&config)?.clock(now);
    if let Some(name) = apply.get("template_name").and_then(Value::as_str) {
        builder = builder.template_name(name);
    }
    let mut input = object("variables");
    for key in ["messages", "tools", "documents", "add_generation_prompt"] {
        if let Some(value) = apply.get(key).filter(|value| !value.is_null()) {
            input.insert(key.to_owned(), value.clone());
        }
    }
    let input: RenderInput = serde_json::from_value(Value::Object(input))?;
    Ok(builder.build()?.render(&input)?)
}

fn error_of(error: &Error) -> Value {
    let (kind, message, line) = match error {
        Error::TemplateRaised { message } => ("raised", message.clone(), None),
        Error::Compile(error) => ("syntax", error.to_string(), error.line()),
        Error::Render(error) => ("runtime", error.to_string(), error.line()),
        other => ("value", other.to_string(), None),
    };
    json!({"kind": kind, "message": message, "line": line})
}

/// The time of a request, or else the local time.
struct Now(Option<DateTime>);

impl Clock for Now {
    fn now(&self) -> Civil {
        let given = self.0.and_then(|time| {
            let [month, day, hour, minute, second] =
                [time.month(), time.day(), time.hour(), time.minute(), time.second()].map(|part| u32::try_from(part).unwrap_or(0));
            Civil::from_ymd_hms(time.year().into(), month, day, hour, minute, second)
        });
        given.unwrap_or_else(|| LocalClock.now())
    }
}
