//! Python's `is`, as far as the values here can answer it.
//!
//! ```text
//! x is sameas none        whether x is None
//! l is sameas l           True
//! m is sameas messages[0] True if both are the same object of the caller's data
//! [1] is sameas [2]       False: unequal values are never one object
//! 1.5 is sameas 0.5 + 1   an error: only CPython's memory management decides
//! ```
//!
//! Values that share their storage are one object. So are equal values of which CPython keeps only one: small integers, the empty
//! string and the empty tuple, and strings of one Latin-1 character. Slices share the storage of their list or string, so two slices
//! with the same bounds count as one object, which they are not in Python.

use std::rc::Rc;

use super::Value;
use super::runtime::Runtime;
use crate::error::Result;
use crate::unsupported;

/// The integers of which CPython keeps only one object each (`_PY_NSMALLNEGINTS`, `_PY_NSMALLPOSINTS`).
const SMALL_INTEGERS: std::ops::RangeInclusive<i64> = -5..=256;

impl<'a> Value<'a> {
    /// Returns whether both values are in the same place in memory, or are the same singleton.
    pub fn shares_storage(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::Int(left), Self::Int(right)) => left == right && SMALL_INTEGERS.contains(left),
            (Self::Big(left), Self::Big(right)) => left.is_same(right),
            (Self::Complex(left), Self::Complex(right)) => left.is_same(right),
            (Self::Str(left), Self::Str(right)) => left.shares_storage(right),
            (Self::Bytes(left), Self::Bytes(right)) => left.is_same(right),
            (Self::List(left), Self::List(right)) => left.shares_storage(right),
            (Self::Tuple(left), Self::Tuple(right)) => left.shares_storage(right) || (left.is_empty() && right.is_empty()),
            (Self::Dict(left), Self::Dict(right)) => left.shares_storage(right),
            (Self::Range(left), Self::Range(right)) => left.is_same(right),
            (Self::Undefined(left), Self::Undefined(right)) => left.shares_storage(right),
            (Self::Iterator(left), Self::Iterator(right)) => Rc::ptr_eq(left, right),
            (Self::Namespace(left), Self::Namespace(right)) => left == right,
            (Self::Loop(left), Self::Loop(right)) => Rc::ptr_eq(left, right),
            (Self::Macro(left), Self::Macro(right)) => Rc::ptr_eq(left, right),
            (Self::Cycler(left), Self::Cycler(right)) => left.is_same(right),
            (Self::Joiner(left), Self::Joiner(right)) => left.is_same(right),
            (Self::Function(left), Self::Function(right)) => std::ptr::eq(*left, *right),
            (Self::Method(left), Self::Method(right)) => left.is_same(right),
            (Self::Reference(left), Self::Reference(right)) => left.is_same(right),
            _ => false,
        }
    }

    /// Returns whether every object of this type has storage of its own, which then decides its identity.
    fn is_one_place(&self) -> bool {
        matches!(
            self,
            Self::Range(_)
                | Self::Iterator(_)
                | Self::Namespace(_)
                | Self::Loop(_)
                | Self::Macro(_)
                | Self::Cycler(_)
                | Self::Joiner(_)
                | Self::Function(_)
                | Self::Method(_)
                | Self::Reference(_)
        )
    }
}

impl<'a> Runtime<'a> {
    /// Returns whether both values are one Python object. Where only CPython's memory management decides, this is an error.
    pub fn is_same(&mut self, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
        if left.ty() != right.ty() {
            return Ok(false);
        }
        if left.shares_storage(right) {
            return Ok(true);
        }
        if left.is_one_place() || !self.identical_or_equal(left, right)? {
            return Ok(false);
        }
        Err(unsupported::IDENTITY.error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use crate::limits::Limits;

    #[test]
    fn equal_values_without_common_storage_are_undecided() {
        let json = serde_json::json!([[1, 2], [1, 2], [3], {}]);
        let mut runtime = Runtime::new(Limits::default(), &SystemClock);
        let Value::List(lists) = Value::from(&json) else {
            panic!("an array is a list")
        };
        let [one, two, other, dict] = [0, 1, 2, 3].map(|index| lists.get(index).unwrap());
        assert!(runtime.is_same(&one, &one.clone()).unwrap());
        assert!(!runtime.is_same(&one, &other).unwrap());
        assert!(!runtime.is_same(&one, &dict).unwrap());
        assert!(runtime.is_same(&one, &two).is_err());
        let whole = runtime.slice(&one, None, None, None).unwrap();
        assert!(runtime.is_same(&one, &whole).is_err());
        assert!(runtime.is_same(&Value::Int(256), &Value::Int(256)).unwrap());
        assert!(runtime.is_same(&Value::Int(257), &Value::Int(257)).is_err());
        assert!(!runtime.is_same(&Value::Int(1), &Value::Bool(true)).unwrap());
    }
}
