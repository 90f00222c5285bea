//! Tests of the documents: the output, code, error and limits of the README, the deviations, the links, and the rules that cases cite.

use std::collections::BTreeSet;
use std::path::Path;

use chat_template::Limits;
use chat_template_cli::conformance::{Answer, Case};

use crate::sources::{self, read_lines, text};

/// The documents whose links and paths are checked.
const DOCUMENTS: [&str; 13] = [
    "README.md",
    "CHANGELOG.md",
    ".github/CONTRIBUTING.md",
    "benches/README.md",
    "fuzz/README.md",
    "grammar/README.md",
    "grammar/trainers.md",
    "src/README.md",
    "src/python/README.md",
    "tests/README.md",
    "tests/ports/README.md",
    "tests/cases/README.md",
    "tests/examples/injection/README.md",
];

#[test]
fn readme_shows_the_example() {
    let source = read("tests/examples/library.rs");
    let (_, source) = source.split_once("\n\n").expect("the example begins with its documentation");
    assert_quoted("README.md", &format!("```rust\n{source}```"));
}

#[test]
fn readme_names_the_limits() {
    let limits = Limits::default();
    assert_quoted(
        "README.md",
        &format!(
            "{} 000 000 steps of work (less than a second), {} MiB of output, {} MiB of values and {} nested\ncalls",
            limits.steps / 1_000_000,
            limits.output >> 20,
            limits.live >> 20,
            limits.calls
        ),
    );
}

#[test]
fn readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(lines <= 180, "the README has {lines} lines, 180 at most");
}

#[test]
fn deviations_are_listed() {
    let mut rows: Vec<(String, BTreeSet<String>)> = Vec::new();
    for [id, reason] in deviations("tests/deviations.jsonl") {
        match rows.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, ids)) => drop(ids.insert(id)),
            None => rows.push((reason, BTreeSet::from([id]))),
        }
    }
    let row = |(reason, ids): (String, BTreeSet<String>)| {
        let first = ids.first().expect("a row has a case");
        format!("| {reason} | {}, such as `{first}` |\n", ids.len())
    };
    let table: String = rows.into_iter().map(row).collect();
    assert_quoted(
        "tests/README.md",
        &format!("| what differs, and why | cases |\n|---|---|\n{table}"),
    );
}

#[test]
fn links_lead_to_files() {
    for document in DOCUMENTS {
        let text = read(document);
        let folder = root().join(document).parent().expect("a file is in a folder").to_owned();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.starts_with("https://")) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let path = if path.is_empty() {
                root().join(document)
            } else {
                folder.join(path)
            };
            assert!(path.exists(), "{document} links to {link}");
            if !heading.is_empty() {
                let target = std::fs::read_to_string(path).expect("a link with a heading leads to a file");
                let has_heading = target.lines().any(|line| line.starts_with('#') && anchor(line) == heading);
                assert!(has_heading, "{document} links to {link}");
            }
        }
    }
}

/// Returns the anchor of a Markdown heading.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    text.chars().filter(|char| char.is_alphanumeric() || *char == '-').collect()
}

#[test]
fn documents_name_files_that_exist() {
    let starts = ["tests/", "grammar/", "src/", "benches/", ".ci/", ".github/", "LICENSE-"];
    for document in DOCUMENTS {
        let text = read(document);
        let words = text.split(|char: char| char.is_whitespace() || "`'()[],;#".contains(char));
        for path in words.filter(|word| starts.iter().any(|start| word.starts_with(start))) {
            let path = path.trim_end_matches(['.', ':']);
            let folder = Path::new(document).parent().expect("a file is in a folder");
            let exists = root().join(path).exists() || root().join(folder).join(path).exists();
            assert!(exists, "{document} names {path}");
        }
    }
}

#[test]
fn cases_cite_rules_that_exist_and_every_rule_has_a_case() {
    let documents = ["grammar/precedence.md", "grammar/whitespace.md"].map(read).concat();
    let rules: BTreeSet<&str> = documents.split("**").filter(|word| is_rule(word)).collect();
    let mut cited = BTreeSet::new();
    for case in cases() {
        let words = case.rule.split(|char: char| !char.is_alphanumeric());
        cited.extend(words.filter(|word| is_rule(word)).map(str::to_owned));
    }
    let cited: BTreeSet<&str> = cited.iter().map(String::as_str).collect();
    assert!(rules.len() > 30, "the documents have their rules in bold type");
    assert_eq!(rules, cited, "the rules of the documents, and those that cases cite");
}

/// Returns whether a word is the identifier of a rule, such as `W3` of grammar/whitespace.md, or `P12` or `L4` of grammar/precedence.md.
fn is_rule(word: &str) -> bool {
    word.strip_prefix(['L', 'P', 'W'])
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[test]
fn every_kind_of_error_has_a_case() {
    let table = read("tests/cases/README.md");
    let rows = table
        .split("| kind | the reference raised |")
        .nth(1)
        .expect("the kinds have a table");
    let rows = rows.lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let mut kinds: BTreeSet<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(kinds.remove("request"), "a kind that is never a right answer");
    let cases = cases();
    let shown = cases.iter().filter_map(|case| match &case.expect {
        Answer::Error(error) => Some(error.kind.as_str()),
        _ => None,
    });
    assert_eq!(
        kinds,
        shown.collect(),
        "the kinds of tests/cases/README.md, and those of cases"
    );
}

#[test]
fn no_two_cases_have_equal_requests() {
    let mut requests = std::collections::BTreeMap::new();
    let mut equal = Vec::new();
    for case in cases() {
        let request = ["template", "context", "response", "now", "generation"].map(|key| case.get(key));
        if let Some(other) = requests.insert(format!("{request:?}"), case.id.clone()) {
            equal.push(format!("{other} and {}", case.id));
        }
    }
    assert!(equal.is_empty(), "these cases have equal requests: {equal:?}");
}

fn cases() -> Vec<Case> {
    sources::cases(&root().join("tests/cases"))
}

fn deviations(path: &str) -> impl Iterator<Item = [String; 2]> {
    read_lines(&root().join(path))
        .into_iter()
        .map(|object| ["id", "reason"].map(|key| text(&object, key)))
}

fn assert_quoted(document: &str, quoted: &str) {
    assert!(read(document).contains(quoted), "{document} should quote:\n{quoted}");
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
