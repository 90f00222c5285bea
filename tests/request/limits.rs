//! Tests that preparing a body keeps to the limits, and what bodies of any size and shape cost.

use std::sync::atomic::AtomicBool;

use chat_template::request::PrepareOptions;
use chat_template::{Bounds, ChatTemplate, ErrorKind, Limit, Limits, PromptOptions};
use serde_json::{Value, json};

use super::{data, plain};

/// Returns the limit that preparing a body reaches.
fn find_reached(template: &ChatTemplate, body: &Value, limits: &Limits) -> Option<Limit> {
    let options = PrepareOptions::default().with_bounds(limits);
    let error = template.prepare_with(data(body), &options).map(|_| ()).unwrap_err();
    error.reached().map(|reached| reached.limit)
}

#[test]
fn what_is_made_from_a_body_counts_towards_the_limits() {
    let template = plain();
    let body = json!({"messages": [{"role": "user", "content": vec!["x"; 20_000]}]});
    assert_eq!(
        find_reached(&template, &body, &Limits::default().with_steps(10_000)),
        Some(Limit::Steps)
    );
    let parts = ChatTemplate::from_source(
        "{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}",
        &[],
    )
    .unwrap();
    let limits = Limits::default().with_live(1 << 20);
    assert_eq!(find_reached(&parts, &body, &limits), Some(Limit::Live));
    // The render has the rest.
    let prepared = parts.prepare(data(&body)).unwrap();
    let options = PromptOptions::default().with_bounds(&limits);
    prepared.render_with(&options).unwrap_err();
    prepared.render().unwrap();
}

#[test]
fn a_search_keeps_the_limits_of_the_caller() {
    let template = plain();
    let body = json!({"messages": [{"role": "user", "content": "U"}]});
    let few = Limits::default().with_steps(100);
    let flag = AtomicBool::new(true);
    let options = [
        PrepareOptions::default().with_bounds(&few),
        PrepareOptions::default().with_bounds(Bounds::default().with_cancel(&flag)),
    ];
    for options in options {
        let error = template.prepare_with(data(&body), &options).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
    }
    let narrow = Limits::default().with_value(8);
    assert_eq!(find_reached(&template, &body, &narrow), Some(Limit::Value));
    assert!(template.prepare(data(&body)).unwrap().list_changes().is_empty());
}

#[test]
fn calls_that_are_kept_take_less_memory_than_new_ones() {
    let template = plain();
    let calls = vec![json!({"function": {"name": "f"}}); 200_000];
    let body = json!({"messages": [{"role": "user", "content": "U"}, {"role": "assistant", "content": "", "tool_calls": calls}]});
    template.prepare(data(&body)).unwrap();
    let few = Limits::default().with_live(16 << 20);
    assert_eq!(find_reached(&template, &body, &few), Some(Limit::Live));
}

#[test]
fn the_memory_of_arguments_is_claimed_before_they_are_read() {
    let template = ChatTemplate::from_source(
        "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{% for k, v in c.function.arguments.items() %}\
         {{ k }}{{ v }}{% endfor %}{% endfor %}{% endfor %}",
        &[],
    )
    .unwrap();
    let few = Limits::default().with_live(4 << 20);
    for arguments in [vec![1; 100_000], Vec::new()] {
        let call = json!({"function": {"name": "f", "arguments": json!(arguments).to_string()}});
        let body =
            json!({"messages": [{"role": "user", "content": "U"}, {"role": "assistant", "content": "", "tool_calls": [call]}]});
        match arguments.is_empty() {
            true => drop(template.prepare(data(&body)).unwrap()),
            false => assert_eq!(find_reached(&template, &body, &few), Some(Limit::Live)),
        }
    }
    // Commas in a string begin no values.
    let arguments = json!({"a\\\"": ",[{\\\",".repeat(400_000)}).to_string();
    let call = json!({"function": {"name": "f", "arguments": arguments}});
    let body = json!({"messages": [{"role": "user", "content": "U"}, {"role": "assistant", "content": "", "tool_calls": [call]}]});
    drop(template.prepare(data(&body)).unwrap());
}

#[test]
fn a_pointer_is_not_longer_than_a_kilobyte() {
    let values: Vec<String> = (0..1000).map(|index| format!("v{index}")).collect();
    let long = json!({("k".repeat(10_000)): values});
    let body = json!({"messages": [{"role": "user", "content": "x", "y": long, "z": "other"}]});
    let template = plain();
    let prepared = template.prepare(data(&body)).unwrap();
    let (_, changes) = prepared.render().unwrap();
    let paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["/messages/0/y", "/messages/0/z"]);
}

/// Returns the steps of preparing and rendering a body, unless the template refuses it.
fn count_steps(template: &ChatTemplate, body: &Value) -> Option<u64> {
    let mut limits = Limits::default();
    limits.milliseconds = None;
    let options = PrepareOptions::default().with_bounds(&limits);
    let prepared = template.prepare_with(data(body), &options).ok()?;
    let options = PromptOptions::default().with_bounds(&limits);
    prepared.render_with(&options).ok().map(|(prompt, _)| prompt.steps)
}

/// Returns bodies of many parts, calls or messages by their names.
fn hostile_bodies(many: usize) -> Vec<(&'static str, Value)> {
    let parts = |text: &str| -> Value { (0..many).map(|_| json!({"type": "text", "text": text})).collect() };
    let calls = |id: fn(usize) -> String| -> Value {
        let call = |index| json!({"id": id(index), "type": "function", "function": {"name": "f", "arguments": "{\"a\": \"b\"}"}});
        (0..many).map(call).collect()
    };
    let results = (0..many)
        .rev()
        .map(|index| json!({"role": "tool", "tool_call_id": index.to_string(), "content": "x"}));
    let mut cycle = vec![
        json!({"role": "user", "content": "u"}),
        json!({"role": "assistant", "tool_calls": calls(|index| index.to_string())}),
    ];
    cycle.extend(results);
    let turns = |role: &str| -> Value { (0..many).map(|_| json!({"role": role, "content": "aaaaaaaa"})).collect() };
    let mut deep = json!("x");
    for _ in 0..400 {
        deep = json!([deep]);
    }
    let long = "a".repeat(many << 6);
    let uses: Vec<Value> = (0..many)
        .map(|index| json!({"type": "tool_use", "id": index.to_string(), "name": "f", "input": {"a": index}}))
        .collect();
    vec![
        (
            "blocks",
            json!({"system": "s", "messages": [{"role": "assistant", "content": uses}]}),
        ),
        ("parts", json!({"messages": [{"role": "user", "content": parts("ab")}]})),
        ("empty parts", json!({"messages": [{"role": "user", "content": parts("")}]})),
        ("calls and results", json!({"messages": cycle})),
        (
            "one id",
            json!({"messages": [{"role": "assistant", "tool_calls": calls(|_| "1".to_owned())}]}),
        ),
        (
            "long ids",
            json!({"messages": [{"role": "tool", "tool_call_id": long, "content": long}]}),
        ),
        ("systems", json!({"messages": turns("system")})),
        ("users", json!({"messages": turns("user")})),
        (
            "depth",
            json!({"messages": [{"role": "user", "content": "x", "y": deep}], "tools": [{"name": "f", "parameters": deep}]}),
        ),
        (
            "tools",
            json!({"messages": [{"role": "user", "content": "x"}], "tools": vec![json!({"name": long.get(..9), "description": "d"}); many]}),
        ),
        (
            "periodic text",
            json!({"messages": [{"role": "user", "content": long}, {"role": "user", "content": format!("{long}b")}]}),
        ),
    ]
}

#[test]
fn a_hostile_body_takes_linear_work() {
    let takes_one = ChatTemplate::from_source(
        "{% for m in messages %}{% if m.role != ('user' if loop.index0 % 2 == 0 else 'assistant') %}{{ raise_exception('no') }}{% endif %}\
         {{ m.content|upper }}{% endfor %}",
        &[],
    ).unwrap();
    let takes_none =
        ChatTemplate::from_source("{% for m in messages %}{{ m.content ~ '' if loop.last }}{% endfor %}", &[]).unwrap();
    for template in [plain(), takes_one, takes_none] {
        for ((what, few), (_, many)) in hostile_bodies(50).iter().zip(&hostile_bodies(200)) {
            if let (Some(few), Some(many)) = (count_steps(&template, few), count_steps(&template, many)) {
                assert!(many <= few * 6, "{what}: {few}, and {many} for four times as much");
            }
        }
    }
}
