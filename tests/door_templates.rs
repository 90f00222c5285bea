//! Tests that a body is prepared for the template that renders it, if the model has several.
#![cfg(feature = "inspect")]
#![allow(clippy::restriction, clippy::pedantic, reason = "a test that fails shall panic")]

use chat_template::{ApplyOptions, ChatTemplate, Policy, PrepareOptions};
use serde_json::{Value, json};

/// Takes content that is a text.
const TEXT: &str = "T:{% for m in messages %}{{ m.content + '' }}{% endfor %}";

/// Takes content that is a list of parts.
const PARTS: &str = "P:{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}\
                     {% for t in tools or [] %}{{ t.function.name }}{{ t.function.description }}{% endfor %}";

fn prepare(options: &PrepareOptions<'_>, tools: &Value) -> (String, Vec<String>) {
    let templates = [("default", TEXT), ("tool_use", PARTS), ("rag", PARTS)];
    let template = ChatTemplate::from_named(&templates, &[]).unwrap();
    let body = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "U"}]}], "tools": tools});
    let prepared = template.prepare_with(&body, options).unwrap();
    // The name that was passed to `prepare_with` counts, not this one.
    let applied = ApplyOptions {
        chat_template: Some("default"),
        ..ApplyOptions::default()
    };
    let prompt = prepared.apply_with(&applied).unwrap();
    (
        prompt.text,
        prepared.changes.iter().map(|change| change.path.clone()).collect(),
    )
}

#[test]
fn a_body_is_prepared_for_the_template_that_renders_it() {
    let tool = json!({"type": "function", "function": {"name": "f", "description": "d", "parameters": {}}});
    let usual = PrepareOptions::default();
    let rag = PrepareOptions {
        chat_template: Some("rag"),
        ..usual
    };
    let text = ("T:U".to_owned(), vec!["/messages/0/content".to_owned()]);
    assert_eq!(prepare(&usual, &Value::Null), text);
    assert_eq!(prepare(&usual, &json!([tool])), ("P:Ufd".to_owned(), vec![]));
    assert_eq!(prepare(&rag, &Value::Null), ("P:U".to_owned(), vec![]));
}

#[test]
fn an_exact_body_is_rendered_by_the_template_of_the_request() {
    let exact = PrepareOptions {
        policy: Policy::Exact,
        ..PrepareOptions::default()
    };
    let body = json!({"messages": [{"role": "user", "content": "U"}]});
    let template = ChatTemplate::from_named(&[("default", TEXT), ("rag", "R:{{ messages[0].content }}")], &[]).unwrap();
    let options = |name| ApplyOptions {
        chat_template: name,
        ..ApplyOptions::default()
    };
    let prepared = template.prepare_with(&body, &exact).unwrap();
    assert_eq!(prepared.apply().unwrap().text, "T:U");
    assert_eq!(prepared.apply_with(&options(Some("rag"))).unwrap().text, "R:U");
    let chosen = PrepareOptions {
        chat_template: Some("rag"),
        ..exact
    };
    let prepared = template.prepare_with(&body, &chosen).unwrap();
    assert_eq!(prepared.apply_with(&options(Some("default"))).unwrap().text, "R:U");
}
