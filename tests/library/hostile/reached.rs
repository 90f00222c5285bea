//! Tests that each limit can be reached, and that its error names the limit, the figure and the position.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use chat_template::{
    ApplyOptions, Bounds, ChatTemplate, Error, ErrorClass, ErrorKind, Limit, Limits, LoadOptions, RenderOptions, Template, json,
};
use serde_json::json;

/// Returns rows of a limit, the limits of the render as JSON, and a template that reaches the limit.
fn templates() -> Vec<(Limit, &'static str, String)> {
    let row = |limit, limits, template: &str| (limit, limits, template.to_owned());
    let endless = "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(1) }}";
    let mut rows = vec![
        row(
            Limit::Steps,
            "{}",
            "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
        ),
        row(
            Limit::Output,
            "{}",
            "{% set x = 'x' * 10000000 %}{% for i in range(10) %}{{ x }}{% endfor %}",
        ),
        row(Limit::Value, "{}", "{{ 'a' * 40000000 }}"),
        row(
            Limit::Live,
            "{}",
            "{% set a = 'a' * 30000000 %}{% set b = 'b' * 30000000 %}{% set c = 'c' * 30000000 %}{% set d = 'd' * 30000000 %}",
        ),
        row(Limit::Calls, "{\"calls\": 20}", endless),
        row(
            Limit::Calls,
            "{\"calls\": 20}",
            "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        ),
        row(Limit::Stack, "{\"calls\": 100000}", endless),
        row(
            Limit::Height,
            "{}",
            "{% set ns = namespace(a=[]) %}{% for i in range(1000) %}{% set ns.a = [ns.a] %}{% endfor %}",
        ),
        row(Limit::Width, "{}", "{{ '%1048577d' % 1 }}"),
        row(Limit::Width, "{}", "{{ '%.1048577f' % 1 }}"),
        row(Limit::Width, "{}", "{{ '{:>1048577}'.format(1) }}"),
        row(Limit::Bits, "{}", "{{ 3 ** 1000000 }}"),
        row(Limit::Bits, "{}", "{{ (2 ** 1000000) * (2 ** 1000000) }}"),
        row(
            Limit::Milliseconds,
            "{\"milliseconds\": 0}",
            "{% for i in range(10) %}{% endfor %}",
        ),
        row(Limit::Statements, "{}", &nested("{% with %}", 200, "", "{% endwith %}")),
        row(Limit::Nesting, "{}", &format!("{{{{ {} }}}}", nested("(", 100, "1", ")"))),
        row(Limit::Tree, "{}", &format!("{{{{ 1{} }}}}", " + 1".repeat(1000))),
        row(Limit::RangeBits, "{}", "{{ range(2 ** 63, 2 ** 63 + 2) }}"),
        row(
            Limit::Attributes,
            "{}",
            "{{ namespace(range(1001)|map('string')|batch(1)|map('batch', 2, 0)|map('first')) }}",
        ),
    ];
    rows.push((Limit::Source, "{}", "#".repeat(2 << 20)));
    rows
}

fn nested(open: &str, depth: usize, inside: &str, close: &str) -> String {
    format!("{}{inside}{}", open.repeat(depth), close.repeat(depth))
}

fn assert_reached(error: &Error, limit: Limit) {
    let reached = error.reached().unwrap_or_else(|| panic!("{limit:?}: {error}"));
    assert_eq!(reached.limit, limit, "{error}");
    assert_eq!(error.kind(), ErrorKind::Limit);
    // A fault of the files of a model is not a fault of the request.
    let is_model = matches!(
        limit,
        Limit::File | Limit::Templates | Limit::Sources | Limit::SpecialTokens | Limit::AddedTokens
    );
    assert_eq!(error.class(), if is_model { ErrorClass::Template } else { ErrorClass::Limit });
    assert!(reached.actual > reached.allowed || reached.allowed == 0, "{error}");
    assert!(
        error.to_string().contains(&format!("limit reached: {}: ", limit.name())),
        "{error}"
    );
}

#[test]
fn an_error_of_kind_limit_has_the_limit_and_the_position() {
    for (limit, limits, source) in templates() {
        let limits: Limits = serde_json::from_str(limits).expect("limits");
        let options = RenderOptions::default().with_bounds(&limits);
        let template = Template::compile_with(&source, &limits);
        let rendered = template.and_then(|template| template.render(&json!({}), &options));
        let error = rendered.expect_err(&source);
        assert_reached(&error, limit);
        assert_eq!(error.position().is_some(), limit != Limit::Source, "{error}");
    }
}

#[test]
fn a_flag_that_another_thread_sets_cancels_a_render() {
    let flag = AtomicBool::new(false);
    let limits: Limits = serde_json::from_str("{\"steps\": 1000000000000}").expect("limits");
    let source = "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}";
    let chat = ChatTemplate::from_source(source, &[]).unwrap();
    let options = ApplyOptions::default().with_bounds(Bounds::from(&limits).with_cancel(&flag));
    let error = std::thread::scope(|scope| {
        scope.spawn(|| flag.store(true, Ordering::Relaxed));
        chat.apply(&json!([{"role": "user", "content": "Hi"}]), &options)
            .expect_err("the flag is set")
    });
    assert_reached(&error, Limit::Cancel);
}

#[test]
fn compiling_stops_at_its_steps_at_the_deadline_and_at_the_flag() {
    let source = "{{ a.b + [1, 2]|first }}".repeat(40_000);
    let flag = AtomicBool::new(true);
    for (limits, cancel, limit) in [
        (Limits::default().with_steps(10_000), None, Limit::Steps),
        (Limits::default().with_milliseconds(0), None, Limit::Milliseconds),
        (Limits::default(), Some(&flag), Limit::Cancel),
    ] {
        let bounds = Bounds::from(&limits).with_cancel(cancel);
        let error = Template::compile_with(&source, bounds).expect_err("the source is long");
        assert_reached(&error, limit);
    }
}

#[test]
fn the_source_in_a_request_is_compiled_within_its_limits() {
    let limits = Limits::default().with_steps(1000);
    let source = "{{ 1 }}".repeat(1000);
    let options = ApplyOptions::default()
        .with_bounds(&limits)
        .with_chat_template(source.as_str());
    let chat = ChatTemplate::from_source("", &[]).unwrap();
    let error = chat.apply(&json!([{"role": "user", "content": "Hi"}]), &options);
    assert_reached(&error.expect_err("the source is long"), Limit::Steps);
}

#[test]
fn the_templates_of_a_model_share_the_steps_of_their_compilation() {
    let source = "{{ (7**4900)|string|length }}".repeat(50);
    let limits = Limits::default().with_steps(500_000);
    let names: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    let templates: serde_json::Map<_, _> = names.into_iter().map(|name| (name, json!(source))).collect();
    let folder = std::env::temp_dir().join(format!("chat-template-steps-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(
        folder.join("tokenizer_config.json"),
        json!({"chat_template": templates}).to_string(),
    )
    .expect("a file");
    let options = LoadOptions::default().with_bounds(&limits);
    let chat = ChatTemplate::from_dir(&folder, &options).expect("no template is named default");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    let apply = |name| {
        let options = ApplyOptions::default().with_chat_template(name);
        chat.apply(&json!([{"role": "user", "content": "Hi"}]), &options)
    };
    assert_eq!(apply("0").expect("the first has its steps").text, "4141".repeat(50));
    assert_reached(&apply("19").expect_err("no step is left"), Limit::Steps);
}

#[test]
fn json_and_files_have_limits() {
    let deep = json::read(&nested("[", 513, "", "]")).expect_err("it is deep");
    assert_reached(&Error::from(deep), Limit::JsonDepth);
    let wide = format!("[{}1]", "1,".repeat(6_000_000));
    let wide = json::read(&wide).expect_err("it is wide");
    assert_reached(&Error::from(wide), Limit::JsonValues);
    let named: serde_json::Map<_, _> = (0..1001).map(|number| (number.to_string(), json!("x"))).collect();
    let many = ChatTemplate::from_config(&json!({"chat_template": named})).expect_err("there are many");
    assert_reached(&many, Limit::Templates);
    let tokens: serde_json::Map<_, _> = (0..10_001).map(|number| (format!("{number}_token"), json!("x"))).collect();
    let many = ChatTemplate::from_config(&json!(tokens)).expect_err("there are many");
    assert_reached(&many, Limit::SpecialTokens);
    let tokens: Vec<String> = (0..=1 << 18).map(|number| number.to_string()).collect();
    let many = ChatTemplate::from_config(&json!({"additional_special_tokens": tokens})).expect_err("there are many");
    assert_reached(&many, Limit::AddedTokens);
    let source = "a".repeat(1 << 20);
    let sources: Vec<(String, &str)> = (0..5).map(|number| (number.to_string(), source.as_str())).collect();
    let sources: Vec<(&str, &str)> = sources.iter().map(|(name, source)| (name.as_str(), *source)).collect();
    let long = ChatTemplate::from_named(&sources, &[])
        .unwrap()
        .check()
        .expect_err("they are long together");
    assert_reached(&long, Limit::Sources);
    let options = LoadOptions::default().with_max_file_size(10);
    let error = ChatTemplate::from_dir(Path::new("tests/models/jinja"), &options).expect_err("the files are larger");
    assert_reached(&error, Limit::File);
}

#[test]
fn every_limit_is_reached_here() {
    let mut reached: Vec<Limit> = templates().iter().map(|(limit, ..)| *limit).collect();
    reached.extend([
        Limit::Cancel,
        Limit::JsonDepth,
        Limit::JsonValues,
        Limit::File,
        Limit::Templates,
        Limit::Sources,
        Limit::SpecialTokens,
        Limit::AddedTokens,
    ]);
    // Reaching this limit takes 2³² namespaces, and so more memory than the other limits allow.
    reached.push(Limit::Objects);
    for limit in Limit::ALL {
        assert!(reached.contains(limit), "nothing reaches {limit:?}");
    }
}

#[test]
fn every_field_of_the_limits_is_reached_here() {
    let limits = serde_json::to_value(Limits::default()).expect("limits are JSON");
    let reached: Vec<Limit> = templates().iter().map(|(limit, ..)| *limit).collect();
    for name in limits.as_object().expect("limits are an object").keys() {
        assert!(
            reached.iter().any(|limit| limit.name() == name),
            "no template reaches the limit {name}"
        );
    }
}

#[test]
fn a_text_made_of_pieces_counts_with_its_length() {
    let text = "a".repeat(20 << 20);
    for made in [
        "{% set x = '<' + s + '>' %}",
        "{% set x = '<' ~ s ~ '>' %}",
        "{% set x %}<{{ s }}>{% endset %}",
        "{% macro m() %}<{{ s }}>{% endmacro %}{% set x = m() %}",
    ] {
        let template = Template::compile(&format!("{made}{{{{ x|length }}}}")).unwrap();
        assert_eq!(
            template.render(&json!({"s": text}), &RenderOptions::default()).unwrap().text,
            "20971522",
            "{made}"
        );
    }
}

#[test]
fn a_large_tree_counts_as_live() {
    let limits = Limits::default().with_live(1000);
    let options = RenderOptions::default().with_bounds(&limits);
    let render = |count: usize| {
        let list = "a,".repeat(count);
        let template = Template::compile(&format!("{{% if x %}}{{{{ [{list}] }}}}{{% endif %}}")).unwrap();
        template.render(&json!({}), &options).map(|rendered| rendered.text)
    };
    assert_eq!(render(30_000).unwrap(), "");
    let error = render(500_000).unwrap_err();
    assert_eq!(error.reached().map(|reached| reached.limit), Some(Limit::Live));
}
