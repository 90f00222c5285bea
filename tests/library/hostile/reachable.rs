//! Tests that the names in grammar/reachable.md are those that a template can use. `tests/reference/answer.py` checks that each has a case.

use std::collections::BTreeSet;
use std::path::Path;

use chat_template::{ErrorKind, RenderOptions, Template};

/// Names that no value has: methods that change a value, and internal attributes of Python's objects.
const REFUSED: &str = "append extend insert pop remove reverse sort clear popitem setdefault update add discard difference_update \
    intersection_update symmetric_difference_update mro gi_frame gi_code gi_running gi_yieldfrom close send throw func_globals tb_frame \
    __class__ __mro__ __subclasses__ __init__ __globals__ __builtins__ __dict__ __getattribute__ __func__ __self__ __code__ __closure__ \
    __reduce__ __format__ __call__ __import__ _environment _func _context _fail_with_undefined_error _Namespace__attrs";

fn document() -> String {
    read("grammar/reachable.md")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("the file is there")
}

/// Returns the texts between backticks.
fn names(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Returns an expression for each kind of value in the document, with the names of its attributes.
fn kinds(document: &str) -> Vec<(&str, BTreeSet<&str>)> {
    let rows = document.lines().filter(|line| line.starts_with("- "));
    let kind = |line: &'static str| -> (&'static str, BTreeSet<&'static str>) {
        let (value, attributes) = line.split_once("`: ").expect("a row has attributes");
        let (_, expression) = value.split_once(", `").expect("a row has an expression");
        (expression, names(attributes).into_iter().collect())
    };
    rows.map(|line| kind(line.to_owned().leak())).collect()
}

#[test]
fn attributes_are_those_of_the_document() {
    let document = document();
    let kinds = kinds(&document);
    assert!(kinds.len() > 20);
    let mut candidates: BTreeSet<&str> = kinds.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    candidates.extend(REFUSED.split_whitespace());
    for (expression, expected) in kinds {
        // Reading an attribute of an undefined value is an error.
        if expression == "nope" {
            continue;
        }
        let reached: BTreeSet<&str> = candidates
            .iter()
            .copied()
            .filter(|name| is_reached(expression, name))
            .collect();
        assert_eq!(reached, expected, "{expression}");
    }
}

/// Returns whether a value has an attribute that this crate supports.
fn is_reached(expression: &str, name: &str) -> bool {
    let source = format!(
        "{{% macro m() %}}{{% endmacro %}}{{% for i in [1, 2, 3] %}}{{% if loop.index == 2 %}}{{{{ ({expression}).{name} is defined }}}}{{% endif %}}{{% endfor %}}"
    );
    match Template::compile(&source).and_then(|template| template.render(&serde_json::json!({}), &RenderOptions::default())) {
        Ok(output) => output.text == "True",
        Err(error) if error.kind() == ErrorKind::Unsupported => false,
        Err(error) => panic!("{expression}.{name}: {error}"),
    }
}

#[test]
fn filters_and_tests_are_those_of_the_document() {
    let document = document();
    let row = |heading: &str| -> String {
        let (_, section) = document.split_once(heading).expect("the section is there");
        section
            .lines()
            .find(|line| line.starts_with('`'))
            .expect("it has a row")
            .to_owned()
    };
    for (heading, kind) in [("## Filters", "filter"), ("## Tests", "test")] {
        let row = row(heading);
        let asked = |name: &str| format!("{{% if '{name}' is not {kind} %}}{name} {{% endif %}}");
        let source: String = names(&row).into_iter().map(asked).collect();
        let unknown =
            Template::compile(&source).and_then(|template| template.render(&serde_json::json!({}), &RenderOptions::default()));
        assert_eq!(unknown.expect("it renders").text, "", "{heading}");
    }
}
