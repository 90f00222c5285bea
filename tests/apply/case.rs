//! A case of the contract: a request, and what transformers answered.

use std::path::Path;

use chat_template::json::{self, Data, Object};
use chat_template::{Error, LocalTime, Prompt};

/// A request and the answer to it.
pub struct Case {
    pub id: String,
    /// What the clock shows.
    pub clock: Option<LocalTime>,
    /// Whether the spans are asked for.
    pub generation: bool,
    line: Data<'static>,
}

/// The cases of a file.
pub fn cases(area: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cases/contract/{area}.jsonl"));
    let file = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cases: Vec<Case> = file.lines().map(Case::new).collect();
    assert!(!cases.is_empty(), "no cases in {}", path.display());
    cases
}

impl Case {
    /// The case that a line holds.
    pub fn new(line: &str) -> Self {
        let line = json::read(line, json::DEPTH).expect("a case is JSON").into_owned();
        let fields = object(&line);
        let id = text(fields.get("id").expect("a case has an id")).to_owned();
        let now = fields.get("now").map(text);
        let clock = now.map(|now| now.parse().unwrap_or_else(|error| panic!("{id}: {error}")));
        let generation = fields.get("generation") == Some(&Data::Bool(true));
        Self {
            id,
            clock,
            generation,
            line,
        }
    }

    /// A field, null where there is none.
    pub fn get(&self, name: &str) -> &Data<'static> {
        object(&self.line).get(name).unwrap_or(&Data::None)
    }

    /// An argument of the call, null where there is none.
    pub fn argument(&self, name: &str) -> &Data<'static> {
        object(self.get("apply")).get(name).unwrap_or(&Data::None)
    }

    /// How an answer differs from the reference's.
    pub fn fault(&self, answer: Result<Prompt, Error>) -> Option<String> {
        let expected = object(self.get("expect"));
        let same = match (&answer, expected.get("error")) {
            (Ok(prompt), None) => {
                let spans = &prompt.generation.code_points;
                let pair = |span: &std::ops::Range<usize>| Data::List(vec![int(span.start), int(span.end)]);
                let spans = Data::List(spans.iter().map(pair).collect());
                expected.get("output").map(text) == Some(&prompt.text)
                    && expected.get("generation").is_none_or(|expected| *expected == spans)
            }
            (Err(error), Some(expected)) => {
                let expected = object(expected);
                let line = expected.get("line").filter(|line| !is_null(line));
                expected.get("kind").map(text) == Some(error.kind().name())
                    && expected.get("message").map(text) == Some(error.message())
                    && (expected.get("line").is_none() || line == error.line().map(|line| int(line as usize)).as_ref())
            }
            (Ok(_), Some(_)) | (Err(_), None) => false,
        };
        (!same).then(|| format!("{}: {answer:?} where transformers gives {expected:?}", self.id))
    }
}

/// Fails with all faults, of so many cases.
#[track_caller]
pub fn assert_none(faults: &[String], asked: usize) {
    assert!(faults.is_empty(), "{} of {asked}:\n{}", faults.len(), faults.join("\n"));
}

pub fn object<'d>(data: &'d Data<'static>) -> &'d Object<'static> {
    match data {
        Data::Object(object) => object,
        other => panic!("no object: {other:?}"),
    }
}

pub fn text<'d>(data: &'d Data<'static>) -> &'d str {
    match data {
        Data::Str(text) => text,
        other => panic!("no string: {other:?}"),
    }
}

pub fn is_null(data: &Data<'_>) -> bool {
    matches!(data, Data::None)
}

fn int(number: usize) -> Data<'static> {
    Data::Int(i64::try_from(number).expect("a place in a text"))
}
