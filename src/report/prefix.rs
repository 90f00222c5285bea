//! The verdicts on whether a prompt stays a prefix when its conversation grows.

use serde::Serialize;
use serde_json::Value;

/// The verdict on each way in which a conversation grows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Prefix {
    /// The assistant's answer is appended to a prompt that ends with the generation prompt.
    pub generation_prompt: Boundary,
    /// An answer is appended to a prompt without a generation prompt.
    pub assistant: Boundary,
    /// A result is appended after a call, or after an earlier result of the calls.
    pub tool: Boundary,
    /// A user message is appended after an answer.
    pub user: Boundary,
}

#[cfg(feature = "internal")]
impl Prefix {
    /// Returns the verdicts with their names in the report.
    pub fn boundaries(&self) -> [(&'static str, &Boundary); 4] {
        [
            ("generation_prompt", &self.generation_prompt),
            ("assistant", &self.assistant),
            ("tool", &self.tool),
            ("user", &self.user),
        ]
    }
}

/// Whether the prompt of a conversation is a prefix of the prompt of the conversation with one more message.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum Boundary {
    /// The prompt is a prefix in all pairs that were tried.
    Kept {
        /// The number of pairs whose prompts were compared.
        tried: usize,
    },
    /// The prompt is not a prefix for the conversation that is shown.
    Broken(Box<Counterexample>),
    /// The template renders no pair that was tried.
    #[default]
    Unknown,
}

/// A conversation whose prompt is not a prefix of the prompt of the longer conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Counterexample {
    /// The messages of the shorter conversation.
    pub messages: Vec<Value>,
    /// The message that the longer conversation has after them.
    pub appended: Value,
    /// The tools of both conversations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Value>,
    /// The variables of both conversations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables: Option<Value>,
    /// The prompt of the shorter conversation. At the boundary `generation_prompt` it ends with the generation prompt.
    pub before: String,
    /// The prompt of the longer conversation, without a generation prompt.
    pub after: String,
    /// The index in code points of the first character of `before` that differs from the one in `after`, or that `after` does not have.
    pub at: usize,
    /// The line of the template, from 1, that wrote the character, or the nearest text before it that the template wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The expressions of the template that read something in which the two conversations differ, those near the line first.
    pub looks_at: Vec<Look>,
}

/// An expression of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Look {
    /// The line, from 1.
    pub line: usize,
    /// The source of the expression: `loop.last`.
    pub expression: String,
}
