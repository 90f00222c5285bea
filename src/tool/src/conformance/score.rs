//! Compares a port's answer with the reference's.
//!
//! ```text
//! both fail, with different texts   ->   the verdict is `right`, and the aspect `message` is wrong
//! ```

use serde::{Deserialize, Serialize};

use super::answer::{Answer, Failure};

/// A part of an answer that can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// The output and its spans, whether there is an error, and whether there is an answer.
    Output,
    /// The kind of an error that the reference raises, too.
    Kind,
    /// The message of an error that the reference raises, too.
    Message,
    /// The line of an error that the reference raises, too.
    Line,
}

impl Aspect {
    /// All aspects.
    pub const ALL: [Self; 4] = [Self::Output, Self::Kind, Self::Message, Self::Line];

    /// Returns the name of the aspect in reports and in files of exceptions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::Kind => "kind",
            Self::Message => "message",
            Self::Line => "line",
        }
    }
}

/// The result of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The output is equal, or both the port and the reference fail.
    #[default]
    Right,
    /// The output differs, or only one of them fails.
    Wrong,
    /// The port says that it does not support this request.
    Unsupported,
    /// The case was not sent and does not count: its answer does not hold for what the port mirrors, or it is an extension that the port
    /// declares not to have.
    Skipped,
    /// The port's process ended instead of answering.
    Crashed,
    /// The port did not answer in time.
    TimedOut,
    /// The port wrote something that is not an answer.
    Rubbish,
    /// The port answered another request.
    OutOfOrder,
    /// Only a second process of the port answered.
    Flaky,
}

/// Which aspects of an error count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Strictness {
    /// Only whether there is an error.
    #[default]
    #[value(skip)]
    Outcome,
    /// The kind of the error, too.
    Kind,
    /// The kind, the message and the line of the error, too.
    Text,
}

impl Strictness {
    /// Returns whether an aspect counts.
    pub fn counts(self, aspect: Aspect) -> bool {
        match aspect {
            Aspect::Output => true,
            Aspect::Kind => self >= Self::Kind,
            Aspect::Message | Aspect::Line => self == Self::Text,
        }
    }
}

impl Verdict {
    /// Returns the name of the verdict as readable text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Unsupported => "unsupported",
            Self::Skipped => "skipped",
            Self::Crashed => "crashed",
            Self::TimedOut => "timed out",
            Self::Rubbish => "rubbish",
            Self::OutOfOrder => "out of order",
            Self::Flaky => "flaky",
        }
    }

    /// Returns whether a process of the port was stopped with this verdict.
    pub fn is_fault(self) -> bool {
        !matches!(self, Self::Right | Self::Wrong | Self::Unsupported | Self::Skipped)
    }
}

/// Returns the aspects in which a port's answer differs from the reference's.
pub fn wrong_aspects(want: &Answer, got: &Answer) -> Vec<Aspect> {
    match (want, got) {
        // An error of kind `request` means that the port did not render at all.
        (Answer::Error(want), Answer::Error(got)) if got.kind != "request" => different(want, got),
        (
            Answer::Output { text, generation, .. },
            Answer::Output {
                text: got,
                generation: spans,
                ..
            },
        ) if text == got && (generation.is_none() || generation == spans) => Vec::new(),
        _ => vec![Aspect::Output],
    }
}

fn different(want: &Failure, got: &Failure) -> Vec<Aspect> {
    let is_line_right = match want.line {
        None => true,
        // A missing line counts as null.
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
    use chat_template::json::{self, Data};

    fn answer(text: &str) -> Answer {
        match json::read(text) {
            Ok(Data::Object(answer)) => Answer::read(&answer).unwrap(),
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
