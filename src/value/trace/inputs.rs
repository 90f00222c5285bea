//! Makes the input map of what the caller passed to a render: it says which string, list or dict of the input is at a place in memory.

use std::borrow::Cow;

use crate::ast::Symbols;
use crate::error::Result;
use crate::meter::STEP_BYTES;
use crate::trace::{Container, InputMap, Literals, Step, Storage};
use crate::value::{Dict, Runtime, Value};

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

/// Returns the map of an input, without the variables that the template does not mention. `charge` is called with the number of steps that
/// the next values cost; they are only added if it returns true.
pub(super) fn map_inputs<'a>(
    inputs: impl IntoIterator<Item = Traced<'a>>,
    names: &Symbols,
    literals: Option<&'a Literals>,
    mut charge: impl FnMut(usize) -> Result<bool>,
) -> Result<InputMap<'a>> {
    let mut map = InputMap::new(literals);
    let mut pending = Vec::with_capacity(PENDING);
    for input in inputs {
        match input {
            Traced::Token(name, text) => {
                if charge(steps_of_key(name))? {
                    map.add(Container::ROOT, Step::Token(name), text);
                }
            }
            Traced::Variable(name, value) if holds_strings(&value) && names.find(name).is_some() => {
                add_value(&mut map, Container::ROOT, Step::Key(name), value, &mut pending);
            }
            Traced::Variable(..) => {}
        }
        while let Some((container, value)) = pending.pop() {
            if charge(steps_of_items(&value))? {
                let first = pending.len();
                add_items(&mut map, container, value, &mut pending);
                // The last value is taken first, so the new ones are reversed to be taken in their order.
                pending.get_mut(first..).unwrap_or_default().reverse();
            }
        }
    }
    map.sort();
    Ok(map)
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
            for (index, item) in (0..).zip(items.iter()).filter(|(_, item)| holds_strings(item)) {
                add_value(map, outer, Step::Index(index), item, pending);
            }
        }
        Value::Dict(Dict::Json(object)) => {
            for (key, value) in object {
                add_value(map, outer, Step::Key(key), Value::from(value), pending);
            }
        }
        Value::Dict(Dict::Data(object)) => {
            for (key, value) in object.entries() {
                let step = match key {
                    Cow::Borrowed(key) => Step::Borrowed(key),
                    Cow::Owned(key) => Step::Key(key),
                };
                add_value(map, outer, step, Value::from(value), pending);
            }
        }
        Value::Dict(dict) => {
            for (key, value) in dict.iter() {
                if let Value::Str(key) = &key {
                    add_value(map, outer, Step::Borrowed(key.borrowed().unwrap_or_default()), value, pending);
                }
            }
        }
        _ => {}
    }
}

/// Adds a value of a container. If it can contain strings itself, it is added to those that are pending.
#[inline]
fn add_value<'a>(map: &mut InputMap<'a>, outer: Container, step: Step<'a>, value: Value<'a>, pending: &mut Vec<Pending<'a>>) {
    match value {
        Value::Str(text) => {
            map.add(outer, step, text.borrowed().unwrap_or_default());
        }
        Value::List(_) | Value::Tuple(_) | Value::Dict(_) => {
            let container = map.add(outer, step, "");
            map.add_storage(container, storage(&value));
            pending.push((container, value));
        }
        _ => {
            map.add(outer, step, "");
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
            let spend = |steps| {
                left = left.saturating_sub(steps);
                Ok(left > 0)
            };
            frames.context_map = Some(Box::new(map_inputs(inputs, &template.symbols, None, spend).ok()?));
            self.meter.add_done(most.saturating_sub(left) as u64);
        }
        frames.context_map.as_deref_mut()
    }
}
