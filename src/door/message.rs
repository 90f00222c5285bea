//! The messages that a template gets: those of the body, and those that are made of it.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use super::node::Node;
use crate::chat::Borrow;
use crate::error::Result;
use crate::json::{DEPTH, Data, Entry, Object};
use crate::value::{Runtime, Value};

/// The place in the body that a message was made of.
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
        self.field(format_args!(""))
    }

    /// Returns the JSON pointer of a value in the place; `field` begins with a slash.
    pub fn field(self, field: impl std::fmt::Display) -> String {
        match (self.index, self.block) {
            (Some(index), Some(block)) => format!("{}/{index}/content/{block}{field}", self.root),
            (Some(index), None) => format!("{}/{index}{field}", self.root),
            (None, _) => format!("{}{field}", self.root),
        }
    }
}

/// A message: of the body, or with entries of its own.
#[derive(Clone, Debug)]
enum Source<'b> {
    Kept(Node<'b>),
    Own(Data<'b>),
}

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
    pub fn set(&mut self, key: impl Into<Cow<'b, str>>, value: Data<'b>) {
        let mut entries = self.take_entries();
        entries.push((key.into(), value));
        self.source = Source::Own(Data::Object(Object::new(entries)));
    }

    /// Removes a key and returns its value. A key that is absent is null.
    pub fn take(&mut self, key: &str) -> Data<'b> {
        let mut entries = self.take_entries();
        let index = entries.iter().position(|(other, _)| other == key);
        let value = index.map_or(Data::None, |index| entries.remove(index).1);
        self.source = Source::Own(Data::Object(Object::new(entries)));
        value
    }

    /// Converts the message to its entries.
    pub fn into_entries(mut self) -> Vec<Entry<'b>> {
        self.take_entries()
    }

    /// Returns the entries, and leaves none.
    fn take_entries(&mut self) -> Vec<Entry<'b>> {
        let data = match &mut self.source {
            Source::Kept(node) => node.to_data(DEPTH),
            Source::Own(data) => std::mem::replace(data, Data::None),
        };
        match data {
            Data::Object(object) => object.into_entries(),
            _ => Vec::new(),
        }
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
    /// The body has none.
    Absent,
    /// The value of the body.
    Kept(Node<'b>),
    /// A value that is made of the body.
    Own(Data<'b>),
    /// Messages of which one at least is not that of the body.
    Messages(Vec<Message<'b>>),
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
