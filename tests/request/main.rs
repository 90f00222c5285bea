//! Tests of how the bodies of requests are prepared: prompts, changes, and errors with their places.
#![allow(clippy::restriction, clippy::pedantic, reason = "a test that fails shall panic")]

mod fit;
mod formats;
mod limits;
mod orders;
mod plans;
mod read;
mod variables;

use chat_template::ChatTemplate;
use chat_template::json::{Data, to_data};
use chat_template::request::PrepareOptions;
use serde_json::Value;

/// Prints each message, its calls and its reasoning. It takes strings only.
const PLAIN: &str = "{% set roles = ['system', 'user', 'assistant', 'tool'] %}\
                     {% for m in messages %}<{{ m.role }}>{% if m.reasoning_content %}({{ m.reasoning_content }}){% endif %}\
                     {{ m.content + '' }}{% for c in m.tool_calls or [] %}{{ c.function.name }}{{ c.function.arguments|tojson }}{% endfor %}{% endfor %}";

fn plain() -> ChatTemplate {
    ChatTemplate::from_source(PLAIN, &[]).unwrap()
}

/// Returns a body as a server reads it.
fn data(body: &Value) -> &'static Data<'static> {
    Box::leak(Box::new(to_data(body).unwrap()))
}

/// Returns the prompt of a body, and the path and the kind of each change.
fn prepare_with(template: &ChatTemplate, body: &Value, options: &PrepareOptions<'_>) -> (String, Vec<String>) {
    let prepared = template
        .prepare_with(data(body), options)
        .unwrap_or_else(|error| panic!("{body}: {error}"));
    let (prompt, changes) = prepared.render().unwrap_or_else(|error| panic!("{body}: {error}"));
    let changes = changes.iter().map(|change| format!("{} {}", change.path, change.kind.name()));
    (prompt.text, changes.collect())
}

fn prepare(template: &ChatTemplate, body: &Value) -> (String, Vec<String>) {
    prepare_with(template, body, &PrepareOptions::default())
}
