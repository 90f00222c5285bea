//! Values that change: namespaces, cyclers and joiners.

use std::cell::Cell;

use super::Value;
use super::growing::Growing;
use super::list::Seq;
use super::str::Str;
use crate::error::Result;
use crate::meter::Meter;
use crate::text::short_eq::{SHORT, is_equal, is_equal_to_short};

/// The maximum number of attributes among which finding a short name costs no steps.
const FEW: usize = 7;

/// The index of a namespace in the heap of its render.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NamespaceId(pub(super) u32);

/// The attributes of a namespace, in the order in which they were first set.
#[derive(Debug)]
pub struct Namespace<'a> {
    /// The names are strings, except those of `namespace({1: 2})`, which can only be printed.
    attributes: Vec<(Value<'a>, Content<'a>)>,
}

/// What an attribute of a namespace holds.
#[derive(Debug)]
pub enum Content<'a> {
    /// A value.
    Value(Value<'a>),
    /// A string or a list that was made by appending to the attribute. If it is appended to again, it will grow in place.
    Sum(Value<'a>),
    /// A string or a list that grows in place.
    Growing(Box<Growing<'a>>),
}

impl<'a> Content<'a> {
    /// Returns the value, unless it must be made first.
    #[inline]
    pub(super) fn value(&self) -> Option<&Value<'a>> {
        match self {
            Self::Value(value) | Self::Sum(value) => Some(value),
            Self::Growing(_) => None,
        }
    }
}

/// The state of `cycler(a, b)`.
#[derive(Debug)]
pub struct Cycler<'a> {
    /// The items, at least one.
    pub items: Seq<'a>,
    /// The index of the current item.
    pub position: Cell<usize>,
}

/// The state of `joiner(', ')`.
#[derive(Debug)]
pub struct Joiner<'a> {
    /// The text between two items.
    pub separator: Value<'a>,
    /// Whether the joiner was called.
    pub used: Cell<bool>,
}

impl<'a> Namespace<'a> {
    /// Makes a namespace of attributes with distinct names. A name that is not a string cannot be looked up.
    pub(super) fn new(meter: &mut Meter<'_>, attributes: Vec<(Value<'a>, Content<'a>)>) -> Result<Self> {
        hold_attributes(meter, attributes.len())?;
        Ok(Self { attributes })
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.attributes.iter().position(|(attribute, _)| is_name(attribute, name))
    }

    pub(super) fn name(&self, index: usize) -> Option<Value<'a>> {
        self.attributes.get(index).map(|(name, _)| *name)
    }

    pub(super) fn peek_content(&self, index: usize) -> Option<&Content<'a>> {
        self.attributes.get(index).map(|(_, content)| content)
    }

    pub(super) fn content(&mut self, index: usize) -> Option<&mut Content<'a>> {
        self.attributes.get_mut(index).map(|(_, content)| content)
    }

    pub fn len(&self) -> usize {
        self.attributes.len()
    }

    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.peek_content(self.find(name)?)?.value()
    }

    /// Returns the value of the attribute at an index, if it has a name, which must be short, and does not grow.
    #[inline(always)]
    pub fn get_at(&self, index: u32, name: &str) -> Option<&Value<'a>> {
        let (Value::Str(attribute), content) = self.attributes.get(index as usize)? else {
            return None;
        };
        content.value().filter(|_| is_same(attribute.as_str(), name))
    }

    /// Replaces the value of the attribute at an index, if the attribute has this name and finding it costs no steps. Returns whether the value
    /// was replaced.
    #[inline]
    pub fn replace(&mut self, index: u32, name: &str, value: Value<'a>) -> bool {
        let is_found_at_once = self.is_found_at_once(name);
        match self.attributes.get_mut(index as usize) {
            Some((Value::Str(attribute), Content::Value(old))) if is_found_at_once && is_same(attribute.as_str(), name) => {
                *old = value;
                true
            }
            _ => false,
        }
    }

    /// Sets an attribute, and charges for finding it.
    #[inline(never)]
    pub fn set(&mut self, meter: &mut Meter<'_>, name: Str<'a>, value: Value<'a>) -> Result<()> {
        meter.charge_names(name.as_str(), self.attributes.len())?;
        let found = self.find(name.as_str()).and_then(|index| self.content(index));
        if let Some(content) = found {
            *content = Content::Value(value);
            return Ok(());
        }
        if self.attributes.len() == self.attributes.capacity() {
            hold_attributes(meter, (self.attributes.len() + 1).saturating_mul(2))?;
        }
        self.attributes.push((Value::Str(name), Content::Value(value)));
        Ok(())
    }

    /// Returns whether finding an attribute costs no steps.
    #[inline]
    pub fn is_found_at_once(&self, name: &str) -> bool {
        name.len() <= SHORT && self.attributes.len() <= FEW
    }
}

/// Returns whether two short names are equal. Usually both are the same string of the tree.
#[inline(always)]
fn is_same(attribute: &str, name: &str) -> bool {
    std::ptr::eq(attribute, name) || is_equal_to_short(attribute, name)
}

fn is_name(attribute: &Value<'_>, name: &str) -> bool {
    attribute.as_str().is_some_and(|attribute| is_equal(attribute, name))
}

/// Counts the memory of a namespace's attributes.
fn hold_attributes(meter: &mut Meter<'_>, count: usize) -> Result<()> {
    let attributes = count.saturating_mul(size_of::<[Value<'_>; 2]>());
    meter.hold(size_of::<Namespace<'_>>() + attributes)
}

impl Joiner<'_> {
    pub fn height(&self) -> u32 {
        self.separator.height().saturating_add(1)
    }
}

impl Cycler<'_> {
    pub fn height(&self) -> u32 {
        self.items.height().saturating_add(1)
    }
}
