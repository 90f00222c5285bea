//! An answer of the protocol: the reference's beside a case, or a port's.
//!
//! ```text
//! {"output": "1", "generation": [[0, 1]]}
//! {"error": {"kind": "undefined", "message": "'x' is undefined", "line": 3}}
//! ```

use std::fmt::Write;

use super::strict::{field, known_keys, object, text};
use crate::json::{Data, Object};

/// The kinds of errors that the reference's answers have.
const KINDS: [&str; 13] = [
    "raised",
    "syntax",
    "undefined",
    "security",
    "runtime",
    "type",
    "value",
    "key",
    "index",
    "attribute",
    "overflow",
    "zero_division",
    "limit",
];

/// What a render gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A text, and the spans where they were asked for.
    Output {
        /// The text.
        text: String,
        /// The spans in code points.
        generation: Option<Vec<(u64, u64)>>,
    },
    /// An error.
    Error(Failure),
}

/// An error as the protocol has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// One of the protocol's kinds.
    pub kind: String,
    /// The text without the exception's name.
    pub message: String,
    /// The line; `None` where it is not said at all, which is not compared, `Some(None)` where the reference names none.
    pub line: Option<Option<u64>>,
}

impl Answer {
    /// The reference's answer, by the strict schema.
    pub(super) fn expected(answer: &Object<'_>) -> Result<Self, String> {
        if answer.get("error").is_none() {
            known_keys(answer, &["output", "generation"])?;
            text(answer, "output")?;
        } else {
            known_keys(answer, &["error"])?;
            let error = object(answer, "error")?;
            known_keys(error, &["kind", "message", "line"])?;
            text(error, "message")?;
            let kind = text(error, "kind")?;
            if !KINDS.contains(&kind) {
                return Err(format!("unknown kind {kind:?}; known are {}", KINDS.join(", ")));
            }
        }
        Self::answered(answer)
    }

    /// A port's answer: unknown keys are welcome, and what an error lacks is empty.
    pub(super) fn answered(answer: &Object<'_>) -> Result<Self, String> {
        let Some(error) = answer.get("error") else {
            return Ok(Self::Output {
                text: text(answer, "output")?.to_owned(),
                generation: answer.get("generation").map(spans).transpose()?,
            });
        };
        let Data::Object(error) = error else {
            return Err("\"error\" is not an object".to_owned());
        };
        let part = |key| text(error, key).unwrap_or_default().to_owned();
        Ok(Self::Error(Failure {
            kind: part("kind"),
            message: part("message"),
            line: match field(error, "line") {
                Err(_) => None,
                Ok(Data::None) => Some(None),
                Ok(line) => Some(Some(number(line).ok_or("\"line\" is neither a number nor null")?)),
            },
        }))
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        matches!(self, Self::Error(_))
    }

    /// It as text of several lines, to be compared with another.
    pub(super) fn described(&self) -> String {
        match self {
            Self::Output { text, generation: None } => text.clone(),
            Self::Output {
                text,
                generation: Some(spans),
            } => {
                let mut described = format!("{text}\n[generation]");
                for (start, end) in spans {
                    // A String takes all that is written.
                    let _ = write!(described, " {start}..{end}");
                }
                described
            }
            Self::Error(Failure { kind, message, line }) => {
                let line = match line {
                    Some(Some(line)) => format!("line {line}"),
                    Some(None) => "no line".to_owned(),
                    None => "line not said".to_owned(),
                };
                format!("[{kind} error, {line}]\n{message}")
            }
        }
    }
}

fn spans(spans: &Data<'_>) -> Result<Vec<(u64, u64)>, String> {
    let fault = || "\"generation\" is not a list of pairs".to_owned();
    let Data::List(spans) = spans else {
        return Err(fault());
    };
    let pair = |span: &Data<'_>| match span {
        Data::List(pair) => match pair.as_slice() {
            [start, end] => Some((number(start)?, number(end)?)),
            _ => None,
        },
        _ => None,
    };
    spans.iter().map(|span| pair(span).ok_or_else(fault)).collect()
}

fn number(value: &Data<'_>) -> Option<u64> {
    match value {
        Data::Int(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}
