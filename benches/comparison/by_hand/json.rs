//! Writes JSON as Python's `json.dumps(value, ensure_ascii=False)` does, on one line or indented.
//!
//! ```text
//! {"a":[1,"x\n"]}   ->   {"a": [1, "x\n"]}
//! ```

use std::fmt::Write;

use serde_json::Value;

/// Writes JSON on one line, with a blank after each comma and colon.
pub fn write_json(out: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_json(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_string(out, key);
                out.push_str(": ");
                write_json(out, value);
            }
            out.push('}');
        }
        _ => write_leaf(out, value),
    }
}

/// Writes JSON with each member on a line of its own, indented by four blanks for each level.
pub fn write_indented(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                begin_member(out, index, depth + 1);
                write_indented(out, item, depth + 1);
            }
            begin_line(out, depth);
            out.push(']');
        }
        Value::Object(map) if !map.is_empty() => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                begin_member(out, index, depth + 1);
                write_string(out, key);
                out.push_str(": ");
                write_indented(out, value, depth + 1);
            }
            begin_line(out, depth);
            out.push('}');
        }
        _ => write_json(out, value),
    }
}

fn begin_member(out: &mut String, index: usize, depth: usize) {
    if index > 0 {
        out.push(',');
    }
    begin_line(out, depth);
}

fn begin_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("    ");
    }
}

fn write_leaf(out: &mut String, value: &Value) {
    match value {
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write!(out, "{number}").expect("a String takes all"),
        Value::String(text) => write_string(out, text),
        _ => out.push_str("null"),
    }
}

fn write_string(out: &mut String, text: &str) {
    let is_escaped = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    out.push('"');
    let mut rest = text;
    while let Some(place) = rest.bytes().position(is_escaped) {
        let (plain, tail) = rest.split_at(place);
        out.push_str(plain);
        match tail.as_bytes()[0] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            8 => out.push_str("\\b"),
            12 => out.push_str("\\f"),
            control => write!(out, "\\u{control:04x}").expect("a String takes all"),
        }
        rest = &tail[1..];
    }
    out.push_str(rest);
    out.push('"');
}
