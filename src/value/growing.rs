//! Strings and lists that a template builds up in an attribute of a namespace.
//!
//! ```text
//! {% set ns.text = ns.text + message.content %}      {% set ns.calls = ns.calls + [call] %}
//! ```
//!
//! What is appended is collected in a buffer. The value is made of it when the template reads the attribute, so that all of the work takes
//! linear time.

use super::Value;
use super::namespace::{Content, Namespace, NamespaceId};
use super::runtime::{Heap, Runtime};
use crate::error::{Error, Result};
use crate::meter::{Claim, Meter};
use crate::trace::Pieces;

/// A string or a list that grows in place.
#[derive(Debug)]
pub struct Growing<'a> {
    buffer: Buffer<'a>,
    /// The claim to the memory of the buffer, and its size in bytes.
    claim: Option<(Claim, usize)>,
}

#[derive(Debug)]
enum Buffer<'a> {
    /// A plain string, with its pieces.
    Text(String, Pieces),
    /// The items of a list, with their height.
    List(Vec<Value<'a>>, u32),
}

impl<'a> Growing<'a> {
    fn accepts(&self, end: &Value<'a>) -> bool {
        match (&self.buffer, end) {
            (Buffer::Text(..), Value::Str(end)) => !end.is_markup(),
            (Buffer::List(..), Value::List(_)) => true,
            _ => false,
        }
    }

    /// Claims the memory of the buffer, if it has grown.
    fn claim(&mut self, meter: &mut Meter<'_>) -> Result<()> {
        let bytes = match &self.buffer {
            Buffer::Text(text, pieces) => text.capacity() + pieces.bytes(),
            Buffer::List(items, _) => items.capacity().saturating_mul(size_of::<Value<'_>>()),
        };
        if self.claim.as_ref().is_none_or(|(_, claimed)| *claimed < bytes) {
            self.claim = None;
            self.claim = Some((meter.claim(bytes)?, bytes));
        }
        Ok(())
    }
}

impl Heap<'_> {
    /// Returns whether an attribute of a namespace is a plain string or, unless it has to be one, a list.
    pub fn can_grow(&self, id: NamespaceId, name: &str, is_text: bool) -> bool {
        let namespace = self.namespace(id);
        let content = namespace.and_then(|namespace| namespace.peek_content(namespace.find(name)?));
        match content {
            Some(Content::Value(Value::Str(text)) | Content::Sum(Value::Str(text))) => !text.is_markup(),
            Some(Content::Value(Value::List(_)) | Content::Sum(Value::List(_))) => !is_text,
            Some(Content::Growing(growing)) => !is_text || matches!(growing.buffer, Buffer::Text(..)),
            _ => false,
        }
    }
}

impl<'a> Runtime<'a> {
    pub fn namespace_value(&mut self, id: NamespaceId, name: &str) -> Result<Option<Value<'a>>> {
        let index = self.find_attribute(id, name)?;
        index.map_or(Ok(None), |index| self.finish_attribute(id, index))
    }

    /// Returns the index of an attribute of a namespace, and charges for finding it.
    fn find_attribute(&mut self, id: NamespaceId, name: &str) -> Result<Option<usize>> {
        let Some(namespace) = self.heap.namespace(id) else {
            return Ok(None);
        };
        self.meter.charge_names(name, namespace.len())?;
        Ok(namespace.find(name))
    }

    pub fn namespace_items(&mut self, id: NamespaceId) -> Result<Vec<(Value<'a>, Value<'a>)>> {
        let count = self.heap.namespace(id).map_or(0, Namespace::len);
        self.meter.charge(count as u64)?;
        let mut items = Vec::with_capacity(count);
        for index in 0..count {
            let name = self.heap.namespace(id).and_then(|namespace| namespace.name(index));
            if let (Some(name), Some(value)) = (name, self.finish_attribute(id, index)?) {
                items.push((name, value));
            }
        }
        Ok(items)
    }

    /// Returns the value of the attribute at an index. If it grows, its value is made.
    fn finish_attribute(&mut self, id: NamespaceId, index: usize) -> Result<Option<Value<'a>>> {
        let content = self.heap.namespace_mut(id).and_then(|namespace| namespace.content(index));
        let growing = match content {
            None => return Ok(None),
            Some(Content::Value(value) | Content::Sum(value)) => return Ok(Some(*value)),
            Some(growing) => std::mem::replace(growing, Content::Value(Value::None)),
        };
        let value = self.finish(growing)?;
        if let Some(content) = self.heap.namespace_mut(id).and_then(|namespace| namespace.content(index)) {
            *content = Content::Sum(value);
        }
        Ok(Some(value))
    }

    /// Makes the value of what was built up.
    fn finish(&mut self, content: Content<'a>) -> Result<Value<'a>> {
        match content {
            Content::Value(value) | Content::Sum(value) => Ok(value),
            Content::Growing(growing) => match growing.buffer {
                Buffer::Text(text, pieces) => {
                    self.meter.charge_bytes(text.len())?;
                    self.text_with_pieces(text, pieces).map(Value::Str)
                }
                Buffer::List(items, height) => {
                    self.meter.charge_items(items.len() / 8)?;
                    self.items_of_height(&items, height).map(Value::List)
                }
            },
        }
    }

    /// Appends a value to an attribute of a namespace, if both are plain strings or both are lists. Returns whether it did.
    pub fn append_to_attribute(&mut self, id: NamespaceId, name: &str, end: &Value<'a>) -> Result<bool> {
        let index = self.find_attribute(id, name)?;
        let Some(content) = index.and_then(|index| self.heap.namespace_mut(id)?.content(index)) else {
            return Ok(false);
        };
        let is_sum = matches!(content, Content::Sum(_));
        let mut growing = match std::mem::replace(content, Content::Value(Value::None)) {
            Content::Growing(growing) if growing.accepts(end) => growing,
            // An empty string plus another one is the other one.
            Content::Value(start) | Content::Sum(start) if can_append(&start, end) && is_empty_text(&start) => {
                return Ok(self.put(id, index, Content::Value(*end)));
            }
            Content::Value(start) | Content::Sum(start) if can_append(&start, end) && !is_empty_text(end) => {
                self.grow(start, is_sum)?
            }
            other => {
                let is_appended = other.value().is_some_and(|start| can_append(start, end));
                self.put(id, index, other);
                return Ok(is_appended);
            }
        };
        self.add_end(&mut growing, end)?;
        Ok(self.put(id, index, Content::Growing(growing)))
    }

    /// Sets the content of the attribute at an index. Returns `true`.
    fn put(&mut self, id: NamespaceId, index: Option<usize>, new: Content<'a>) -> bool {
        if let Some(content) = index.and_then(|index| self.heap.namespace_mut(id)?.content(index)) {
            *content = new;
        }
        true
    }

    /// Copies a string or a list to a buffer, in which it can grow. `is_sum` says whether the render made it by appending.
    fn grow(&mut self, start: Value<'a>, is_sum: bool) -> Result<Box<Growing<'a>>> {
        let buffer = match start {
            Value::Str(text) => {
                self.meter.charge_bytes(text.as_str().len())?;
                let mut buffer = self.take_buffer();
                let pieces = match self.heap.pieces_of(&text) {
                    Some((pieces, _)) if is_sum => {
                        buffer.push_str(text.as_str());
                        pieces.clone()
                    }
                    _ => self.record_apart(|runtime| runtime.push(&text, &mut buffer))?,
                };
                Buffer::Text(buffer, pieces)
            }
            Value::List(items) => {
                self.meter.charge_items(items.len() / 8)?;
                Buffer::List(items.iter().collect(), items.height())
            }
            _ => return Err(Error::internal("a value cannot grow")),
        };
        Ok(Box::new(Growing { buffer, claim: None }))
    }

    fn add_end(&mut self, growing: &mut Growing<'a>, end: &Value<'a>) -> Result<()> {
        match (&mut growing.buffer, end) {
            (Buffer::Text(text, pieces), Value::Str(end)) => {
                self.meter.charge_bytes(end.as_str().len())?;
                self.meter.check_size(text.len() + end.as_str().len())?;
                std::mem::swap(&mut self.pieces, pieces);
                let pushed = self.push(end, text);
                std::mem::swap(&mut self.pieces, pieces);
                pushed?;
            }
            (Buffer::List(items, height), Value::List(end)) => {
                self.meter.charge_items(end.len())?;
                self.check_values(items.len() + end.len())?;
                items.extend(end.iter());
                *height = end.iter().map(|item| item.height().saturating_add(1)).fold(*height, u32::max);
                self.meter.check_height(*height)?;
            }
            _ => {}
        }
        growing.claim(&mut self.meter)
    }
}

fn is_empty_text(value: &Value<'_>) -> bool {
    value.as_str() == Some("")
}

/// Returns whether both values are plain strings or both are lists, so that one can be appended to the other.
fn can_append(start: &Value<'_>, end: &Value<'_>) -> bool {
    match (start, end) {
        (Value::Str(start), Value::Str(end)) => !start.is_markup() && !end.is_markup(),
        (Value::List(_), Value::List(_)) => true,
        _ => false,
    }
}
