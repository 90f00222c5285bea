//! Inputs of growing size.

use serde_json::{Map, Value, json};

/// The maximum number of bytes to which a text grows. A list grows to at most a 64th as many items.
const MAX_BYTES: usize = 1 << 20;

/// Returns the variables of the subjects, with values of a size.
pub fn context(size: usize) -> Value {
    let dict: Map<String, Value> = (0..size / 8).map(|number| (number.to_string(), json!(number))).collect();
    let many: Map<String, Value> = (0..1000).map(|number| (format!("k{number}"), json!(number))).collect();
    json!({
        "n": size,
        "x": {"y": 1},
        "s": "ab <&%s{} ".repeat(size / 10),
        "u": "é".repeat(size / 2),
        "l": (0..size / 4).collect::<Vec<_>>(),
        "t": (0..size / 8).map(|number| number.to_string()).collect::<Vec<_>>(),
        "p": (0..size / 16).map(|number| vec![number % 7, number]).collect::<Vec<_>>(),
        "d": dict,
        "many": many,
    })
}

/// Returns a value whose texts, lists and objects are up to `factor` times as large. Nested values and plain objects grow less.
pub fn grow(value: &Value, factor: usize) -> Value {
    match value {
        Value::String(text) => Value::from(text.repeat(factor.min(MAX_BYTES / text.len().max(1)))),
        Value::Array(items) => {
            let grown: Vec<Value> = items.iter().map(|item| grow(item, isqrt(factor))).collect();
            let len = items.len().saturating_mul(factor).min(MAX_BYTES / 64).max(items.len());
            Value::Array(grown.iter().cycle().take(len).cloned().collect())
        }
        Value::Object(entries) => {
            let inner = if entries.values().any(|value| value.is_array() || value.is_object()) {
                factor
            } else {
                isqrt(factor)
            };
            let mut grown: Map<String, Value> = entries.iter().map(|(key, value)| (key.clone(), grow(value, inner))).collect();
            grown.extend((1..isqrt(factor)).map(|number| (format!("key{number}"), json!(number))));
            Value::Object(grown)
        }
        other => other.clone(),
    }
}

fn isqrt(number: usize) -> usize {
    (number as f64).sqrt() as usize
}
