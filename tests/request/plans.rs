//! Tests of how what a body says is written for a template.

use chat_template::request::{ChangeKind, LaterSystem, Policy, PrepareOptions, Severity};
use chat_template::{ChatTemplate, ControlPolicy, ControlTokens, ErrorClass, Limits, PromptOptions};
use serde_json::{Value, json};

use super::{data, prepare, prepare_with};

/// Prints each message and its calls, whose arguments are JSON text.
const TEXT: &str = "{% set roles = ['system', 'user', 'assistant', 'tool'] %}\
                    {% for m in messages %}<{{ m.role }}>{% if m.tool_calls is defined %}[{% for c in m.tool_calls %}{{ c.function.name }} \
                    {{ c.function.arguments + '' }};{% endfor %}]{% endif %}{{ m.content or '' }}{% endfor %}";

/// A template that fails on content that is a list, on two messages of one role in a row, and on media.
const ALTERNATES: &str = "{% for m in messages %}{% if loop.index0 > 0 and m.role == messages[loop.index0 - 1].role %}{{ raise_exception('roles') }}\
                          {% endif %}<{{ m.role }}>{{ m.content + '' }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

/// A template that takes parts, and an image only by the type `image`.
const PARTS: &str = "{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}\
                     {% if p.type == 'image' %}<image>{% elif p.type == 'text' %}{{ p.text }}{% endif %}{% endfor %}{% endif %}{% endfor %}";

fn template(source: &str) -> ChatTemplate {
    ChatTemplate::from_source(source, &[]).unwrap()
}

#[test]
fn what_the_template_takes_is_not_changed() {
    let body = json!({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}, {"role": "user", "content": "So?"}]});
    let (text, changes) = prepare(&template(ALTERNATES), &body);
    assert_eq!(text, "<user>Hi<assistant>Yes<user>So?<assistant>");
    assert!(changes.is_empty(), "{changes:?}");
}

#[test]
fn parts_are_joined_and_turns_alternate() {
    let part = |text: &str| json!([{"type": "text", "text": text}]);
    let body = json!({"messages": [{"role": "user", "content": part("One")}, {"role": "user", "content": part("Two")}]});
    let (text, changes) = prepare(&template(ALTERNATES), &body);
    assert!(text.contains("One") && text.contains("Two"), "{text}");
    assert!(changes.contains(&"/messages/0/content joined".to_owned()), "{changes:?}");
    assert!(!changes.iter().any(|change| change.ends_with("dropped")), "{changes:?}");
}

#[test]
fn a_medium_gets_the_type_that_the_template_knows() {
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}});
    let body = json!({"messages": [{"role": "user", "content": [image, {"type": "text", "text": "Look"}]}]});
    let template = template(PARTS);
    let prepared = template.prepare_with(data(&body), &PrepareOptions::default()).unwrap();
    assert_eq!(prepared.render().unwrap().0.text, "<user><image>Look");
    let media: Vec<String> = prepared.media().into_iter().map(|media| media.path).collect();
    assert_eq!(media, ["/messages/0/content/0"]);
}

#[test]
fn a_placeholder_stands_for_media() {
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}});
    let body = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Look"}, image]}]});
    let options = PrepareOptions::default().with_media_placeholder("[image]");
    assert_eq!(
        prepare_with(&template(ALTERNATES), &body, &options).0,
        "<user>Look\n[image]<assistant>"
    );
    let (text, changes) = prepare(&template(ALTERNATES), &body);
    assert_eq!(text, "<user>Look<assistant>");
    assert!(changes.contains(&"/messages/0/content/1 dropped".to_owned()), "{changes:?}");
}

#[test]
fn a_later_system_message_goes_where_the_options_say() {
    let body = json!({"messages": [
        {"role": "system", "content": "A"}, {"role": "user", "content": "B"}, {"role": "system", "content": "C"},
    ]});
    let source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";
    let with = |later_system| {
        let options = PrepareOptions::default().with_later_system(later_system);
        prepare_with(&template(source), &body, &options).0
    };
    assert_eq!(with(LaterSystem::InPlace), "<system>A<user>B<system>C");
    assert_eq!(with(LaterSystem::AsUser), "<system>A<user>B<user>C");
    assert_eq!(with(LaterSystem::Merged), "<system>A\nC<user>B");
}

#[test]
fn policies() {
    let body = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]});
    let with = |policy| {
        let options = PrepareOptions::default().with_policy(policy);
        let template = template(ALTERNATES);
        let prepared = template.prepare_with(data(&body), &options)?;
        prepared.render().map(|(prompt, _)| prompt.text)
    };
    assert_eq!(with(Policy::Fit).unwrap(), "<user>Hi<assistant>");
    assert_eq!(with(Policy::Strict).unwrap_err().input_path(), Some("/messages/0/content"));
    assert!(
        with(Policy::Exact)
            .unwrap_err()
            .message()
            .contains("can only concatenate list")
    );
}

#[test]
fn the_words_of_a_request_do_not_decide() {
    let with = |word: &str| {
        let part = json!([{"type": "text", "text": word}]);
        let body = json!({"messages": [
            {"role": "system", "content": word}, {"role": "user", "content": part}, {"role": "user", "content": word},
            {"role": "assistant", "content": word},
        ]});
        let template = template(ALTERNATES);
        let prepared = template.prepare_with(data(&body), &PrepareOptions::default()).unwrap();
        let (_, changes) = prepared.render().unwrap();
        changes
    };
    let plain = with("Some words.");
    for word in ["a", "{}", "user", "1"] {
        assert_eq!(with(word), plain, "{word}");
    }
}

#[test]
fn a_growing_conversation_keeps_its_plan_and_a_lost_text_is_reported_by_each_render() {
    let template = template(ALTERNATES);
    let first = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]});
    let second = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}, {"role": "assistant", "content": "Yes"}]});
    let prepared = template.prepare_with(data(&first), &PrepareOptions::default()).unwrap();
    let options = PrepareOptions::default().with_after(&prepared);
    let next = template.prepare_with(data(&second), &options).unwrap();
    assert!(next.render().unwrap().0.text.starts_with(&prepared.render().unwrap().0.text));
    let silent = ChatTemplate::from_source("{{ messages[0].content }}", &[]).unwrap();
    let prepared = silent.prepare_with(data(&second), &PrepareOptions::default()).unwrap();
    for _ in 0..2 {
        let (_, changes) = prepared.render().unwrap();
        let lost = changes.iter().filter(|change| change.severity == Severity::Lost);
        assert_eq!(
            lost.map(|change| change.path.as_str()).collect::<Vec<_>>(),
            ["/messages/1/content"]
        );
    }
}

#[test]
fn results_stay_results_where_a_template_refuses_two_calls() {
    let source = "{% for m in messages %}{% if m.tool_calls and m.tool_calls|length > 1 %}{{ raise_exception('one call') }}{% endif %}\
                  <{{ 'tool' if m.role == 'tool' else m.role }}>{{ m.content or '' }}{% for c in m.tool_calls or [] %}{{ c.function|tojson }}{% endfor %}{% endfor %}";
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
    assert_eq!(prompt, "<system>A\nB<user>C<user>D<user>E");
    assert_eq!(changes, ["/messages/0 recast", "/messages/1 merged", "/messages/3 recast"]);
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
            "/messages/1/content dropped",
            "/tools/0 dropped"
        ]
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
        "/messages/0/place dropped",
        "/messages/1/function_call/name dropped",
        "/documents/0/title dropped",
    ];
    assert_eq!(changes, dropped);
}

#[test]
fn the_policy_allows_all_changes_or_none() {
    let template = ChatTemplate::from_source("{% for m in messages %}{{ m.content }}{% endfor %}", &[]).unwrap();
    let body = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]});
    let with = |policy| PrepareOptions::default().with_policy(policy);
    let exact = template.prepare_with(data(&body), &with(Policy::Exact)).unwrap();
    assert_eq!(exact.render().unwrap().0.text, "[{'type': 'text', 'text': 'Hi'}]");
    assert!(exact.render().unwrap().1.is_empty());
    let error = template.prepare_with(data(&body), &with(Policy::Strict)).unwrap_err();
    assert_eq!(
        (error.class(), error.input_path()),
        (ErrorClass::Request, Some("/messages/0/content"))
    );
    assert_eq!(template.prepare(data(&body)).unwrap().render().unwrap().0.text, "Hi");
    let translated = json!({"instructions": "Be brief.", "input": "Hi"});
    let strict = template.prepare_with(data(&translated), &with(Policy::Strict)).unwrap();
    assert_eq!(strict.render().unwrap().0.text, "Be brief.Hi");
    let lost = json!({"messages": [{"role": "user", "content": "Hi", "name": "Ada"}]});
    let error = template
        .prepare_with(data(&lost), &with(Policy::Strict))
        .unwrap()
        .render()
        .unwrap_err();
    assert_eq!(error.input_path(), Some("/messages/0/name"));
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
            let prepared = template.prepare(data(&body)).unwrap();
            let options = PromptOptions::default().with_trace(trace);
            let (_, changes) = prepared.render_with(&options).unwrap();
            let dropped = changes.iter().filter(|change| change.kind == ChangeKind::Dropped);
            assert_eq!(dropped.count(), expected, "{source} {trace}: {changes:?}");
        }
    }
}

#[test]
fn an_empty_list_of_calls_is_removed() {
    let body = json!({"messages": [
        {"role": "user", "content": "U"},
        {"role": "assistant", "content": "A", "tool_calls": []},
    ]});
    let (prompt, changes) = prepare(&template(TEXT), &body);
    assert_eq!(prompt, "<user>U<assistant>A");
    assert_eq!(changes, [""; 0]);
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
    let (prompt, changes) = prepare(&template(TEXT), &body);
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
    let (prompt, changes) = prepare(&template(&with_ids), &body);
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
    let (prompt, changes) = prepare(&template(TEXT), &blocks);
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
    for (arguments, printed, what) in [("", "f1 {};", Some("parsed")), ("{\"a\": ", "f1 {\"a\": ;", None)] {
        let (prompt, changes) = prepare(&template(TEXT), &body(arguments));
        assert!(prompt.contains(printed), "{prompt}");
        let kind = changes.iter().find_map(|change| change.strip_prefix(&format!("{path} ")));
        assert_eq!(kind, what, "{changes:?}");
    }
    let (_, changes) = prepare(&template(TEXT), &body("{\"a\": [NaN]}"));
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
    let (prompt, changes) = prepare(&template(&source), &body);
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
    let (prompt, _) = prepare(&template(source), &blocks);
    assert_eq!(prompt, "<system>S<user>T\nC\nD\nU");
    let audio =
        json!({"messages": [{"role": "user", "content": "U"}, {"role": "assistant", "content": "A", "audio": {"id": "audio_1"}}]});
    assert_eq!(prepare(&template(source), &audio).1, ["/messages/1/audio dropped"]);
    let fails_with_tools = "{% if tools %}{{ tools + 1 }}{% endif %}{% for m in messages %}{{ m.content + '' }}{% endfor %}";
    let tools = json!({"messages": [{"role": "user", "content": "U"}], "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]});
    let changes = prepare(&template(fails_with_tools), &tools).1;
    assert_eq!(
        changes.iter().filter(|change| *change == "/tools/0 dropped").count(),
        1,
        "{changes:?}"
    );
}

fn call(id: &str, arguments: &Value) -> Value {
    json!({"id": id, "type": "function", "function": {"name": format!("f{id}"), "arguments": arguments}})
}

#[test]
fn a_refused_control_token_does_not_start_a_search() {
    let template = ChatTemplate::from_source(
        "{% for m in messages %}<s>{{ m.content + '' }}{% endfor %}",
        &[("bos_token", "<s>")],
    )
    .unwrap();
    let body = |text: &str| json!({"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]});
    let honest = body("Hi");
    template.prepare(data(&honest)).unwrap().render().unwrap();
    let limits = Limits::default().with_steps(10_000);
    let options = PromptOptions::default()
        .with_bounds(&limits)
        .with_control_tokens(ControlTokens::default().with_policy(ControlPolicy::Refuse));
    let hostile = body("<s>");
    let error = template.prepare(data(&hostile)).unwrap().render_with(&options).unwrap_err();
    assert!(error.message().contains("control token"), "{error}");
    assert_eq!(
        template.prepare(data(&honest)).unwrap().render_with(&options).unwrap().0.text,
        "<s>Hi"
    );
}

#[test]
fn the_trace_tells_equal_strings_of_messages_and_tools_apart() {
    let source =
        "{{ tools|tojson }}{% for m in messages %}@{{ m|tojson }}{% if m.role == 'tool' %}{{ m.name }}{% endif %}{% endfor %}";
    let tool = json!({"name": "find", "input_schema": {"type": "object", "properties": {"type": {"type": "string"}}}});
    let call = json!({"type": "tool_use", "id": "a1", "name": "find", "input": {"type": "type"}});
    let result = json!({"type": "tool_result", "tool_use_id": "a1", "content": "function"});
    let messages = json!([{"role": "user", "content": "type"}, {"role": "assistant", "content": [call.clone(), call]}, {"role": "user", "content": [result]}]);
    let body = json!({"max_tokens": 9, "tools": [tool], "messages": messages});
    let template = template(source);
    let prepared = template.prepare(data(&body)).unwrap();
    let options = PromptOptions::default().with_trace(true);
    let (prompt, _) = prepared.render_with(&options).unwrap();
    let text: Vec<char> = prompt.text.chars().collect();
    let mut found = 0;
    for segment in prompt.segments() {
        let Some(path) = segment.paths().next() else { continue };
        let count = text[..segment.code_points().start]
            .iter()
            .filter(|char| **char == '@')
            .count();
        let place = match count {
            0 => "/tools".to_owned(),
            count => format!("/messages/{}", count - 1),
        };
        assert!(
            path.starts_with(&place),
            "{path} is printed after {count} signs in {}",
            prompt.text
        );
        found += 1;
    }
    assert!(found > 20, "{found} segments");
}
