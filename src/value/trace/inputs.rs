//! Makes the input map of what the caller passed to a render: it says which string, list or dict of the input is at a place in memory.

use std::borrow::Cow;
use std::ops::Range;

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

/// The messages of an input, which are added to its map when they are needed.
#[derive(Debug)]
struct Messages<'a> {
    list: Seq<'a>,
    container: Container,
    /// The fields that contain values, and the range of each message's fields in this list. A range is emptied when the values are added.
    fields: Vec<Pending<'a>>,
    ranges: Vec<Range<usize>>,
}

impl<'a> Unseen<'a> for Messages<'a> {
    fn count(&self) -> usize {
        self.list.len()
    }

    fn add_fields(&mut self, map: &mut InputMap<'a>, message: usize) {
        let Some(value) = self.list.get(message) else { return };
        let text = match &value {
            Value::Str(text) => text.borrowed().unwrap_or_default(),
            _ => "",
        };
        let place = (u32::try_from(message).unwrap_or(u32::MAX), Role::Item, "");
        let container = map.add(self.container, place, text);
        map.add_storage(container, storage(&value));
        let start = self.fields.len();
        add_items(map, container, value, &mut self.fields);
        if self.ranges.len() <= message {
            self.ranges.resize(message.saturating_add(1), 0..0);
        }
        if let Some(range) = self.ranges.get_mut(message) {
            *range = start..self.fields.len();
        }
    }

    fn add_nested(&mut self, map: &mut InputMap<'a>, message: usize) {
        let range = self.ranges.get_mut(message).map(std::mem::take).unwrap_or_default();
        let mut pending = self.fields.get(range).unwrap_or_default().to_vec();
        pending.reverse();
        let _ = add_pending(map, &mut pending, &mut |_| Ok(true));
    }
}

/// Adds the items of all containers that are pending. `charge` is called as in [`map_inputs`].
fn add_pending<'a>(
    map: &mut InputMap<'a>,
    pending: &mut Vec<Pending<'a>>,
    charge: &mut dyn FnMut(usize) -> Result<bool>,
) -> Result<()> {
    while let Some((container, value)) = pending.pop() {
        if charge(steps_of_items(&value))? {
            let first = pending.len();
            add_items(map, container, value, pending);
            // The last value is taken first, so the new ones are reversed to be taken in their order.
            pending.get_mut(first..).unwrap_or_default().reverse();
        }
    }
    Ok(())
}

/// Returns the map of an input, without the variables that the template does not mention. `charge` is called with the number of steps that
/// the next values cost; they are only added if it returns true. Unless no two strings of the input share memory, the messages are added now.
pub(super) fn map_inputs<'a>(
    inputs: impl IntoIterator<Item = Traced<'a>>,
    names: &Symbols,
    literals: Option<&'a Literals>,
    are_apart: bool,
    charge: &mut dyn FnMut(usize) -> Result<bool>,
) -> Result<InputMap<'a>> {
    let mut map = InputMap::new(literals);
    let mut pending = Vec::with_capacity(PENDING);
    let mut messages = None;
    for (position, input) in (0..).zip(inputs) {
        match input {
            Traced::Token(name, text) => {
                if charge(steps_of_key(name))? {
                    map.add(Container::ROOT, (position, Role::Token, name), text);
                }
            }
            Traced::Variable(name, value) if holds_strings(&value) && names.find(name).is_some() => {
                if are_apart {
                    // A caller can pass a part of another input, or some items of a list in it.
                    map.add_root(storage(&value));
                    if let Value::List(items) | Value::Tuple(items) = &value {
                        map.add_root(items.get(0).as_ref().and_then(storage));
                    }
                }
                add_value(&mut map, Container::ROOT, (position, Role::Entry, name), value, &mut pending);
                if are_apart && name == "messages" {
                    messages = pending.pop();
                }
            }
            Traced::Variable(..) => {}
        }
        add_pending(&mut map, &mut pending, charge)?;
    }
    match messages {
        Some((container, Value::List(list) | Value::Tuple(list))) => {
            map.reserve_messages(list.len());
            let (fields, ranges) = (pending, Vec::with_capacity(list.len()));
            map.complete(Some(Box::new(Messages {
                list,
                container,
                fields,
                ranges,
            })));
        }
        other => {
            pending.extend(other);
            add_pending(&mut map, &mut pending, charge)?;
            map.complete(None);
        }
    }
    Ok(map)
}

/// Returns whether no two strings of the inputs share memory, unless one input is in another. They do not if JSON values own them, or if all
/// are in one JSON text. `whole` is the value that has all inputs in it, if there is one.
pub(super) fn are_apart<'a>(
    inputs: &[Traced<'a>],
    whole: Option<Value<'a>>,
    charge: &mut dyn FnMut(usize) -> Result<bool>,
) -> Result<bool> {
    // A token has a string of its own.
    let variables = inputs.iter().filter_map(|input| match input {
        Traced::Variable(_, value) => Some(*value),
        Traced::Token(..) => None,
    });
    let roots = match whole {
        Some(whole) => vec![whole],
        None => variables.filter(holds_strings).collect(),
    };
    let mut ranges = Vec::with_capacity(roots.len());
    for root in roots {
        match find_borrowed(&root, charge)? {
            Some(range) => ranges.push(range),
            None => return Ok(false),
        }
    }
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| range.start);
    Ok(ranges.is_sorted_by(|one, next| one.end <= next.start))
}

/// Returns the range of addresses of the strings that a value borrows, if no two of its strings share memory.
fn find_borrowed<'a>(value: &Value<'a>, charge: &mut dyn FnMut(usize) -> Result<bool>) -> Result<Option<Range<usize>>> {
    let mut pending: Vec<(&str, &'a Data<'a>)> = Vec::new();
    match value {
        Value::List(Seq::Json(_)) | Value::Dict(Dict::Json(_)) => return Ok(Some(0..0)),
        Value::List(Seq::Data(items)) => pending.extend(items.iter().rev().map(|item| ("", item))),
        Value::Dict(Dict::Data(object)) => pending.extend(list_entries(object)),
        _ => return Ok(None),
    }
    let mut range = 0..0;
    let mut is_next = |text: &str| {
        let addresses = text.as_bytes().as_ptr_range();
        let is_next = text.is_empty() || range.end <= addresses.start.addr();
        if !text.is_empty() {
            let start = if range.is_empty() {
                addresses.start.addr()
            } else {
                range.start
            };
            range = start..addresses.end.addr();
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
            return Ok(None);
        }
    }
    Ok(Some(range))
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
                add_value(map, outer, (position, Role::Entry, key), Value::from(value), pending);
            }
        }
        Value::Dict(dict) => {
            for (position, (key, value)) in (0..).zip(dict.iter()) {
                if let Value::Str(key) = &key {
                    let key = key.borrowed().unwrap_or_default();
                    add_value(map, outer, (position, Role::Entry, key), value, pending);
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
