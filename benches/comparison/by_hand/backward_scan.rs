//! The template `templates/backward_scan.jinja` as a function.

use serde_json::Value;

use super::json::write_json;
use super::{field, is_answer, is_true, list, split_thought, text, write};

/// Writes the prompt of a context to `out`.
pub fn render(context: &Value, out: &mut String) -> Option<()> {
    let messages = list(context, "messages")?;
    write_opening(context, messages.first()?, out)?;
    let is_question = |message: &Value| {
        text(message, "role") == Some("user") && text(message, "content").is_some_and(|content| !is_answer(content))
    };
    let last_question = messages.iter().rposition(is_question).unwrap_or(messages.len() - 1);
    let is_tool = |message: Option<&Value>| message.is_some_and(|message| text(message, "role") == Some("tool"));
    for (place, message) in messages.iter().enumerate() {
        let content = text(message, "content").unwrap_or_default();
        match text(message, "role")? {
            "system" if place == 0 => {}
            role @ ("user" | "system") => write(out, ["<|turn|>", role, "\n", content, "<|over|>\n"]),
            "assistant" => {
                let is_last = place + 1 == messages.len();
                write_answer(message, content, place > last_question, is_last, out)?;
            }
            "tool" => {
                if place == 0 || !is_tool(messages.get(place - 1)) {
                    out.push_str("<|turn|>user");
                }
                write(out, ["\n<answer>\n", content, "\n</answer>"]);
                if !is_tool(messages.get(place + 1)) {
                    out.push_str("<|over|>\n");
                }
            }
            _ => {}
        }
    }
    if is_true(field(context, "add_generation_prompt")) {
        out.push_str("<|turn|>assistant\n");
        if field(context, "enable_thinking") == Some(&Value::Bool(false)) {
            out.push_str("<think>\n\n</think>\n\n");
        }
    }
    Some(())
}

fn write_opening(context: &Value, first: &Value, out: &mut String) -> Option<()> {
    let opening = match text(first, "role") {
        Some("system") => Some(text(first, "content")?),
        _ => None,
    };
    if let Some(tools) = list(context, "tools") {
        out.push_str("<|turn|>system\n");
        if let Some(opening) = opening {
            write(out, [opening, "\n\n"]);
        }
        out.push_str("These functions can be called:\n<functions>");
        for tool in tools {
            out.push('\n');
            write_json(out, tool);
        }
        out.push_str("\n</functions>\nA call is a JSON object between <request> and </request>.<|over|>\n");
    } else if let Some(opening) = opening {
        write(out, ["<|turn|>system\n", opening, "<|over|>\n"]);
    }
    Some(())
}

fn write_answer(message: &Value, content: &str, is_recent: bool, is_last: bool, out: &mut String) -> Option<()> {
    let (thought, content) = match text(message, "reasoning_content") {
        Some(thought) => (thought, content),
        None => split_thought(content).unwrap_or(("", content)),
    };
    if is_recent && (is_last || !thought.is_empty()) {
        let (thought, content) = (thought.trim_matches('\n'), content.trim_start_matches('\n'));
        write(out, ["<|turn|>assistant\n<think>\n", thought, "\n</think>\n\n", content]);
    } else {
        write(out, ["<|turn|>assistant\n", content]);
    }
    for (index, call) in list(message, "tool_calls").unwrap_or_default().iter().enumerate() {
        if index > 0 || !content.is_empty() {
            out.push('\n');
        }
        let call = field(call, "function").unwrap_or(call);
        let name = text(call, "name")?;
        write(out, ["<request>\n{\"name\": \"", name, "\", \"arguments\": "]);
        match field(call, "arguments")? {
            Value::String(arguments) => out.push_str(arguments),
            arguments => write_json(out, arguments),
        }
        out.push_str("}\n</request>");
    }
    out.push_str("<|over|>\n");
    Some(())
}
