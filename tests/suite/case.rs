//! A case: a request of the conformance protocol, and the reference's answer.
//!
//! ```text
//! {"id": "loops/first", "rule": "…", "template": "{{ x }}", "context": {"x": 1}, "expect": {"output": "1"}}
//! ```

use std::path::Path;
use std::sync::Arc;

use chat_template::json::{self, Data, Object};

/// A request and the answer to it.
pub struct Case {
    /// The area, a slash, and a name.
    pub id: String,
    pub template: Arc<str>,
    pub context: Arc<Data<'static>>,
    /// What the clock shows.
    pub now: Option<String>,
    /// Whether the spans are asked for.
    pub generation: bool,
    pub expect: Answer,
}

/// What a render gives.
pub enum Answer {
    Output {
        text: String,
        /// Empty where nobody asked.
        spans: Vec<(usize, usize)>,
    },
    Error(Failure),
    /// The port did not answer, and said this.
    Panic(String),
}

/// An error as the protocol has it.
pub struct Failure {
    pub kind: String,
    pub message: String,
    pub line: Option<u32>,
}

impl Case {
    /// What stands before the slash.
    pub fn area(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// The case that an object holds.
    pub fn from_object(object: &Object<'_>) -> Self {
        Self {
            id: text(object, "id"),
            template: text(object, "template").into(),
            context: Arc::new(field(object, "context").clone().into_owned()),
            now: object.get("now").map(|_| text(object, "now")),
            generation: object.get("generation").is_some_and(|wanted| *wanted == Data::Bool(true)),
            expect: Answer::from_object(as_object(field(object, "expect"))),
        }
    }
}

impl Answer {
    /// The answer that an object holds.
    pub fn from_object(object: &Object<'_>) -> Self {
        let Some(error) = object.get("error") else {
            let spans = object.get("generation").map(|spans| list(spans).iter().map(pair).collect());
            return Self::Output {
                text: text(object, "output"),
                spans: spans.unwrap_or_default(),
            };
        };
        let error = as_object(error);
        Self::Error(Failure {
            kind: text(error, "kind"),
            message: text(error, "message"),
            line: match field(error, "line") {
                Data::None => None,
                line => Some(u32::try_from(number(line)).expect("a line fits")),
            },
        })
    }
}

/// The objects of a file that has one on each line.
pub fn read_lines(path: &Path) -> Vec<Object<'static>> {
    let lines = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let object = |(number, line): (usize, &str)| match json::read(line, json::DEPTH) {
        Ok(Data::Object(object)) => match Data::Object(object).into_owned() {
            Data::Object(object) => object,
            _ => unreachable!("an object stays one"),
        },
        Ok(_) => panic!("{}:{}: no object", path.display(), number + 1),
        Err(error) => panic!("{}:{}: {error}", path.display(), number + 1),
    };
    // Not `lines`, which would take a carriage return away.
    lines
        .split('\n')
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
        .map(object)
        .collect()
}

/// The value of a key that must be there.
pub fn field<'o>(object: &'o Object<'_>, key: &str) -> &'o Data<'o> {
    object
        .get(key)
        .unwrap_or_else(|| panic!("no key {key:?} in {:?}", object.entries()))
}

/// The text of a key that must be there.
pub fn text(object: &Object<'_>, key: &str) -> String {
    match field(object, key) {
        Data::Str(text) => text.to_string(),
        other => panic!("{key:?} is no text: {other:?}"),
    }
}

/// A value that must be an object.
pub fn as_object<'o>(value: &'o Data<'_>) -> &'o Object<'o> {
    match value {
        Data::Object(object) => object,
        other => panic!("no object: {other:?}"),
    }
}

/// A value that must be a list.
pub fn list<'o>(value: &'o Data<'_>) -> &'o [Data<'o>] {
    match value {
        Data::List(items) => items,
        other => panic!("no list: {other:?}"),
    }
}

fn number(value: &Data<'_>) -> i64 {
    match value {
        Data::Int(number) => *number,
        other => panic!("no number: {other:?}"),
    }
}

fn pair(span: &Data<'_>) -> (usize, usize) {
    match list(span) {
        [start, end] => {
            let [start, end] = [start, end].map(|end| usize::try_from(number(end)).expect("a place fits"));
            (start, end)
        }
        other => panic!("no pair: {other:?}"),
    }
}
