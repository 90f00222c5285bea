//! What the generators of lazy filters draw from.
//!
//! A generator function of Python runs nothing before its first item is wanted; so nothing is asked of the value before then, and
//! `{{ 5|batch(2) }}` fails only where somebody goes over it.

use crate::error::Result;
use crate::value::{Iter, Runtime, Value};

/// A value that is iterated once somebody wants an item.
#[derive(Debug)]
pub(super) enum LazyInput<'a> {
    /// Before the first item.
    Value(Value<'a>),
    /// Under way.
    Iter(Iter<'a>),
}

impl<'a> LazyInput<'a> {
    /// Nothing has been asked of the value yet.
    pub fn new(value: Value<'a>) -> Self {
        Self::Value(value)
    }

    /// The value, as long as nothing has been asked of it.
    pub fn untouched(&self) -> Option<&Value<'a>> {
        match self {
            Self::Value(value) => Some(value),
            Self::Iter(_) => None,
        }
    }

    /// The next item.
    pub fn next(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        match self {
            Self::Value(value) => {
                let mut iter = Iter::new(value)?;
                let item = iter.next(runtime);
                *self = Self::Iter(iter);
                item
            }
            Self::Iter(iter) => iter.next(runtime),
        }
    }
}
