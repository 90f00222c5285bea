//! The messages of which the search makes its conversations.

use serde_json::{Value, json};

use super::Way;

/// A message of the search.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The sort of message.
    pub kind: Kind,
    /// The message.
    pub message: Value,
}

/// The sort of a message, which decides where it can be in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A message with instructions before all others.
    Head,
    /// A message of the user.
    User,
    /// A message of the assistant without calls.
    Answer,
    /// A message of the assistant with this number of calls.
    Calls(usize),
    /// A result of a call.
    Result,
}

/// Returns the messages of the search. Of each sort the first is the plainest. The arguments of calls are JSON text or objects.
pub fn list_turns(has_text_arguments: bool) -> Vec<Turn> {
    let arguments = |city: &str| match has_text_arguments {
        true => json!(format!("{{\"city\": \"{city}\"}}")),
        false => json!({"city": city}),
    };
    let call =
        |id: &str, city: &str| json!({"id": id, "type": "function", "function": {"name": "look", "arguments": arguments(city)}});
    let one = json!([call("callone11", "Rome")]);
    let two = json!([call("callone11", "Rome"), call("calltwo22", "Oslo")]);
    let result = |message: Value| with(message, json!({"role": "tool", "tool_call_id": "callone11", "name": "look"}));
    let user = |content: Value| (Kind::User, json!({"role": "user", "content": content}));
    let answer = |message: Value| (Kind::Answer, with(message, json!({"role": "assistant"})));
    let calls = |message: Value, calls: &Value| {
        let count = calls.as_array().map_or(0, Vec::len);
        (
            Kind::Calls(count),
            with(message, json!({"role": "assistant", "tool_calls": calls})),
        )
    };
    let turns = [
        (Kind::Head, json!({"role": "system", "content": "Be kind."})),
        (Kind::Head, json!({"role": "developer", "content": "Be kind."})),
        user(json!("Hi.")),
        user(json!([{"type": "text", "text": "Hi."}])),
        user(json!(" Hi.\n")),
        user(json!("")),
        user(json!("<tool_response>\nHi.\n</tool_response>")),
        answer(json!({"content": "Yes."})),
        answer(json!({"reasoning_content": "Hm.", "content": "Yes."})),
        answer(json!({"content": "<think>\nHm.\n</think>\n\nYes."})),
        answer(json!({"content": ""})),
        answer(json!({"content": "\n Yes. \n"})),
        answer(json!({"content": [{"type": "text", "text": "Yes."}]})),
        answer(json!({"reasoning_content": "\nHm.\n", "content": "\n\nYes."})),
        answer(json!({"content": "<think>Hm."})),
        answer(json!({"content": "Hm.</think>Yes."})),
        answer(json!({"reasoning_content": "", "content": "Yes."})),
        answer(json!({"reasoning_content": "Hm.", "content": ""})),
        calls(json!({"content": ""}), &one),
        calls(json!({"reasoning_content": "Hm.", "content": ""}), &one),
        calls(json!({"content": "Wait."}), &one),
        calls(json!({}), &one),
        calls(json!({"content": ""}), &two),
        calls(json!({"content": "<think>\nHm.\n</think>\n\n"}), &one),
        (Kind::Result, result(json!({"content": "Sun."}))),
        (Kind::Result, result(json!({"content": [{"type": "text", "text": "Sun."}]}))),
        (Kind::Result, result(json!({"content": "\n Sun.\n"}))),
        (Kind::Result, result(json!({"content": ""}))),
    ];
    turns.into_iter().map(|(kind, message)| Turn { kind, message }).collect()
}

/// Returns the tools of the conversations that have any.
pub fn tools() -> Value {
    json!([{"type": "function", "function": {
        "name": "look",
        "description": "Looks at the sky.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "The city."}}, "required": ["city"]},
    }}])
}

/// Returns the message `first` with the fields of `second` before its own.
fn with(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(first), Value::Object(mut second)) => {
            second.extend(first);
            Value::Object(second)
        }
        (first, _) => first,
    }
}

/// Returns whether each message is where a message of its sort can be.
pub fn is_conversation(kinds: impl Iterator<Item = Kind>) -> bool {
    let mut last = None;
    let mut waiting = 0_usize;
    for kind in kinds {
        let fits = match kind {
            Kind::Head => last.is_none(),
            Kind::User => matches!(last, None | Some(Kind::Head | Kind::Answer)),
            Kind::Answer | Kind::Calls(_) => waiting == 0 && matches!(last, Some(Kind::User | Kind::Result)),
            Kind::Result => waiting > 0,
        };
        waiting = match kind {
            Kind::Calls(calls) => calls,
            Kind::Result => waiting.saturating_sub(1),
            _ => waiting,
        };
        if !fits {
            return false;
        }
        last = Some(kind);
    }
    last.is_some()
}

impl Way {
    /// Returns whether a conversation that ends with a message of the first sort grows in this way by one of the second.
    pub fn joins(self, last: Kind, next: Kind) -> bool {
        match self {
            Self::GenerationPrompt | Self::Assistant => {
                matches!(last, Kind::User | Kind::Result) && matches!(next, Kind::Answer | Kind::Calls(_))
            }
            Self::Tool => matches!(last, Kind::Calls(_) | Kind::Result) && next == Kind::Result,
            Self::User => last == Kind::Answer && next == Kind::User,
        }
    }
}
