//! A case of the contract: a request, and the answer of transformers.

use std::path::Path;

use chat_template::json::{self, Data, Object};
use chat_template::{Error, LocalTime, Prompt};
use chat_template_cli::conformance::{Answer, Failure, wrong_aspects};

/// A request and the answer to it.
pub struct Case {
    pub id: String,
    /// The time of the clock.
    pub clock: Option<LocalTime>,
    /// Whether the request asks for spans.
    pub generation: bool,
    line: Data<'static>,
}

/// Returns the cases of a file.
pub fn cases(area: &str) -> Vec<Case> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(format!("tests/cases/contract/{area}.jsonl"));
    let file = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // The answer of a case with `until` is that of an older transformers.
    let cases = file.lines().map(Case::new).filter(|case| *case.get("until") == Data::None);
    let cases: Vec<Case> = cases.collect();
    assert!(!cases.is_empty(), "no cases in {}", path.display());
    cases
}

impl Case {
    /// Parses a case.
    pub fn new(line: &str) -> Self {
        let line = json::read(line).expect("a case is JSON").into_owned();
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

    /// Returns a field, or null if it is missing.
    pub fn get(&self, name: &str) -> &Data<'static> {
        object(&self.line).get(name).unwrap_or(&Data::None)
    }

    /// Returns an argument of the call, or null if it is missing.
    pub fn argument(&self, name: &str) -> &Data<'static> {
        object(self.get("apply")).get(name).unwrap_or(&Data::None)
    }

    /// Describes how an answer differs from that of transformers, if it does.
    pub fn fault(&self, answer: Result<Prompt, Error>) -> Option<String> {
        let expected = Answer::read_strictly(object(self.get("expect"))).unwrap_or_else(|fault| panic!("{}: {fault}", self.id));
        let wrong = wrong_aspects(&expected, &protocol_answer(&answer));
        (!wrong.is_empty()).then(|| format!("{}: {answer:?} where transformers answers {expected:?}", self.id))
    }
}

/// Returns an answer in the form of the protocol.
fn protocol_answer(answer: &Result<Prompt, Error>) -> Answer {
    match answer {
        Ok(prompt) => {
            let spans = prompt.reference_spans.code_points.iter();
            Answer::Output {
                text: prompt.text.clone(),
                generation: Some(spans.map(|span| (span.start as u64, span.end as u64)).collect()),
                segments: None,
            }
        }
        Err(error) => Answer::Error(Failure {
            kind: error.kind().name().to_owned(),
            message: error.message().to_owned(),
            line: Some(error.line().map(u64::from)),
        }),
    }
}

/// Fails if there are faults among this number of cases.
#[track_caller]
pub fn assert_none(faults: &[String], cases: usize) {
    assert!(faults.is_empty(), "{} of {cases}:\n{}", faults.len(), faults.join("\n"));
}

pub fn object<'d>(data: &'d Data<'static>) -> &'d Object<'static> {
    match data {
        Data::Object(object) => object,
        other => panic!("not an object: {other:?}"),
    }
}

pub fn text<'d>(data: &'d Data<'static>) -> &'d str {
    match data {
        Data::Str(text) => text,
        other => panic!("not a string: {other:?}"),
    }
}

pub fn is_null(data: &Data<'_>) -> bool {
    matches!(data, Data::None)
}
