//! The template `templates/selectattr.jinja` as a function.

use serde_json::Value;

use super::json::write_json;
use super::{field, list, text, write};

/// Writes the prompt of a context to `out`.
pub fn render(context: &Value, out: &mut String) -> Option<()> {
    let mut turns = list(context, "messages")?;
    let mut opening = None;
    if text(turns.first()?, "role") == Some("system") {
        opening = text(turns.first()?, "content");
        turns = &turns[1..];
    }
    let is_question = |message: &Value| text(message, "role") == Some("user");
    if !do_roles_alternate(turns) {
        return None;
    }
    let tools = list(context, "tools");
    let last_question = turns.iter().rev().find(|message| is_question(message));
    out.push_str(text(context, "bos_token")?);
    let end = text(context, "eos_token")?;
    for (place, message) in turns.iter().enumerate() {
        let calls = field(message, "tool_calls").filter(|calls| !calls.is_null());
        match (text(message, "role")?, calls) {
            ("user", _) => {
                if let (Some(tools), true) = (tools, tools.is_some() && last_question == Some(message)) {
                    write_tools(tools, out)?;
                }
                out.push_str("[Q]");
                if let (Some(opening), true) = (opening, place + 1 == turns.len()) {
                    write(out, [opening, "\n\n"]);
                }
                write(out, [text(message, "content")?, "[/Q]"]);
            }
            (_, Some(calls)) => {
                out.push_str("[CALLS][");
                for (index, call) in calls.as_array()?.iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    write_json(out, field(call, "function")?);
                    out.pop();
                    write(out, [", \"call\": \"", text(call, "id")?, "\"}"]);
                }
                write(out, ["]", end]);
            }
            ("assistant", None) => write(out, [text(message, "content")?, end]),
            ("tool" | "tool_results", None) => {
                let content = field(message, "content")?;
                let content = field(content, "content").unwrap_or(content).as_str()?;
                let id = text(message, "tool_call_id")?;
                write(out, ["[RESULTS]{\"is\": ", content, ", \"call\": \"", id, "\"}[/RESULTS]"]);
            }
            _ => return None,
        }
    }
    Some(())
}

fn do_roles_alternate(turns: &[Value]) -> bool {
    let is_spoken = |message: &&Value| {
        !matches!(text(message, "role"), Some("tool" | "tool_results")) && field(message, "tool_calls").is_none_or(Value::is_null)
    };
    let mut spoken = turns.iter().filter(is_spoken).enumerate();
    spoken.all(|(count, message)| (text(message, "role") == Some("user")) == (count % 2 == 0))
}

fn write_tools(tools: &[Value], out: &mut String) -> Option<()> {
    out.push_str("[FUNCTIONS][");
    for (index, tool) in tools.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        out.push_str("{\"kind\": \"function\", \"is\": {");
        let entries = field(tool, "function")?.as_object()?.iter();
        for (index, (key, value)) in entries.filter(|(key, _)| *key != "return").enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            write(out, ["\"", key, "\": "]);
            match value {
                Value::String(text) => write(out, ["\"", text, "\""]),
                value => write_json(out, value),
            }
        }
        out.push_str("}}");
    }
    out.push_str("][/FUNCTIONS]");
    Some(())
}
