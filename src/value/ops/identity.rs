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
//! Values that share their storage are one object, and so are equal values of which CPython keeps only one: small integers, the empty
//! string and the empty tuple, and strings of one Latin-1 character. Lists and dicts are one object only if they share their storage.
//!
//! Two faults are left: slices of the caller's lists and of strings that have the same bounds count as one object, and so does a list or
//! a dict that is a literal of the template and is evaluated twice.

use std::rc::Rc;

use super::compare;
use crate::error::Result;
use crate::unsupported;
use crate::value::{Runtime, Value};

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
            (Self::Str(left), Self::Str(right)) => left.shares_storage(right),
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
            _ => false,
        }
    }

    /// Returns whether two objects of this type never share storage, so that the storage decides which object this is.
    fn has_own_storage(&self) -> bool {
        matches!(
            self,
            Self::List(_)
                | Self::Dict(_)
                | Self::Range(_)
                | Self::Iterator(_)
                | Self::Namespace(_)
                | Self::Loop(_)
                | Self::Macro(_)
                | Self::Cycler(_)
                | Self::Joiner(_)
                | Self::Function(_)
                | Self::Method(_)
        )
    }
}

/// Returns whether both values are one Python object. Where only CPython's memory management decides, this is an error.
pub fn is_same<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    let is_known = match (left, right) {
        _ if left.ty() != right.ty() => true,
        (Value::List(left), Value::List(right)) if left.is_empty() && right.is_empty() => false,
        (Value::List(items) | Value::Tuple(items), _) if !items.is_empty() && left.shares_storage(right) => !items.is_slice(),
        _ => left.shares_storage(right) || left.has_own_storage() || !compare::identical_or_equal(runtime, left, right)?,
    };
    match is_known {
        true => Ok(left.shares_storage(right)),
        false => Err(unsupported::IDENTITY.error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use crate::limits::Limits;

    #[test]
    fn equal_values_are_one_object_only_where_that_is_known() {
        let json = serde_json::json!([[1, 2], [1, 2], [3], {}]);
        let mut runtime = Runtime::new(Limits::default(), &SystemClock);
        let Value::List(lists) = Value::from(&json) else {
            panic!("an array is a list")
        };
        let [one, two, other, dict] = [0, 1, 2, 3].map(|index| lists.get(index).unwrap());
        assert!(is_same(&mut runtime, &one, &one.clone()).unwrap());
        assert!(!is_same(&mut runtime, &one, &other).unwrap());
        assert!(!is_same(&mut runtime, &one, &dict).unwrap());
        assert!(!is_same(&mut runtime, &one, &two).unwrap());
        let whole = crate::value::ops::slice(&mut runtime, &one, None, None, None).unwrap();
        assert!(!is_same(&mut runtime, &one, &whole).unwrap());
        assert!(is_same(&mut runtime, &Value::Int(256), &Value::Int(256)).unwrap());
        assert!(is_same(&mut runtime, &Value::Int(257), &Value::Int(257)).is_err());
        assert!(!is_same(&mut runtime, &Value::Int(1), &Value::Bool(true)).unwrap());
    }
}
