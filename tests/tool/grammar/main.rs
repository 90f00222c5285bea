//! Tests of `grammar/`: its sentences are templates, each part of the grammar and each attribute has a case, and each built-in is listed.
#![allow(clippy::restriction, clippy::pedantic, reason = "a test says what it expects by failing")]

mod coverage;
mod derivations;
mod ebnf;
mod sentences;

use chat_template_cli::conformance::Suite;

/// Returns the templates of the cases that render one, without those of what is unsupported, which the grammar does not contain.
fn list_templates() -> Vec<String> {
    let cases = Suite::embedded().expect("the suite has no faults").cases.into_iter();
    let rendered = cases.filter(|case| !case.id.starts_with("unsupported/") && case.features().contains(&"render"));
    rendered.map(|case| case.template_text()).collect()
}
