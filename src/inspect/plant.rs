//! The words that are planted in conversations, and the messages that carry them.
//!
//! ```text
//! say("user", Form::Part, PLANT)   ->   {"role": "user", "content": [{"type": "text", "text": "vexolumiq"}]}
//! ```

use serde_json::{Value, json};

/// The words that an experiment looks for.
pub const PLANT: &str = "vexolumiq";
pub const SECOND: &str = "drabontil";

/// The contents of messages, and their reasoning.
pub const SYSTEM: &str = "grelmovan";
pub const USER: &str = "holvantis";
pub const ANSWER: &str = "jopredulk";
pub const REASONING: &str = "trenobilf";

/// The name of a function that is called. Templates that look for a result's call find it by this name or by [`ID`].
pub const FUNCTION: &str = "zarnokel";
/// The name of a function that no conversation calls.
pub const SPARE: &str = "drostimel";
pub const PARAMETER: &str = "quistorm";
pub const DESCRIPTION: &str = "fluvendrop";

/// The name and the value of an argument in a call.
pub const ARGUMENT: &str = "plimbusk";
pub const VALUE: &str = "worgathin";

/// The ids of two calls. Some templates demand nine letters or digits.
pub const ID: &str = "Kd7mWx2Qp";
pub const SECOND_ID: &str = "Zt4nRb8Gs";

/// The form of the content of a message: a string or one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    String,
    Part,
}

impl Form {
    /// Returns content in this form. Each string becomes one part.
    pub fn content(self, text: &str) -> Value {
        match self {
            Self::String => Value::from(text),
            Self::Part => json!([{"type": "text", "text": text}]),
        }
    }
}

/// Returns a message whose content is text in a form.
pub fn say(role: &str, form: Form, text: &str) -> Value {
    json!({"role": role, "content": form.content(text)})
}

/// Returns a message with other content, or without content.
pub fn with_content(message: &Value, content: Option<Value>) -> Value {
    with_field(message, "content", content)
}

/// Returns a message with the planted reasoning.
pub fn thinking(message: &Value) -> Value {
    with_field(message, "reasoning_content", Some(Value::from(REASONING)))
}

/// Returns a message with another value of a field, or without the field.
pub fn with_field(message: &Value, name: &str, value: Option<Value>) -> Value {
    let mut message = message.clone();
    if let Some(object) = message.as_object_mut() {
        match value {
            Some(value) => drop(object.insert(name.to_owned(), value)),
            None => drop(object.remove(name)),
        }
    }
    message
}

/// Returns arguments with one name and one value: an object or JSON text.
pub fn arguments(is_text: bool) -> Value {
    match is_text {
        true => Value::from(format!("{{\"{ARGUMENT}\": \"{VALUE}\"}}")),
        false => json!({ARGUMENT: VALUE}),
    }
}

/// Returns a call of a function.
pub fn call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

/// Returns an assistant message with calls.
pub fn calling(calls: &[Value], content: Option<Value>) -> Value {
    with_content(&json!({"role": "assistant", "content": null, "tool_calls": calls}), content)
}

/// Returns a result of a call.
pub fn result(id: &str, name: &str, content: &Value) -> Value {
    json!({"role": "tool", "tool_call_id": id, "name": name, "content": content})
}

/// Returns a list of one planted tool.
pub fn tools(name: &str) -> Value {
    tool(name, DESCRIPTION, (PARAMETER, "The value."))
}

/// Returns a list of one tool, with one parameter and its description.
pub fn tool(name: &str, description: &str, (parameter, about): (&str, &str)) -> Value {
    json!([{"type": "function", "function": {
        "name": name,
        "description": description,
        "parameters": {"type": "object", "properties": {parameter: {"type": "string", "description": about}}, "required": [parameter]},
    }}])
}
