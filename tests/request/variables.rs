//! Tests of the variables of bodies.

use chat_template::ChatTemplate;
use chat_template::request::{Policy, PrepareOptions};
use serde_json::{Value, json};

use super::{data, prepare};

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
        ("True1Hi", vec!["/reasoning_effort renamed".to_owned()])
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
    let error = template.prepare(data(&twice)).unwrap_err();
    assert_eq!(error.input_path(), Some("/chat_template_kwargs/add_generation_prompt"));
    let error = template
        .prepare(data(&body(json!({"add_generation_prompt": "yes"}))))
        .unwrap_err();
    assert_eq!(error.input_path(), Some("/chat_template_kwargs/add_generation_prompt"));
    let exact = PrepareOptions::default().with_policy(Policy::Exact);
    let body = body(json!({"add_generation_prompt": false}));
    assert!(template.prepare_with(data(&body), &exact).unwrap().render().is_err());
}

#[test]
fn variables_of_an_exact_body_are_passed_on_in_each_format() {
    let template = ChatTemplate::from_source("{{ a }}{{ messages[0].content }}", &[]).unwrap();
    let exact = PrepareOptions::default().with_policy(Policy::Exact);
    let chat = json!({"messages": [{"role": "user", "content": "x"}], "chat_template_kwargs": {"a": 1}});
    let responses = json!({"input": "x", "chat_template_kwargs": {"a": 1}});
    for body in [chat, responses] {
        let prepared = template.prepare_with(data(&body), &exact).unwrap();
        assert_eq!(prepared.render().unwrap().0.text, "1x", "{body}");
    }
}
