//! What the contract changes in a conversation before a template sees it, and what it refuses.
//!
//! ```text
//! {"role": "user", "name": null}              ->   {"role": "user"}
//! {"role": "assistant", "reasoning": "r"}     ->   {"thinking": "r", "role": …, "reasoning": "r", "reasoning_content": "r"}
//! ```
//!
//! A message that needs neither is passed on as it is, and a conversation of only such messages too. The rules are transformers 5.23.0
//! `tokenization_utils_base.py`, `apply_chat_template`, and `chat_template_utils.py`, `_alias_reasoning_fields`.

use super::refused;
use crate::error::{ErrorKind, Result};
use crate::value::{Dict, Entries, Key, Runtime, Str, Value};

/// The names under which reasoning goes; the first is the standard one.
pub(super) const REASONING_FIELDS: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

/// What the caller calls the messages.
pub(super) enum Conversations<'a> {
    One(Value<'a>),
    Batch(Vec<Value<'a>>),
}

impl<'a> Conversations<'a> {
    /// Checks the conversations and prepares their messages.
    pub fn new(runtime: &mut Runtime<'a>, messages: &Value<'a>) -> Result<Self> {
        let (Value::List(items) | Value::Tuple(items)) = messages else {
            return prepared(runtime, messages).map(Self::One);
        };
        match items.get(0) {
            None => Err(refused(
                ErrorKind::Value,
                "Cannot apply chat template to an empty conversation. Provide at least one message.",
            )),
            Some(Value::List(_) | Value::Tuple(_)) => {
                let batch: Result<_> = items.iter().map(|conversation| prepared(runtime, &conversation)).collect();
                batch.map(Self::Batch)
            }
            Some(_) => prepared(runtime, messages).map(Self::One),
        }
    }
}

/// One conversation as templates see it: always a list.
fn prepared<'a>(runtime: &mut Runtime<'a>, conversation: &Value<'a>) -> Result<Value<'a>> {
    let items = match conversation {
        Value::List(items) | Value::Tuple(items) => items,
        // Python goes over the characters or the keys, each of which is a string and no message.
        Value::Str(text) if text.as_str().is_empty() => return runtime.list(Vec::new()),
        Value::Dict(dict) if dict.is_empty() => return runtime.list(Vec::new()),
        Value::Str(_) | Value::Dict(_) => return Err(no_message("str")),
        other => {
            let message = format!("'{}' object is not iterable", other.ty().name());
            return Err(refused(ErrorKind::Type, message));
        }
    };
    let mut changed = Vec::new();
    for (index, message) in items.iter().enumerate() {
        runtime.meter.charge(1)?;
        let Value::Dict(dict) = &message else {
            return Err(no_message(message.ty().name()));
        };
        if let Some(dict) = changed_message(runtime, dict)? {
            changed.push((index, Value::Dict(dict)));
        }
    }
    if changed.is_empty() {
        return Ok(Value::List(items.clone()));
    }
    let mut messages: Vec<Value<'a>> = items.iter().collect();
    for (index, message) in changed {
        if let Some(place) = messages.get_mut(index) {
            *place = message;
        }
    }
    runtime.list(messages)
}

/// The message without nulls and with its reasoning under all names; None where that is the message itself.
fn changed_message<'a>(runtime: &mut Runtime<'a>, message: &Dict<'a>) -> Result<Option<Dict<'a>>> {
    let is_given = |(_, value): &(Value<'a>, Value<'a>)| !matches!(value, Value::None);
    let fields = REASONING_FIELDS.iter().filter_map(|field| message.get_str(field));
    let reasoning = fields.into_iter().find(|value| !matches!(value, Value::None));
    if reasoning.is_none() && message.iter().all(|entry| is_given(&entry)) {
        return Ok(None);
    }
    let mut entries = Entries::default();
    if let Some(reasoning) = &reasoning {
        entries.insert(key("thinking"), reasoning.clone());
    }
    for (name, value) in message.iter().filter(is_given) {
        entries.insert(Key::new(runtime, name)?, value);
    }
    if let Some(reasoning) = reasoning {
        entries.insert(key("reasoning_content"), reasoning);
    }
    runtime.dict(entries).map(Some)
}

/// A copy of a dict in which some values are others.
pub(super) fn with_values<'a>(
    runtime: &mut Runtime<'a>,
    dict: &Dict<'a>,
    mut value: impl FnMut(&str, Value<'a>) -> Value<'a>,
) -> Result<Dict<'a>> {
    let mut entries = Entries::default();
    for (name, old) in dict.iter() {
        let new = value(name.as_str().unwrap_or_default(), old);
        entries.insert(Key::new(runtime, name)?, new);
    }
    runtime.dict(entries)
}

fn key<'a>(name: &'static str) -> Key<'a> {
    Key::from(Str::from(name))
}

fn no_message(type_name: &str) -> crate::error::Error {
    refused(ErrorKind::Attribute, format!("'{type_name}' object has no attribute 'items'"))
}

#[cfg(test)]
mod tests {
    use crate::chat::{ApplyOptions, ChatTemplate};
    use crate::json::{self, DEPTH};

    /// Answers of transformers 5.23.0 to `{{ messages }}`.
    #[test]
    fn conversations_are_prepared_as_in_python() {
        for (messages, expected) in [
            (r#"[{"role": null, "a": {"b": null}}]"#, Ok("[{'a': {'b': None}}]")),
            (
                r#"[{"a": 1, "reasoning": "r"}]"#,
                Ok("[{'thinking': 'r', 'a': 1, 'reasoning': 'r', 'reasoning_content': 'r'}]"),
            ),
            (
                r#"[{"reasoning_content": "", "a": 1, "thinking": "t"}]"#,
                Ok("[{'thinking': 't', 'reasoning_content': '', 'a': 1}]"),
            ),
            ("{}", Ok("[]")),
            (r#""""#, Ok("[]")),
            (
                "[]",
                Err("Cannot apply chat template to an empty conversation. Provide at least one message."),
            ),
            (r#"{"a": 1}"#, Err("'str' object has no attribute 'items'")),
            ("null", Err("'NoneType' object is not iterable")),
            ("[{}, [1]]", Err("'list' object has no attribute 'items'")),
        ] {
            let data = json::read(messages, DEPTH).unwrap();
            let prompt = ChatTemplate::from_source("{{ messages }}", &[]).apply(&data, &ApplyOptions::default());
            let result = prompt.map(|prompt| prompt.text).map_err(|error| error.message().to_owned());
            assert_eq!(
                result.as_ref().map(String::as_str).map_err(String::as_str),
                expected,
                "{messages}"
            );
        }
    }

    #[test]
    fn a_conversation_that_needs_nothing_is_not_copied() {
        let messages = serde_json::json!([{"role": "user", "content": "x".repeat(100_000)}]);
        let limits = crate::Limits {
            live: 10_000,
            ..crate::Limits::default()
        };
        let options = ApplyOptions {
            limits: &limits,
            ..ApplyOptions::default()
        };
        let template = ChatTemplate::from_source("{{ messages[0].content|length }}", &[]);
        assert_eq!(template.apply(&messages, &options).unwrap().text, "100000");
    }
}
