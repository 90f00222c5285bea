//! The verdicts on whether a prompt stays a prefix when its conversation grows.

use serde::Serialize;

/// The verdict on each way in which a conversation grows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Prefix {
    /// The generation prompt, and then the assistant's answer.
    pub generation_prompt: Boundary,
    /// An answer is appended.
    pub assistant: Boundary,
    /// A result is appended after a call.
    pub tool: Boundary,
    /// A user message is appended after an answer.
    pub user: Boundary,
}

/// The verdict on one way in which a conversation grows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Boundary {
    /// The verdict.
    pub verdict: Verdict,
}

/// Whether the prompt of a conversation is a prefix of that of the longer one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is one for all conversations.
    Proven,
    /// It is none for the conversation that is shown.
    Counterexample,
    /// Neither was found.
    #[default]
    Unknown,
}
