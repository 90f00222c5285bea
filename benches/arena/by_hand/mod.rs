//! What each of the five templates would be as a plain Rust function: the price that an engine is measured against.
//!
//! ```text
//! chatml::render(&json!({"messages": [{"role": "user", "content": "Hi"}]}), &mut out)   ->   <|im_start|>user\nHi<|im_end|>\n
//! ```
//!
//! They read `serde_json::Value` as a careful author would: small objects are scanned and not hashed, texts are borrowed, and all is
//! written into one String that the caller has reserved. A conversation that the template refuses, or that lacks what it reads, is
//! None. They share no code with the crate.

pub mod backward_scan;
pub mod chatml;
mod json;
pub mod macro_parts;
pub mod selectattr;
pub mod tools;

use serde_json::Value;

/// A template by hand: the context, and where the output goes.
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

/// Jinja's truth.
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

/// What stands between `<think>` and `</think>`, and what stands behind; None where nothing was thought.
fn thought_and_answer(content: &str) -> Option<(&str, &str)> {
    // `contains` is several times as fast as `find`, and most messages hold no thought.
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
