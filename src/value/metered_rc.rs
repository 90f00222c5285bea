//! Shared objects with a claim to their memory.
//!
//! A function that makes such an object may have no meter. [`claim_value`](super::Runtime::claim_value) claims the memory later.

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use crate::error::Result;
use crate::meter::{Claim, Meter, STEP_BYTES};

/// A reference-counted object that claims its memory, but only once.
pub struct MeteredRc<T>(Rc<Held<T>>);

struct Held<T> {
    object: T,
    claim: Option<Claim>,
}

impl<T> MeteredRc<T> {
    /// Makes a shared object that has no claim yet.
    pub fn new(object: T) -> Self {
        Self(Rc::new(Held { object, claim: None }))
    }

    /// Returns the address of the object.
    pub(super) fn address(&self) -> usize {
        Rc::as_ptr(&self.0).addr()
    }

    /// Claims the memory of the object and charges for filling it, unless this was done before. `held` returns the bytes that the object
    /// owns elsewhere.
    pub(super) fn claim(&mut self, meter: &mut Meter<'_>, held: impl FnOnce(&T) -> usize) -> Result<()> {
        if let Some(Held {
            object,
            claim: claim @ None,
        }) = Rc::get_mut(&mut self.0)
        {
            let held = held(object);
            meter.charge(((held / STEP_BYTES) as u64).saturating_add(1))?;
            *claim = Some(meter.claim(size_of::<T>() + held)?);
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
