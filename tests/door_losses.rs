//! Tests what the door does with calls and results that are empty, in another order or not JSON, and with fields for which no template has
//! a place.
#![cfg(feature = "inspect")]
#![allow(clippy::restriction, clippy::pedantic, reason = "a test that fails shall panic")]

use chat_template::ChatTemplate;
use serde_json::{Value, json};

/// Prints each message and its calls, whose arguments are JSON text.
const TEXT: &str = "{% for m in messages %}<{{ m.role }}>{% if m.tool_calls is defined %}[{% for c in m.tool_calls %}{{ c.function.name }} \
                    {{ c.function.arguments + '' }};{% endfor %}]{% endif %}{{ m.content or '' }}{% endfor %}";

/// Returns the prompt of a body, and the path and the kind of each change.
fn prepare(template: &str, body: &Value) -> (String, Vec<String>) {
    let template = ChatTemplate::from_source(template, &[]).unwrap();
    let prepared = template.prepare(body).unwrap_or_else(|error| panic!("{body}: {error}"));
    let prompt = prepared.apply().unwrap_or_else(|error| panic!("{body}: {error}"));
    let changes = prepared.changes.iter();
    let changes = changes.map(|change| format!("{} {}", change.path, change.what.name()));
    (prompt.text, changes.collect())
}

fn call(id: &str, arguments: &Value) -> Value {
    json!({"id": id, "type": "function", "function": {"name": format!("f{id}"), "arguments": arguments}})
}

#[test]
fn an_empty_list_of_calls_is_removed() {
    let body = json!({"messages": [
        {"role": "user", "content": "U"},
        {"role": "assistant", "content": "A", "tool_calls": []},
    ]});
    let (prompt, changes) = prepare(TEXT, &body);
    assert_eq!(prompt, "<user>U<assistant>A");
    assert_eq!(changes, ["/messages/1/tool_calls omitted"]);
}

#[test]
fn results_are_in_the_order_of_their_calls() {
    let arguments = json!("{}");
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": format!("r{id}")});
    let body = json!({"messages": [
        {"role": "user", "content": "U"},
        {"role": "assistant", "tool_calls": [call("1", &arguments), call("2", &arguments), call("3", &arguments)]},
        result("2"), result("1"), result("3"),
        {"role": "assistant", "content": "A"},
    ]});
    let (prompt, changes) = prepare(TEXT, &body);
    assert!(prompt.ends_with("<tool>r1<tool>r2<tool>r3<assistant>A"), "{prompt}");
    assert_eq!(
        changes.iter().filter(|change| change.ends_with("moved")).count(),
        2,
        "{changes:?}"
    );
    let with_ids = TEXT.replace(
        "{{ m.content or '' }}",
        "{{ m.tool_call_id }}{{ m.content or '' }}{% for c in m.tool_calls or [] %}{{ c.id }}{% endfor %}",
    );
    let (prompt, changes) = prepare(&with_ids, &body);
    assert!(prompt.contains("<tool>2r2<tool>1r1<tool>3r3"), "{prompt}");
    assert!(!changes.iter().any(|change| change.ends_with("moved")), "{changes:?}");
    let blocks = json!({"max_tokens": 1, "messages": [
        {"role": "user", "content": "U"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "1", "name": "f", "input": {}},
            {"type": "tool_use", "id": "2", "name": "g", "input": {}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "2", "content": "r2", "is_error": true},
            {"type": "tool_result", "tool_use_id": "1", "content": "r1", "is_error": false},
        ]},
    ]});
    let (prompt, changes) = prepare(TEXT, &blocks);
    assert!(prompt.ends_with("<tool>r1<tool>r2"), "{prompt}");
    assert!(
        changes.contains(&"/messages/2/content/0/is_error dropped".to_owned()),
        "{changes:?}"
    );
    assert!(changes.contains(&"/messages/2/content/1 moved".to_owned()), "{changes:?}");
}

#[test]
fn arguments_that_are_not_json_are_reported() {
    let body = |arguments: &str| {
        let arguments = json!(arguments);
        json!({"messages": [
            {"role": "user", "content": "U"},
            {"role": "assistant", "tool_calls": [call("1", &arguments)]},
            {"role": "tool", "tool_call_id": "1", "content": "V"},
        ]})
    };
    let path = "/messages/1/tool_calls/0/function/arguments";
    for (arguments, printed, what) in [("", "f1 {};", "encoded"), ("{\"a\": ", "f1 {\"a\": ;", "unparsed")] {
        let (prompt, changes) = prepare(TEXT, &body(arguments));
        assert!(prompt.contains(printed), "{prompt}");
        assert!(changes.contains(&format!("{path} {what}")), "{changes:?}");
    }
    let (_, changes) = prepare(TEXT, &body("{\"a\": [NaN]}"));
    assert!(!changes.iter().any(|change| change.starts_with(path)), "{changes:?}");
}

#[test]
fn an_object_that_would_be_in_the_notation_of_python_is_encoded() {
    let source = TEXT.replace("arguments + ''", "arguments");
    let body = json!({"messages": [
        {"role": "user", "content": "U"},
        {"role": "assistant", "tool_calls": [call("1", &json!({"city": "Oslo"}))]},
        {"role": "tool", "tool_call_id": "1", "content": "V"},
    ]});
    let (prompt, changes) = prepare(&source, &body);
    assert!(prompt.contains("f1 {\"city\":\"Oslo\"};"), "{prompt}");
    assert!(
        changes.contains(&"/messages/1/tool_calls/0/function/arguments encoded".to_owned()),
        "{changes:?}"
    );
}

#[test]
fn fields_without_a_place_are_dropped() {
    let source = "{% for m in messages %}<{{ m.role }}>{{ m.content + '' }}{% endfor %}";
    let document = json!({"type": "document", "title": "T", "context": "C", "source": {"type": "text", "data": "D"}});
    let blocks = json!({"system": "S", "messages": [{"role": "user", "content": [document, {"type": "text", "text": "U"}]}]});
    let (prompt, changes) = prepare(source, &blocks);
    assert_eq!(prompt, "<system>S<user>D\nU");
    for key in ["title", "context"] {
        assert!(
            changes.contains(&format!("/messages/0/content/0/{key} dropped")),
            "{changes:?}"
        );
    }
    let audio =
        json!({"messages": [{"role": "user", "content": "U"}, {"role": "assistant", "content": "A", "audio": {"id": "audio_1"}}]});
    assert_eq!(prepare(source, &audio).1, ["/messages/1/audio dropped"]);
    let fails_with_tools = "{% if tools %}{{ tools + 1 }}{% endif %}{% for m in messages %}{{ m.content + '' }}{% endfor %}";
    let tools = json!({"messages": [{"role": "user", "content": "U"}], "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]});
    let changes = prepare(fails_with_tools, &tools).1;
    assert_eq!(
        changes.iter().filter(|change| *change == "/tools dropped").count(),
        1,
        "{changes:?}"
    );
}
