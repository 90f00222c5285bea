//! Objects that the render makes and values share, with a claim to the memory that they hold.
//!
//! What makes such an object may have no meter at hand; the claim comes when the object leaves it: a function that returns, an operator,
//! an attribute, a container that takes it ([`Runtime::claimed`]). Texts, lists, dicts and iterators claim theirs as they are made.

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use crate::error::Result;
use crate::limits::{Claim, Meter};

/// An object that may be shared.
pub struct MeteredRc<T>(Rc<Held<T>>);

struct Held<T> {
    object: T,
    claim: Option<Claim>,
}

impl<T> MeteredRc<T> {
    /// An object that was just made, and has no claim yet.
    pub fn new(object: T) -> Self {
        Self(Rc::new(Held { object, claim: None }))
    }

    /// Whether both are one object.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Claims the object's memory, unless that was done; `held` are the bytes that it holds elsewhere.
    pub(super) fn claim(&mut self, meter: &mut Meter<'_>, held: impl FnOnce(&T) -> usize) -> Result<()> {
        if let Some(Held {
            object,
            claim: claim @ None,
        }) = Rc::get_mut(&mut self.0)
        {
            *claim = Some(meter.claim(size_of::<T>().saturating_add(held(object)))?);
        }
        Ok(())
    }
}

impl<T> Deref for MeteredRc<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0.object
    }
}

impl<T> Clone for MeteredRc<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T: fmt::Debug> fmt::Debug for MeteredRc<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.object.fmt(out)
    }
}
