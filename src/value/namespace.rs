//! Values that change: namespaces, cyclers and joiners.

use std::cell::Cell;

use super::Value;
use super::list::Seq;
use super::str::Str;
use crate::error::Result;
use crate::meter::{Claim, Meter};
use crate::text::short_eq::{SHORT, is_equal, is_equal_to_short};

/// The index of a namespace in the heap of its render.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NamespaceId(pub(super) u32);

/// The attributes of a namespace, in the order in which they were first set.
#[derive(Debug)]
pub struct Namespace<'a> {
    /// The names are strings, except those of `namespace({1: 2})`, which can only be printed.
    attributes: Vec<(Value<'a>, Value<'a>)>,
    /// The claim to the memory of the attributes.
    claim: Claim,
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
    pub(super) fn new(meter: &mut Meter<'_>, attributes: Vec<(Value<'a>, Value<'a>)>) -> Result<Self> {
        let claim = claim_attributes(meter, attributes.capacity())?;
        Ok(Self { attributes, claim })
    }

    /// Returns the value of an attribute.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        let found = self.attributes.iter().find(|(attribute, _)| is_name(attribute, name));
        found.map(|(_, value)| value)
    }

    /// Returns the value of the attribute at an index, if it has a name, which must be short.
    #[inline(always)]
    pub fn get_at(&self, index: u32, name: &str) -> Option<&Value<'a>> {
        let (Value::Str(attribute), value) = self.attributes.get(index as usize)? else {
            return None;
        };
        is_equal_to_short(attribute.borrowed()?, name).then_some(value)
    }

    fn get_mut(&mut self, index: u32, name: &str) -> Option<&mut Value<'a>> {
        let index = match self.get_at(index, name) {
            Some(_) => index as usize,
            None => self.attributes.iter().position(|(attribute, _)| is_name(attribute, name))?,
        };
        self.attributes.get_mut(index).map(|(_, value)| value)
    }

    /// Sets an attribute, and charges for finding it. `index` is where the attribute is looked for first.
    #[inline]
    pub fn set(&mut self, meter: &mut Meter<'_>, index: u32, name: Str<'a>, value: Value<'a>) -> Result<()> {
        if self.is_found_at_once(name.as_str()) && self.get_at(index, name.as_str()).is_some() {
            if let Some((_, old)) = self.attributes.get_mut(index as usize) {
                *old = value;
                return Ok(());
            }
        }
        self.set_any(meter, index, name, value)
    }

    #[inline(never)]
    fn set_any(&mut self, meter: &mut Meter<'_>, index: u32, name: Str<'a>, value: Value<'a>) -> Result<()> {
        meter.charge_names(name.as_str(), self.attributes.len())?;
        match self.get_mut(index, name.as_str()) {
            Some(old) => *old = value,
            None => {
                if self.attributes.len() == self.attributes.capacity() {
                    self.claim = claim_attributes(meter, (self.attributes.len() + 1).saturating_mul(2))?;
                }
                self.attributes.push((Value::Str(name), value));
            }
        }
        Ok(())
    }

    /// Removes the value of an attribute and leaves `None`, so that a new value can reuse its memory.
    pub fn take(&mut self, index: u32, name: &str) -> Option<Value<'a>> {
        self.get_mut(index, name).map(|value| std::mem::replace(value, Value::None))
    }

    /// Returns whether finding an attribute costs no steps.
    #[inline]
    pub fn is_found_at_once(&self, name: &str) -> bool {
        name.len() <= SHORT && self.attributes.len() < 8
    }

    /// Returns the attributes in the order in which they were first set.
    pub fn attributes(&self) -> &[(Value<'a>, Value<'a>)] {
        &self.attributes
    }
}

fn is_name(attribute: &Value<'_>, name: &str) -> bool {
    attribute.as_str().is_some_and(|attribute| is_equal(attribute, name))
}

/// Claims the memory of a namespace's attributes.
fn claim_attributes(meter: &mut Meter<'_>, count: usize) -> Result<Claim> {
    let attributes = count.saturating_mul(size_of::<[Value<'_>; 2]>());
    meter.claim(size_of::<Namespace<'_>>() + attributes)
}

impl Joiner<'_> {
    /// Returns the nesting depth of the containers in the joiner.
    pub fn height(&self) -> u32 {
        self.separator.height().saturating_add(1)
    }
}

impl Cycler<'_> {
    /// Returns the nesting depth of the containers in the cycler.
    pub fn height(&self) -> u32 {
        self.items.height().saturating_add(1)
    }
}
