//! The verdicts on reasoning, the generation prompt, and the variables of the caller.

use serde::Serialize;
use serde_json::Value;

/// The verdicts on the reasoning of assistant messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reasoning {
    /// The names of the fields with reasoning that the template reads in messages: `reasoning_content`, `thinking`, `reasoning`.
    pub fields: Vec<String>,
    /// When the reasoning of an earlier message is in the prompt.
    pub replayed: Replay,
    /// Whether the text between `<think>` and `</think>` in the content of an earlier assistant message is left out.
    pub cuts_think: bool,
}

/// When the reasoning of an assistant message is in the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Replay {
    /// In each message.
    Always,
    /// After the last user message only.
    LastTurn,
    /// In no message.
    #[default]
    Never,
}

/// The verdicts on the text that `add_generation_prompt` appends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GenerationPrompt {
    /// Whether `add_generation_prompt` changes the prompt.
    pub read: bool,
    /// The text that it appends, if it only appends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether the text opens the reasoning, and does not close it.
    pub opens_reasoning: bool,
}

/// A variable of the caller that changes the prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Switch {
    /// The name of the variable: `enable_thinking`.
    pub name: String,
    /// The values that the template distinguishes: `true` and `false`, unless the render fails with them, and the constants that it
    /// compares the variable with.
    pub values: Vec<Value>,
    /// Whether the prompt has the text of the variable.
    pub printed: bool,
    /// The value that renders as the absent variable does, if there is one.
    pub default: Option<Value>,
    /// The parts of the prompt that the variable changes.
    pub changes: Vec<Change>,
}

/// A part of the prompt that a switch changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The text that `add_generation_prompt` appends.
    GenerationPrompt,
    /// The turns of the conversation.
    History,
    /// The text before the first turn of a user, such as a system message.
    System,
}
