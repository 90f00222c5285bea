//! What the documents say is so: the README's output, code, limits and deviations, and the rules that cases cite.

use std::collections::BTreeSet;
use std::path::Path;

use chat_template::conformance::{Answer, Case};
use chat_template::{ApplyOptions, ChatTemplate, Limits, LoadOptions, json};

use crate::sources::{self, read_lines, text};

#[path = "../examples/library.rs"]
mod library;

#[test]
fn readme_shows_what_its_first_command_prints() {
    let readme = read("README.md");
    let command = readme
        .lines()
        .find(|line| line.starts_with("cargo run"))
        .expect("the README has a command");
    let words: Vec<&str> = command.split(' ').collect();
    let after = |option: &str| {
        let place = words.iter().position(|word| *word == option);
        let word = place.and_then(|place| words.get(place + 1));
        root().join(word.unwrap_or_else(|| panic!("the first command has no {option}")))
    };
    let chat = ChatTemplate::from_dir(after("--model")).expect("the model can be read");
    let messages = std::fs::read_to_string(after("--messages")).expect("the conversation can be read");
    let messages = json::read(&messages, json::DEPTH).expect("the conversation is JSON");
    let options = ApplyOptions {
        add_generation_prompt: words.contains(&"--add-generation-prompt"),
        ..ApplyOptions::default()
    };
    let prompt = chat.apply(&messages, &options).expect("the conversation renders");
    assert_quoted(
        "the first command and its output",
        &format!("{command}\n```\n\n```text\n{}```", prompt.text),
    );
}

#[test]
fn readme_shows_code_that_runs() {
    library::main().expect("the example runs");
    let source = read("tests/examples/library.rs").replace("pub fn main", "fn main");
    assert_quoted("tests/examples/library.rs", &format!("```rust\n{source}```"));
}

#[test]
fn readme_lists_the_deviations() {
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for [id, reason] in deviations("tests/deviations.jsonl") {
        match rows.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, ids)) if ids.contains(&id) => {}
            Some((_, ids)) => ids.push(id),
            None => rows.push((reason, vec![id])),
        }
    }
    let row = |(reason, ids): (String, Vec<String>)| format!("| {reason} | `{}` |\n", ids.join("`, `"));
    let table: String = rows.into_iter().map(row).collect();
    assert_quoted(
        "the deviations",
        &format!("| what differs, and why | shown by |\n|---|---|\n{table}"),
    );
}

#[test]
fn readme_tells_the_limits() {
    let limits = Limits::default();
    let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
    let source = u64::try_from(limits.source).expect("a size");
    let width = u64::try_from(limits.width).expect("a width");
    let millions = |count: u64| format!("{} 000 000", count / 1_000_000);
    let binary_millions = |count: u64| format!("{} Mi", count >> 20);
    let rows = [
        ("steps", millions(limits.steps)),
        (
            "milliseconds",
            limits.milliseconds.map_or("none".to_owned(), |some| some.to_string()),
        ),
        ("output", mib(limits.output)),
        ("value", mib(limits.value)),
        ("live", mib(limits.live)),
        ("calls", limits.calls.to_string()),
        ("height", limits.height.to_string()),
        ("source", mib(source)),
        ("width", binary_millions(width)),
        ("bits", binary_millions(limits.bits)),
    ];
    let readme = read("README.md");
    for (name, figure) in rows {
        let row = format!("\n| `{name}` | {figure} | ");
        assert!(readme.contains(&row), "the README should have the row{row}");
    }
    let file = format!("file has at most {} (`LoadOptions", mib(LoadOptions::default().max_file_size));
    assert!(readme.contains(&file), "the README should tell that a model's {file}");
}

#[test]
fn readme_names_files_that_exist() {
    let readme = read("README.md");
    let is_path = |word: &&str| {
        ["tests/", "grammar/", "src/", ".ci/", "LICENSE-"]
            .iter()
            .any(|start| word.starts_with(start))
    };
    let words = readme.split(|char: char| char.is_whitespace() || "`'()[],;".contains(char));
    for path in words.filter(is_path) {
        let path = path.trim_end_matches(['.', ':']);
        // `AREA` stands for any of a kind.
        assert!(path.contains("AREA") || root().join(path).exists(), "the README names {path}");
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

/// `W3` of grammar/whitespace.md, `P12` or `L4` of grammar/precedence.md.
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
fn no_two_cases_ask_the_same() {
    let mut asked = std::collections::BTreeMap::new();
    let mut twice = Vec::new();
    for case in cases() {
        let request = ["template", "context", "now", "generation"].map(|key| case.get(key));
        if let Some(other) = asked.insert(format!("{request:?}"), case.id.clone()) {
            twice.push(format!("{other} and {}", case.id));
        }
    }
    assert!(twice.is_empty(), "these cases ask the same: {twice:?}");
}

fn cases() -> Vec<Case> {
    sources::cases(&root().join("tests/cases"))
}

fn deviations(path: &str) -> impl Iterator<Item = [String; 2]> {
    read_lines(&root().join(path))
        .into_iter()
        .map(|object| ["id", "reason"].map(|key| text(&object, key)))
}

fn assert_quoted(what: &str, quoted: &str) {
    assert!(
        read("README.md").contains(quoted),
        "the README should quote {what} as it is:\n{quoted}"
    );
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
