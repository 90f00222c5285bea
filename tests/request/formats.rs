//! Tests of how bodies of the three formats are read.

use chat_template::request::{Format, PrepareOptions};
use chat_template::{ApplyOptions, ChatTemplate, ErrorClass, PromptOptions};
use serde_json::{Value, json};

use super::{data, plain, prepare};

#[test]
fn a_body_that_needs_no_change_is_rendered_as_apply_does() {
    let template = plain();
    let messages = json!([{"role": "system", "content": "S"}, {"role": "user", "content": "A\n", "x": [1]}, {"role": "assistant", "content": "B"}]);
    let body = json!({"model": "m", "messages": messages, "temperature": 1});
    let (prompt, changes) = prepare(&template, &body);
    let options = ApplyOptions::default().with_add_generation_prompt(true);
    assert_eq!(prompt, template.apply(&messages, &options).unwrap().text);
    assert_eq!(changes, [""; 0]);
}

#[test]
fn one_conversation_in_three_formats_is_one_prompt() {
    let template = plain();
    let chat = json!({"messages": [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "U"},
        {"role": "assistant", "content": "T", "reasoning_content": "R", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}},
        ]},
        {"role": "tool", "tool_call_id": "1", "content": "V"},
    ]});
    let responses = json!({"instructions": "S", "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "U"}]},
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "R"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "T", "annotations": []}]},
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{\"a\": 1}"},
        {"type": "function_call_output", "call_id": "1", "output": "V"},
    ]});
    let messages = json!({"system": "S", "max_tokens": 1, "messages": [
        {"role": "user", "content": "U"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "R", "signature": "s"},
            {"type": "text", "text": "T"},
            {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "V"}]}]},
    ]});
    let expected = "<system>S<user>U<assistant>(R)Tf{\"a\": 1}<tool>V";
    for body in [chat, responses, messages] {
        assert_eq!(prepare(&template, &body).0, expected, "{body}");
    }
}

#[test]
fn the_input_of_a_custom_tool_is_the_text_of_a_call() {
    let body = json!({"input": [
        {"role": "user", "content": "U"},
        {"type": "custom_tool_call", "call_id": "1", "name": "run", "input": "print(1)"},
        {"type": "custom_tool_call_output", "call_id": "1", "output": "1"},
    ]});
    let (prompt, changes) = prepare(&plain(), &body);
    assert_eq!(prompt, "<user>U<assistant>run{\"input\": \"print(1)\"}<tool>1");
    assert!(changes.is_empty(), "{changes:?}");
    let of_chat = json!({"messages": [
        {"role": "user", "content": "U"},
        {"role": "assistant", "tool_calls": [
            {"id": "1", "type": "custom", "custom": {"name": "run", "input": "print(1)"}},
            {"id": "2", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}},
        ]},
        {"role": "tool", "tool_call_id": "1", "content": "1"},
    ]});
    let (prompt, _) = prepare(&plain(), &of_chat);
    assert_eq!(prompt, "<user>U<assistant>run{\"input\": \"print(1)\"}f{\"a\": 1}<tool>1");
    let silent = ChatTemplate::from_source("{% for m in messages %}{{ m.content }}{% endfor %}", &[]).unwrap();
    assert!(
        prepare(&silent, &of_chat)
            .1
            .contains(&"/messages/1/tool_calls/0/custom/name dropped".to_owned())
    );
}

#[test]
fn an_error_names_its_place() {
    let user = json!({"role": "user", "content": "U"});
    let cases = [
        (json!([]), ""),
        (json!({"prompt": "x"}), ""),
        (json!({"messages": "x"}), "/messages"),
        (json!({"messages": [1]}), "/messages/0"),
        (json!({"messages": [{"content": "x"}]}), "/messages/0"),
        (
            json!({"messages": [user, {"role": "assistant", "tool_calls": [{"id": "1"}]}]}),
            "/messages/1/tool_calls/0",
        ),
        (json!({"messages": [user], "tools": {}}), "/tools"),
        (json!({"messages": [user], "tools": [1]}), "/tools/0"),
        (
            json!({"messages": [user], "chat_template_kwargs": []}),
            "/chat_template_kwargs",
        ),
        (json!([user]), ""),
        (json!({"input": 5}), "/input"),
        (json!({"input": "x", "previous_response_id": "r"}), "/previous_response_id"),
        (json!({"input": "x", "conversation": "c"}), "/conversation"),
        (json!({"input": "x", "prompt": {"id": "p"}}), "/prompt"),
        (json!({"messages": [user], "input": "x"}), "/input"),
        (json!({"messages": [user], "instructions": "x"}), "/instructions"),
        (json!({"system": 1, "messages": [user]}), "/system"),
    ];
    let template = plain();
    for (body, path) in cases {
        let error = template.prepare(data(&body)).map(|_| ()).expect_err(&body.to_string());
        assert_eq!(error.class(), ErrorClass::Request, "{body}: {error}");
        assert_eq!(error.input_path(), Some(path), "{body}: {error}");
    }
}

#[test]
fn an_error_of_the_template_names_the_place_in_the_body() {
    let source = "{% for m in messages %}{{ m.content + '' }}{% if m.x %}{{ m.x + 1 }}{% endif %}{% endfor %}";
    let template = ChatTemplate::from_source(source, &[]).unwrap();
    let body = json!({"messages": [{"role": "user", "content": "A"}, {"role": "assistant", "content": "B"}, {"role": "user", "content": "C", "x": "y"}]});
    let error = template.prepare(data(&body)).unwrap_err();
    assert_eq!(
        (error.class(), error.input_path()),
        (ErrorClass::Mismatch, Some("/messages/2/x"))
    );
}

#[test]
fn the_format_is_told_apart_by_the_shape() {
    let user = json!([{"role": "user", "content": "x"}]);
    let image = json!([{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "u"}}]}]);
    let cases = [
        (json!({"messages": user}), Format::ChatCompletions),
        (json!({"input": user}), Format::Responses),
        (json!({"input": "x"}), Format::Responses),
        (json!({"system": "s", "messages": user}), Format::Messages),
        (json!({"messages": image}), Format::Messages),
        (
            json!({"messages": user, "tools": [{"name": "f", "input_schema": {}}]}),
            Format::Messages,
        ),
    ];
    for (body, format) in cases {
        assert_eq!(plain().prepare(data(&body)).unwrap().format(), format, "{body}");
    }
}

/// A request that has grown, prepared as the one before it, continues what the model has seen and written.
#[test]
fn a_request_that_has_grown_has_a_piece() {
    let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
    let template = ChatTemplate::from_source(source, &[]).unwrap();
    let mut messages = vec![json!({"role": "user", "content": [{"type": "text", "text": "Hi"}]})];
    let body = json!({"messages": messages});
    let first = template.prepare(data(&body)).unwrap();
    let mut seen = first.render().unwrap().0.text;
    for sampled in ["Ho<|end|>", "Ho", "Ho<|user|>"] {
        messages.push(json!({"role": "assistant", "content": "Ho"}));
        messages.push(json!({"role": "user", "content": [{"type": "text", "text": "Bye"}]}));
        let body = json!({"messages": messages});
        let prepared = template
            .prepare_with(data(&body), &PrepareOptions::default().with_after(&first))
            .unwrap();
        let (append, changes) = prepared.after(&seen, Some(sampled), &PromptOptions::default()).unwrap();
        let piece = append.into_result().unwrap();
        let end = if sampled == "Ho" { "<|end|>" } else { "" };
        assert_eq!(piece.text(), format!("{end}<|user|>Bye<|end|><|assistant|>"));
        assert_eq!(changes, prepared.render().unwrap().1);
        seen = seen + sampled + piece.text();
    }
    let body = json!({"messages": messages});
    let prepared = template.prepare(data(&body)).unwrap();
    let append = prepared.after("other", Some("Ho"), &PromptOptions::default()).unwrap().0;
    assert!(append.into_result().is_err());
}

/// Each case has the pointers of what has `cache_control`, with the prompt up to its end, of at most 12 characters.
#[test]
fn the_ends_of_parts_and_tools_with_cache_control_are_found() {
    for case in include_str!("caches.jsonl").lines() {
        let case: Value = serde_json::from_str(case).unwrap();
        let template = ChatTemplate::from_source(case["template"].as_str().unwrap(), &[]).unwrap();
        let prepared = template.prepare(data(&case["body"])).unwrap();
        let (prompt, _) = prepared.render().unwrap();
        let ends = prepared.find_cache_ends(&prompt, &PromptOptions::default()).unwrap();
        let ends: Vec<_> = ends
            .iter()
            .map(|(path, end)| json!([path, &prompt.text[end.saturating_sub(12)..*end]]))
            .collect();
        assert_eq!(json!(ends), case["ends"], "{} {}", case["name"], prompt.text);
    }
}
