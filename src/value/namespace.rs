//! Things with state: namespaces, cyclers and joiners.

use std::cell::Cell;

use super::Value;
use super::list::Seq;
use super::str::Str;
use crate::text::same::is_same;

/// The number of a namespace in the heap of its render.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NamespaceId(pub(super) u32);

/// The attributes of a namespace, in the order in which they were first set.
#[derive(Debug, Default)]
pub struct Namespace<'a> {
    /// The names are strings, but for those of `namespace({1: 2})`, which only print.
    attributes: Vec<(Value<'a>, Value<'a>)>,
}

/// What `cycler(a, b)` made.
#[derive(Debug)]
pub struct Cycler<'a> {
    /// The items; at least one.
    pub items: Seq<'a>,
    /// The index of the current one.
    pub position: Cell<usize>,
}

/// What `joiner(', ')` made.
#[derive(Debug)]
pub struct Joiner<'a> {
    /// What comes between.
    pub separator: Value<'a>,
    /// Whether it was called.
    pub used: Cell<bool>,
}

impl<'a> Namespace<'a> {
    /// A namespace with attributes of different names. A name that is no string is none that can be asked for.
    pub fn new(attributes: Vec<(Value<'a>, Value<'a>)>) -> Self {
        Self { attributes }
    }

    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        let is_name = |attribute: &Value<'a>| attribute.as_str().is_some_and(|attribute| is_same(attribute, name));
        let found = self.attributes.iter().find(|(attribute, _)| is_name(attribute));
        found.map(|(_, value)| value)
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut Value<'a>> {
        let mut attributes = self.attributes.iter_mut();
        let found = attributes.find(|(attribute, _)| attribute.as_str() == Some(name));
        found.map(|(_, value)| value)
    }

    /// Sets an attribute.
    pub fn set(&mut self, name: Str<'a>, value: Value<'a>) {
        match self.get_mut(name.as_str()) {
            Some(old) => *old = value,
            None => self.attributes.push((Value::Str(name), value)),
        }
    }

    /// Takes the value of an attribute out, leaving None, so that what is made from it can reuse it.
    pub fn take(&mut self, name: &str) -> Option<Value<'a>> {
        self.get_mut(name).map(|value| std::mem::replace(value, Value::None))
    }

    /// The work of finding an attribute, where there are many.
    #[inline]
    pub fn looks(&self) -> u64 {
        self.attributes.len() as u64 >> 4
    }

    /// The attributes in their order.
    pub fn attributes(&self) -> &[(Value<'a>, Value<'a>)] {
        &self.attributes
    }
}

impl Joiner<'_> {
    /// Containers inside each other here.
    pub fn height(&self) -> u32 {
        self.separator.height().saturating_add(1)
    }
}

impl Cycler<'_> {
    /// Containers inside each other here.
    pub fn height(&self) -> u32 {
        self.items.height()
    }
}
