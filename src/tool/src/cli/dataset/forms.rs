//! The forms of conversations in data sets.
//!
//! ```text
//! {"from": "function_call", "value": "{\"name\": \"f\", \"arguments\": {}}"}
//!     ->   {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {}}}]}
//! ```
//!
//! The roles of ShareGPT are those of axolotl and LLaMA-Factory.

use std::borrow::Cow;

use chat_template::Deadline;
use chat_template::json::{self, Data, Object};

use super::failure::Failure;

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
        Data::Str(text) => match json::Data::read_within(text.as_bytes(), deadline) {
            Ok(value) => Ok(Cow::Owned(value)),
            Err(error) => {
                let message = format!("the {key} are a string that is not JSON: {error}");
                Err(Failure::at("json", format!("/{key}"), message))
            }
        },
        _ => Ok(Cow::Borrowed(value)),
    }
}

/// The messages of one prompt, and where they are in the row.
pub struct Conversation<'r> {
    /// The key of the text in the output.
    pub name: &'static str,
    pub messages: Cow<'r, Data<'r>>,
    /// The parts of the row with the messages, in their order.
    sections: Vec<Section<'r>>,
}

/// A value of a row with messages.
struct Section<'r> {
    key: &'r str,
    count: usize,
    /// Whether the value is a list, and not one message.
    is_list: bool,
}

impl<'r> Conversation<'r> {
    /// Makes a conversation of the messages of a key, which can be JSON text.
    pub fn new(key: &'r str, value: &'r Data<'r>, deadline: &Deadline) -> Result<Self, Failure> {
        let messages = read_text(value, key, deadline)?;
        let section = Section {
            key,
            count: usize::MAX,
            is_list: true,
        };
        Ok(Self {
            name: "text",
            messages,
            sections: vec![section],
        })
    }

    /// Makes a conversation of several values of a row, each with its key and the role of a value that is a string: a list of messages, one
    /// message, a string, or JSON text of a list.
    pub fn join(name: &'static str, parts: &[(&'r str, &'r Data<'r>, &'static str)], deadline: &Deadline) -> Result<Self, Failure> {
        let (mut messages, mut sections) = (Vec::new(), Vec::new());
        for (key, value, role) in parts {
            let start = messages.len();
            let list = match value {
                Data::Str(text) if text.trim_start().starts_with('[') => {
                    read_text(value, key, deadline).unwrap_or(Cow::Borrowed(value))
                }
                _ => Cow::Borrowed(*value),
            };
            let is_list = matches!(*list, Data::List(_));
            match list.into_owned() {
                Data::List(list) => messages.extend(list),
                Data::Str(text) => messages.push(make_message(role, text)),
                message => messages.push(message),
            }
            let count = messages.len().saturating_sub(start);
            sections.push(Section { key, count, is_list });
        }
        let messages = Cow::Owned(Data::List(messages));
        Ok(Self {
            name,
            messages,
            sections,
        })
    }

    /// Returns the JSON pointer of a message in the row.
    pub fn pointer(&self, mut index: usize) -> String {
        for Section { key, count, is_list } in &self.sections {
            match index.checked_sub(*count) {
                Some(rest) => index = rest,
                None if *is_list => return format!("/{key}/{index}"),
                None => return format!("/{key}"),
            }
        }
        String::new()
    }

    /// Converts messages of ShareGPT. If the first message does not have the role `system`, the text of `system` is inserted before it.
    pub fn convert_sharegpt(&mut self, system: Option<&Data<'r>>) -> Result<(), Failure> {
        let Data::List(list) = &*self.messages else { return Ok(()) };
        let converted = list.iter().enumerate().map(|(index, message)| {
            convert_message(message).map_err(|error| Failure::at("message", format!("{}/value", self.pointer(index)), error))
        });
        let mut converted: Vec<Data<'r>> = converted.collect::<Result<_, _>>()?;
        let has_system =
            matches!(converted.first(), Some(Data::Object(first)) if first.get("role") == Some(&Data::Str("system".into())));
        if let (Some(Data::Str(system)), false) = (system, has_system) {
            converted.insert(0, make_message("system", system.clone()));
            let section = Section {
                key: "system",
                count: 1,
                is_list: false,
            };
            self.sections.insert(0, section);
        }
        self.messages = Cow::Owned(Data::List(converted));
        Ok(())
    }

    /// Reads the arguments of calls, which can be JSON text.
    pub fn read_arguments(&mut self, deadline: &Deadline) -> Result<(), Failure> {
        let mut messages = self.messages.clone().into_owned();
        let Data::List(list) = &mut messages else { return Ok(()) };
        for (index, message) in list.iter_mut().enumerate() {
            let Some(Data::List(calls)) = entry_mut(message, "tool_calls") else {
                continue;
            };
            for (call, value) in calls.iter_mut().enumerate() {
                let Some(arguments) = entry_mut(value, "function").and_then(|function| entry_mut(function, "arguments")) else {
                    continue;
                };
                let Data::Str(text) = &*arguments else { continue };
                let read = json::Data::read_within(text.as_bytes(), deadline).map(Data::into_owned);
                *arguments = read.map_err(|error| {
                    let pointer = format!("{}/tool_calls/{call}/function/arguments", self.pointer(index));
                    Failure::at(
                        "json",
                        pointer,
                        format!("the arguments are a string that is not JSON: {error}"),
                    )
                })?;
            }
        }
        self.messages = Cow::Owned(messages);
        Ok(())
    }
}

/// Returns the value of a key of an object.
fn entry_mut<'d, 'r>(data: &'d mut Data<'r>, key: &str) -> Option<&'d mut Data<'r>> {
    let Data::Object(object) = data else { return None };
    object.get_mut(key)
}

/// Makes a message with a string as its content.
fn make_message<'r>(role: &'static str, content: Cow<'r, str>) -> Data<'r> {
    let entries = vec![
        ("role".into(), Data::Str(role.into())),
        ("content".into(), Data::Str(content)),
    ];
    Data::Object(Object::new(entries))
}

/// Returns an error unless each message has a role that a template can know, and content that is text or parts. `source` is the template,
/// which can name other roles.
pub fn check_messages(conversation: &Conversation<'_>, source: &str) -> Result<(), Failure> {
    let Data::List(messages) = &*conversation.messages else {
        return Ok(());
    };
    for (index, message) in messages.iter().enumerate() {
        let fail = |key: &str, message: String| {
            Err(Failure::at(
                "message",
                format!("{}{key}", conversation.pointer(index)),
                message,
            ))
        };
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

/// Converts a call, or a list of calls, as an assistant message.
fn convert_call<'r>(message: &Object<'r>) -> Result<Data<'r>, String> {
    let value = match message.get("value") {
        Some(Data::Str(text)) => {
            let calls = json::read(text).map_err(|error| format!("the call is not JSON: {error}"))?;
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
