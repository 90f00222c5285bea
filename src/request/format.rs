//! The formats of request bodies, and how one is recognized.

use super::wrong;
use crate::error::Result;
use crate::json::Data;
use serde::Serialize;

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

/// The types of blocks that only Messages has.
const BLOCKS: [&str; 6] = [
    "tool_use",
    "tool_result",
    "redacted_thinking",
    "server_tool_use",
    "mcp_tool_use",
    "search_result",
];

/// Returns the format of a body by its shape. A body of Messages that could also be one of Chat Completions counts as the latter.
///
/// # Errors
/// If the body has neither `messages` nor `input`.
pub fn find(body: &Data<'_>) -> Result<Format> {
    match (body.has("messages"), body.has("input")) {
        (true, _) if is_anthropic(body) => Ok(Format::Messages),
        (true, _) => Ok(Format::ChatCompletions),
        (false, true) => Ok(Format::Responses),
        (false, false) => {
            let fault = "it has neither `messages`, as Chat Completions and Messages have, nor `input`, as Responses has";
            Err(wrong(String::new(), fault))
        }
    }
}

/// Returns the name of the key with the conversation.
pub fn list(format: Format) -> &'static str {
    match format {
        Format::Responses => "input",
        _ => "messages",
    }
}

/// Returns whether a body with messages has a sign of Anthropic's format.
fn is_anthropic(body: &Data<'_>) -> bool {
    let keys = ["system", "stop_sequences", "anthropic_version"];
    if keys.into_iter().any(|key| body.has(key)) {
        return true;
    }
    let items = |key| body.get(key).into_iter().flat_map(Data::items);
    let is_block = |block: &Data<'_>| match block.get_text("type") {
        Some("image" | "document") => block.has("source"),
        Some("thinking") => block.has("signature"),
        Some(kind) => BLOCKS.contains(&kind),
        None => false,
    };
    // Clients of Chat Completions also pass on blocks of an answer of Messages, beside calls of their own format.
    let has_block = |message: &Data<'_>| {
        let content = message.get("content").filter(|content| content.is_list());
        content.is_some_and(|content| !message.has("tool_calls") && content.items().any(is_block))
    };
    let is_tool = |tool: &Data<'_>| tool.has("input_schema");
    // Clients of Chat Completions pass on tools of MCP, which have a schema of this name too.
    let is_chat = |message: &Data<'_>| {
        message.has("tool_calls") || matches!(message.get_text("role"), Some("system" | "developer" | "tool" | "function"))
    };
    let has_tool = items("tools").any(is_tool) && !items("messages").any(is_chat);
    has_tool || items("messages").any(has_block)
}
