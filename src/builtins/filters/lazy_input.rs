//! The input of filters that return a generator.
//!
//! A generator function of Python runs when its first item is read. So `{{ 5|batch(2) }}` is no error, but `{{ 5|batch(2)|list }}` is one.

use crate::error::Result;
use crate::value::{Iter, Runtime, Value};

/// A value whose iteration begins when its first item is read.
#[derive(Debug)]
pub(super) enum LazyInput<'a> {
    /// The value, before its first item is read.
    Value(Value<'a>),
    /// The iterator, after the first item has been read.
    Iter(Iter<'a>),
}

impl<'a> LazyInput<'a> {
    pub fn new(value: Value<'a>) -> Self {
        Self::Value(value)
    }

    /// Returns the value, if no item has been read yet.
    pub fn unread_value(&self) -> Option<&Value<'a>> {
        match self {
            Self::Value(value) => Some(value),
            Self::Iter(_) => None,
        }
    }

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
