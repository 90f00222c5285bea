//! The checks and changes of a conversation before a template sees it.
//!
//! ```text
//! {"role": "user", "name": null}              ->   {"role": "user"}
//! {"role": "assistant", "reasoning": "r"}     ->   {"thinking": "r", "role": …, "reasoning": "r", "reasoning_content": "r"}
//! ```
//!
//! A conversation without such keys is not copied. The rules are transformers 5.24.0 `chat_template_utils.py`, `_normalize_chat_messages`
//! and `_alias_reasoning_fields`.

use super::turns::assistant::REASONING_FIELDS;
use super::{explain_objects, not_iterable, refused};
use crate::error::{Error, ErrorKind, Result};
use crate::value::{Dict, Entries, Iter, Key, Runtime, Str, Value, print};

/// The argument with the messages: one conversation or a list of them.
pub(super) enum Conversations<'a> {
    One(Value<'a>),
    Batch(Vec<Value<'a>>),
}

impl<'a> Conversations<'a> {
    /// Checks the conversations and prepares their messages.
    pub fn new(runtime: &mut Runtime<'a>, messages: &Value<'a>) -> Result<Self> {
        let (Value::List(items) | Value::Tuple(items)) = messages else {
            return prepare(runtime, messages).map(Self::One);
        };
        match items.get(0) {
            None => Err(refused(
                ErrorKind::Value,
                "Cannot apply chat template to an empty conversation. Provide at least one message.",
            )),
            Some(Value::List(_) | Value::Tuple(_)) => {
                let batch: Result<_> = items.iter().map(|conversation| prepare(runtime, &conversation)).collect();
                batch.map(Self::Batch)
            }
            Some(_) => prepare(runtime, messages).map(Self::One),
        }
    }
}

/// Returns a conversation as templates see it, which is always a list.
fn prepare<'a>(runtime: &mut Runtime<'a>, conversation: &Value<'a>) -> Result<Value<'a>> {
    let items = match conversation {
        Value::List(items) | Value::Tuple(items) => items,
        // Python iterates the characters or the keys, which are strings and not messages.
        other => {
            let mut items = Iter::try_new(other).ok_or_else(|| not_iterable(other, "messages"))?;
            return match items.next(runtime)? {
                Some(item) => Err(not_a_message(runtime, &item)?.with_note(explain_objects(other, "messages"))),
                None => runtime.list(&[]),
            };
        }
    };
    let mut changed = Vec::new();
    for index in 0..items.len() {
        let dict = match items.object(index) {
            Some(object) => object,
            None => match items.get(index) {
                Some(Value::Dict(dict)) => dict,
                other => return Err(refuse_item(runtime, index, &other.unwrap_or(Value::None))?),
            },
        };
        runtime.meter.charge_items(dict.len())?;
        if dict.has_entry(|name, is_none| is_none || is_reasoning(name)) {
            let dict = change_message(runtime, &dict)?;
            changed.push((index, Value::Dict(dict)));
        }
    }
    if changed.is_empty() {
        return Ok(Value::List(*items));
    }
    let mut messages: Vec<Value<'a>> = items.iter().collect();
    for (index, message) in changed {
        if let Some(place) = messages.get_mut(index) {
            *place = message;
        }
    }
    runtime.list(&messages)
}

/// The lengths of the names of reasoning, each as a bit.
const REASONING_LENGTHS: u32 = {
    let [one, two, three] = REASONING_FIELDS;
    1 << one.len() | 1 << two.len() | 1 << three.len()
};

/// Returns whether a key of a message is one of the names of reasoning. Its length rules out most other keys.
#[inline(always)]
fn is_reasoning(name: &str) -> bool {
    name.len() < 32 && REASONING_LENGTHS >> name.len() & 1 == 1 && REASONING_FIELDS.contains(&name)
}

/// Returns a copy of the message without nulls and with its reasoning under all names.
fn change_message<'a>(runtime: &mut Runtime<'a>, message: &Dict<'a>) -> Result<Dict<'a>> {
    let is_set = |(_, value): &(Value<'a>, Value<'a>)| !matches!(value, Value::None);
    let fields = REASONING_FIELDS.iter().filter_map(|field| message.get_str(field));
    let reasoning = fields.into_iter().find(|value| !matches!(value, Value::None));
    let mut entries = Entries::default();
    if let Some(reasoning) = &reasoning {
        entries.insert(key("thinking"), *reasoning);
    }
    for (name, value) in message.iter().filter(is_set) {
        entries.insert(Key::new(runtime, name)?, value);
    }
    if let Some(reasoning) = reasoning {
        entries.insert(key("reasoning_content"), reasoning);
    }
    runtime.dict(entries)
}

/// Returns a copy of a dict. Each value is the one that `value` returns for the name and the old value.
pub(super) fn replace_values<'a>(
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

/// Returns the error for an item of a conversation that is not an object.
#[cold]
fn refuse_item<'a>(runtime: &mut Runtime<'a>, index: usize, item: &Value<'a>) -> Result<Error> {
    let ty = item.ty().name();
    let note = format!("message {} is of type {ty}, and must be an object", index + 1);
    let error = not_a_message(runtime, item)?.about_input(format!("/messages/{index}"));
    Ok(error.with_note(note))
}

/// Returns the error for a message that is not an object.
#[cold]
fn not_a_message<'a>(runtime: &mut Runtime<'a>, message: &Value<'a>) -> Result<Error> {
    let message = print::repr(runtime, message)?;
    Ok(refused(
        ErrorKind::Type,
        format!("Chat messages should be dicts, dataclasses or pydantic models, but got {message}."),
    ))
}
