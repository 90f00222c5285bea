//! Objects that the render makes and values share, with a claim to the memory that they hold.
//!
//! What makes such an object may have no meter at hand; the claim comes when the object leaves it: a function that returns, an operator,
//! an attribute, a container that takes it ([`Runtime::claimed`]). Texts, lists, dicts and iterators claim theirs as they are made.

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use num_bigint::BigInt;

use super::Value;
use super::runtime::Runtime;
use super::undefined::Undefined;
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
    fn claim(&mut self, meter: &mut Meter<'_>, held: impl FnOnce(&T) -> usize) -> Result<()> {
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

/// An `int` that does not fit 64 bits.
#[derive(Clone, Debug)]
pub enum Big<'a> {
    /// Of the template, or of a JSON text.
    Borrowed(&'a BigInt),
    /// Made by the render.
    Made(MeteredRc<BigInt>),
}

impl Big<'_> {
    /// Whether both are one object.
    pub fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(&raw const **self, &raw const **other)
    }
}

impl Deref for Big<'_> {
    type Target = BigInt;

    #[inline]
    fn deref(&self) -> &BigInt {
        match self {
            Self::Borrowed(big) => big,
            Self::Made(big) => big,
        }
    }
}

impl From<BigInt> for Big<'_> {
    fn from(big: BigInt) -> Self {
        Self::Made(MeteredRc::new(big))
    }
}

impl<'a> Runtime<'a> {
    /// The value with a claim to the memory of the object that it is, where it was just made.
    #[inline]
    pub fn claim_value(&mut self, mut value: Value<'a>) -> Result<Value<'a>> {
        self.claim_object(&mut value)?;
        Ok(value)
    }

    /// Claims the memory of the object that a value is, where it was just made.
    #[inline]
    pub(super) fn claim_object(&mut self, value: &mut Value<'a>) -> Result<()> {
        match value {
            Value::Big(_)
            | Value::Range(_)
            | Value::Cycler(_)
            | Value::Joiner(_)
            | Value::Method(_)
            | Value::Undefined(Undefined::Other(_)) => self.claim_rare(value),
            _ => Ok(()),
        }
    }

    #[inline(never)]
    fn claim_rare(&mut self, value: &mut Value<'a>) -> Result<()> {
        let meter = &mut self.meter;
        match value {
            Value::Big(Big::Made(big)) => big.claim(meter, |big| usize::try_from(big.bits() >> 3).unwrap_or(usize::MAX)),
            Value::Range(range) => range.claim(meter, |_| 0),
            Value::Cycler(cycler) => cycler.claim(meter, |_| 0),
            Value::Joiner(joiner) => joiner.claim(meter, |_| 0),
            Value::Method(method) => method.claim(meter, |_| 0),
            Value::Undefined(Undefined::Other(other)) => other.claim(meter, |other| other.owned_bytes()),
            _ => Ok(()),
        }
    }
}
