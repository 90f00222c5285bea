//! The forms of an answer that the official clients read. The prompt is where the model's text would be.

use chat_template::Prompt;
use chat_template::json::Data;
use chat_template::request::{Change, Format};
use serde_json::{Map, Value, json};

/// Returns the answer for a prompt, in the form of the request's format.
pub fn wrap(body: &Data<'_>, format: Format, prompt: &Prompt, changes: &[Change]) -> Value {
    let model = text(body, "model").unwrap_or_default();
    let mut answer = match format {
        Format::Responses => json!({
            "id": "resp_0",
            "object": "response",
            "created_at": 0,
            "model": model,
            "status": "completed",
            "output": [{
                "type": "message",
                "id": "msg_0",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": prompt.text, "annotations": []}],
            }],
            "parallel_tool_calls": true,
            "tool_choice": "auto",
            "tools": [],
        }),
        Format::Messages => json!({
            "id": "msg_0",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [{"type": "text", "text": prompt.text}],
            "stop_reason": "end_turn",
            "stop_sequence": null,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }),
        _ => json!({
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [{
                "index": 0,
                "message": {"role": "assistant", "content": prompt.text},
                "finish_reason": "stop",
            }],
        }),
    };
    if let Value::Object(answer) = &mut answer {
        add_facts(answer, prompt, changes);
    }
    answer
}

/// Returns the string at a key of a body.
pub fn text<'d>(body: &'d Data<'_>, key: &str) -> Option<&'d str> {
    match body {
        Data::Object(object) => match object.get(key) {
            Some(Data::Str(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// Adds fields that the clients do not know: the changes of the body, the pieces for a tokenizer, and the steps of the render.
fn add_facts(answer: &mut Map<String, Value>, prompt: &Prompt, changes: &[Change]) {
    let pieces = prompt.pieces();
    let pieces = pieces
        .iter()
        .map(|piece| json!({"text": piece.text, "has_control_tokens": piece.has_control_tokens}));
    answer.insert("changes".to_owned(), json!(changes));
    answer.insert("pieces".to_owned(), pieces.collect());
    answer.insert("steps".to_owned(), json!(prompt.steps));
}
