//! The messages that a template gets: those of the body, and those that are made from it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use serde::{Serialize, Serializer};

use super::node::Node;
use super::record::Recorder;
use crate::chat::Borrow;
use crate::error::Result;
use crate::json::{Data, Entry, Object};
use crate::number::text::write_int;
use crate::trace::{Write, address_of, memory_of};
use crate::value::{Runtime, Value};

/// The initial capacity of a pointer in bytes. Few pointers are longer.
pub const PATH: usize = 48;

/// The place in the body that a message was made from.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The pointer of the list or of the only value: `/messages`, `/system`.
    pub root: &'static str,
    /// The index in the list.
    pub index: Option<usize>,
    /// The index of the block in the content of the message.
    pub block: Option<usize>,
}

impl Place {
    /// Returns the place of an item of a list.
    pub fn item(root: &'static str, index: usize) -> Self {
        let index = Some(index);
        Self {
            root,
            index,
            block: None,
        }
    }

    /// Returns the place of a value of the body.
    pub fn root(root: &'static str) -> Self {
        Self {
            root,
            index: None,
            block: None,
        }
    }

    /// Returns the place of a block of a message.
    pub fn block(self, block: usize) -> Self {
        let block = Some(block);
        Self { block, ..self }
    }

    /// Returns the JSON pointer of the place.
    pub fn path(self) -> String {
        self.field("")
    }

    /// Returns the JSON pointer of a value in the place; `field` begins with a slash.
    pub fn field(self, field: &str) -> String {
        let mut path = String::with_capacity(PATH);
        path.push_str(self.root);
        for (before, index) in [("/", self.index), ("/content/", self.block)] {
            if let Some(index) = index {
                path.push_str(before);
                push_index(index, &mut path);
            }
        }
        path.push_str(field);
        path
    }
}

/// Appends an index to a JSON pointer.
pub fn push_index(index: usize, pointer: &mut String) {
    write_int(i64::try_from(index).unwrap_or(i64::MAX), pointer);
}

/// A message: one of the body, or a new one with its own entries.
#[derive(Clone, Debug)]
enum Source<'b> {
    Kept(Node<'b>),
    Own(Data<'b>),
}

/// The bytes that a message takes besides its entries.
pub const MESSAGE: usize = size_of::<Message<'static>>();

/// A message and its place in the body.
#[derive(Clone, Debug)]
pub struct Message<'b> {
    source: Source<'b>,
    pub place: Place,
}

impl<'b> Message<'b> {
    /// Makes a message that is a part of the body.
    pub fn kept(node: Node<'b>, place: Place) -> Self {
        let source = Source::Kept(node);
        Self { source, place }
    }

    /// Makes a message with a role and no content.
    pub fn new(role: &'b str, place: Place) -> Self {
        let source = Source::Own(Data::Object(Object::new(vec![("role".into(), Data::Str(role.into()))])));
        Self { source, place }
    }

    /// Returns the value of a key, unless it is null.
    pub fn get(&self, key: &str) -> Option<Node<'_>> {
        match &self.source {
            Source::Kept(node) => node.get(key),
            Source::Own(data) => Node::Data(data).get(key),
        }
    }

    /// Returns the role.
    pub fn role(&self) -> &str {
        self.get("role").and_then(Node::text).unwrap_or_default()
    }

    pub fn is_kept(&self) -> bool {
        matches!(self.source, Source::Kept(_))
    }

    /// Sets the value of a key. A key that is there keeps its place.
    pub fn set(&mut self, key: impl Into<Cow<'b, str>>, value: Data<'b>, changes: &mut Recorder<'_>) -> Result<()> {
        let mut entries = self.take_entries(changes)?;
        entries.push((key.into(), value));
        self.set_entries(entries);
        Ok(())
    }

    /// Removes a key and returns its value. A key that is absent is null.
    pub fn take(&mut self, key: &str, changes: &mut Recorder<'_>) -> Result<Data<'b>> {
        let mut entries = self.take_entries(changes)?;
        let index = entries.iter().position(|(other, _)| other == key);
        let value = index.map_or(Data::None, |index| entries.remove(index).1);
        self.set_entries(entries);
        Ok(value)
    }

    /// Sets all entries.
    pub fn set_entries(&mut self, entries: Vec<Entry<'b>>) {
        self.source = Source::Own(Data::Object(Object::new(entries)));
    }

    /// Takes the entries out of the message.
    pub fn take_entries(&mut self, changes: &mut Recorder<'_>) -> Result<Vec<Entry<'b>>> {
        let data = match &mut self.source {
            Source::Kept(node) => changes.copy(*node)?,
            Source::Own(data) => std::mem::replace(data, Data::None),
        };
        let Data::Object(object) = data else { return Ok(Vec::new()) };
        changes.charge_items(object.len())?;
        Ok(object.into_entries())
    }
}

impl Serialize for Message<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.source {
            Source::Kept(node) => node.serialize(serializer),
            Source::Own(data) => data.serialize(serializer),
        }
    }
}

impl Borrow for Message<'_> {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        match &self.source {
            Source::Kept(node) => node.borrow_value(runtime),
            Source::Own(data) => data.borrow_value(runtime),
        }
    }
}

/// A value of the request as the template gets it.
#[derive(Clone, Debug)]
pub enum Fitted<'b> {
    /// The body does not have the value.
    Absent,
    /// The value of the body.
    Kept(Node<'b>),
    /// A value that is made from the body.
    Own(Data<'b>),
    /// Messages, at least one of which is not that of the body.
    Messages(Vec<Message<'b>>),
}

impl Fitted<'_> {
    /// Adds the values that were made from the body.
    pub fn find_own(&self, own: &mut OwnValues<'_>) {
        match self {
            Self::Absent | Self::Kept(_) => {}
            Self::Own(data) => own.add(data, false),
            Self::Messages(messages) => messages.iter().for_each(|message| {
                if let Source::Own(data) = &message.source {
                    own.add(data, false);
                }
            }),
        }
    }
}

/// The values that the template gets and that were made from the body instead of borrowed from it.
pub struct OwnValues<'w> {
    /// The addresses of the objects whose JSON was written, sorted.
    written: &'w [usize],
    /// The addresses of the objects and of the strings that are not borrowed from the body.
    made: HashSet<usize>,
    /// The memory of the strings of the body whose JSON was written with that of an object.
    leaves: Vec<Range<usize>>,
}

impl<'w> OwnValues<'w> {
    pub fn new(written: &'w [usize]) -> Self {
        let (made, leaves) = (HashSet::new(), Vec::new());
        Self { written, made, leaves }
    }

    /// Adds a value, which was made with a limited depth. `is_written` says whether the JSON of an object around it was written.
    fn add(&mut self, data: &Data<'_>, is_written: bool) {
        match data {
            Data::Str(text) => self.add_text(text, is_written),
            Data::List(items) => items.iter().for_each(|item| self.add(item, is_written)),
            Data::Object(object) => {
                let address = address_of(object);
                self.made.insert(address);
                let is_written = is_written || self.written.binary_search(&address).is_ok();
                for (key, value) in object.entries() {
                    self.add_text(key, is_written);
                    self.add(value, is_written);
                }
            }
            _ => {}
        }
    }

    #[allow(clippy::ptr_arg, reason = "an owned text is not one of the body")]
    fn add_text(&mut self, text: &Cow<'_, str>, is_written: bool) {
        match text {
            Cow::Owned(text) => drop(self.made.insert(memory_of(text).start)),
            Cow::Borrowed(text) if is_written => self.leaves.push(memory_of(text)),
            Cow::Borrowed(_) => {}
        }
    }

    /// Adds the strings of the body that were written with an object. Their writes have no place in the prompt.
    pub fn add_leaves(&mut self, writes: &mut Vec<Write>) {
        let output = 0..0;
        let leaves = self.leaves.drain(..);
        writes.extend(leaves.map(|memory| Write {
            output: output.clone(),
            memory,
        }));
    }

    /// Returns whether the value at an address is not one of the body.
    pub fn is_made(&self, address: usize) -> bool {
        self.made.contains(&address)
    }
}

impl Borrow for Fitted<'_> {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        match self {
            Self::Absent => Ok(Value::None),
            Self::Kept(node) => node.borrow_value(runtime),
            Self::Own(data) => data.borrow_value(runtime),
            Self::Messages(messages) => messages.borrow_value(runtime),
        }
    }
}

impl Serialize for Fitted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent => serializer.serialize_unit(),
            Self::Kept(node) => node.serialize(serializer),
            Self::Own(data) => data.serialize(serializer),
            Self::Messages(messages) => messages.serialize(serializer),
        }
    }
}
