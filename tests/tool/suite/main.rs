//! The conformance suite: the cases in tests/cases, and the corpus and the probes if the environment names their folders.
//!
//! ```text
//! cargo test -p chat-template-cli --test suite                              the suite
//! CHAT_TEMPLATE_CORPUS=DIR CHAT_TEMPLATE_PROBES=DIR cargo test …      also real templates, and small cases by area
//! ```
//!
//! A case is a request and the reference's answer. `tests/deviations.jsonl` lists the answers of this crate that differ; a listed answer
//! that does not differ fails the test. The cases of the area `unsupported`, and no others, are answered by an error of kind
//! `unsupported`. The figures are written to standard error, which libtest does not capture.
#![allow(clippy::restriction, clippy::pedantic, reason = "a test says what it expects by failing")]

mod descriptions;
mod docs;
mod responses;
mod run;
mod sources;
mod trace;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use chat_template::json::Data;
use chat_template_cli::conformance::{
    Answer, Aspect, Case, CaseReport, Exceptions, Report, Strictness, Verdict, failure, is_of_generated_code, judge,
};

use run::Tree;
use sources::Corpus;

/// The maximum number of probes that this crate may not support.
const MAX_UNSUPPORTED_PROBES: usize = 250;

/// The area of the cases that this crate does not support.
const UNSUPPORTED: &str = "unsupported";

/// The probes about how CPython compiles. Of their errors only the presence is compared.
const ARTEFACTS: &str = "python_artefacts";

/// The number of faults that are shown in full.
const MAX_SHOWN: usize = 40;

#[test]
fn cases_are_answered_as_by_the_reference() {
    let cases = sources::cases(&tests().join("cases"));
    let deviations = deviations();
    for (tree, name) in [(Tree::Own, "cases"), (Tree::Serde, "cases from serde_json")] {
        let mut report = run::all(&cases, tree);
        print(&format!("{name}: {}\n", figures(&report.cases)));
        let mut faults = faults(&mut report, &deviations, Strictness::Text);
        let is_misplaced = |case: &&CaseReport| (case.verdict == Verdict::Unsupported) != (case.area() == UNSUPPORTED);
        faults.extend(report.cases.iter().filter(is_misplaced).map(|case| {
            let verdict = case.verdict.name();
            format!(
                "{}: {verdict}, but the cases of the area `{UNSUPPORTED}`, and no others, are unsupported",
                case.id
            )
        }));
        assert_none(&faults, &report);
    }
}

#[test]
fn corpus_is_rendered_as_by_the_reference() {
    let Some(folder) = folder("CHAT_TEMPLATE_CORPUS") else {
        return;
    };
    let corpus = Corpus::open(&folder);
    let reports = run::in_threads(&corpus.rows, |rows| {
        let (mut source, mut template) = ((String::new(), Data::None), None);
        let mut report = |row| {
            let case = corpus.case(row, &mut source);
            let report = judge(&case, run::reply(&case, Tree::Own, &mut template));
            let is_wrong = is_wrong_in_corpus(&case, &report);
            (report, is_wrong)
        };
        rows.iter().map(&mut report).collect()
    });
    let faults: Vec<String> = reports
        .iter()
        .filter(|(_, is_wrong)| *is_wrong)
        .map(|(report, _)| format!("{}: {:?} {}", report.id, report.wrong, report.verdict.name()))
        .collect();
    let report = run::report(reports.into_iter().map(|(report, _)| report).collect());
    print(&format!("corpus: {}\n", figures(&report.cases)));
    assert_none(&faults, &report);
}

#[test]
fn planted_words_are_found_in_the_segments_of_the_corpus() {
    let Some(folder) = folder("CHAT_TEMPLATE_CORPUS") else {
        return;
    };
    let figures = trace::check_corpus(&Corpus::open(&folder));
    print(&format!("trace: {figures:?}\n"));
    assert!(figures.verbatim * 100 >= figures.words * 97, "{figures:?}");
    assert!(figures.owned * 100 >= figures.turn * 98, "{figures:?}");
}

/// Returns whether a report of the corpus is wrong. The line of an error is not compared, and its message only if it is that of
/// `raise_exception`.
fn is_wrong_in_corpus(case: &Case, report: &CaseReport) -> bool {
    let is_raised = matches!(&case.expect, Answer::Error(error) if error.kind == "raised");
    let counts = |aspect: &Aspect| match aspect {
        Aspect::Output | Aspect::Kind => true,
        Aspect::Message => is_raised,
        Aspect::Line => false,
    };
    report.verdict == Verdict::Unsupported || report.wrong.iter().any(counts)
}

#[test]
fn probes_are_answered_as_by_the_reference() {
    let Some(folder) = folder("CHAT_TEMPLATE_PROBES") else {
        return;
    };
    let mut cases = sources::cases(&folder);
    cases.retain(|case| !is_of_generated_code(&case.expect));
    let mut report = run::all(&cases, Tree::Own);
    let mut faults = faults(&mut report, &Exceptions::default(), Strictness::Outcome);
    let unsupported = report.total().unsupported;
    if unsupported > MAX_UNSUPPORTED_PROBES {
        faults.push(format!(
            "{unsupported} probes are unsupported, at most {MAX_UNSUPPORTED_PROBES} may be"
        ));
    }
    let compared: Vec<&CaseReport> = report.cases.iter().filter(|case| case.area() != ARTEFACTS).collect();
    let mut require = |aspect: Aspect, least: f64, place: &str, among: &[&CaseReport]| {
        let percent = percent_right(aspect, among);
        if percent < least {
            let wrong = among.iter().filter(|case| case.wrong.contains(&aspect)).map(|case| &*case.id);
            let wrong: Vec<&str> = wrong.collect();
            faults.push(format!(
                "{place}: {} right in {percent:.2} % of the errors, at least {least} % are required; wrong are {}",
                aspect.name(),
                wrong.join(", ")
            ));
        }
    };
    require(Aspect::Kind, 99.0, "all areas", &compared);
    require(Aspect::Message, 95.0, "all areas", &compared);
    require(Aspect::Line, 95.0, "all areas", &compared);
    for area in sources::areas(&cases) {
        let of_area: Vec<_> = compared.iter().copied().filter(|case| case.area() == area).collect();
        require(Aspect::Message, 85.0, area, &of_area);
    }
    print(&format!("probes: {}\n", figures(&report.cases)));
    print(&format!("probes without {ARTEFACTS}: {}\n", figures(compared)));
    assert_none(&faults, &report);
}

/// Returns the wrong cases that are not listed as deviations, and the listed deviations that are right or are not cases.
fn faults(report: &mut Report, deviations: &Exceptions, strictness: Strictness) -> Vec<String> {
    let compared = deviations.compare(report, strictness);
    let better = compared.better.iter().map(|line| format!("{line}: it is listed, but right"));
    let ids: BTreeSet<&str> = report.cases.iter().map(|case| &*case.id).collect();
    let unknown = deviations.ids().into_iter().filter(|id| !ids.contains(&**id));
    let unknown = unknown.map(|id| format!("{id}: it is listed, but there is no such case"));
    compared.worse.iter().cloned().chain(better).chain(unknown).collect()
}

/// Panics if there are faults, and shows them and the wrong answers.
#[track_caller]
fn assert_none(faults: &[String], report: &Report) {
    let is_named = |case: &CaseReport| faults.iter().any(|fault| fault.starts_with(&format!("{}: ", case.id)));
    let failures = || report.failures().filter(|(case, _)| is_named(case)).take(MAX_SHOWN);
    assert!(
        faults.is_empty(),
        "{} faults\n{}\n\n{}",
        faults.len(),
        faults.iter().take(MAX_SHOWN).cloned().collect::<Vec<_>>().join("\n"),
        failures()
            .map(|(case, detail)| failure(case, detail, false))
            .collect::<String>()
    );
}

/// Returns a line with the number of right answers and the shares of right errors.
fn figures<'r>(cases: impl IntoIterator<Item = &'r CaseReport>) -> String {
    let cases: Vec<&CaseReport> = cases.into_iter().collect();
    let count = |verdict| cases.iter().filter(|case| case.verdict == verdict).count();
    let errors = cases.iter().filter(|case| has_expected_error(case)).count();
    let [kinds, messages, lines] = [Aspect::Kind, Aspect::Message, Aspect::Line]
        .map(|aspect| format!("{} {:.2} %", aspect.name(), percent_right(aspect, &cases)));
    format!(
        "{} of {} right, {} unsupported; of {errors} errors: {kinds}, {messages}, {lines}",
        count(Verdict::Right),
        cases.len(),
        count(Verdict::Unsupported)
    )
}

/// Returns the percentage of the errors in which an aspect is right. Only errors that both the reference and this crate raise count.
fn percent_right(aspect: Aspect, cases: &[&CaseReport]) -> f64 {
    let errors: Vec<_> = cases.iter().filter(|case| has_expected_error(case)).collect();
    let right = errors.iter().filter(|case| !case.wrong.contains(&aspect)).count();
    if errors.is_empty() {
        100.0
    } else {
        100.0 * right as f64 / errors.len() as f64
    }
}

fn has_expected_error(case: &CaseReport) -> bool {
    case.errs && case.verdict == Verdict::Right
}

fn tests() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests")
}

fn deviations() -> Exceptions {
    Exceptions::open(&tests().join("deviations.jsonl")).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Returns the folder that an environment variable names, relative to the folder of the crate.
fn folder(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).filter(|folder| !folder.is_empty());
    if folder.is_none() {
        print(&format!("{variable} is not set: nothing to run\n"));
    }
    Some(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder?))
}

/// Writes to standard error. libtest captures only the output of macros.
fn print(text: &str) {
    std::io::stderr()
        .write_all(text.as_bytes())
        .expect("standard error takes text");
}
