//! Which values are one Python object: those that share their storage.

use super::Value;
use crate::number::IntRef;
use std::mem::discriminant;
use std::ptr;

/// The integers of which CPython keeps only one object each (`_PY_NSMALLNEGINTS`, `_PY_NSMALLPOSINTS`).
const SMALL_INTEGERS: std::ops::RangeInclusive<i64> = -5..=256;

impl<'a> Value<'a> {
    /// Returns whether both values are in the same place in memory, or are the same singleton.
    pub fn shares_storage(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::Int(left), Self::Int(right)) => left == right && SMALL_INTEGERS.contains(left),
            (Self::Big(IntRef::Big(left)), Self::Big(IntRef::Big(right))) => ptr::eq(*left, *right),
            (Self::Big(IntRef::Json(left)), Self::Big(IntRef::Json(right))) => ptr::eq(*left, *right),
            (Self::Str(left), Self::Str(right)) => left.shares_storage(right),
            (Self::List(left), Self::List(right)) => left.shares_storage(right),
            (Self::Tuple(left), Self::Tuple(right)) => left.shares_storage(right) || (left.is_empty() && right.is_empty()),
            (Self::Undefined(left), Self::Undefined(right)) => left.shares_storage(right),
            _ => {
                let is_same_kind = discriminant(self) == discriminant(other);
                is_same_kind && self.address().is_some_and(|address| other.address() == Some(address))
            }
        }
    }

    /// Returns what identifies an object, other than a list, that has storage of its own: its address, or the index of a namespace. The
    /// result is `None` for other values.
    pub(super) fn address(&self) -> Option<usize> {
        Some(match self {
            Self::Dict(dict) => dict.address(),
            Self::Range(range) => address(*range),
            Self::Method(method) => address(*method),
            Self::Iterator(iterator) => address(*iterator),
            Self::Loop(context) => address(*context),
            Self::Macro(code) => address(*code),
            Self::Cycler(cycler) => address(*cycler),
            Self::Joiner(joiner) => address(*joiner),
            Self::Function(function) => address(*function),
            Self::Namespace(id) => id.0 as usize,
            _ => return None,
        })
    }
}

fn address<T: ?Sized>(object: &T) -> usize {
    ptr::from_ref(object).addr()
}
