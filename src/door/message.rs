//! The messages that a template gets: those of the body, and those that are made from it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::node::{Node, memory_of};
use super::record::Recorder;
use crate::chat::Borrow;
use crate::error::Result;
use crate::json::{Data, Entry, Object};
use crate::number::text::write_int;

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
    /// Adds the start and the end in memory of each string that was made from the body instead of borrowed from it.
    pub fn find_own(&self, own: &mut BTreeMap<usize, usize>) {
        match self {
            Self::Absent | Self::Kept(_) => {}
            Self::Own(data) => add_own(data, own),
            Self::Messages(messages) => messages.iter().for_each(|message| {
                if let Source::Own(data) = &message.source {
                    add_own(data, own);
                }
            }),
        }
    }
}

fn add_own(data: &Data<'_>, own: &mut BTreeMap<usize, usize>) {
    let mut add = |text: &Cow<'_, str>| {
        if let Cow::Owned(text) = text {
            let memory = memory_of(text);
            own.insert(memory.start, memory.end);
        }
    };
    match data {
        Data::Str(text) => add(text),
        Data::List(items) => items.iter().for_each(|item| add_own(item, own)),
        Data::Object(object) => {
            object.entries().iter().for_each(|(key, _)| add(key));
            object.entries().iter().for_each(|(_, value)| add_own(value, own));
        }
        _ => {}
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
