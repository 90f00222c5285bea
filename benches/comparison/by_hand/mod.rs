//! The five templates as plain Rust functions, whose time shows the cost of a template engine.
//!
//! ```text
//! chatml::render(&json!({"messages": [{"role": "user", "content": "Hi"}]}), &mut out)   ->   <|im_start|>user\nHi<|im_end|>\n
//! ```
//!
//! The functions are written with care for speed: they scan small objects instead of hashing keys, borrow all texts, and write to one
//! string whose capacity the caller reserves. They return `None` for a conversation that the template rejects, or that lacks a value that
//! it needs. They share no code with the crate.

pub mod backward_scan;
pub mod chatml;
mod json;
pub mod macro_parts;
pub mod selectattr;
pub mod tools;

use serde_json::Value;

/// A renderer written by hand. Its arguments are the context and the string to which it writes the output.
pub type Renderer = fn(&Value, &mut String) -> Option<()>;

fn field<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value
        .as_object()?
        .iter()
        .find(|(name, _)| *name == key)
        .map(|(_, value)| value)
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    field(value, key)?.as_str()
}

fn list<'v>(value: &'v Value, key: &str) -> Option<&'v [Value]> {
    Some(field(value, key)?.as_array()?.as_slice())
}

/// Returns whether a value is true in Jinja.
fn is_true(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(bool)) => *bool,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
    }
}

fn write<const N: usize>(out: &mut String, pieces: [&str; N]) {
    for piece in pieces {
        out.push_str(piece);
    }
}

/// Returns the text between `<think>` and `</think>` and the text after it, or `None` if there is no `</think>`.
fn split_thought(content: &str) -> Option<(&str, &str)> {
    // `contains` is several times as fast as `find`, and most messages have no thought.
    if !content.contains("</think>") {
        return None;
    }
    let (before, _) = content.split_once("</think>")?;
    let (_, answer) = content.rsplit_once("</think>")?;
    let before = before.trim_end_matches('\n');
    let thought = before.rsplit_once("<think>").map_or(before, |(_, thought)| thought);
    Some((thought.trim_start_matches('\n'), answer.trim_start_matches('\n')))
}

fn is_answer(content: &str) -> bool {
    content.starts_with("<answer>") && content.ends_with("</answer>")
}
