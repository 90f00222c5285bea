//! The forms of conversations in data sets.
//!
//! ```text
//! {"from": "function_call", "value": "{\"name\": \"f\", \"arguments\": {}}"}
//!     ->   {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {}}}]}
//! ```
//!
//! The roles of ShareGPT are those of axolotl and LLaMA-Factory.

use std::borrow::Cow;

use crate::Deadline;
use crate::json::{self, Data, Object};

use super::row::Failure;

/// The roles of ShareGPT that have another name in `messages`. Any other role is kept.
const SHAREGPT_ROLES: [(&str, &str); 7] = [
    ("human", "user"),
    ("gpt", "assistant"),
    ("chatgpt", "assistant"),
    ("bard", "assistant"),
    ("bing", "assistant"),
    ("observation", "tool"),
    ("function_response", "tool"),
];

/// The roles of messages in the families of templates.
const ROLES: [&str; 12] = [
    "assistant",
    "context",
    "critic",
    "developer",
    "document",
    "documents",
    "function",
    "ipython",
    "model",
    "system",
    "tool",
    "user",
];

/// Returns a value that can be JSON text. Data sets that are stored in columns have such text, because two rows have different keys.
pub fn read_text<'r>(value: &'r Data<'r>, key: &str, deadline: &Deadline) -> Result<Cow<'r, Data<'r>>, Failure> {
    match value {
        Data::Str(text) => match json::read_within(text.as_bytes(), json::DEPTH, deadline) {
            Ok(value) => Ok(Cow::Owned(value)),
            Err(error) => {
                let message = format!("the {key} are a string that is not JSON: {error}");
                Err(Failure::at("json", format!("/{key}"), message))
            }
        },
        _ => Ok(Cow::Borrowed(value)),
    }
}

/// Returns an error unless each message has a role that a template can know, and content that is text or parts. `source` is the template, which
/// can name other roles. `pointer` is the place of the messages in the row.
pub fn check_messages(messages: &Data<'_>, pointer: &str, added: usize, source: &str) -> Result<(), Failure> {
    let Data::List(messages) = messages else { return Ok(()) };
    for (index, message) in messages.iter().enumerate() {
        let pointer = format!("{pointer}/{}", index.saturating_sub(added));
        let fail = |key: &str, message: String| Err(Failure::at("message", format!("{pointer}{key}"), message));
        let Data::Object(message) = message else {
            return fail("", format!("a message must be an object, and this is {}", message.describe()));
        };
        match message.get("role") {
            None | Some(Data::None) => return fail("", "the message has no role".to_owned()),
            Some(Data::Str(role)) => {
                let is_named = || {
                    ['\'', '"']
                        .iter()
                        .any(|quote| source.contains(&format!("{quote}{role}{quote}")))
                };
                if !ROLES.contains(&&**role) && !is_named() {
                    let role: String = role.chars().take(100).collect();
                    return fail(
                        "/role",
                        format!("the role {role:?} is unknown, and the template does not name it"),
                    );
                }
            }
            Some(other) => {
                return fail(
                    "/role",
                    format!("the role must be a string, and this is {}", other.describe()),
                );
            }
        }
        let is_part = |part: &Data<'_>| matches!(part, Data::Object(_) | Data::Str(_));
        match message.get("content") {
            None | Some(Data::None | Data::Str(_)) => {}
            Some(Data::List(parts)) if parts.iter().all(is_part) => {}
            Some(other) => {
                let message = format!(
                    "the content must be a string or an array of parts, and this is {}",
                    other.describe()
                );
                return fail("/content", message);
            }
        }
    }
    Ok(())
}

/// Converts messages of ShareGPT. If the first message does not have the role `system`, the text of `system` is inserted before it. Returns the
/// number of messages that were inserted, too.
pub fn convert_sharegpt<'r>(
    messages: Cow<'r, Data<'r>>,
    system: Option<&Data<'r>>,
    pointer: &str,
) -> Result<(Cow<'r, Data<'r>>, usize), Failure> {
    let Data::List(list) = &*messages else {
        return Ok((messages, 0));
    };
    let converted = list.iter().enumerate().map(|(index, message)| {
        convert_message(message).map_err(|error| Failure::at("message", format!("{pointer}/{index}/value"), error))
    });
    let mut converted: Vec<Data<'r>> = converted.collect::<Result<_, _>>()?;
    let has_system =
        matches!(converted.first(), Some(Data::Object(first)) if first.get("role") == Some(&Data::Str("system".into())));
    let mut added = 0;
    if let (Some(Data::Str(system)), false) = (system, has_system) {
        let entries = vec![
            ("role".into(), Data::Str("system".into())),
            ("content".into(), Data::Str(system.clone())),
        ];
        converted.insert(0, Data::Object(Object::new(entries)));
        added = 1;
    }
    Ok((Cow::Owned(Data::List(converted)), added))
}

fn convert_message<'r>(message: &Data<'r>) -> Result<Data<'r>, String> {
    let Data::Object(message) = message else {
        return Ok(message.clone());
    };
    if message.get("from") == Some(&Data::Str("function_call".into())) {
        return convert_call(message);
    }
    let entries = message.entries().iter().map(|(key, value)| match &**key {
        "from" => {
            let role = match value {
                Data::Str(from) => SHAREGPT_ROLES.iter().find(|(name, _)| name == from),
                _ => None,
            };
            let role = role.map(|(_, role)| Data::Str((*role).into()));
            ("role".into(), role.unwrap_or_else(|| value.clone()))
        }
        "value" => ("content".into(), value.clone()),
        _ => (key.clone(), value.clone()),
    });
    Ok(Data::Object(Object::new(entries.collect())))
}

/// Converts a call, or a list of calls, as a message of the assistant.
fn convert_call<'r>(message: &Object<'r>) -> Result<Data<'r>, String> {
    let value = match message.get("value") {
        Some(Data::Str(text)) => {
            let calls = json::read(text, json::DEPTH).map_err(|error| format!("the call is not JSON: {error}"))?;
            calls.into_owned()
        }
        Some(value) => value.clone(),
        None => return Err("the call has no value".to_owned()),
    };
    let calls = match value {
        Data::List(calls) => calls,
        call => vec![call],
    };
    let mut converted = Vec::new();
    for call in calls {
        if !matches!(&call, Data::Object(call) if matches!(call.get("name"), Some(Data::Str(_)))) {
            return Err("a call must be an object with a name".to_owned());
        }
        let entries = vec![("type".into(), Data::Str("function".into())), ("function".into(), call)];
        converted.push(Data::Object(Object::new(entries)));
    }
    let entries = vec![
        ("role".into(), Data::Str("assistant".into())),
        ("content".into(), Data::Str("".into())),
        ("tool_calls".into(), Data::List(converted)),
    ];
    Ok(Data::Object(Object::new(entries)))
}
