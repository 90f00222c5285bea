//! Inputs whose strings share memory have the segments, turns and spans of those whose strings do not.

use std::borrow::Cow;
use std::collections::HashMap;

use chat_template::json::{self, Data, Object};
use chat_template::{ApplyOptions, AssistantOptions, ChatTemplate, Input, RenderOptions, Template};
use serde_json::{Value, json};

/// Conversations with words of the roles and the keys as contents.
fn conversations() -> [Value; 3] {
    let called =
        json!([{"id": "c1", "type": "function", "function": {"name": "name", "arguments": {"type": "type", "user": "user"}}}]);
    [
        json!([{"role": "user", "content": "Which role?"}, {"role": "assistant", "content": "user"}, {"role": "user", "content": "role"}]),
        json!([
            {"role": "system", "content": "system"},
            {"role": "user", "content": "content"},
            {"role": "assistant", "content": "tool", "tool_calls": called},
            {"role": "tool", "tool_call_id": "c1", "name": "name", "content": "text"},
            {"role": "assistant", "content": "text"},
        ]),
        json!([{"role": "user", "content": [{"type": "text", "text": "text"}]}, {"role": "assistant", "content": "assistant"}]),
    ]
}

fn tools() -> Value {
    let parameters = json!({"type": "object", "properties": {"type": {"type": "string", "description": "user"}}});
    json!([{"type": "function", "function": {"name": "function", "description": "tool", "parameters": parameters}}])
}

/// Returns a tree in which equal strings and keys are one.
fn intern(value: &Value, words: &mut HashMap<String, &'static str>) -> Data<'static> {
    let mut word = |text: &str| {
        let word = words.entry(text.to_owned()).or_insert_with(|| String::leak(text.to_owned()));
        Cow::Borrowed(*word)
    };
    match value {
        Value::String(text) => Data::Str(word(text)),
        Value::Array(items) => Data::List(items.iter().map(|item| intern(item, words)).collect()),
        Value::Object(object) => Data::Object(Object::new(
            object
                .iter()
                .map(|(key, value)| (word(key), value))
                .collect::<Vec<_>>()
                .into_iter()
                .map(|(key, value)| (key, intern(value, words)))
                .collect(),
        )),
        other => json::to_data(other).unwrap(),
    }
}

fn show<M: Input + ?Sized>(template: &ChatTemplate, messages: &M, tools: Option<&dyn Input>) -> Value {
    let options = ApplyOptions::default()
        .with_tools(&tools)
        .with_trace(true)
        .with_assistant(AssistantOptions::default());
    match template.apply(messages, &options) {
        Ok(prompt) => json!([
            prompt.text,
            prompt.segments(),
            prompt.turns(),
            format!("{:?}", prompt.assistant())
        ]),
        Err(error) => json!(error.message()),
    }
}

#[test]
fn strings_in_one_place_are_told_apart() {
    let mut sources = vec![
        "{% for m in messages %}{% for k, v in m.items() %}<{{ k }}>{{ v }}{% endfor %}{% endfor %}{{ tools|tojson }}".to_owned(),
    ];
    let families = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/families");
    for entry in std::fs::read_dir(families).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "jinja") {
            sources.push(std::fs::read_to_string(path).unwrap());
        }
    }
    assert!(sources.len() > 5);
    for source in sources {
        let template = ChatTemplate::from_source(source, &[("bos_token", "<s>"), ("eos_token", "</s>")]).unwrap();
        for messages in conversations() {
            let tools = tools();
            let text = messages.to_string();
            let borrowed = json::read(&text).unwrap();
            let mut words = HashMap::new();
            let (interned, own_tools) = (intern(&messages, &mut words), intern(&tools, &mut words));
            for tools in [None, Some(&tools)] {
                let expected = show(&template, &messages, tools.map(|tools| tools as &dyn Input));
                assert_eq!(show(&template, &borrowed, tools.map(|tools| tools as &dyn Input)), expected);
                let own_tools = tools.map(|_| &own_tools as &dyn Input);
                assert_eq!(show(&template, &interned, own_tools), expected);
            }
        }
        // One message twice.
        let user = json!({"role": "user", "content": "Hi"});
        let answer = json!({"role": "assistant", "content": "Ho"});
        let twice = [&user, &answer, &user, &answer];
        assert_eq!(show(&template, &twice[..], None), show(&template, &json!(twice), None));
    }
}

#[test]
fn strings_of_a_context_in_one_place_are_told_apart() {
    let template = Template::compile("{{ a.x }}{{ b.x }}{% for k, v in b.items() %}{{ k }}{{ v }}{% endfor %}").unwrap();
    let options = RenderOptions::default().with_trace(true);
    let context = json!({"a": {"x": "x"}, "b": {"x": "x", "a": "b"}});
    let expected = template.render(&context, &options).unwrap();
    let interned = intern(&context, &mut HashMap::new());
    let prompt = template.render(&interned, &options).unwrap();
    assert_eq!((&prompt.text, prompt.segments()), (&expected.text, expected.segments()));
}
