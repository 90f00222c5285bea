//! Views of dicts, which are objects of their own.
//!
//! ```text
//! {% set k = d.keys() %}{{ k is sameas k }}       True
//! {{ d.keys() is sameas d.keys() }}               False
//! {{ d.values() == d.values() }}                  False: unlike the others, these know no equality but that
//! ```
//!
//! A view shows all that its dict has, and so is one where nothing asks for more; which kind of view it is, the value says.

use std::ops::Deref;

use super::dict::Dict;
use super::identity::Identity;
use super::runtime::Runtime;

/// What `keys()`, `values()` and `items()` give.
#[derive(Clone, Debug)]
pub struct View<'a> {
    dict: Dict<'a>,
    identity: Identity,
}

impl View<'_> {
    /// Whether both are one Python object.
    pub fn is_same(&self, other: &Self) -> bool {
        self.identity == other.identity && self.dict.is_same(&other.dict)
    }
}

impl<'a> Runtime<'a> {
    /// A view of a dict that was just asked for.
    #[inline]
    pub fn view(&mut self, dict: Dict<'a>) -> View<'a> {
        let identity = self.heap.new_identity();
        View { dict, identity }
    }
}

/// A view that no template gets hold of.
impl<'a> From<Dict<'a>> for View<'a> {
    fn from(dict: Dict<'a>) -> Self {
        let identity = Identity::NONE;
        Self { dict, identity }
    }
}

impl<'a> Deref for View<'a> {
    type Target = Dict<'a>;

    #[inline]
    fn deref(&self) -> &Dict<'a> {
        &self.dict
    }
}
