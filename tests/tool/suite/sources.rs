//! Reads the cases to run: from a folder of case files, or from a corpus, which has files of templates, conversations and answers.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chat_template::json::{self, Data, Object};
use chat_template_cli::conformance::{Case, Suite};

/// The time of a case that names none, and of all answers in the corpus.
pub const RECORDED_AT: &str = "2026-01-02T03:04:05";

/// Reads the case files of a folder, without those in its subfolders.
pub fn cases(folder: &Path) -> Vec<Case> {
    Suite::open(folder).unwrap_or_else(|fault| panic!("{fault}")).cases
}

/// Returns the distinct areas of cases.
pub fn areas(cases: &[Case]) -> BTreeSet<&str> {
    cases.iter().map(Case::area).collect()
}

/// A corpus of real templates, conversations, and the answer to each template with each conversation.
pub struct Corpus {
    templates: PathBuf,
    conversations: Object<'static>,
    /// The rows of the file of answers, in the order of their templates.
    pub rows: Vec<Object<'static>>,
}

impl Corpus {
    /// Reads `conversations.json` and `expected.jsonl` from a folder.
    pub fn open(folder: &Path) -> Self {
        let conversations = std::fs::read_to_string(folder.join("conversations.json")).expect("a corpus has conversations");
        let conversations = json::read(&conversations).expect("the conversations are JSON");
        let Data::List(conversations) = conversations.into_owned() else {
            panic!("the conversations are a list");
        };
        let named = |conversation| {
            let conversation = object(conversation);
            (text(&conversation, "name").into(), field(&conversation, "context").clone())
        };
        Self {
            templates: folder.join("templates"),
            conversations: Object::new(conversations.into_iter().map(named).collect()),
            rows: read_lines(&folder.join("expected.jsonl")),
        }
    }

    /// Returns the case of a row, which requests spans if the answer has any. `last` is the name and the source of the template of the last
    /// row.
    pub fn case(&self, row: &Object<'static>, last: &mut (String, Data<'static>)) -> Case {
        let [template, conversation] = ["template", "conversation"].map(|key| text(row, key));
        if last.0 != template {
            let path = self.templates.join(format!("{template}.jinja"));
            let source = std::fs::read_to_string(path).expect("each template has a file");
            *last = (template.clone(), Data::Str(source.into()));
        }
        let expect = field(row, "expect");
        let wants_spans = matches!(expect, Data::Object(expect) if expect.get("generation").is_some());
        let entries: Vec<(Cow<'static, str>, Data<'static>)> = vec![
            ("id".into(), Data::Str(format!("{template}/{conversation}").into())),
            ("template".into(), last.1.clone()),
            ("context".into(), field(&self.conversations, &conversation).clone()),
            ("now".into(), Data::Str(RECORDED_AT.into())),
            ("generation".into(), Data::Bool(wants_spans)),
            ("expect".into(), expect.clone()),
        ];
        Case::from_object(Object::new(entries)).unwrap_or_else(|fault| panic!("{fault}"))
    }
}

/// Reads a file that has a JSON object on each line.
pub fn read_lines(path: &Path) -> Vec<Object<'static>> {
    let lines = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let read = |line| object(json::read(line).expect("a line is JSON").into_owned());
    lines.split('\n').filter(|line| !line.is_empty()).map(read).collect()
}

fn object(data: Data<'static>) -> Object<'static> {
    match data {
        Data::Object(object) => object,
        other => panic!("not an object: {other:?}"),
    }
}

/// Returns the value of a required key.
pub fn field<'o>(object: &'o Object<'static>, key: &str) -> &'o Data<'static> {
    object
        .get(key)
        .unwrap_or_else(|| panic!("no key {key:?} in {:?}", object.entries()))
}

/// Returns the string of a required key.
pub fn text(object: &Object<'static>, key: &str) -> String {
    match field(object, key) {
        Data::Str(text) => text.to_string(),
        other => panic!("{key:?} is not a string: {other:?}"),
    }
}
