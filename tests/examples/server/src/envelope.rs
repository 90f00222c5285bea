//! The forms of an answer that the official clients read: text, reasoning and calls, each in its place.

use chat_template::Prompt;
use chat_template::json::Data;
use chat_template::request::{Change, Format, Media};
use chat_template::response::Event;
use serde_json::{Map, Value, json};

/// The message of the model: the text, the reasoning and the calls. Without a text of the model, the text is the prompt.
#[derive(Default)]
pub struct Answer {
    text: String,
    reasoning: Option<String>,
    calls: Vec<Call>,
    /// Whether the text ends within a call.
    is_cut: bool,
}

struct Call {
    id: String,
    name: String,
    arguments: Value,
}

/// The names of the field with the reasoning.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

impl Answer {
    /// Returns an answer that shows a prompt.
    pub fn of_prompt(prompt: &Prompt) -> Self {
        let text = prompt.text.clone();
        Self { text, ..Self::default() }
    }

    /// Returns the answer with the fields of a parsed message.
    pub fn of_message(message: &Value) -> Self {
        let text = |key: &str| message.get(key).and_then(Value::as_str).map(str::to_owned);
        let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        let call = |(index, call): (usize, &Value)| {
            let function = call.get("function")?;
            Some(Call {
                id: call
                    .get("id")
                    .and_then(Value::as_str)
                    .map_or_else(|| call_id(index), str::to_owned),
                name: function.get("name")?.as_str()?.to_owned(),
                arguments: function.get("arguments").cloned().unwrap_or_else(|| json!({})),
            })
        };
        let unread = message.get("unread").and_then(Value::as_array);
        Self {
            text: text("content").unwrap_or_default(),
            reasoning: REASONING.into_iter().find_map(text),
            calls: calls.enumerate().filter_map(call).collect(),
            is_cut: unread.is_some_and(|places| places.iter().any(|place| place["reason"] == "cut")),
        }
    }

    /// Returns why the model stopped: the first of these if it wrote calls, the second if it was cut, or else the third.
    fn reason<'r>(&self, [calls, cut, end]: [&'r str; 3]) -> &'r str {
        match self {
            Self { is_cut: true, .. } => cut,
            Self { calls: made, .. } if !made.is_empty() => calls,
            _ => end,
        }
    }
}

/// Returns the id of a call for which the model wrote none.
fn call_id(index: usize) -> String {
    format!("call_{index}")
}

/// Returns the answer to a request of Chat Completions with `stream`: an event for each part of the message, as the model wrote it.
pub fn stream(body: &Data<'_>, events: &[Event], answer: &Answer) -> String {
    let model = text(body, "model").unwrap_or_default();
    let deltas = events.iter().filter_map(|event| {
        Some(match event {
            Event::Chunk {
                field,
                text,
                dirty: false,
                ..
            } if field == "content" => json!({"content": text}),
            Event::Chunk {
                field,
                text,
                dirty: false,
                ..
            } if REASONING.contains(&field.as_str()) => json!({"reasoning_content": text}),
            Event::Call { index, name, id, .. } => {
                let id = id.clone().unwrap_or_else(|| call_id(*index));
                let call = json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
                json!({"tool_calls": [call]})
            }
            Event::Arguments { index, text, .. } => json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]}),
            _ => return None,
        })
    });
    let end = answer.reason(["tool_calls", "length", "stop"]);
    let choices = [(json!({"role": "assistant"}), None)].into_iter();
    let choices = choices
        .chain(deltas.map(|delta| (delta, None)))
        .chain([(json!({}), Some(end))]);
    let mut written = String::new();
    for (delta, reason) in choices {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        let chunk =
            json!({"id": "chatcmpl-0", "object": "chat.completion.chunk", "created": 0, "model": model, "choices": [choice]});
        written.push_str(&format!("data:{chunk}\n\n"));
    }
    written.push_str("data:[DONE]\n\n");
    written
}

/// Returns arguments as JSON text.
fn as_text(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns arguments as an object.
fn as_object(arguments: &Value) -> Value {
    match arguments {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| arguments.clone()),
        other => other.clone(),
    }
}

/// Returns the output items of Responses.
fn output_items(answer: &Answer) -> Vec<Value> {
    let reasoning = answer.reasoning.iter().map(|text| {
        let content = [json!({"type": "reasoning_text", "text": text})];
        json!({"type": "reasoning", "id": "rs_0", "summary": [], "content": content})
    });
    let text = (!answer.text.is_empty() || answer.calls.is_empty()).then(|| {
        let content = [json!({"type": "output_text", "text": answer.text, "annotations": []})];
        json!({"type": "message", "id": "msg_0", "role": "assistant", "status": "completed", "content": content})
    });
    let calls = answer.calls.iter().enumerate().map(|(index, call)| {
        json!({
            "type": "function_call",
            "id": format!("fc_{index}"),
            "call_id": call.id,
            "name": call.name,
            "arguments": as_text(&call.arguments),
            "status": "completed",
        })
    });
    reasoning.chain(text).chain(calls).collect()
}

/// Returns the content blocks of Messages.
fn content_blocks(answer: &Answer) -> Vec<Value> {
    let reasoning = answer.reasoning.iter();
    let reasoning = reasoning.map(|text| json!({"type": "thinking", "thinking": text, "signature": ""}));
    let has_text = !answer.text.is_empty() || answer.calls.is_empty();
    let text = has_text.then(|| json!({"type": "text", "text": answer.text}));
    let calls = answer.calls.iter();
    let calls =
        calls.map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": as_object(&call.arguments)}));
    reasoning.chain(text).chain(calls).collect()
}

/// Returns the message of Chat Completions.
fn chat_message(answer: &Answer) -> Value {
    let content = if answer.text.is_empty() && !answer.calls.is_empty() {
        None
    } else {
        Some(&answer.text)
    };
    let mut message = json!({"role": "assistant", "content": content});
    if let Some(reasoning) = &answer.reasoning {
        message["reasoning_content"] = reasoning.as_str().into();
    }
    if !answer.calls.is_empty() {
        let calls = answer.calls.iter().map(|call| {
            json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": as_text(&call.arguments)}})
        });
        message["tool_calls"] = calls.collect();
    }
    message
}

/// Returns the answer of a request, in the form of the request's format.
pub fn wrap(body: &Data<'_>, format: Format, prompt: &Prompt, facts: (&[Change], &[Media]), answer: &Answer) -> Value {
    let model = text(body, "model").unwrap_or_default();
    let mut answer = match format {
        Format::Responses => json!({
            "id": "resp_0",
            "object": "response",
            "created_at": 0,
            "model": model,
            "status": answer.reason(["completed", "incomplete", "completed"]),
            "output": output_items(answer),
            "parallel_tool_calls": true,
            "tool_choice": "auto",
            "tools": [],
        }),
        Format::Messages => json!({
            "id": "msg_0",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": content_blocks(answer),
            "stop_reason": answer.reason(["tool_use", "max_tokens", "end_turn"]),
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
                "message": chat_message(answer),
                "finish_reason": answer.reason(["tool_calls", "length", "stop"]),
            }],
        }),
    };
    if let Value::Object(answer) = &mut answer {
        add_facts(answer, prompt, facts);
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

/// Returns whether a body has a true value at a key.
pub fn is_set(body: &Data<'_>, key: &str) -> bool {
    matches!(body, Data::Object(object) if matches!(object.get(key), Some(Data::Bool(true))))
}

/// Adds fields that the clients do not know: the changes of the body, its media, the pieces for a tokenizer, and the steps of the render.
fn add_facts(answer: &mut Map<String, Value>, prompt: &Prompt, (changes, media): (&[Change], &[Media])) {
    let pieces = prompt.pieces();
    let pieces = pieces
        .iter()
        .map(|piece| json!({"text": piece.text, "has_control_tokens": piece.has_control_tokens}));
    answer.insert("changes".to_owned(), json!(changes));
    answer.insert("media".to_owned(), json!(media));
    answer.insert("pieces".to_owned(), pieces.collect());
    answer.insert("steps".to_owned(), json!(prompt.steps));
}
