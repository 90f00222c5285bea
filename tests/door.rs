//! Tests what becomes of a request's body: changes, and errors with their places.
#![cfg(feature = "inspect")]
#![allow(clippy::restriction, clippy::pedantic, reason = "a test that fails shall panic")]

#[path = "door/plain.rs"]
mod plain;

use chat_template::{ApplyOptions, ChatTemplate, ErrorClass, Format, Policy, PrepareOptions, What};
use serde_json::{Value, json};

use plain::plain;

/// Returns the prompt of a body, and the path and the kind of each change.
fn prepare(template: &ChatTemplate, body: &Value) -> (String, Vec<String>) {
    let prepared = template.prepare(body).unwrap_or_else(|error| panic!("{body}: {error}"));
    let prompt = prepared.apply().unwrap_or_else(|error| panic!("{body}: {error}"));
    let changes = prepared.changes.iter();
    (
        prompt.text,
        changes
            .map(|change| format!("{} {}", change.path, change.what.name()))
            .collect(),
    )
}

#[test]
fn a_body_that_needs_no_change_is_rendered_as_apply_does() {
    let template = plain();
    let messages = json!([{"role": "system", "content": "S"}, {"role": "user", "content": "A\n", "x": [1]}, {"role": "assistant", "content": "B"}]);
    let body = json!({"model": "m", "messages": messages, "temperature": 1});
    let (prompt, changes) = prepare(&template, &body);
    let options = ApplyOptions {
        add_generation_prompt: true,
        ..Default::default()
    };
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
    assert_eq!(prompt, "<user>U<assistant>run\"print(1)\"<tool>1");
    assert!(changes.contains(&"/input/1/input unparsed".to_owned()), "{changes:?}");
    let of_chat = json!({"messages": [
        {"role": "user", "content": "U"},
        {"role": "assistant", "tool_calls": [
            {"id": "1", "type": "custom", "custom": {"name": "run", "input": "print(1)"}},
            {"id": "2", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}},
        ]},
        {"role": "tool", "tool_call_id": "1", "content": "1"},
    ]});
    let (prompt, changes) = prepare(&plain(), &of_chat);
    assert_eq!(prompt, "<user>U<assistant>run\"print(1)\"f{\"a\": 1}<tool>1");
    let call = "/messages/1/tool_calls/0";
    assert!(changes.contains(&format!("{call} translated")), "{changes:?}");
    assert!(changes.contains(&format!("{call}/custom/input unparsed")), "{changes:?}");
    let silent = ChatTemplate::from_source("{% for m in messages %}{{ m.content }}{% endfor %}", &[]).unwrap();
    assert!(
        prepare(&silent, &of_chat)
            .1
            .contains(&"/messages/1/tool_calls dropped".to_owned())
    );
}

#[test]
fn results_stay_results_where_a_template_refuses_two_calls() {
    let source = "{% for m in messages %}{% if m.tool_calls and m.tool_calls|length > 1 %}{{ raise_exception('one call') }}{% endif %}\
                  <{{ m.role }}>{{ m.content or '' }}{% for c in m.tool_calls or [] %}{{ c.function|tojson }}{% endfor %}{% endfor %}";
    let template = ChatTemplate::from_source(source, &[]).unwrap();
    let body = json!({"messages": [
        {"role": "user", "content": "U"},
        {"role": "assistant", "content": "T", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": {}}}]},
        {"role": "tool", "tool_call_id": "1", "content": "V"},
    ]});
    let (prompt, _) = prepare(&template, &body);
    assert!(prompt.contains("<tool>V"), "{prompt}");
}

#[test]
fn instructions_are_where_the_template_takes_them() {
    let source = "{% for m in messages %}{% if m.role == 'system' and not loop.first or m.role not in ['system', 'user', 'assistant'] %}\
                  {{ raise_exception('no') }}{% endif %}<{{ m.role }}>{{ m.content + '' }}{% endfor %}";
    let template = ChatTemplate::from_source(source, &[]).unwrap();
    let body = json!({"messages": [
        {"role": "developer", "content": "A"},
        {"role": "system", "content": "B"},
        {"role": "user", "content": "C"},
        {"role": "system", "content": "D"},
        {"role": "user", "content": "E"},
    ]});
    let (prompt, changes) = prepare(&template, &body);
    assert_eq!(prompt, "<system>A\n\nB\n\nD<user>C<user>E");
    assert_eq!(changes, ["/messages/0 recast", "/messages/1 merged", "/messages/3 merged"]);
}

#[test]
fn what_the_prompt_does_not_have_is_dropped() {
    let source = "{% for m in messages %}{{ m.content.split('</think>')[-1] }}{% endfor %}";
    let template = ChatTemplate::from_source(source, &[]).unwrap();
    let body = json!({
        "messages": [
            {"role": "user", "content": "One question."},
            {"role": "assistant", "content": "<think>Long thoughts.</think>An answer.", "reasoning_content": "Other thoughts."},
            {"role": "user", "content": "Another question."},
        ],
        "tools": [{"type": "function", "function": {"name": "weather", "parameters": {}}}],
    });
    let (prompt, changes) = prepare(&template, &body);
    assert_eq!(prompt, "One question.An answer.Another question.");
    assert_eq!(
        changes,
        [
            "/messages/1/reasoning_content dropped",
            "/tools dropped",
            "/messages/1/content dropped"
        ]
    );
}

#[test]
fn an_error_names_its_place() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let user = json!({"role": "user", "content": "U"});
    let cases = [
        (json!([]), ""),
        (json!({"prompt": "x"}), ""),
        (json!({"messages": "x"}), "/messages"),
        (json!({"messages": [1]}), "/messages/0"),
        (json!({"messages": [{"content": "x"}]}), "/messages/0"),
        (json!({"messages": [{"role": "user", "content": 1}]}), "/messages/0/content"),
        (
            json!({"messages": [{"role": "user", "content": [{"type": "hologram"}]}]}),
            "/messages/0/content/0",
        ),
        (
            json!({"messages": [user, {"role": "tool", "tool_call_id": "1", "content": "x"}]}),
            "/messages/1",
        ),
        (
            json!({"messages": [user, {"role": "assistant", "tool_calls": [call("1"), call("1")]}]}),
            "/messages/1/tool_calls/1",
        ),
        (
            json!({"messages": [user, {"role": "assistant", "tool_calls": [{"id": "1"}]}]}),
            "/messages/1/tool_calls/0",
        ),
        (
            json!({"messages": [user, {"role": "assistant", "tool_calls": [{"id": "1", "type": "custom", "custom": {"name": "f"}}]}]}),
            "/messages/1/tool_calls/0/custom",
        ),
        (json!({"messages": [user], "tools": {}}), "/tools"),
        (json!({"messages": [user], "tools": [1]}), "/tools/0"),
        (
            json!({"messages": [user], "chat_template_kwargs": []}),
            "/chat_template_kwargs",
        ),
        (json!([user]), ""),
        (json!({"input": 5}), "/input"),
        (json!({"input": [{"type": "hologram"}]}), "/input/0"),
        (
            json!({"input": [{"type": "function_call_output", "call_id": "1", "output": "x"}]}),
            "/input/0",
        ),
        (json!({"input": "x", "previous_response_id": "r"}), "/previous_response_id"),
        (json!({"input": "x", "conversation": "c"}), "/conversation"),
        (json!({"input": "x", "prompt": {"id": "p"}}), "/prompt"),
        (json!({"messages": [user], "functions": [{"name": "f"}]}), "/functions"),
        (json!({"messages": [user], "input": "x"}), "/input"),
        (json!({"messages": [user], "instructions": "x"}), "/instructions"),
        (json!({"system": 1, "messages": [user]}), "/system"),
        (
            json!({"system": "s", "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}]}]}),
            "/messages/0/content/0",
        ),
    ];
    let template = plain();
    for (body, path) in cases {
        let error = template.prepare(&body).map(|_| ()).expect_err(&body.to_string());
        assert_eq!(error.class(), ErrorClass::Request, "{body}: {error}");
        assert_eq!(error.input_path(), Some(path), "{body}: {error}");
    }
}

#[test]
fn an_error_of_the_template_names_the_place_in_the_body() {
    let source = "{% for m in messages %}{% if m.role == 'system' and not loop.first %}{{ raise_exception('no') }}{% endif %}{{ m.content + '' }}\
                  {% if m.x %}{{ m.x + 1 }}{% endif %}{% endfor %}";
    let template = ChatTemplate::from_source(source, &[]).unwrap();
    let body = json!({"messages": [
        {"role": "user", "content": "A"},
        {"role": "system", "content": "B"},
        {"role": "user", "content": "C", "x": "y"},
    ]});
    let error = template.prepare(&body).unwrap().apply().unwrap_err();
    assert_eq!(
        (error.class(), error.input_path()),
        (ErrorClass::Mismatch, Some("/messages/2/x"))
    );
}

#[test]
fn a_text_at_any_key_is_printed_or_dropped() {
    let source = "{% for m in messages %}{{ m.content }}{{ m.note }}{% endfor %}{% for d in documents %}{{ d.text }}{% endfor %}";
    let template = ChatTemplate::from_source(source, &[]).unwrap();
    let body = json!({
        "messages": [
            {"role": "user", "content": "Hi", "note": "kept", "place": {"city": "Oslo", "id": "1"}},
            {"role": "assistant", "content": "Yo", "function_call": {"name": "find", "arguments": "{}"}},
        ],
        "documents": [{"title": "Fish", "text": "kept"}],
    });
    let (prompt, changes) = prepare(&template, &body);
    assert_eq!(prompt, "HikeptYokept");
    let dropped = [
        "/documents/0/title dropped",
        "/messages/0/place/city dropped",
        "/messages/1/function_call dropped",
    ];
    assert_eq!(changes, dropped);
}

#[test]
fn the_policy_allows_all_changes_or_none() {
    let template = ChatTemplate::from_source("{% for m in messages %}{{ m.content }}{% endfor %}", &[]).unwrap();
    let body = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]});
    let with = |policy| PrepareOptions {
        policy,
        ..Default::default()
    };
    let exact = template.prepare_with(&body, &with(Policy::Exact)).unwrap();
    assert_eq!(exact.apply().unwrap().text, "[{'type': 'text', 'text': 'Hi'}]");
    assert!(exact.changes.is_empty());
    let error = template.prepare_with(&body, &with(Policy::Strict)).unwrap_err();
    assert_eq!(
        (error.class(), error.input_path()),
        (ErrorClass::Request, Some("/messages/0/content"))
    );
    assert_eq!(template.prepare(&body).unwrap().apply().unwrap().text, "Hi");
    let translated = json!({"instructions": "Be brief.", "input": "Hi"});
    let strict = template.prepare_with(&translated, &with(Policy::Strict)).unwrap();
    assert_eq!(strict.apply().unwrap().text, "Be brief.Hi");
    let lost = json!({"messages": [{"role": "user", "content": "Hi", "name": "Ada"}]});
    let error = template
        .prepare_with(&lost, &with(Policy::Strict))
        .unwrap()
        .apply()
        .unwrap_err();
    assert_eq!(error.input_path(), Some("/messages/0/name"));
}

#[test]
fn reasoning_is_switched_by_what_the_template_reads() {
    let source = "{{ reasoning_effort }} {{ enable_thinking }} {{ messages[0].content }}{% if add_generation_prompt %}>{% endif %}";
    let template = ChatTemplate::from_source(source, &[]).unwrap();
    let prompt = |extra: Value| {
        let mut body = json!({"messages": [{"role": "user", "content": "Hi"}]});
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        prepare(&template, &body).0
    };
    assert_eq!(prompt(json!({"reasoning_effort": "low"})), "low  Hi>");
    assert_eq!(prompt(json!({"thinking": {"type": "disabled"}})), " False Hi>");
    assert_eq!(
        prompt(json!({"thinking": {"type": "disabled"}, "chat_template_kwargs": {"enable_thinking": 1}})),
        " 1 Hi>"
    );
    assert_eq!(prompt(json!({"add_generation_prompt": false})), "  Hi");
    let body =
        json!({"messages": [{"role": "user", "content": "Hi"}], "reasoning_effort": "low", "chat_template_kwargs": {"a": 1}});
    let deaf = ChatTemplate::from_source("{{ messages[0].content }}", &[]).unwrap();
    let dropped = ["/chat_template_kwargs/a dropped", "/reasoning_effort dropped"];
    assert_eq!(prepare(&deaf, &body).1, dropped);
    let switch = ChatTemplate::from_source("{{ enable_thinking }}{{ a }}{{ messages[0].content }}", &[]).unwrap();
    let (prompt, changes) = prepare(&switch, &body);
    assert_eq!(
        (prompt.as_str(), changes),
        ("True1Hi", vec!["/reasoning_effort translated".to_owned()])
    );
    let twice = json!({"messages": [{"role": "user", "content": "Hi"}], "thinking": {"type": "disabled"}, "reasoning_effort": "low",
        "chat_template_kwargs": {"enable_thinking": true, "a/b": null, "continue_final_message": false}});
    assert_eq!(
        prepare(&switch, &twice).1,
        ["/chat_template_kwargs/a~1b dropped", "/thinking dropped"]
    );
    for (thinking, text, dropped) in [
        ("adaptive", "TrueHi", None),
        ("disabled", "FalseHi", Some("/output_config/effort dropped")),
        ("new", "TrueHi", Some("/thinking dropped")),
    ] {
        let body = json!({"messages": [{"role": "user", "content": "Hi"}], "stop_sequences": [],
            "thinking": {"type": thinking}, "output_config": {"effort": "high"}});
        let (prompt, changes) = prepare(&switch, &body);
        let change = changes.iter().find(|change| change.ends_with("dropped"));
        assert_eq!((prompt.as_str(), change.map(String::as_str)), (text, dropped));
    }
}

#[test]
fn options_can_be_among_the_variables() {
    let source = "{% for m in messages %}<{{ m.content }}>{% endfor %}{% if add_generation_prompt %}!{% endif %}{{ a }}";
    let template = ChatTemplate::from_source(source, &[]).unwrap();
    let body = |variables: Value| json!({"messages": [{"role": "user", "content": "x"}], "chat_template_kwargs": variables});
    assert_eq!(
        prepare(&template, &body(json!({"add_generation_prompt": false, "a": 1}))).0,
        "<x>1"
    );
    assert_eq!(prepare(&template, &body(json!({"continue_final_message": true}))).0, "<x");
    let mut twice = body(json!({"add_generation_prompt": false}));
    twice["add_generation_prompt"] = json!(false);
    assert_eq!(prepare(&template, &twice).0, "<x>");
    twice["add_generation_prompt"] = json!(true);
    let error = template.prepare(&twice).unwrap_err();
    assert_eq!(error.input_path(), Some("/chat_template_kwargs/add_generation_prompt"));
    let error = template.prepare(&body(json!({"add_generation_prompt": "yes"}))).unwrap_err();
    assert_eq!(error.input_path(), Some("/chat_template_kwargs/add_generation_prompt"));
    let exact = PrepareOptions {
        policy: Policy::Exact,
        ..PrepareOptions::default()
    };
    let body = body(json!({"add_generation_prompt": false}));
    assert!(template.prepare_with(&body, &exact).unwrap().apply().is_err());
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
        assert_eq!(plain().prepare(&body).unwrap().format, format, "{body}");
    }
}

#[test]
fn a_text_is_found_however_it_is_written() {
    let sources = [
        "{% for m in messages %}{{ m.content|trim }}{% endfor %}",
        "{% set all %}{% for m in messages %}{{ m.content }}{% endfor %}{% endset %}{{ all }}",
        "{% macro say(m) %}[{{ m.content }}]{% endmacro %}{% for m in messages %}{{ say(m)|trim }}{% endfor %}",
        "{% for m in messages %}{{ m.content|tojson }}{% endfor %}",
        "{% for m in messages %}{% for line in m.content.split('\n') %}{{ '> ' + line }}{% endfor %}{% endfor %}",
        "{% for m in messages %}{{ m|tojson }}{% endfor %}",
    ];
    let body = json!({"messages": [
        {"role": "user", "content": " One \"question\"\nof two lines "},
        {"role": "assistant", "content": "An answer"},
    ]});
    let lost = "{% for m in messages %}{{ m.content if loop.last }}{% endfor %}";
    for (source, expected) in sources.map(|source| (source, 0)).into_iter().chain([(lost, 1)]) {
        let template = ChatTemplate::from_source(source, &[]).unwrap();
        for trace in [false, true] {
            let prepared = template.prepare(&body).unwrap();
            let options = ApplyOptions {
                trace,
                ..Default::default()
            };
            prepared.apply_with(&options).unwrap();
            let dropped = prepared.changes.iter().filter(|change| change.what == What::Dropped);
            assert_eq!(dropped.count(), expected, "{source} {trace}: {:?}", prepared.changes);
        }
    }
}
