//! The conformance suite: the cases in tests/cases, and the corpus and the probes where the environment says where they are.
//!
//! ```text
//! cargo test --test suite                                             the suite
//! CHAT_TEMPLATE_CORPUS=DIR CHAT_TEMPLATE_PROBES=DIR cargo test …      and real templates, and small cases by area
//! ```
//!
//! Every case is the reference's answer beside a request. What may differ stands in a file of deviations, and a deviation that is in
//! fact right, or that names no case, fails the test: the list cannot rot. The figures go to standard error past libtest's capture.
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

/// The most probes that may be answered otherwise than by the reference.
const MOST_PROBE_DEVIATIONS: usize = 20;

/// The probes that show how CPython compiles; of them only counts that an error is an error.
const ARTEFACTS: &str = "python_artefacts";

#[test]
fn cases_are_answered_as_by_the_reference() {
    let cases = sources::cases(&tests().join("cases"));
    let deviations = Deviations::read(&tests().join("deviations.jsonl"));
    for (tree, name) in [(Tree::Own, "cases"), (Tree::Serde, "cases from serde_json")] {
        let outcomes = run::all(&cases, tree);
        let faults = deviations.faults(&outcomes, |_| true);
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
    let deviations = Deviations::read(&tests().join("probe_deviations.jsonl"));
    let mut faults = deviations.faults(&outcomes, |aspect| aspect == Aspect::Output);
    if deviations.len() > MOST_PROBE_DEVIATIONS {
        faults.push(format!(
            "{} probes are listed as deviations, at most {MOST_PROBE_DEVIATIONS} may be",
            deviations.len()
        ));
    }
    let compared: Vec<&Outcome<'_>> = outcomes.iter().filter(|outcome| outcome.case.area() != ARTEFACTS).collect();
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
    say(&format!("probes without {ARTEFACTS}: {}\n", figures(compared)));
    assert!(faults.is_empty(), "{}", show::listed(&faults));
}

/// How many are right, as one line.
fn figures<'o, 'c: 'o>(outcomes: impl IntoIterator<Item = &'o Outcome<'c>>) -> String {
    let outcomes: Vec<&Outcome<'_>> = outcomes.into_iter().collect();
    let right = outcomes.iter().filter(|outcome| !outcome.is_wrong(Aspect::Output)).count();
    let errors = outcomes.iter().filter(|outcome| outcome.errs_rightly()).count();
    let [kinds, messages, lines] = [Aspect::Kind, Aspect::Message, Aspect::Line]
        .map(|aspect| format!("{} {:.2} %", aspect.name(), percent_right(aspect, &outcomes)));
    format!(
        "{right} of {} right; of {errors} errors: {kinds}, {messages}, {lines}",
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
