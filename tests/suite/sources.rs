//! Where cases come from: folders of case files, and a corpus, which keeps templates, conversations and answers apart.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_template::json;

use crate::case::{Answer, Case, as_object, field, list, read_lines, text};

/// What the clock showed when the corpus was answered, and where a case says nothing else.
pub const RECORDED_AT: &str = "2026-01-02T03:04:05";

/// The cases of all files of a folder. No two may have the same id.
pub fn cases(folder: &Path) -> Vec<Case> {
    let cases: Vec<Case> = case_files(folder)
        .iter()
        .flat_map(|path| read_lines(path))
        .map(|object| Case::from_object(&object))
        .collect();
    let mut ids = BTreeSet::new();
    for case in &cases {
        assert!(ids.insert(&case.id), "two cases are called {:?}", case.id);
    }
    assert!(!cases.is_empty(), "no cases in {}", folder.display());
    cases
}

/// The case files of a folder, not of those in it.
pub fn case_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a folder can be read").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    paths.sort();
    paths
}

/// The areas of cases, each once.
pub fn areas(cases: &[Case]) -> BTreeSet<&str> {
    cases.iter().map(Case::area).collect()
}

/// The cases of a corpus: each template with each conversation, in the order of the answers. Spans are asked for where the answer has some.
pub fn corpus(folder: &Path) -> Vec<Case> {
    let conversations = std::fs::read_to_string(folder.join("conversations.json")).expect("a corpus has conversations");
    let conversations = json::read(&conversations, json::DEPTH).expect("the conversations are JSON");
    let conversations: HashMap<String, Arc<json::Data<'static>>> = list(&conversations)
        .iter()
        .map(as_object)
        .map(|object| (text(object, "name"), Arc::new(field(object, "context").clone().into_owned())))
        .collect();
    let mut templates: HashMap<String, Arc<str>> = HashMap::new();
    let rows = read_lines(&folder.join("expected.jsonl"));
    let case = |row: &json::Object<'_>| {
        let [template, conversation] = ["template", "conversation"].map(|key| text(row, key));
        let expect = as_object(field(row, "expect"));
        let source = templates.entry(template.clone()).or_insert_with(|| {
            let path = folder.join("templates").join(format!("{template}.jinja"));
            std::fs::read_to_string(path).expect("each template has a file").into()
        });
        Case {
            id: format!("{template}/{conversation}"),
            template: source.clone(),
            context: conversations[&conversation].clone(),
            now: Some(RECORDED_AT.to_owned()),
            generation: expect.get("generation").is_some(),
            expect: Answer::from_object(expect),
        }
    };
    rows.iter().map(case).collect()
}
