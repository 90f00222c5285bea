//! Descriptions of what the model writes that are derived from chat templates.

use cpu_time::ThreadTime;

use chat_template::response::{ParseOptions, ResponseParser, ResponseTemplate};
use chat_template::{Bounds, ChatTemplate};
use serde_json::{Value, json};

const CALLS: &str = "{% for c in m.tool_calls %}<call>\n{{ c.function|tojson }}\n</call>{% endfor %}";

const TAGS: &str = "{{ m.content }}{% for c in m.tool_calls %}<f={{ c.function.name }}>{% for k, v in c.function.arguments.items() %}<p={{ k }}>\
                    {{ v if v is string else v|tojson }}</p>{% endfor %}</f>{% endfor %}";

/// Returns a template with these fields of an assistant message, and the description that is derived from it.
fn derive(fields: &str) -> Value {
    let source = format!(
        "{{% for m in messages %}}<|{{{{ m.role }}}}|>\n{{% if m.role == 'assistant' %}}{fields}{{% else %}}{{{{ m.content }}}}{{% endif %}}\
         <|end|>\n{{% endfor %}}{{% if add_generation_prompt %}}<|assistant|>\n{{% endif %}}"
    );
    let report = ChatTemplate::from_source(source, &[]).unwrap();
    let report = report.inspect(Bounds::default()).unwrap();
    let response = report.get::<Value>("response").unwrap();
    let witness = report.witness("response.content").unwrap();
    assert!(witness.is_some_and(|witness| witness.output.is_some()));
    response
}

#[track_caller]
fn assert_parsed(fields: &str, text: &str, expected: Value) {
    let template = derive(fields);
    let template = ResponseTemplate::new(&template["template"]).unwrap_or_else(|error| panic!("{error}: {template}"));
    let options = ParseOptions::default().with_prefix("<|user|>\nHi<|end|>\n<|assistant|>\n");
    assert_eq!(
        serde_json::to_value(template.parse(text, &options).unwrap()).unwrap(),
        expected
    );
}

#[test]
fn content_ends_with_the_turn() {
    assert_eq!(
        derive("{{ m.content }}"),
        json!({"template": {
            "defaults": {"role": "assistant"},
            "start_anchor": "<|assistant|>",
            "fields": {"content": {"repeats": true, "join": "", "close": ["<|end|>", "<|user|>"]}},
        }})
    );
}

#[test]
fn reasoning_and_calls_are_fields() {
    let fields = format!(
        "{{% if m.reasoning_content %}}<think>{{{{ m.reasoning_content }}}}</think>{{% endif %}}{{{{ m.content }}}}{CALLS}"
    );
    assert_parsed(
        &fields,
        "<think>So?</think>One.\n<call>{\"name\": \"f\", \"arguments\": {\"a\": \"</b>\"}}</call><call>{\"name\": \"g\", \"arguments\": {}}</call><|end|>",
        json!({"role": "assistant", "reasoning_content": "So?", "content": "One.", "tool_calls": [
            {"type": "function", "function": {"name": "f", "arguments": {"a": "</b>"}}},
            {"type": "function", "function": {"name": "g", "arguments": {}}},
        ]}),
    );
}

#[test]
fn a_tag_for_each_argument_is_read() {
    assert_parsed(
        TAGS,
        "<f=look><p=city>New \"York\"</p><p=days>3</p></f><|end|>",
        json!({"role": "assistant", "tool_calls": [
            {"type": "function", "function": {"name": "look", "arguments": {"city": "New \"York\"", "days": "3"}}},
        ]}),
    );
}

#[test]
fn a_name_before_json_is_read() {
    assert_parsed(
        "{{ m.content }}{% for c in m.tool_calls %}[CALL]{{ c.function.name }}[ARGS]{{ c.function.arguments|tojson }}{% endfor %}",
        "Wait.[CALL]look[ARGS]{\"a\": 1}[CALL]see[ARGS]{}<|end|>",
        json!({"role": "assistant", "content": "Wait.", "tool_calls": [
            {"type": "function", "function": {"name": "look", "arguments": {"a": 1}}},
            {"type": "function", "function": {"name": "see", "arguments": {}}},
        ]}),
    );
}

#[test]
fn json_without_tags_around_it_is_read() {
    let calls = |list: &str| {
        let call = "{\"name\": {{ c.function.name|tojson }}, \"arguments\": {{ c.function.arguments|tojson }}}";
        format!("{{{{ m.content }}}}{{% if m.tool_calls %}}{list}{{% endif %}}").replace("CALL", call)
    };
    let expected = json!({"role": "assistant", "content": "One, two [3].", "tool_calls": [
        {"type": "function", "function": {"name": "f", "arguments": {"a": {"b": "}, {"}}}},
        {"type": "function", "function": {"name": "g", "arguments": {}}},
    ]});
    let [one, other] = [
        "{\"name\": \"f\", \"arguments\": {\"a\": {\"b\": \"}, {\"}}}",
        "{\"name\": \"g\", \"arguments\": {}}",
    ];
    assert_parsed(
        &calls("[{% for c in m.tool_calls %}CALL{{ '' if loop.last else ', ' }}{% endfor %}]"),
        &format!("One, two [3].[{one}, {other}]<|end|>"),
        expected.clone(),
    );
    assert_parsed(
        &calls("{% for c in m.tool_calls %}CALL{% endfor %}"),
        &format!("One, two [3].{one}{other}<|end|>"),
        expected,
    );
}

#[test]
fn what_models_write_is_read() {
    for line in include_str!("derive.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        println!("{}", case["rule"]);
        assert_parsed(
            case["fields"].as_str().unwrap(),
            case["text"].as_str().unwrap(),
            case["message"].clone(),
        );
    }
}

#[test]
fn what_does_not_come_back_is_named() {
    for (fields, parts, reason) in [
        ("{{ m.content|upper }}", json!(null), "does not print the content"),
        (
            "{{ m.content }}{% for c in m.tool_calls %}<call>{{ c.function.name }} {{ c.function.arguments.values()|join(' ') }}</call>{% endfor %}",
            json!(["calls"]),
            "the way in which a call is written",
        ),
        (
            "{{ m.content }}{% for c in m.tool_calls %}{{ c.function.name }}{{ c.function.arguments|tojson }}{% endfor %}",
            json!(["calls"]),
            "the way in which a call is written",
        ),
        (
            "{{ m.content }}{% for c in m.tool_calls %}<f={{ c.function.name }}>{% for k, v in c.function.arguments.items() %}<p={{ k }}>\
             {{ v }}</p>{% endfor %}</f>{% endfor %}",
            json!(["nested arguments", "true and null in nested arguments"]),
            "the notation of Python",
        ),
        (
            "{{ m.content }}{% elif tools and loop.first %}{{ tools|tojson }}{{ m.content }}",
            json!(["calls"]),
            "prints tools and no calls",
        ),
    ] {
        let derived = derive(fields);
        assert_eq!(derived["partial"], parts, "{derived}");
        assert_eq!(derived["template"].is_object(), parts.is_array());
        assert!(derived["reason"].as_str().unwrap().contains(reason), "{derived}");
    }
}

#[test]
#[ignore = "measures time: CORPUS=../shared/corpus/templates cargo test --release --test library derive -- --ignored --nocapture"]
fn derivation_takes_little_time() {
    let mut times = Vec::new();
    for entry in std::fs::read_dir(std::env::var("CORPUS").unwrap()).unwrap() {
        let path = entry.unwrap().path();
        let source = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
        let Ok(template) = ChatTemplate::from_source(source, &[("bos_token", "<s>"), ("eos_token", "</s>")]) else {
            continue;
        };
        let report = template.inspect(Bounds::default()).unwrap();
        report.get::<Value>("roles").unwrap();
        let start = ThreadTime::now();
        report.get::<Value>("response").unwrap();
        times.push((start.elapsed(), path));
    }
    times.sort();
    let at = |percent: usize| &times[(times.len() - 1) * percent / 100];
    println!(
        "{} templates: half within {:?}, 99 % within {:?}, all within {:?}",
        times.len(),
        at(50).0,
        at(99).0,
        at(100)
    );
}

#[test]
#[ignore = "measures time: cargo test --release --all-features --test library derive -- --ignored --nocapture parsing"]
fn parsing_takes_little_time() {
    let call = "<call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"b\"}}\n</call>";
    let words = "Some words, with a <tag> and 1 < 2.\n".repeat(1 << 16);
    let short = "<f=look><p=city>New York</p><p=days>3</p></f>\n";
    let long = format!("<f=write><p=path>main.rs</p><p=text>{}</p></f>\n", &words[..600]);
    let fields = format!(
        "{{% if m.reasoning_content %}}<think>{{{{ m.reasoning_content }}}}</think>{{% endif %}}{{{{ m.content }}}}{CALLS}"
    );
    let texts = [
        ("content", &*fields, words.clone()),
        ("reasoning and content", &fields, format!("<think>{words}</think>{words}")),
        ("calls", &fields, call.repeat(1 << 14)),
        ("short calls in tags", TAGS, short.repeat(1 << 14)),
        ("long calls in tags", TAGS, long.repeat(1 << 11)),
    ];
    let limits = chat_template::Limits::default().with_steps(u64::MAX).with_live(1 << 30);
    for (name, fields, text) in texts {
        let template = ResponseTemplate::new(&derive(fields)["template"]).unwrap();
        let options = ParseOptions::default().with_bounds(&limits);
        let rate = |start: ThreadTime| text.len() as f64 / 1e6 / start.elapsed().as_secs_f64();
        let start = ThreadTime::now();
        let parsed = template.parse(&text, &options);
        let whole = rate(start);
        let start = ThreadTime::now();
        let mut parser = ResponseParser::new(&template, &options).unwrap();
        let parts = text.as_bytes().chunks(1 << 10).map(|part| std::str::from_utf8(part).unwrap());
        let events: usize = parts.map(|part| parser.feed(part).unwrap().len()).sum();
        assert_eq!(parser.finish().map(|(message, _)| message).ok(), parsed.ok());
        println!(
            "{name}: {whole:.0} MB a second, in parts {:.0} with {events} events",
            rate(start)
        );
    }
}
