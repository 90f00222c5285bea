//! Bodies of Anthropic's Messages: `system` beside the messages, and blocks for calls, results and reasoning.

use super::change::What;
use super::chat::{read_message, read_role};
use super::content::PART;
use super::fitter::Fitter;
use super::message::{Message, Place};
use super::node::Node;
use super::responses::Assistant;
use super::wrong;
use crate::error::Result;

/// Adds the messages of a body.
pub fn read<'b>(fitter: &mut Fitter<'b, '_>, body: Node<'b>, messages: Node<'b>) -> Result<()> {
    if let Some(system) = body.get("system") {
        push_instructions(fitter, system, "/system")?;
    }
    for (index, node) in messages.items().enumerate() {
        fitter.changes.visit(0)?;
        let place = Place::item("/messages", index);
        let role = read_role(node, place)?;
        let blocks = node.get("content").into_iter().flat_map(Node::items);
        if !blocks.clone().any(is_special) {
            read_message(fitter, node, place)?;
        } else if role == "assistant" {
            read_assistant(fitter, blocks, place)?;
        } else {
            read_results(fitter, blocks, place)?;
        }
    }
    Ok(())
}

/// Adds a system message for a field of the body.
pub fn push_instructions<'b>(fitter: &mut Fitter<'b, '_>, instructions: Node<'b>, root: &'static str) -> Result<()> {
    let place = Place::root(root);
    fitter.changes.add(
        place.path(),
        What::Translated,
        "templates read a message of the role `system`",
    )?;
    let role = fitter.recast("system", place)?;
    let mut message = Message::new(role, place);
    let content = match instructions.text() {
        Some(_) => fitter.fit_content(role, instructions, &|| place.path())?,
        None if instructions.is_list() => {
            fitter.changes.claim(instructions.items().count().saturating_mul(PART))?;
            let parts: Vec<_> = instructions.items().enumerate().collect();
            fitter.fit_parts(role, &parts, &|index| place.field(&format!("/{index}")))?
        }
        None => {
            let found = instructions.describe();
            return Err(wrong(
                place.path(),
                format!("must be a string or an array, and this is {found}"),
            ));
        }
    };
    message.set("content", content, &mut fitter.changes)?;
    fitter.push(message, role)
}

/// Returns whether a block is not a part of the content in Chat Completions.
fn is_special(block: Node<'_>) -> bool {
    let special = ["tool_use", "tool_result", "thinking", "redacted_thinking"];
    block.get_text("type").is_some_and(|kind| special.contains(&kind))
}

fn read_assistant<'b>(fitter: &mut Fitter<'b, '_>, blocks: impl Iterator<Item = Node<'b>>, place: Place) -> Result<()> {
    let mut assistant = Assistant::new(place);
    let mut parts = Vec::new();
    for (index, block) in blocks.enumerate() {
        fitter.changes.visit(PART)?;
        let at = place.block(index);
        match block.get_text("type") {
            Some("thinking") => {
                fitter.judge_reasoning(block, at)?;
                let Some(thinking) = block.get_text("thinking") else {
                    return Err(wrong(at.path(), "a block `thinking` must have a string `thinking`"));
                };
                assistant.add_reasoning(thinking, &mut fitter.changes)?;
            }
            Some("redacted_thinking") => fitter.changes.drop_value(block, at.path(), "the reasoning is encrypted")?,
            Some("tool_use") => {
                let (Some(name), Some(input)) = (block.get_text("name"), block.get("input")) else {
                    return Err(wrong(
                        at.path(),
                        "a block `tool_use` must have a string `name` and an `input`",
                    ));
                };
                let call = fitter.open_call(block, block.get_text("id"), name, input, at, "/input")?;
                assistant.calls.push(call);
            }
            _ => parts.push((index, block)),
        }
    }
    assistant.set_blocks(parts);
    assistant.push(fitter)
}

/// Adds the results of a user message, and then a user message with its other blocks.
fn read_results<'b>(fitter: &mut Fitter<'b, '_>, blocks: impl Iterator<Item = Node<'b>>, place: Place) -> Result<()> {
    let mut parts = Vec::new();
    for (index, block) in blocks.enumerate() {
        fitter.changes.visit(PART)?;
        let at = place.block(index);
        match block.get_text("type") {
            Some("tool_result") => {
                if let Some((earlier, _)) = parts.first() {
                    fitter.changes.add(
                        place.block(*earlier).path(),
                        What::Moved,
                        "results come right after their calls",
                    )?;
                }
                if let Some(flag) = block.get("is_error").filter(|flag| flag.bool() == Some(true)) {
                    let why = "templates have no place for the mark of a result that is an error";
                    fitter.changes.drop_value(flag, at.field("/is_error"), why)?;
                }
                fitter.push_result(block.get_text("tool_use_id"), block.get("content"), at, "/content")?;
            }
            Some("tool_use" | "thinking" | "redacted_thinking") => {
                return Err(wrong(at.path(), "only an assistant message can have a block of this type"));
            }
            _ => parts.push((index, block)),
        }
    }
    if parts.is_empty() {
        return Ok(());
    }
    let mut message = Message::new("user", place);
    let content = fitter.fit_parts("user", &parts, &|index| place.block(index).path())?;
    message.set("content", content, &mut fitter.changes)?;
    fitter.push(message, "user")
}
