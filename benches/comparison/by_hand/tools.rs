//! The template `templates/tools.jinja` as a function, with the date of [`NOW`](crate::comparison::NOW).

use serde_json::Value;

use super::json::{write_indented, write_json};
use super::{field, is_true, list, text, write};

/// Writes the prompt of a context to `out`.
pub fn render(context: &Value, out: &mut String) -> Option<()> {
    let mut messages = list(context, "messages")?;
    let mut opening = "";
    if text(messages.first()?, "role") == Some("system") {
        opening = text(messages.first()?, "content")?.trim();
        messages = &messages[1..];
    }
    write(out, [text(context, "bos_token")?, "<|header|>system<|/header|>\n\n"]);
    let tools = list(context, "tools");
    if tools.is_some() {
        out.push_str("Mode: functions\n");
    }
    write(out, ["Today: 02 Jan 2026\n\n", opening, "<|end|>"]);
    if let Some(tools) = tools {
        let (question, rest) = messages.split_first()?;
        messages = rest;
        out.push_str("<|header|>user<|/header|>\n\n");
        out.push_str("These functions can be called by a JSON object such as {\"name\": \"f\", \"parameters\": {}}:\n\n");
        for tool in tools {
            write_indented(out, tool, 0);
            out.push_str("\n\n");
        }
        write(out, [text(question, "content")?.trim(), "<|end|>"]);
    }
    for message in messages {
        write_message(message, out)?;
    }
    if is_true(field(context, "add_generation_prompt")) {
        out.push_str("<|header|>assistant<|/header|>\n\n");
    }
    Some(())
}

fn write_message(message: &Value, out: &mut String) -> Option<()> {
    let role = text(message, "role")?;
    let calls = field(message, "tool_calls");
    let is_answer = role == "tool" || role == "ipython";
    if let Some(calls) = calls {
        let [call] = calls.as_array()?.as_slice() else { return None };
        let call = field(call, "function")?;
        let head = "<|header|>assistant<|/header|>\n\n{\"name\": \"";
        write(out, [head, text(call, "name")?, "\", \"parameters\": "]);
        write_json(out, field(call, "arguments")?);
        out.push_str("}<|end|>");
    } else if is_answer {
        out.push_str("<|header|>ipython<|/header|>\n\n");
        write_json(out, field(message, "content")?);
        out.push_str("<|end|>");
    } else {
        let content = text(message, "content")?.trim();
        write(out, ["<|header|>", role, "<|/header|>\n\n", content, "<|end|>"]);
    }
    Some(())
}
