//! The template `templates/macro_parts.jinja` as a function. Its macro is a function that borrows a text or joins parts.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::Value;

use super::json::write_json;
use super::{field, is_answer, is_true, list, split_thought, text, write};

/// Writes the prompt of a context to `out`.
pub fn render(context: &Value, out: &mut String) -> Option<()> {
    let messages = list(context, "messages")?;
    let mut pictures = Pictures {
        are_numbered: is_true(field(context, "number_pictures")),
        seen: 0,
    };
    write_opening(context, messages.first()?, &mut pictures, out)?;
    let last_question = last_question(messages, &mut pictures)?;
    let is_tool = |message: Option<&Value>| message.is_none_or(|message| text(message, "role") == Some("tool"));
    for (place, message) in messages.iter().enumerate() {
        let joined = pictures.joined(field(message, "content"), true, false)?;
        let content = joined.trim();
        match text(message, "role")? {
            "system" if place == 0 => {}
            "user" => write(out, ["<|turn|>user\n", content, "<|over|>\n"]),
            "assistant" => write_answer(message, content, place > last_question, out)?,
            "tool" => {
                if place > 0 && !is_tool(messages.get(place - 1)) {
                    out.push_str("<|turn|>user");
                }
                write(out, ["\n<answer>\n", content, "\n</answer>"]);
                if place + 1 == messages.len() || !is_tool(messages.get(place + 1)) {
                    out.push_str("<|over|>\n");
                }
            }
            _ => return None,
        }
    }
    if is_true(field(context, "add_generation_prompt")) {
        out.push_str("<|turn|>assistant\n<think>\n");
        if field(context, "enable_thinking") != Some(&Value::Bool(true)) {
            out.push_str("\n</think>\n\n");
        }
    }
    Some(())
}

/// The variables of the template that the macro uses.
struct Pictures {
    are_numbered: bool,
    seen: usize,
}

impl Pictures {
    /// Returns the text of a message, whose parts are joined if it has any.
    fn joined<'v>(&mut self, content: Option<&'v Value>, counted: bool, opening: bool) -> Option<Cow<'v, str>> {
        let parts = match content {
            None | Some(Value::Null) => return Some(Cow::Borrowed("")),
            Some(Value::String(text)) => return Some(Cow::Borrowed(text)),
            Some(Value::Array(parts)) => parts,
            Some(_) => return None,
        };
        let mut joined = String::new();
        for part in parts {
            if field(part, "image").is_some() || field(part, "image_url").is_some() || text(part, "type") == Some("image") {
                if opening {
                    return None;
                }
                self.seen += usize::from(counted);
                if self.are_numbered {
                    write!(joined, "Picture {}: ", self.seen).ok()?;
                }
                joined.push_str("<|frame|><|picture|><|/frame|>");
            } else {
                joined.push_str(text(part, "text")?);
            }
        }
        Some(Cow::Owned(joined))
    }
}

fn write_opening(context: &Value, first: &Value, pictures: &mut Pictures, out: &mut String) -> Option<()> {
    let joined = match text(first, "role") {
        Some("system") => Some(pictures.joined(field(first, "content"), false, true)?),
        _ => None,
    };
    let opening = joined.as_ref().map(|opening| opening.trim());
    if let Some(tools) = list(context, "tools") {
        out.push_str("<|turn|>system\nThese functions can be called:\n<functions>");
        for tool in tools {
            out.push('\n');
            write_json(out, tool);
        }
        out.push_str("\n</functions>");
        if let Some(opening) = opening.filter(|opening| !opening.is_empty()) {
            write(out, ["\n\n", opening]);
        }
        out.push_str("<|over|>\n");
    } else if let Some(opening) = opening {
        write(out, ["<|turn|>system\n", opening, "<|over|>\n"]);
    }
    Some(())
}

fn last_question(messages: &[Value], pictures: &mut Pictures) -> Option<usize> {
    for (place, message) in messages.iter().enumerate().rev() {
        if text(message, "role") == Some("user") && !is_answer(pictures.joined(field(message, "content"), false, false)?.trim()) {
            return Some(place);
        }
    }
    None
}

fn write_answer(message: &Value, content: &str, is_recent: bool, out: &mut String) -> Option<()> {
    let (thought, content) = match text(message, "reasoning_content") {
        Some(thought) => (thought, content),
        None => split_thought(content).unwrap_or(("", content)),
    };
    if is_recent {
        let thought = thought.trim();
        write(out, ["<|turn|>assistant\n<think>\n", thought, "\n</think>\n\n", content]);
    } else {
        write(out, ["<|turn|>assistant\n", content]);
    }
    for (index, call) in list(message, "tool_calls").unwrap_or_default().iter().enumerate() {
        let call = field(call, "function").unwrap_or(call);
        if index == 0 && !content.trim().is_empty() {
            out.push('\n');
        }
        write(out, ["\n<request>\n<call ", text(call, "name")?, ">\n"]);
        for (key, value) in field(call, "arguments")?.as_object()? {
            write(out, ["<given ", key, ">\n"]);
            match value {
                Value::String(text) => out.push_str(text),
                Value::Null => out.push_str("None"),
                Value::Bool(true) => out.push_str("True"),
                Value::Bool(false) => out.push_str("False"),
                value => write_json(out, value),
            }
            out.push_str("\n</given>\n");
        }
        out.push_str("</call>\n</request>");
    }
    out.push_str("<|over|>\n");
    Some(())
}
