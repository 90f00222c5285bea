//! Which values are one Python object: those that share their storage.

use std::rc::Rc;

use super::Value;

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

    /// Returns what identifies an object that is equal only to itself: its address, or the index of a namespace. The result is `None` for
    /// other values.
    pub(super) fn address(&self) -> Option<usize> {
        Some(match self {
            Self::Iterator(iterator) => Rc::as_ptr(iterator).addr(),
            Self::Loop(context) => Rc::as_ptr(context).addr(),
            Self::Macro(code) => Rc::as_ptr(code).addr(),
            Self::Cycler(cycler) => cycler.address(),
            Self::Joiner(joiner) => joiner.address(),
            Self::Function(function) => std::ptr::from_ref(*function).addr(),
            Self::Namespace(id) => id.0 as usize,
            _ => return None,
        })
    }

    /// Returns whether each object of this type has storage of its own, so that the storage decides which object a value is.
    pub(super) fn has_own_storage(&self) -> bool {
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
