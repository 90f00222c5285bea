//! The constructs that this crate does not support: each has a case, and is an error where a render reaches it.

use std::path::Path;

use chat_template::{Error, ErrorClass, ErrorKind, RenderOptions, Template};
use serde_json::{Value, json};

fn render(source: &str, context: &Value) -> Result<String, Error> {
    let rendered = Template::compile(source)?.render(context, &RenderOptions::default());
    rendered.map(|rendered| rendered.text)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Returns the names of each row of the table.
fn list_rows() -> Vec<Vec<String>> {
    let source = read("src/unsupported.rs");
    let lists = source
        .split("row(")
        .filter_map(|row| row.split_once("&[")?.1.split_once(']'))
        .map(|(names, _)| names);
    let rows = lists.map(|names| {
        names
            .split('"')
            .skip(1)
            .step_by(2)
            .map(|name| name.replace("\\\\", "\\"))
            .collect()
    });
    rows.filter(|names: &Vec<String>| !names.is_empty()).collect()
}

#[test]
fn each_row_has_one_case_and_each_case_a_row() {
    let cases = read("tests/cases/unsupported.jsonl");
    let cases: Vec<Value> = cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut rows = list_rows();
    assert_eq!(rows.len(), cases.len());
    for case in cases {
        let error = render(case["template"].as_str().unwrap(), &case["context"]).expect_err("it is unsupported");
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{case}");
        let (name, _) = error
            .message()
            .split_once(" is not part of the Jinja that chat templates use; ")
            .unwrap();
        let has_name = |names: &Vec<String>| names.iter().any(|other| other == name.trim_matches('`') || other == name);
        let row = rows.iter().position(has_name).unwrap_or_else(|| panic!("no row for {case}"));
        rows.swap_remove(row);
    }
}

#[test]
fn a_construct_is_an_error_where_a_render_reaches_it() {
    for source in [
        "{{ x|pprint }}",
        "{{ [x]|map('pprint')|list }}",
        "{{ 'a'|pprint }}",
        "{% filter striptags %}a{% endfilter %}",
        "{{ lipsum() }}",
        "{{ lipsum is defined }}",
        "{% if lipsum %}{% endif %}",
        "{% set y = lipsum %}",
        "{{ [x|safe]|map(attribute='striptags')|list }}",
        "{{ (x|safe)['unescape'] }}",
        "{% set n = namespace() %}{% for i in 'ab' %}{% set l = [1] %}{{ l is sameas n.l }}{% set n.l = l %}{% endfor %}",
        "{% for i in 'ab' %}{{ loop.changed({'': 1}['items']) }}{% endfor %}",
        "{{ {x.rstrip: 1}[x.rstrip] }}",
    ] {
        let error = render(&format!("\n{source}"), &json!({"x": "a"})).expect_err(source);
        let (kind, class) = (ErrorKind::Unsupported, ErrorClass::Template);
        assert_eq!(
            (error.kind(), error.class(), error.line()),
            (kind, class, Some(2)),
            "{source}"
        );
        assert!(error.position().is_some(), "{source}");
    }
    for source in [
        "{% if x is none %}{{ x|pprint }}{{ lipsum() }}{% endif %}a",
        "{{ x|pprint if x is none else 'a' }}",
        "{% macro m() %}{{ x|random }}{% endmacro %}a",
        "{% if 'pprint' is filter %}a{% endif %}",
        "{% set lipsum = 'a' %}{{ lipsum }}",
        "{% macro m(lipsum) %}{{ lipsum }}{% endmacro %}{{ m('a') }}",
    ] {
        assert_eq!(render(source, &json!({"x": "a"})).unwrap(), "a", "{source}");
    }
    assert_eq!(render("{{ lipsum }}", &json!({"lipsum": "a"})).unwrap(), "a");
    assert!(Template::compile("{{ lipsum }}").unwrap().variables().is_empty());
}
