//! Claims the memory of objects that were just made.
//!
//! A function that makes such an object often has no meter. The claim is made where the value leaves it: at the end of a call, of an
//! operator or of an attribute lookup, or when a container takes the value. Strings, lists, dicts and iterators claim their memory when
//! they are made.

use super::runtime::Runtime;
use super::{Big, Undefined, Value};
use crate::error::Result;

impl<'a> Runtime<'a> {
    /// Claims the memory of a value's object, if the object was just made, and returns the value.
    #[inline]
    pub fn claim_value(&mut self, mut value: Value<'a>) -> Result<Value<'a>> {
        self.claim_object(&mut value)?;
        Ok(value)
    }

    /// Claims the memory of a value's object, if the object was just made.
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
