//! Makes the input map of what the caller passed to a render: it says which string, list or dict of the input is at a place in memory.

use std::borrow::Cow;

use crate::ast::Symbols;
use crate::error::Result;
use crate::json::{Data, Object};
use crate::meter::STEP_BYTES;
use crate::trace::{Container, InputMap, Literals, Role, Storage, Unseen};
use crate::value::{Dict, Runtime, Seq, Value};

/// Something that the caller passed to a render that is traced.
#[derive(Debug)]
pub enum Traced<'a> {
    /// A variable of the template.
    Variable(&'a str, Value<'a>),
    /// A special token, and its text.
    Token(&'a str, &'a str),
}

impl<'a> Traced<'a> {
    /// Makes a variable. A name that is not a string of the caller or of the template has no place in memory.
    pub fn variable(name: &Value<'a>, value: Value<'a>) -> Option<Self> {
        match name {
            Value::Str(name) => Some(Self::Variable(name.borrowed()?, value)),
            _ => None,
        }
    }
}

/// The initial capacity of the list of pending containers, which is enough for a short conversation.
const PENDING: usize = 16;

/// A list or a dict of the input whose items are not added yet.
type Pending<'a> = (Container, Value<'a>);

/// The values of an input that are not added to its map yet.
#[derive(Debug)]
struct Rest<'a> {
    /// The messages, and the first of them in the map.
    messages: (Seq<'a>, Option<Container>),
    /// Whether each message is added with its values.
    seen: Vec<bool>,
    pending: Vec<Pending<'a>>,
}

impl<'a> Rest<'a> {
    /// Adds the messages without what is in them, if all are objects.
    fn add_messages(&mut self, map: &mut InputMap<'a>) -> usize {
        let Some((list, Value::List(items))) = self.pending.last().copied() else {
            return 0;
        };
        if items.is_empty() || !items.iter().all(|item| matches!(item, Value::Dict(_))) {
            return 0;
        }
        self.pending.pop();
        map.reserve_messages(items.len());
        for (position, item) in (0..).zip(items.iter()) {
            let container = map.add(list, (position, Role::Item, ""), "");
            map.add_storage(container, storage(&item));
            self.messages.1.get_or_insert(container);
        }
        self.messages.0 = items;
        self.seen = vec![false; items.len()];
        items.len().saturating_add(1)
    }

    /// Adds the items of all containers that are pending. `charge` is called as in [`map_inputs`].
    fn add_pending(&mut self, map: &mut InputMap<'a>, charge: &mut dyn FnMut(usize) -> Result<bool>) -> Result<()> {
        while let Some((container, value)) = self.pending.pop() {
            if charge(steps_of_items(&value))? {
                let first = self.pending.len();
                add_items(map, container, value, &mut self.pending);
                // The last value is taken first, so the new ones are reversed to be taken in their order.
                self.pending.get_mut(first..).unwrap_or_default().reverse();
            }
        }
        Ok(())
    }
}

impl<'a> Unseen<'a> for Rest<'a> {
    fn add_message(&mut self, map: &mut InputMap<'a>, message: usize) -> usize {
        let is_seen = self.seen.get_mut(message).map(|seen| std::mem::replace(seen, true));
        let (messages, first) = self.messages;
        match (messages.get(message), first, is_seen) {
            (Some(value), Some(first), Some(false)) => {
                add_items(map, first.after(message), value, &mut self.pending);
                steps_of_items(&value)
            }
            _ => 0,
        }
    }

    fn add_rest(&mut self, map: &mut InputMap<'a>) -> usize {
        let mut sum = 0_usize;
        for message in 0..self.seen.len() {
            sum = sum.saturating_add(self.add_message(map, message));
        }
        let _ = self.add_pending(map, &mut |steps| {
            sum = sum.saturating_add(steps);
            Ok(true)
        });
        sum
    }
}

/// Returns the map of an input, without the variables that the template does not mention. `charge` is called with the number of steps that
/// the next values cost; they are only added if it returns true. Unless no two strings of the input share memory, all values are added now.
pub(super) fn map_inputs<'a>(
    inputs: impl IntoIterator<Item = Traced<'a>>,
    names: &Symbols,
    literals: Option<&'a Literals>,
    are_apart: bool,
    charge: &mut dyn FnMut(usize) -> Result<bool>,
) -> Result<InputMap<'a>> {
    let mut map = InputMap::new(literals);
    let mut rest = Rest {
        messages: (Seq::empty(), None),
        seen: Vec::new(),
        pending: Vec::with_capacity(PENDING),
    };
    for (position, input) in (0..).zip(inputs) {
        match input {
            Traced::Token(name, text) => {
                if charge(steps_of_key(name))? {
                    map.add(Container::ROOT, (position, Role::Token, name), text);
                }
            }
            Traced::Variable(name, value) if holds_strings(&value) && names.find(name).is_some() => {
                add_value(
                    &mut map,
                    Container::ROOT,
                    (position, Role::Entry, name),
                    value,
                    &mut rest.pending,
                );
                if are_apart && name == "messages" {
                    let steps = rest.add_messages(&mut map);
                    charge(steps)?;
                }
            }
            Traced::Variable(..) => {}
        }
        if !are_apart {
            rest.add_pending(&mut map, charge)?;
        }
    }
    map.sort();
    match are_apart {
        true => map.set_unseen(Box::new(rest)),
        false => map.free_spare(),
    }
    Ok(map)
}

/// Returns the only input that can have strings, if there is one. A token has a string of its own.
pub(super) fn find_only<'a>(inputs: &[Traced<'a>]) -> Option<Value<'a>> {
    let mut values = inputs.iter().filter_map(|input| match input {
        Traced::Variable(_, value) => Some(*value).filter(holds_strings),
        Traced::Token(..) => None,
    });
    values.next().filter(|_| values.next().is_none())
}

/// Returns whether no two strings of a value share memory. They do not if the value owns them, or if all are in one JSON text.
pub(super) fn are_apart<'a>(value: &Value<'a>, charge: &mut dyn FnMut(usize) -> Result<bool>) -> Result<bool> {
    let mut pending: Vec<(&str, &'a Data<'a>)> = Vec::new();
    match value {
        Value::List(Seq::Json(_)) | Value::Dict(Dict::Json(_)) => return Ok(true),
        Value::List(Seq::Data(items)) => pending.extend(items.iter().rev().map(|item| ("", item))),
        Value::Dict(Dict::Data(object)) => pending.extend(list_entries(object)),
        _ => return Ok(false),
    }
    let mut end = 0;
    let mut is_next = |text: &str| {
        let addresses = text.as_bytes().as_ptr_range();
        let is_next = text.is_empty() || end <= addresses.start.addr();
        if !text.is_empty() {
            end = addresses.end.addr();
        }
        is_next
    };
    while let Some((key, data)) = pending.pop() {
        let is_apart = is_next(key)
            && match data {
                Data::Str(Cow::Borrowed(text)) => is_next(text),
                Data::List(items) | Data::Tuple(items) => {
                    charge(items.len() / 8)?;
                    pending.extend(items.iter().rev().map(|item| ("", item)));
                    true
                }
                Data::Object(object) => {
                    charge(object.len() / 8)?;
                    pending.extend(list_entries(object));
                    true
                }
                _ => true,
            };
        if !is_apart {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the entries of an object in reverse order. A key that the object owns is empty.
fn list_entries<'a>(object: &'a Object<'a>) -> impl Iterator<Item = (&'a str, &'a Data<'a>)> {
    object.entries().iter().rev().map(|(key, value)| match key {
        Cow::Borrowed(key) => (*key, value),
        Cow::Owned(_) => ("", value),
    })
}

/// Returns the number of steps that it costs to add a key.
fn steps_of_key(key: &str) -> usize {
    (key.len() / STEP_BYTES).saturating_add(1)
}

/// Returns the number of steps that it costs to add the items of a container.
fn steps_of_items(value: &Value<'_>) -> usize {
    match value {
        Value::List(items) | Value::Tuple(items) => items.len().saturating_add(1),
        Value::Dict(Dict::Json(object)) => object.keys().fold(1, |steps, key| steps.saturating_add(steps_of_key(key))),
        Value::Dict(dict) => {
            let keys = dict.iter().map(|(key, _)| steps_of_key(key.as_str().unwrap_or_default()));
            keys.fold(1, usize::saturating_add)
        }
        _ => 0,
    }
}

/// Adds the items of a container.
fn add_items<'a>(map: &mut InputMap<'a>, outer: Container, value: Value<'a>, pending: &mut Vec<Pending<'a>>) {
    match value {
        Value::List(items) | Value::Tuple(items) => {
            for (position, item) in (0..).zip(items.iter()).filter(|(_, item)| holds_strings(item)) {
                add_value(map, outer, (position, Role::Item, ""), item, pending);
            }
        }
        Value::Dict(Dict::Json(object)) => {
            for (position, (key, value)) in (0..).zip(object) {
                let place = (position, Role::Entry, key.as_str());
                match value {
                    serde_json::Value::String(text) => _ = map.add(outer, place, text),
                    _ => add_value(map, outer, place, Value::from(value), pending),
                }
            }
        }
        Value::Dict(Dict::Data(object)) => {
            for (position, (key, value)) in (0..).zip(object.entries()) {
                let role = match key {
                    Cow::Borrowed(_) => Role::Borrowed,
                    Cow::Owned(_) => Role::Entry,
                };
                add_value(map, outer, (position, role, key), Value::from(value), pending);
            }
        }
        Value::Dict(dict) => {
            for (position, (key, value)) in (0..).zip(dict.iter()) {
                if let Value::Str(key) = &key {
                    let key = key.borrowed().unwrap_or_default();
                    add_value(map, outer, (position, Role::Borrowed, key), value, pending);
                }
            }
        }
        _ => {}
    }
}

/// Adds a value of a container. If it can contain strings itself, it is added to those that are pending.
#[inline]
fn add_value<'a>(
    map: &mut InputMap<'a>,
    outer: Container,
    place: (u32, Role, &'a str),
    value: Value<'a>,
    pending: &mut Vec<Pending<'a>>,
) {
    match value {
        Value::Str(text) => {
            map.add(outer, place, text.borrowed().unwrap_or_default());
        }
        Value::List(_) | Value::Tuple(_) | Value::Dict(_) => {
            let container = map.add(outer, place, "");
            map.add_storage(container, storage(&value));
            pending.push((container, value));
        }
        _ => {
            map.add(outer, place, "");
        }
    }
}

/// Returns whether a value of the input can be or contain a string.
fn holds_strings(value: &Value<'_>) -> bool {
    matches!(value, Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Dict(_))
}

/// Returns the place of a list or a dict in memory. Empty lists have none.
pub(super) fn storage(value: &Value<'_>) -> Option<Storage> {
    match value {
        Value::List(items) | Value::Tuple(items) => items.storage(),
        Value::Dict(dict) => Some((dict.address(), None)),
        _ => None,
    }
}

/// The maximum number of values of the input that are mapped to find those that an error is about.
///
/// The class of an error depends on the place of a value, so the largest real conversations, of about 200 thousand values, must be mapped
/// entirely.
const MAX_VALUES: usize = 1 << 19;

/// The number of values that are mapped even if no steps are left, to name the message at which a render reached its limit.
const MIN_VALUES: usize = 1 << 12;

impl<'a> Runtime<'a> {
    /// Returns the JSON pointer of a value in the context of the render, if it is a string, a list or a dict of the context.
    #[cold]
    pub fn find_pointer(&mut self, value: &Value<'a>) -> Option<String> {
        let map = self.context_map()?;
        match value {
            Value::Str(text) => map.string_pointer(text.borrowed()?),
            value => map.container_pointer(storage(value)?),
        }
    }

    /// Returns the index of a dict among the messages of the context, if it is one of them.
    #[cold]
    pub fn find_message(&mut self, dict: &Dict<'a>) -> Option<usize> {
        self.context_map()?.message((dict.address(), None))?.index()
    }

    /// Returns the map of the context, which is made for the first error.
    fn context_map(&mut self) -> Option<&mut InputMap<'a>> {
        let frames = &mut self.heap.frames;
        if frames.context_map.is_none() {
            let template = frames.template?;
            let inputs = frames.input.iter().filter_map(|(name, value)| Traced::variable(&name, value));
            let most = usize::try_from(self.meter.steps_left()).unwrap_or(usize::MAX);
            let most = most.clamp(MIN_VALUES, MAX_VALUES);
            let mut left = most;
            let mut spend = |steps| {
                left = left.saturating_sub(steps);
                Ok(left > 0)
            };
            frames.context_map = Some(Box::new(map_inputs(inputs, &template.symbols, None, false, &mut spend).ok()?));
            self.meter.add_done(most.saturating_sub(left) as u64);
        }
        frames.context_map.as_deref_mut()
    }
}
