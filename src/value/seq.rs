//! The items of lists and tuples: the caller's, the template's, or made by the render; forwards or backwards, and any stretch of them.

use std::ops::Range;
use std::rc::Rc;

use super::Value;
use super::dict::Dict;
use super::identity::Identity;
use crate::json::{Data, Entry};
use crate::meter::Claim;

/// Items in an order that does not change.
#[derive(Clone, Debug)]
pub enum Seq<'a> {
    /// An array of the caller.
    Json(&'a [serde_json::Value], Identity),
    /// The same from behind.
    JsonReversed(&'a [serde_json::Value], Identity),
    /// An array of a JSON text, or a literal.
    Data(&'a [Data<'a>], Identity),
    /// The same from behind.
    DataReversed(&'a [Data<'a>], Identity),
    /// Made by the render: a stretch of it.
    Owned(Rc<OwnedItems<'a>>, u32, u32, Identity),
    /// The same from behind.
    OwnedReversed(Rc<OwnedItems<'a>>, u32, u32, Identity),
    /// The key and the value of an entry of the caller's, as `items()` gives them.
    JsonEntry(&'a String, &'a serde_json::Value, Part, Identity),
    /// The same of an object of a JSON text, or a literal.
    DataEntry(&'a Entry<'a>, Part, Identity),
    /// A group of the filter `groupby`, which names its two items `grouper` and `list` (jinja2 `filters.py`, `_GroupTuple`).
    Group(Rc<OwnedItems<'a>>),
}

/// What is left of the pair of a key and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Both.
    Pair,
    /// Both, the value first.
    Reversed,
    /// The key alone.
    Key,
    /// The value alone.
    Value,
}

impl Part {
    fn len(self) -> usize {
        match self {
            Self::Pair | Self::Reversed => 2,
            Self::Key | Self::Value => 1,
        }
    }

    /// What stands at an index: the key, or the value.
    fn get(self, index: usize) -> Option<Self> {
        match (self, index) {
            (Self::Pair | Self::Key, 0) | (Self::Reversed, 1) => Some(Self::Key),
            (Self::Reversed | Self::Value, 0) | (Self::Pair, 1) => Some(Self::Value),
            _ => None,
        }
    }

    /// A stretch of it, if that is not empty.
    fn slice(self, range: Range<usize>) -> Option<Self> {
        match range.len() {
            2 => Some(self),
            _ => self.get(range.start).filter(|_| !range.is_empty()),
        }
    }

    fn reversed(self) -> Self {
        match self {
            Self::Pair => Self::Reversed,
            Self::Reversed => Self::Pair,
            Self::Key | Self::Value => self,
        }
    }
}

/// Items that the render made, with the memory they hold.
#[derive(Debug)]
pub struct OwnedItems<'a> {
    values: Vec<Value<'a>>,
    height: u32,
    _claim: Claim,
}

impl<'a> Seq<'a> {
    /// No items.
    pub fn empty() -> Self {
        Self::Data(&[], Identity::NONE)
    }

    /// An array of the caller.
    #[inline]
    pub(super) fn json(items: &'a Vec<serde_json::Value>) -> Self {
        let identity = if items.is_empty() {
            Identity::of_place(items)
        } else {
            Identity::NONE
        };
        Self::Json(items, identity)
    }

    /// An array of a JSON text.
    #[inline]
    pub(super) fn data(items: &'a Vec<Data<'a>>) -> Self {
        let identity = if items.is_empty() {
            Identity::of_place(items)
        } else {
            Identity::NONE
        };
        Self::Data(items, identity)
    }

    pub(super) fn owned(values: Vec<Value<'a>>, height: u32, claim: Claim) -> Self {
        let len = u32::try_from(values.len()).unwrap_or(u32::MAX);
        let items = OwnedItems {
            values,
            height,
            _claim: claim,
        };
        Self::Owned(Rc::new(items), 0, len, Identity::NONE)
    }

    /// The same pair as a group of the filter `groupby`.
    #[must_use]
    pub fn into_group(self) -> Self {
        match self {
            Self::Owned(items, 0, 2, _) => Self::Group(items),
            other => other,
        }
    }

    /// The key and the value, where this is the whole entry of an object from outside.
    #[inline]
    pub fn as_entry(&self) -> Option<(Value<'a>, Value<'a>)> {
        match self {
            Self::JsonEntry(key, value, Part::Pair, _) => Some((Value::text(key), Value::from(*value))),
            Self::DataEntry((key, value), Part::Pair, _) => Some((Value::text(key), Value::from(value))),
            _ => None,
        }
    }

    /// Whether this is a group of the filter `groupby`.
    pub fn is_group(&self) -> bool {
        matches!(self, Self::Group(_))
    }

    /// The items themselves and their height, to be changed, where nobody else holds them or a stretch of them.
    pub fn try_into_items(self) -> Result<(Vec<Value<'a>>, u32), Self> {
        match self {
            Self::Owned(items, 0, end, identity) if end as usize == items.values.len() => match Rc::try_unwrap(items) {
                Ok(items) => Ok((items.values, items.height)),
                Err(items) => Err(Self::Owned(items, 0, end, identity)),
            },
            other => Err(other),
        }
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Json(items, _) | Self::JsonReversed(items, _) => items.len(),
            Self::Data(items, _) | Self::DataReversed(items, _) => items.len(),
            Self::Owned(_, start, end, _) | Self::OwnedReversed(_, start, end, _) => end.saturating_sub(*start) as usize,
            Self::Group(items) => items.values.len(),
            Self::JsonEntry(_, _, part, _) | Self::DataEntry(_, part, _) => part.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at an index from 0.
    #[inline]
    pub fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            Self::Json(items, _) => items.get(index).map(Value::from),
            Self::Data(items, _) => items.get(index).map(Value::from),
            Self::Owned(items, start, end, _) => {
                let at = (*start as usize).checked_add(index)?;
                items.values.get(at).filter(|_| at < *end as usize).cloned()
            }
            Self::Group(items) => items.values.get(index).cloned(),
            Self::JsonEntry(key, value, part, _) => Some(match part.get(index)? {
                Part::Key => Value::text(key),
                _ => Value::from(*value),
            }),
            Self::DataEntry((key, value), part, _) => Some(match part.get(index)? {
                Part::Key => Value::text(key),
                _ => Value::from(value),
            }),
            Self::JsonReversed(items, _) => items.get(mirrored(items.len(), index)?).map(Value::from),
            Self::DataReversed(items, _) => items.get(mirrored(items.len(), index)?).map(Value::from),
            Self::OwnedReversed(items, start, ..) => {
                let at = mirrored(self.len(), index)?;
                items.values.get((*start as usize).checked_add(at)?).cloned()
            }
        }
    }

    /// The item at an index, where that is an object from outside.
    #[inline(always)]
    pub(super) fn object(&self, index: usize) -> Option<Dict<'a>> {
        let json = match self {
            Self::Json(items, _) => items.get(index)?,
            Self::JsonReversed(items, _) => items.get(mirrored(items.len(), index)?)?,
            Self::Data(items, _) => return data_object(items.get(index)?),
            Self::DataReversed(items, _) => return data_object(items.get(mirrored(items.len(), index)?)?),
            _ => return None,
        };
        match json {
            serde_json::Value::Object(map) => Some(Dict::Json(map)),
            _ => None,
        }
    }

    /// All items, each made when it is asked for.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Value<'a>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// A stretch of the items, by indices from 0, as a list or tuple of that identity; nothing is copied.
    #[must_use]
    pub fn slice(&self, range: Range<usize>, identity: Identity) -> Self {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        let back = self.len().saturating_sub(end)..self.len().saturating_sub(start);
        match self {
            Self::Json(items, _) => Self::Json(items.get(start..end).unwrap_or_default(), identity),
            Self::Data(items, _) => Self::Data(items.get(start..end).unwrap_or_default(), identity),
            Self::JsonReversed(items, _) => Self::JsonReversed(items.get(back).unwrap_or_default(), identity),
            Self::DataReversed(items, _) => Self::DataReversed(items.get(back).unwrap_or_default(), identity),
            Self::Owned(items, from, ..) => {
                let (start, end) = stretch(*from, start..end);
                Self::Owned(Rc::clone(items), start, end, identity)
            }
            Self::Group(items) => {
                let (start, end) = stretch(0, start..end);
                Self::Owned(Rc::clone(items), start, end, identity)
            }
            Self::OwnedReversed(items, from, ..) => {
                let (start, end) = stretch(*from, back);
                Self::OwnedReversed(Rc::clone(items), start, end, identity)
            }
            Self::JsonEntry(key, value, part, _) => match part.slice(start..end) {
                Some(part) => Self::JsonEntry(key, value, part, identity),
                None => Self::Data(&[], identity),
            },
            Self::DataEntry(entry, part, _) => match part.slice(start..end) {
                Some(part) => Self::DataEntry(entry, part, identity),
                None => Self::Data(&[], identity),
            },
        }
    }

    /// The same items from behind; nothing is copied. It takes the identity along, and who shows it to a template gives it one before.
    #[must_use]
    pub fn reversed(&self) -> Self {
        match self {
            Self::Json(items, identity) => Self::JsonReversed(items, *identity),
            Self::JsonReversed(items, identity) => Self::Json(items, *identity),
            Self::Data(items, identity) => Self::DataReversed(items, *identity),
            Self::DataReversed(items, identity) => Self::Data(items, *identity),
            Self::Owned(items, start, end, identity) => Self::OwnedReversed(Rc::clone(items), *start, *end, *identity),
            Self::OwnedReversed(items, start, end, identity) => Self::Owned(Rc::clone(items), *start, *end, *identity),
            Self::Group(items) => Self::OwnedReversed(Rc::clone(items), 0, 2, Identity::NONE),
            Self::JsonEntry(key, value, part, identity) => Self::JsonEntry(key, value, part.reversed(), *identity),
            Self::DataEntry(entry, part, identity) => Self::DataEntry(entry, part.reversed(), *identity),
        }
    }

    /// Containers inside each other here; data of the caller counts as one.
    pub fn height(&self) -> u32 {
        match self {
            Self::Owned(items, ..) | Self::OwnedReversed(items, ..) | Self::Group(items) => items.height,
            _ => 1,
        }
    }

    /// Whether both are one Python object: the same items with the same identity.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Json(left, one), Self::Json(right, two)) | (Self::JsonReversed(left, one), Self::JsonReversed(right, two)) => {
                std::ptr::eq(*left, *right) && one == two
            }
            (Self::Data(left, one), Self::Data(right, two)) | (Self::DataReversed(left, one), Self::DataReversed(right, two)) => {
                std::ptr::eq(*left, *right) && one == two
            }
            (Self::Owned(left, a, b, one), Self::Owned(right, c, d, two))
            | (Self::OwnedReversed(left, a, b, one), Self::OwnedReversed(right, c, d, two)) => {
                Rc::ptr_eq(left, right) && (a, b, one) == (c, d, two)
            }
            (Self::Group(left), Self::Group(right)) => Rc::ptr_eq(left, right),
            // Each has an identity of its own.
            (Self::JsonEntry(.., one) | Self::DataEntry(.., one), Self::JsonEntry(.., two) | Self::DataEntry(.., two)) => {
                one == two
            }
            _ => false,
        }
    }
}

fn data_object<'a>(data: &'a Data<'a>) -> Option<Dict<'a>> {
    match data {
        Data::Object(object) => Some(Dict::Data(object, Identity::NONE)),
        _ => None,
    }
}

fn mirrored(len: usize, index: usize) -> Option<usize> {
    len.checked_sub(index)?.checked_sub(1)
}

/// Indices fit, because a stretch is never longer than the items that [`Seq::owned`] counted in `u32`.
fn stretch(from: u32, range: Range<usize>) -> (u32, u32) {
    let shift = |index: usize| from.saturating_add(u32::try_from(index).unwrap_or(u32::MAX));
    (shift(range.start), shift(range.end))
}
