//! The conformance suite: the cases in tests/cases, and the corpus and the probes where the environment says where they are.
//!
//! ```text
//! cargo test --test suite                                             the suite
//! CHAT_TEMPLATE_CORPUS=DIR CHAT_TEMPLATE_PROBES=DIR cargo test …      and real templates, and small cases by area
//! ```
//!
//! A case is a request and the reference's answer. `tests/deviations.jsonl` lists the answers of this crate that differ; a listed answer
//! that does not differ fails the test. The cases of the area `unsupported`, and no others, are answered by an error of kind
//! `unsupported`. The figures go to standard error past libtest's capture.
#![allow(clippy::restriction, clippy::pedantic, reason = "a test says what it expects by failing")]

mod case;
mod deviation;
mod docs;
mod run;
mod show;
mod sources;

use std::io::Write;
use std::path::{Path, PathBuf};

use case::Answer;
use deviation::Deviations;
use run::{Aspect, Outcome, Tree};

/// The most probes that this crate may not support.
const MOST_UNSUPPORTED_PROBES: usize = 250;

/// The area of the probes about how CPython compiles: only the output and the presence of an error are compared.
const ARTEFACTS: &str = "python_artefacts";

/// The area of the cases that this crate does not support.
const UNSUPPORTED: &str = "unsupported";

/// The part that each message of `src/unsupported.rs` has.
const REASON: &str = " is not part of the Jinja that chat templates use; ";

#[test]
fn cases_are_answered_as_by_the_reference() {
    let cases = sources::cases(&tests().join("cases"));
    let deviations = Deviations::read(&tests().join("deviations.jsonl"));
    for (tree, name) in [(Tree::Own, "cases"), (Tree::Serde, "cases from serde_json")] {
        let outcomes = run::all(&cases, tree);
        let mut faults = deviations.faults(&outcomes);
        let should_be_supported = |outcome: &&Outcome<'_>| (outcome.case.area() == UNSUPPORTED) != outcome.is_unsupported();
        faults.extend(outcomes.iter().filter(should_be_supported).map(show::difference));
        say(&format!("{name}: {}\n", figures(&outcomes)));
        assert!(faults.is_empty(), "{}", show::listed(&faults));
    }
}

#[test]
fn corpus_is_rendered_as_by_the_reference() {
    let Some(folder) = folder("CHAT_TEMPLATE_CORPUS") else {
        return;
    };
    let cases = sources::corpus(&folder);
    let outcomes = run::all(&cases, Tree::Own);
    let wrong = |outcome: &&Outcome<'_>| {
        let refused = matches!(&outcome.case.expect, Answer::Error(error) if error.kind == "raised");
        outcome.is_wrong(Aspect::Output) || outcome.is_wrong(Aspect::Kind) || refused && outcome.is_wrong(Aspect::Message)
    };
    let faults: Vec<String> = outcomes.iter().filter(wrong).map(show::difference).collect();
    say(&format!("corpus: {}\n", figures(&outcomes)));
    assert!(faults.is_empty(), "{}", show::listed(&faults));
}

#[test]
fn probes_are_answered_as_by_the_reference() {
    let Some(folder) = folder("CHAT_TEMPLATE_PROBES") else {
        return;
    };
    let cases = sources::cases(&folder);
    let outcomes = run::all(&cases, Tree::Own);
    let (unsupported, supported): (Vec<_>, Vec<_>) = outcomes.iter().partition(|outcome| outcome.is_unsupported());
    let wrong = supported.iter().filter(|outcome| outcome.is_wrong(Aspect::Output));
    let mut faults: Vec<String> = wrong.map(|outcome| show::difference(outcome)).collect();
    let has_reason = |outcome: &Outcome<'_>| matches!(&outcome.got, Answer::Error(error) if error.message.contains(REASON));
    let without_reason = unsupported.iter().filter(|outcome| !has_reason(outcome));
    faults.extend(without_reason.map(|outcome| show::difference(outcome)));
    if unsupported.len() > MOST_UNSUPPORTED_PROBES {
        faults.push(format!(
            "{} probes are unsupported, at most {MOST_UNSUPPORTED_PROBES} may be",
            unsupported.len()
        ));
    }
    let is_compared = |outcome: &&Outcome<'_>| outcome.case.area() != ARTEFACTS;
    let compared: Vec<&Outcome<'_>> = supported.into_iter().filter(|outcome| is_compared(outcome)).collect();
    let mut share = |aspect: Aspect, least: f64, place: &str, among: &[&Outcome<'_>]| {
        let percent = percent_right(aspect, among);
        if percent < least {
            faults.push(format!(
                "{place}: {} right of {percent:.2} %, at least {least} are due",
                aspect.name()
            ));
            let wrong = among.iter().filter(|outcome| outcome.is_wrong(aspect));
            faults.extend(wrong.map(|outcome| show::difference(outcome)));
        }
    };
    share(Aspect::Kind, 99.0, "all areas", &compared);
    share(Aspect::Message, 95.0, "all areas", &compared);
    share(Aspect::Line, 95.0, "all areas", &compared);
    for area in sources::areas(&cases) {
        let of_area: Vec<_> = compared
            .iter()
            .copied()
            .filter(|outcome| outcome.case.area() == area)
            .collect();
        share(Aspect::Message, 85.0, area, &of_area);
    }
    say(&format!("probes: {}\n", figures(&outcomes)));
    say(&format!(
        "probes without {ARTEFACTS}: {}\n",
        figures(outcomes.iter().filter(is_compared))
    ));
    assert!(faults.is_empty(), "{}", show::listed(&faults));
}

/// Counts the right answers and those that are unsupported, as one line.
fn figures<'o, 'c: 'o>(outcomes: impl IntoIterator<Item = &'o Outcome<'c>>) -> String {
    let outcomes: Vec<&Outcome<'_>> = outcomes.into_iter().collect();
    let unsupported = outcomes.iter().filter(|outcome| outcome.is_unsupported()).count();
    let right = outcomes.iter().filter(|outcome| outcome.is_right()).count();
    let errors = outcomes.iter().filter(|outcome| outcome.errs_rightly()).count();
    let [kinds, messages, lines] = [Aspect::Kind, Aspect::Message, Aspect::Line]
        .map(|aspect| format!("{} {:.2} %", aspect.name(), percent_right(aspect, &outcomes)));
    format!(
        "{right} of {} right, {unsupported} unsupported; of {errors} errors: {kinds}, {messages}, {lines}",
        outcomes.len()
    )
}

/// Of the errors that the reference makes and we make too.
fn percent_right(aspect: Aspect, outcomes: &[&Outcome<'_>]) -> f64 {
    let errors: Vec<_> = outcomes.iter().filter(|outcome| outcome.errs_rightly()).collect();
    let right = errors.iter().filter(|outcome| !outcome.is_wrong(aspect)).count();
    if errors.is_empty() {
        100.0
    } else {
        100.0 * right as f64 / errors.len() as f64
    }
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// A folder that a variable of the environment names, relative to the crate's.
fn folder(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).filter(|folder| !folder.is_empty());
    if folder.is_none() {
        say(&format!("{variable} is not set: nothing to run\n"));
    }
    Some(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder?))
}

/// libtest captures what is printed by macros only.
fn say(text: &str) {
    std::io::stderr()
        .write_all(text.as_bytes())
        .expect("standard error takes text");
}
