//! The conversation that shows a verdict.

use serde::Serialize;
use serde_json::Value;

/// The conversation that shows a verdict, with its prompt or its error.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Witness {
    /// The messages of the conversation.
    pub messages: Value,
    /// The tools, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Value>,
    /// The documents, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<Value>,
    /// The variables of the caller, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables: Option<Value>,
    /// Whether a generation prompt was wanted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub add_generation_prompt: bool,
    /// The prompt, if the render succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The message of the error, if the render failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The line of the template, from 1, that failed or that wrote the last text before the text that the conversation was made to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}
