//! Tests that each part of the grammar and each attribute has a case, and that the document of reachable names has each built-in.

use std::collections::BTreeSet;

use super::derivations::{Derivations, Part};
use super::ebnf::Grammar;
use super::list_templates;
use chat_template::Template;
use chat_template::internal::{Function, Type, filters, globals, jinja_tests, methods};

/// The document of all that a template can reach.
const REACHABLE: &str = include_str!("../../../grammar/reachable.md");

/// Templates for rules that the grammar states only in comments: a comment that is opened at the very end, a backslash that stays,
/// digits of other scripts.
const BEYOND: [&str; 5] = [
    "a{#",
    "{{ '\\d\\w\\/\\z' }}",
    "{{ \"\\8\\9\" }}",
    "{{ '\\s\\é\\ü' }}",
    "{{ 1٢٣ }} {{ 1_٢ }} {{ 10٠ }}",
];

/// The length in bytes up to which all templates of the cases are derived. Longer ones are slow, and are derived only for the parts of the
/// grammar that no shorter one has.
const SHORT: usize = 60;

#[test]
fn each_part_of_the_grammar_has_a_case_and_each_template_is_of_the_grammar() {
    // Derivations descend as deep as templates nest.
    let deep = std::thread::Builder::new().stack_size(256 << 20);
    let thread = deep.spawn(|| {
        let derivations = Derivations::new(&Grammar::load().expect("the grammar can be read"));
        let mut missing: BTreeSet<Part> = derivations.leaves().collect();
        let mut strangers = Vec::new();
        let mut templates: Vec<String> = list_templates();
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
        let missing: Vec<String> = missing.into_iter().map(|part| derivations.describe(part)).collect();
        assert!(missing.is_empty(), "no case has {missing:#?}");
    });
    thread.expect("a thread starts").join().expect("the derivations are complete");
}

#[test]
fn each_built_in_is_in_the_document_of_reachable_names() {
    let section = |heading: &str| -> BTreeSet<&str> {
        let (_, section) = REACHABLE.split_once(heading).expect("the document has the section");
        let row = section.lines().find(|line| line.starts_with('`'));
        names(row.expect("the section has a row")).collect()
    };
    let table = |rows: &'static [Function]| -> BTreeSet<&str> { rows.iter().map(|row| row.name).collect() };
    assert_eq!(table(globals::all()), section("## Global names"));
    assert_eq!(table(filters::all()), section("## Filters"));
    assert_eq!(table(jinja_tests::all()), section("## Tests"));
    for ty in methods::types() {
        let kind = match ty {
            Type::Str => "a string",
            Type::Int => "an integer",
            Type::Loop => "a loop",
            Type::Cycler => "a cycler",
            _ => &format!("a {}", ty.name()),
        };
        let row = attributes()
            .find(|(other, _)| *other == kind)
            .expect("the document has the type");
        let listed: BTreeSet<&str> = names(row.1).collect();
        let missing: Vec<_> = methods::all(ty)
            .into_iter()
            .filter(|method| !listed.contains(method.name))
            .collect();
        assert!(missing.is_empty(), "grammar/reachable.md lacks {missing:?}");
    }
}

#[test]
fn each_attribute_of_an_object_has_a_case() {
    let templates: Vec<String> = list_templates();
    let names: BTreeSet<&str> = attributes().flat_map(|(_, row)| names(row)).collect();
    assert!(names.len() > 60, "{names:?}");
    let missing: Vec<&str> = names
        .into_iter()
        .filter(|name| !templates.iter().any(|template| reads(template, name)))
        .collect();
    assert!(missing.is_empty(), "no case reads {missing:?}");
}

/// Returns the kinds of values in [`REACHABLE`], each with the row of its attributes.
fn attributes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = REACHABLE.lines().filter_map(|line| line.strip_prefix("- "));
    rows.map(|row| {
        let (kind, row) = row.split_once(", `").expect("a row has an expression");
        let (_, attributes) = row.split_once("`: ").expect("a row has attributes");
        (kind, attributes)
    })
}

/// Returns the names between backticks.
fn names(row: &'static str) -> impl Iterator<Item = &'static str> {
    row.split('`').skip(1).step_by(2)
}

/// Returns whether a template reads the attribute `name`.
fn reads(template: &str, name: &str) -> bool {
    let mut after = template.split('.').skip(1).filter_map(|after| after.strip_prefix(name));
    after.any(|rest| !rest.starts_with(|char: char| char.is_alphanumeric() || char == '_'))
}
