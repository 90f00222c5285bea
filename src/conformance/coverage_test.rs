//! Each part of the grammar, each built-in and each row of the documents has a case.

use std::collections::BTreeSet;

use super::derivation_test::{Derivations, Part};
use super::{Case, Suite};
use crate::Template;
use crate::builtins::{filters, globals, methods, predicates};
use crate::ebnf::Grammar;
use crate::value::called;

/// Where the attributes stand that are no rows of a table, as arms of a `match`.
const ATTRIBUTES: [&str; 2] = [
    include_str!("../builtins/methods/engine.rs"),
    include_str!("../builtins/methods/sequence.rs"),
];

/// What the grammar tells in its comments only: a comment that is opened at the very end, a backslash that stays, digits of other scripts.
const BEYOND: [&str; 4] = [
    "a{#",
    "{{ '\\d\\w\\/\\z' }}",
    "{{ \"\\8\\9\" }}",
    "{{ 1٢٣ }} {{ 1_٢ }} {{ 10٠ }}",
];

/// Longer templates take their time, and are derived only for what no shorter one has.
const SHORT: usize = 60;

#[test]
fn each_part_of_the_grammar_has_a_case_and_each_template_is_of_the_grammar() {
    // Derivations descend as deep as templates nest.
    let deep = std::thread::Builder::new().stack_size(256 << 20);
    let thread = deep.spawn(|| {
        let derivations = Derivations::new(&Grammar::load().expect("the grammar can be read"));
        let mut missing: BTreeSet<Part> = derivations.leaves().collect();
        let mut strangers = Vec::new();
        // The grammar has nothing that is not supported.
        let cases = suite().into_iter().filter(|case| !case.id.starts_with("unsupported/"));
        let mut templates: Vec<String> = cases.filter_map(|case| template(&case)).collect();
        templates.sort_by_key(String::len);
        for template in &templates {
            let is_asked = template.len() <= SHORT || !missing.is_empty();
            if is_asked && Template::compile(template).is_ok() {
                match derivations.derive(template) {
                    Some(parts) => missing.retain(|part| !parts.contains(part)),
                    None if BEYOND.contains(&template.as_str()) => {}
                    None => strangers.push(template),
                }
            }
        }
        assert!(strangers.is_empty(), "no derivation by grammar/template.ebnf: {strangers:#?}");
        let missing: Vec<String> = missing.into_iter().map(|part| derivations.told(part)).collect();
        assert!(missing.is_empty(), "no case has {missing:#?}");
    });
    thread.expect("a thread starts").join().expect("the derivations are complete");
}

#[test]
fn each_built_in_is_called_by_a_case() {
    for case in suite() {
        let context = Some(case.shown_context()).filter(|context| !context.is_empty());
        if let Some(template) = template(&case).and_then(|template| Template::compile(&template).ok()) {
            // Many cases fail, as they should.
            let _ = template.render_json(context.as_deref().unwrap_or("{}"));
        }
    }
    let types = methods::TYPES.into_iter().flat_map(methods::methods);
    let rows = filters::all()
        .iter()
        .chain(predicates::all())
        .chain(globals::all())
        .chain(types);
    let missing: Vec<&str> = rows.filter(|row| !called::has(row)).map(|row| row.python).collect();
    assert!(missing.is_empty(), "no case calls {missing:?}");
}

#[test]
fn each_name_of_the_tables_is_in_the_document_of_reachable_names() {
    let document = include_str!("../../grammar/reachable.md");
    let tables = [
        ("## Global names", globals::all()),
        ("## Filters", filters::all()),
        ("## Tests", predicates::all()),
    ];
    for (heading, rows) in tables {
        let section = document.split(heading).nth(1).and_then(|rest| rest.split("##").next());
        let names: BTreeSet<&str> = section.expect(heading).split('`').skip(1).step_by(2).collect();
        let rows: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
        assert_eq!(names, rows, "{heading}: run tests/reference/reachable.py --write");
    }
}

#[test]
fn each_attribute_of_an_object_has_a_case() {
    let templates: Vec<String> = suite().iter().filter_map(template).collect();
    let mut names = BTreeSet::new();
    for source in ATTRIBUTES {
        // In functions called `…attribute`, up to their end.
        for function in source.split("attribute<'a>(").skip(1) {
            let body = function.split("\n}\n").next().unwrap_or_default();
            names.extend(
                body.lines()
                    .filter_map(|line| line.trim().strip_prefix('"')?.split_once("\" =>").map(|(name, _)| name)),
            );
        }
    }
    assert!(names.len() > 15, "{names:?}");
    let names = names.iter().flat_map(|names| names.split("\" | \""));
    let missing: Vec<&str> = names
        .filter(|name| !templates.iter().any(|template| reads(template, name)))
        .collect();
    assert!(missing.is_empty(), "no case reads {missing:?}");
}

/// Whether `.name` stands there.
fn reads(template: &str, name: &str) -> bool {
    let behind = template.split('.').skip(1).filter_map(|behind| behind.strip_prefix(name));
    behind
        .into_iter()
        .any(|rest| !rest.starts_with(|char: char| char.is_alphanumeric() || char == '_'))
}

fn suite() -> Vec<Case> {
    Suite::embedded().expect("the suite has no faults").cases
}

fn template(case: &Case) -> Option<String> {
    case.features().contains(&"render").then(|| case.shown())
}
