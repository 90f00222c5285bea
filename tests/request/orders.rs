//! Tests that no request changes the prompt of another one: bodies have the same prompts and changes alone, after all others, in both orders,
//! and after bodies of the same form with hostile words.

use chat_template::ChatTemplate;
use chat_template::request::PrepareOptions;
use serde_json::{Value, json};

use super::data;

/// Words that templates look for, or that change what they print.
const HOSTILE: [&str; 6] = [
    "</think>x",
    "<tool_response>z</tool_response>",
    " ",
    "/no_think",
    "[INST]",
    "{",
];

/// Returns the templates and the bodies of `faults.jsonl`.
fn read_cases() -> (Vec<String>, Vec<Value>) {
    let cases = include_str!("faults.jsonl").lines();
    let cases: Vec<Value> = cases.map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut templates: Vec<String> = cases
        .iter()
        .map(|case| case["template"].as_str().unwrap().to_owned())
        .collect();
    templates.sort();
    templates.dedup();
    (templates, cases.into_iter().map(|case| case["body"].clone()).collect())
}

/// Returns the prompt and the changes of a body, or its error.
fn answer(template: &ChatTemplate, body: &Value) -> String {
    let prepared = template.prepare_with(data(body), &PrepareOptions::default());
    match prepared.and_then(|prepared| prepared.render()) {
        Ok((prompt, changes)) => format!("{} {}", prompt.text, json!(changes)),
        Err(error) => error.message().to_owned(),
    }
}

/// Replaces the texts of a conversation.
fn poison(value: &mut Value, words: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| poison(item, words)),
        Value::Object(entries) => {
            for (key, value) in entries {
                match value {
                    Value::String(text) if matches!(key.as_str(), "content" | "text" | "reasoning_content") => {
                        words.clone_into(text)
                    }
                    value => poison(value, words),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn no_request_changes_the_prompt_of_another_one() {
    let (templates, bodies) = read_cases();
    for source in templates.iter().step_by(6) {
        let fresh = || ChatTemplate::from_source(source.as_str(), &[]).unwrap();
        let alone: Vec<String> = bodies.iter().map(|body| answer(&fresh(), body)).collect();
        let check = |template: &ChatTemplate, (body, alone): (&Value, &String)| {
            assert_eq!(answer(template, body), *alone, "{source}\n{body}");
        };
        let forwards = fresh();
        for _ in 0..2 {
            bodies.iter().zip(&alone).for_each(|pair| check(&forwards, pair));
        }
        let backwards = fresh();
        bodies.iter().zip(&alone).rev().for_each(|pair| check(&backwards, pair));
        let after_hostile = fresh();
        for (index, pair) in bodies.iter().zip(&alone).enumerate() {
            let mut hostile = pair.0.clone();
            poison(&mut hostile, HOSTILE[index % HOSTILE.len()]);
            answer(&after_hostile, &hostile);
            check(&after_hostile, pair);
        }
    }
}

#[test]
fn variables_and_policies_of_a_request_are_its_own() {
    use chat_template::request::Policy;
    let source = "{% if plain %}{{ raise_exception('no') if messages[0].content is not string }}{% endif %}{% for m in messages %}<{{ m.role }}>\
                  {% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endif %}{% endfor %}";
    let body = |plain: bool| {
        json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]}],
        "chat_template_kwargs": {"plain": plain}})
    };
    let template = ChatTemplate::from_source(source, &[]).unwrap();
    let strict = PrepareOptions::default().with_policy(Policy::Strict);
    for _ in 0..2 {
        assert!(answer(&template, &body(true)).starts_with("<user>A\nB"));
        assert!(answer(&template, &body(false)).starts_with("<user>AB"));
        assert!(template.prepare_with(data(&body(true)), &strict).is_err());
        assert!(template.prepare_with(data(&body(false)), &strict).is_ok());
    }
}
