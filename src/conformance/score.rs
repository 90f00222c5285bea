//! Compares a port's answer with the reference's.
//!
//! ```text
//! the reference errs, the port errs, with another text   ->   right, and its message wrong
//! ```

use serde::{Deserialize, Serialize};

use super::answer::{Answer, Failure};

/// What of an answer can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// The output or its spans, or an error where there should be none, or none where there should be one, or no answer at all.
    Output,
    /// The kind of an error that should be there.
    Kind,
    /// Its text.
    Message,
    /// Its line.
    Line,
}

impl Aspect {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Output, Self::Kind, Self::Message, Self::Line];

    /// Its name in reports and in files of exceptions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::Kind => "kind",
            Self::Message => "message",
            Self::Line => "line",
        }
    }
}

/// What came of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The output is equal, or the port errs where the reference errs.
    Right,
    /// It is not.
    Wrong,
    /// The port says that it lacks this kind of request.
    Unsupported,
    /// The port's process ended instead of answering.
    Crashed,
    /// It did not answer in time.
    TimedOut,
    /// It answered with what is no answer.
    Rubbish,
    /// It answered another request.
    OutOfOrder,
}

impl Verdict {
    /// Its name for a reader.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Unsupported => "unsupported",
            Self::Crashed => "crashed",
            Self::TimedOut => "timed out",
            Self::Rubbish => "rubbish",
            Self::OutOfOrder => "out of order",
        }
    }

    /// Whether the port was restarted after it.
    pub fn is_fault(self) -> bool {
        !matches!(self, Self::Right | Self::Wrong | Self::Unsupported)
    }
}

/// The aspects of an answer that are wrong.
pub fn wrong_aspects(want: &Answer, got: &Answer) -> Vec<Aspect> {
    match (want, got) {
        // What the port does not take for a request it has not rendered, so that it did not err as the template does.
        (Answer::Error(want), Answer::Error(got)) if got.kind != "request" => different(want, got),
        (
            Answer::Output { text, generation },
            Answer::Output {
                text: got,
                generation: spans,
            },
        ) if text == got && (generation.is_none() || generation == spans) => Vec::new(),
        _ => vec![Aspect::Output],
    }
}

fn different(want: &Failure, got: &Failure) -> Vec<Aspect> {
    let is_line_right = match want.line {
        None => true,
        // A port that does not say a line names none.
        Some(line) => line == got.line.flatten(),
    };
    [
        (Aspect::Kind, want.kind == got.kind),
        (Aspect::Message, want.message == got.message),
        (Aspect::Line, is_line_right),
    ]
    .into_iter()
    .filter_map(|(aspect, is_right)| (!is_right).then_some(aspect))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{self, Data};

    fn answer(text: &str) -> Answer {
        match json::read(text, json::DEPTH) {
            Ok(Data::Object(answer)) => Answer::answered(&answer).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    fn wrong(want: &str, got: &str) -> Vec<Aspect> {
        wrong_aspects(&answer(want), &answer(got))
    }

    #[test]
    fn kind_message_and_line_are_apart() {
        let want = r#"{"error": {"kind": "type", "message": "a", "line": 3}}"#;
        assert_eq!(wrong(want, want), []);
        assert_eq!(wrong(want, r#"{"error": {}}"#), [Aspect::Kind, Aspect::Message, Aspect::Line]);
        assert_eq!(
            wrong(want, r#"{"error": {"kind": "type", "message": "a", "line": 4}}"#),
            [Aspect::Line]
        );
        assert_eq!(wrong(want, r#"{"error": {"kind": "request"}}"#), [Aspect::Output]);
        assert_eq!(wrong(want, r#"{"output": "a"}"#), [Aspect::Output]);
    }

    #[test]
    fn spans_count_where_they_are_asked_for() {
        let want = r#"{"output": "a", "generation": [[0, 1]]}"#;
        assert_eq!(wrong(want, r#"{"output": "a"}"#), [Aspect::Output]);
        assert_eq!(wrong(r#"{"output": "a"}"#, want), []);
    }
}
