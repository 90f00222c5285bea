//! The formats of request bodies, and how one is recognized.

use serde::Serialize;

use super::node::Node;
use super::wrong;
use crate::error::Result;

/// The format of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Format {
    /// OpenAI's Chat Completions: `messages`, with `tool_calls`.
    ChatCompletions,
    /// OpenAI's Responses: `input`, with `function_call` items.
    Responses,
    /// Anthropic's Messages: `messages` with blocks such as `tool_use`, and `system` beside them.
    Messages,
}

impl Format {
    /// Returns the format of a body by its shape. A body of Messages that could also be one of Chat Completions counts as the latter.
    ///
    /// # Errors
    /// If the body has no messages.
    pub(super) fn find(body: Node<'_>) -> Result<Self> {
        if body.has("messages") {
            return Ok(if is_anthropic(body) {
                Self::Messages
            } else {
                Self::ChatCompletions
            });
        }
        if body.has("input") {
            return Ok(Self::Responses);
        }
        let fault = "it has neither `messages`, as Chat Completions and Messages have, nor `input`, as Responses has";
        Err(wrong(String::new(), fault))
    }

    /// Returns the name of the key with the messages, and its pointer.
    pub(super) fn list(self) -> (&'static str, &'static str) {
        match self {
            Self::ChatCompletions | Self::Messages => ("messages", "/messages"),
            Self::Responses => ("input", "/input"),
        }
    }
}

/// Returns whether a body with messages has a sign of Anthropic's format.
fn is_anthropic(body: Node<'_>) -> bool {
    if ["system", "stop_sequences", "anthropic_version"]
        .into_iter()
        .any(|key| body.has(key))
    {
        return true;
    }
    let items = |key| body.get(key).into_iter().flat_map(Node::items);
    let is_block = |block: Node<'_>| match block.get_text("type") {
        Some("tool_use" | "tool_result" | "thinking" | "redacted_thinking") => true,
        Some("image" | "document") => block.has("source"),
        _ => false,
    };
    let has_block = |message: Node<'_>| {
        let content = message.get("content").filter(|content| content.is_list());
        content.is_some_and(|content| content.items().any(is_block))
    };
    items("tools").any(|tool| tool.has("input_schema")) || items("messages").any(has_block)
}
