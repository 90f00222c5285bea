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
    /// If the body has neither `messages` nor `input`.
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

    /// Returns an error if the body has a key with texts that is not read in this format.
    pub(super) fn refuse_other_keys(self, body: Node<'_>) -> Result<()> {
        let (list, _) = self.list();
        let others: &[&str] = match self {
            Self::ChatCompletions | Self::Messages => &["input", "instructions"],
            Self::Responses => &["messages", "system"],
        };
        let refuse = |key: &str, fault: String| Err(wrong(format!("/{key}"), fault));
        if let Some(key) = others.iter().find(|key| body.get(key).is_some()) {
            return refuse(
                key,
                format!("a body with `{list}` cannot have this key; pass the texts in `{list}`"),
            );
        }
        match UNREAD.into_iter().find(|(key, _)| body.get(key).is_some()) {
            Some((key, fault)) => refuse(key, fault.to_owned()),
            None => Ok(()),
        }
    }

    /// Returns the name of the key with the messages, and its pointer.
    pub(super) fn list(self) -> (&'static str, &'static str) {
        match self {
            Self::ChatCompletions | Self::Messages => ("messages", "/messages"),
            Self::Responses => ("input", "/input"),
        }
    }
}

/// The keys that are not read, because they refer to a conversation outside of the body or have a newer form, each with what to do instead.
const UNREAD: [(&str, &str); 4] = [
    (
        "previous_response_id",
        "the earlier conversation is not known; pass its items in `input`",
    ),
    (
        "conversation",
        "the stored conversation is not known; pass its items in `input`",
    ),
    ("prompt", "the stored prompt is not known; pass its text as a message"),
    (
        "functions",
        "this is the deprecated form of `tools`; pass the functions there",
    ),
];

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
