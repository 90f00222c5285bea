//! An answer of the protocol: the one that a case expects from the reference, or the one of a port.
//!
//! ```text
//! {"output": "1", "generation": [[0, 1]]}
//! {"message": {"role": "assistant", "content": "Hello"}}
//! {"error": {"kind": "undefined", "message": "'x' is undefined", "line": 3}}
//! ```

use super::schema::{check_keys, field, object, text};
use super::write_line;
use chat_template::json::{Data, Object};

/// The kinds of errors in answers of the reference, with blanks between.
const KINDS: &str = "raised syntax undefined security runtime type value key index attribute overflow zero_division limit";

/// The result of a render.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A text, and its spans if the request asked for them.
    Output {
        /// The text, or the JSON of the message.
        text: String,
        /// The spans in code points.
        generation: Option<Vec<(u64, u64)>>,
        /// The segments, as JSON. An answer of the reference has none.
        segments: Option<Data<'static>>,
    },
    /// An error.
    Error(Failure),
}

/// An error in the form of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The kind of the error, one of those of the protocol.
    pub kind: String,
    /// The message, without the name of the exception.
    pub message: String,
    /// The line of the template: `None` if the answer has no such key, and `Some(None)` if it is null.
    pub line: Option<Option<u64>>,
}

impl Answer {
    /// Reads the answer of the reference from a case. Unknown keys are errors.
    ///
    /// # Errors
    /// Returns a message that names the wrong key if the object is not an answer.
    pub fn read_strictly(answer: &Object<'_>) -> Result<Self, String> {
        if answer.get("error").is_none() {
            if answer.get("message").is_some() {
                check_keys(answer, &["message"])?;
                object(answer, "message")?;
                return Self::read(answer);
            }
            check_keys(answer, &["output", "generation"])?;
            text(answer, "output")?;
        } else {
            check_keys(answer, &["error"])?;
            let error = object(answer, "error")?;
            check_keys(error, &["kind", "message", "line"])?;
            text(error, "message")?;
            let kind = text(error, "kind")?;
            if !KINDS.split(' ').any(|known| known == kind) {
                return Err(format!("unknown kind {kind:?}; known are {}", KINDS.replace(' ', ", ")));
            }
        }
        Self::read(answer)
    }

    /// Reads a port's answer. Unknown keys are ignored, and missing parts of an error are empty.
    pub(super) fn read(answer: &Object<'_>) -> Result<Self, String> {
        let Some(error) = answer.get("error") else {
            return Ok(Self::Output {
                text: match answer.get("message") {
                    Some(message) => write_line::of_value(message),
                    None => text(answer, "output")?.to_owned(),
                },
                generation: answer.get("generation").map(spans).transpose()?,
                segments: answer.get("segments").cloned().map(Data::into_owned),
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

    /// Returns whether the answer is an error.
    pub fn is_error(&self) -> bool {
        matches!(self, Self::Error(_))
    }

    /// Describes the answer in lines that can be compared with those of another answer.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Output { text, generation, .. } => match generation {
                None => text.clone(),
                Some(spans) => {
                    let spans: String = spans.iter().map(|(start, end)| format!(" {start}..{end}")).collect();
                    format!("{text}\n[generation]{spans}")
                }
            },
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
