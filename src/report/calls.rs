//! The verdicts on tools, calls of tools and their results.

use serde::Serialize;

use super::Outcome;

/// The verdicts on the tools that a conversation can use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tools {
    /// Whether the tools change the prompt.
    pub read: bool,
    /// The outcome for the name of a function.
    pub name: Outcome,
    /// The outcome for the description of a function.
    pub description: Outcome,
    /// The outcome for the name of a parameter.
    pub parameter: Outcome,
}

/// The forms of a call's arguments that are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Arguments {
    /// Only an object.
    Object,
    /// Only JSON text.
    String,
    /// An object and JSON text.
    Both,
    /// Neither an object nor JSON text.
    #[default]
    Neither,
}

/// The verdicts on the calls of an assistant message, and on their results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Calls {
    /// Whether the prompt has the name of a called function.
    pub written: bool,
    /// The outcome for arguments that are an object.
    pub object: Outcome,
    /// The outcome for arguments that are JSON text.
    pub string: Outcome,
    /// The forms of arguments that are printed.
    pub arguments: Arguments,
    /// The outcome for the second of two calls in one message.
    pub parallel: Outcome,
    /// The outcome for the id of a call.
    pub id: Outcome,
    /// The outcome for the key `name` of a result.
    pub name_in_result: Outcome,
    /// The outcome for the key `tool_call_id` of a result.
    pub id_in_result: Outcome,
    /// The outcome for content beside a call.
    pub content_beside: Outcome,
}
