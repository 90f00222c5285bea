//! The interface that a server uses: classes of errors, types of arguments, and results as JSON.

use chat_template::{ApplyOptions, ChatTemplate, Error, ErrorClass, ErrorKind, Limits, Prompt, RenderOptions};
use serde_json::{Map, Value, json};

const TEMPLATE: &str = "{% for m in messages %}{{ bos_token }}\
    {%- for call in m.tool_calls %}{% for k, v in call.arguments|items %}{{ k }}{{ v }}{% endfor %}{% endfor %}\
    {{- m.content + eos_token }}{{ limit / 2 }}{% endfor %}";

fn apply(source: &str, messages: &Value) -> Result<Prompt, Error> {
    let template = ChatTemplate::from_source(source, &[("bos_token", "<s>"), ("eos_token", "</s>")]).unwrap();
    let variables = json!({"limit": 4});
    template.apply(messages, &ApplyOptions::default().with_variables(&variables))
}

#[track_caller]
fn assert_class(source: &str, messages: Value, kind: ErrorKind, class: ErrorClass, path: Option<&str>) {
    let error = apply(source, &messages).expect_err(source);
    assert_eq!(
        (error.kind(), error.class(), error.input_path()),
        (kind, class, path),
        "{error}"
    );
}

#[test]
fn a_value_of_the_request_that_does_not_fit_is_a_mismatch() {
    use ErrorClass::Mismatch;
    let plain = json!({"content": "Hi"});
    for (messages, kind, path) in [
        (
            json!([plain, {"content": "", "tool_calls": [{"arguments": "{}"}]}]),
            ErrorKind::Type,
            "/messages/1/tool_calls/0/arguments",
        ),
        (json!([plain, {"content": ["a"]}]), ErrorKind::Type, "/messages/1/content"),
        (json!([{"content": 1}]), ErrorKind::Type, "/messages/0/content"),
        (json!([{"content": {}}]), ErrorKind::Type, "/messages/0/content"),
        // The contract drops the key that is null, so that it is missing.
        (json!([plain, {"content": null}]), ErrorKind::Undefined, "/messages/1"),
    ] {
        assert_class(TEMPLATE, messages, kind, Mismatch, Some(path));
    }
    let one = json!([plain]);
    assert_class(
        "{{ messages[3].x }}",
        one.clone(),
        ErrorKind::Undefined,
        Mismatch,
        Some("/messages"),
    );
    assert_class("{{ tools|length }}", one.clone(), ErrorKind::Type, Mismatch, Some("/tools"));
    let list = json!([{"content": ["a"]}]);
    assert_class(
        "{{ bos_token + messages[0].content }}",
        list,
        ErrorKind::Type,
        Mismatch,
        Some("/messages/0/content"),
    );
    assert_class("{{ limit + 'a' }}", one, ErrorKind::Type, Mismatch, Some("/limit"));
}

#[test]
fn an_error_without_a_value_of_the_request_is_about_the_template() {
    use ErrorClass::Template;
    let messages = json!([{"content": "Hi"}]);
    for (source, kind, path) in [
        ("{{ 1 + 'a' }}", ErrorKind::Type, None),
        ("{{ nope.x }}", ErrorKind::Undefined, None),
        ("{% set x = messages|length %}{{ x + 'a' }}", ErrorKind::Type, None),
        ("{{ bos_token + 1 }}", ErrorKind::Type, Some("/bos_token")),
        ("{{ messages + 1 }}", ErrorKind::Type, Some("/messages")),
        ("{{ messages.append(1) }}", ErrorKind::Security, None),
    ] {
        assert_class(source, messages.clone(), kind, Template, path);
    }
    let refused = apply("{{ raise_exception(messages[0].content) }}", &messages).expect_err("it raises");
    assert_eq!((refused.class(), refused.input_path()), (ErrorClass::Refused, None));
}

#[test]
fn a_variable_in_the_place_of_a_token_belongs_to_the_request() {
    let template = ChatTemplate::from_source("{{ bos_token + 'a' }}", &[("bos_token", "<s>")]).unwrap();
    let variables = json!({"bos_token": 1});
    let options = ApplyOptions::default().with_variables(&variables);
    let error = template.apply(&json!([{}]), &options).expect_err("1 is not a text");
    assert_eq!(
        (error.class(), error.input_path()),
        (ErrorClass::Mismatch, Some("/bos_token"))
    );
}

#[test]
fn debug_prints_what_display_does() {
    let error = apply("{{ nope.x }}", &json!([{}])).expect_err("it is undefined");
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[test]
fn the_error_of_a_limit_names_its_setting() {
    let template = ChatTemplate::from_source("{% for i in range(1000) %}{{ i }}{% endfor %}", &[]).unwrap();
    let limits = Limits::default().with_steps(100);
    let options = ApplyOptions::default().with_bounds(&limits);
    let error = template.apply(&json!([{}]), &options).expect_err("it takes more");
    assert!(
        error.to_string().contains("\nto allow more, raise `Limits::steps`"),
        "{error}"
    );
}

#[test]
fn messages_can_be_maps_and_arguments_options() {
    let template = ChatTemplate::from_named(
        &[
            ("default", "{{ messages }} {{ tools }} {{ documents }}"),
            ("tool_use", "with {{ tools }}"),
        ],
        &[],
    )
    .unwrap();
    let message: Map<String, Value> = serde_json::from_str(r#"{"role": "user"}"#).expect("an object");
    let owned: Vec<Map<String, Value>> = vec![message];
    let (none, some): (Option<Vec<Value>>, Option<Value>) = (None, Some(json!([{"a": 1}])));
    let options = ApplyOptions::default()
        .with_tools(&none)
        .with_documents(&some)
        .with_variables(&Value::Null);
    let expected = "[{'role': 'user'}] None [{'a': 1}]";
    assert_eq!(template.apply(&owned, &options).expect("it renders").text, expected);
    assert_eq!(template.apply(owned.as_slice(), &options).expect("it renders").text, expected);
    let tools = some.as_ref();
    let options = options.with_tools(&tools);
    assert_eq!(template.apply(&owned, &options).expect("it renders").text, "with [{'a': 1}]");
}

#[test]
fn results_can_be_shown_and_serialized() {
    let prompt = apply("{{ messages }}", &json!([{}])).expect("it renders");
    assert!(prompt.steps > 0);
    let written = serde_json::to_value(&prompt).expect("it serializes");
    assert_eq!(written["reference_spans"], json!({"code_points": [], "bytes": []}));
    let error = apply(TEMPLATE, &json!([{"content": 1}])).expect_err("a number is not a text");
    let written = serde_json::to_value(&error).expect("it serializes");
    assert_eq!(written["class"], "mismatch");
    assert_eq!(written["input_path"], "/messages/0/content");
    assert_eq!(written["trail"][0], "in message 1 of 1");
    let limits = serde_json::to_value(Limits::default()).expect("it serializes");
    assert_eq!((&limits["calls"], &limits["value"]), (&json!(200), &json!(32 << 20)));
    assert!(format!("{:?}", RenderOptions::default()).starts_with("RenderOptions { bounds: Bounds { limits: Limits { steps: "));
}

#[test]
fn a_conversation_that_does_not_change_is_not_copied() {
    let messages = json!([{"role": "user", "content": "x".repeat(100_000)}]);
    let limits = Limits::default().with_live(10_000);
    let options = ApplyOptions::default().with_bounds(&limits);
    let template = ChatTemplate::from_source("{{ messages[0].content|length }}", &[]).unwrap();
    assert_eq!(template.apply(&messages, &options).expect("it renders").text, "100000");
}

#[test]
fn errors_of_the_contract_say_which_argument_is_wrong() {
    let template = ChatTemplate::from_source("{{ messages }}", &[]).unwrap();
    let messages = json!([{"role": "user"}]);
    let [text, list] = [json!("[]"), json!(["a"])];
    let default = ApplyOptions::default();
    #[rustfmt::skip]
    let cases = [
        (text.clone(), default, "`messages` is of type str, and must be a list of objects"),
        (list.clone(), default, "message 1 is of type str, and must be an object"),
        (json!(null), default, "`messages` is of type NoneType, and must be a list of objects"),
        (messages.clone(), default.with_tools(&text), "`tools` is of type str, and must be a list of objects"),
        (messages.clone(), default.with_documents(&list), "`documents` has an item that is not an object"),
        (messages, default.with_variables(&list), "`variables` is of type list, and must be an object"),
    ];
    for (messages, options, note) in cases {
        let error = template.apply(&messages, &options).expect_err("an argument is wrong");
        assert_eq!((error.class(), error.note()), (ErrorClass::Request, Some(note)), "{error}");
    }
}
