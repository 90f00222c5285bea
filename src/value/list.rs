//! The items of lists and tuples: borrowed or made by the render, and any slice of them.

use std::ops::Range;

use super::Value;
use super::arena::Arena;
use super::dict::Dict;
use crate::json::Data;
use crate::trace::Storage;

/// The items of a list or a tuple, which do not change.
#[derive(Clone, Copy, Debug)]
pub enum Seq<'a> {
    /// An array of the caller.
    Json(&'a [serde_json::Value]),
    /// An array of a JSON text or a literal.
    Data(&'a [Data<'a>]),
    /// Items that the render made: the range from the first index to the second.
    Owned(&'a OwnedItems<'a>, u32, u32),
    /// A group of the filter `groupby`, whose two items are also its attributes `grouper` and `list` (jinja2 `filters.py`,
    /// `_GroupTuple`).
    Group(&'a OwnedItems<'a>),
    /// The items of a slice with the step -1.
    Reversed(&'a Seq<'a>),
}

/// Items that the render made.
#[derive(Clone, Copy, Debug)]
pub struct OwnedItems<'a> {
    values: &'a [Value<'a>],
    height: u32,
}

impl<'a> Seq<'a> {
    pub fn empty() -> Self {
        Self::Data(&[])
    }

    pub(super) fn owned(arena: &'a Arena, values: &[Value<'a>], height: u32) -> Self {
        let len = u32::try_from(values.len()).unwrap_or(u32::MAX);
        let values = arena.store_items(values);
        Self::Owned(arena.store(OwnedItems { values, height }), 0, len)
    }

    /// Returns the index in the items that are viewed from the last to the first.
    fn place(&self, index: usize) -> Option<usize> {
        self.len().checked_sub(index)?.checked_sub(1)
    }

    /// Turns a pair into a group of the filter `groupby`.
    #[must_use]
    pub fn into_group(self) -> Self {
        match self {
            Self::Owned(items, 0, 2) => Self::Group(items),
            other => other,
        }
    }

    /// Returns whether the items are a group of the filter `groupby`.
    pub fn is_group(&self) -> bool {
        matches!(self, Self::Group(_))
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        match self {
            Self::Json(items) => items.len(),
            Self::Data(items) => items.len(),
            Self::Owned(_, start, end) => end.saturating_sub(*start) as usize,
            Self::Group(items) => items.values.len(),
            Self::Reversed(view) => view.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            Self::Json(items) => items.get(index).map(Value::from),
            Self::Data(items) => items.get(index).map(Value::from),
            Self::Owned(items, start, end) => {
                let at = (*start as usize).checked_add(index)?;
                items.values.get(at).filter(|_| at < *end as usize).copied()
            }
            Self::Group(items) => items.values.get(index).cloned(),
            Self::Reversed(view) => view.get(view.place(index)?),
        }
    }

    /// Returns the item at an index, if it is an object of the caller or of a JSON text.
    #[inline(always)]
    pub fn object(&self, index: usize) -> Option<Dict<'a>> {
        match self {
            Self::Json(items) => match items.get(index)? {
                serde_json::Value::Object(map) => Some(Dict::Json(map)),
                _ => None,
            },
            Self::Data(items) => match items.get(index)? {
                Data::Object(object) => Some(Dict::Data(object)),
                _ => None,
            },
            _ => self.object_of_view(index),
        }
    }

    /// Returns the item at an index of items that are viewed or that the render made, as [`Seq::object`] does.
    #[inline(never)]
    fn object_of_view(&self, index: usize) -> Option<Dict<'a>> {
        match self.get(index)? {
            Value::Dict(dict @ (Dict::Json(_) | Dict::Data(_))) => Some(dict),
            _ => None,
        }
    }

    /// Returns an iterator over the items, each made on demand.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Value<'a>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Returns the items of a range of indices, without a copy, or `None` for those of a reversed view.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Option<Self> {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        Some(match self {
            Self::Json(items) => Self::Json(items.get(start..end)?),
            Self::Data(items) => Self::Data(items.get(start..end)?),
            Self::Owned(items, from, ..) => {
                let (start, end) = stretch(*from, start..end);
                Self::Owned(items, start, end)
            }
            Self::Group(items) => {
                let (start, end) = stretch(0, start..end);
                Self::Owned(items, start, end)
            }
            Self::Reversed(_) => return None,
        })
    }

    /// Returns the nesting depth of the containers in these items. Items that the render did not make count as one level.
    pub fn height(&self) -> u32 {
        match self {
            Self::Owned(items, ..) | Self::Group(items) => items.height,
            Self::Reversed(view) => view.height(),
            _ => 1,
        }
    }

    /// Returns the address of the items and their number, if they are in memory one after another and there are any.
    pub(super) fn storage(&self) -> Option<Storage> {
        let (address, len) = match self {
            Self::Json(items) => (items.as_ptr().addr(), items.len()),
            Self::Data(items) => (items.as_ptr().addr(), items.len()),
            Self::Owned(items, start, end) => {
                let items = items.values.get(*start as usize..*end as usize)?;
                (items.as_ptr().addr(), items.len())
            }
            _ => return None,
        };
        (len > 0).then_some((address, Some(len)))
    }

    /// Returns whether both have the same items in the same place in memory. Empty arrays of the caller have no place.
    pub(super) fn shares_storage(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Json(left), Self::Json(right)) => std::ptr::eq(*left, *right) && !left.is_empty(),
            (Self::Data(left), Self::Data(right)) => std::ptr::eq(*left, *right) && !left.is_empty(),
            (Self::Owned(left, a, b), Self::Owned(right, c, d)) => std::ptr::eq(*left, *right) && (a, b) == (c, d),
            (Self::Group(left), Self::Group(right)) => std::ptr::eq(*left, *right),
            (Self::Reversed(left), Self::Reversed(right)) => std::ptr::eq(*left, *right),
            _ => false,
        }
    }

    /// Returns whether these items are known to be a slice. Python makes a new object for each slice.
    pub(super) fn is_slice(&self) -> bool {
        match self {
            Self::Owned(items, start, end) => (*end).saturating_sub(*start) as usize != items.values.len(),
            _ => false,
        }
    }
}

/// Converts a range of indices in a view that starts at `from` to indices in the whole list. The indices fit, because [`Seq::owned`] counts
/// in `u32`.
fn stretch(from: u32, range: Range<usize>) -> (u32, u32) {
    let shift = |index: usize| from.saturating_add(u32::try_from(index).unwrap_or(u32::MAX));
    (shift(range.start), shift(range.end))
}
