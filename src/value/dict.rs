//! Dicts: an object of the caller, of a JSON text or of the template, or one that the render made, whose keys compare as Python's do.

use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::rc::Rc;

use indexmap::{Equivalent, IndexMap};

use super::Value;
use super::list::{Part, Seq};
use super::runtime::Runtime;
use super::str::Str;
use crate::data::{Entry, Object};
use crate::error::Result;
use crate::limits::Claim;
use crate::text::same::{SHORT, is_same};

/// Objects up to this size are scanned: that is faster than hashing the key.
const SCANNED: usize = 8;

/// A dict whose entries do not change.
#[derive(Clone, Debug)]
pub enum Dict<'a> {
    /// An object of the caller.
    Json(&'a serde_json::Map<String, serde_json::Value>),
    /// An object of a JSON text, or a literal.
    Data(&'a Object<'a>),
    /// Made by the render.
    Owned(Rc<OwnedDict<'a>>),
}

/// Entries that the render made, with the memory they hold.
#[derive(Debug)]
pub struct OwnedDict<'a> {
    entries: Entries<'a>,
    height: u32,
    _claim: Claim,
}

/// The entries of a dict under construction.
pub type Entries<'a> = IndexMap<Key<'a>, Value<'a>, BuildHasherDefault<KeyHasher>>;

/// A key with its hash, which was made by a function that may fail and was charged for ([`super::key`]).
#[derive(Clone, Debug)]
pub struct Key<'a> {
    /// The hash; equal keys have equal ones.
    pub(super) hash: u64,
    /// The key itself.
    pub value: Value<'a>,
}

/// A string key that is only looked up.
struct StrKey<'k> {
    hash: u64,
    text: &'k str,
}

/// Passes the ready hash of a [`Key`] through.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl Hash for Key<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Hash for StrKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Python's equality of hashable values; its cost is bounded by that of the hashes, which were charged.
impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && super::key::is_equal_key(&self.value, &other.value)
    }
}

impl Eq for Key<'_> {}

impl<'a> Equivalent<Key<'a>> for StrKey<'_> {
    fn equivalent(&self, key: &Key<'a>) -> bool {
        self.hash == key.hash && key.value.as_str() == Some(self.text)
    }
}

/// The value under a key of an object of the caller.
#[inline]
pub(super) fn json_entry<'a>(map: &'a serde_json::Map<String, serde_json::Value>, key: &str) -> Option<&'a serde_json::Value> {
    // A long key is compared by a call, for which all others would have to make room.
    if map.len() > SCANNED || key.len() > SHORT {
        return map.get(key);
    }
    map.iter().find(|(name, _)| is_same(name, key)).map(|(_, value)| value)
}

impl<'a> Dict<'a> {
    pub(super) fn owned(entries: Entries<'a>, height: u32, claim: Claim) -> Self {
        Self::Owned(Rc::new(OwnedDict {
            entries,
            height,
            _claim: claim,
        }))
    }

    /// How many entries there are.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Json(map) => map.len(),
            Self::Data(object) => object.len(),
            Self::Owned(dict) => dict.entries.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value under a string key.
    #[inline]
    pub fn get_str(&self, key: &str) -> Option<Value<'a>> {
        match self {
            Self::Json(map) => json_entry(map, key).map(Value::from),
            Self::Data(object) => object.get(key).map(Value::from),
            Self::Owned(_) => self.owned_entry(key).cloned(),
        }
    }

    /// The value under a string key of a dict that the render made.
    pub(super) fn owned_entry(&self, key: &str) -> Option<&Value<'a>> {
        let Self::Owned(dict) = self else { return None };
        let hash = super::key::hash_str(key);
        dict.entries.get(&StrKey { hash, text: key })
    }

    /// The value under any key.
    pub fn get(&self, key: &Key<'a>) -> Option<Value<'a>> {
        match (self, &key.value) {
            (Self::Owned(dict), _) => dict.entries.get(key).cloned(),
            (_, Value::Str(text)) => self.get_str(text.as_str()),
            _ => None,
        }
    }

    /// The entries in the order in which they were made.
    pub fn iter(&self) -> DictIter<'a> {
        match self {
            Self::Json(map) => DictIter::Json(map.iter()),
            Self::Data(object) => DictIter::Data(object.entries().iter()),
            Self::Owned(dict) => DictIter::Owned(Rc::clone(dict), 0, dict.entries.len()),
        }
    }

    /// The keys in their order.
    pub fn keys(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        self.iter().map(|(key, _)| key)
    }

    /// Containers inside each other here; data of the caller counts as one.
    pub fn height(&self) -> u32 {
        match self {
            Self::Owned(dict) => dict.height,
            _ => 1,
        }
    }

    /// Returns whether both are in the same place in memory.
    pub(super) fn shares_storage(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Json(left), Self::Json(right)) => std::ptr::eq(*left, *right),
            (Self::Data(left), Self::Data(right)) => std::ptr::eq(*left, *right),
            (Self::Owned(left), Self::Owned(right)) => Rc::ptr_eq(left, right),
            _ => false,
        }
    }
}

/// Goes over the entries of a dict, from either end.
#[derive(Clone, Debug)]
pub enum DictIter<'a> {
    /// Of the caller.
    Json(serde_json::map::Iter<'a>),
    /// Of a JSON text, or a literal.
    Data(std::slice::Iter<'a, Entry<'a>>),
    /// Of the render: the dict, the next index, and where it ends.
    Owned(Rc<OwnedDict<'a>>, usize, usize),
}

impl<'a> DictIter<'a> {
    /// The next entry as a pair, which is a tuple of its own.
    pub fn next_pair(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        let pair = match self {
            Self::Json(iter) => iter.next().map(|(key, value)| Seq::JsonEntry(key, value, Part::Pair)),
            Self::Data(iter) => iter.next().map(|entry| Seq::DataEntry(entry, Part::Pair)),
            Self::Owned(..) => match self.next() {
                Some((key, value)) => Some(runtime.items(vec![key, value])?),
                None => None,
            },
        };
        Ok(pair.map(Value::Tuple))
    }
}

impl<'a> Iterator for DictIter<'a> {
    type Item = (Value<'a>, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Json(iter) => iter.next().map(|(key, value)| (Value::text(key), Value::from(value))),
            Self::Data(iter) => iter.next().map(|(key, value)| (Value::text(key), Value::from(value))),
            Self::Owned(dict, next, end) => {
                let (key, value) = dict.entries.get_index(*next).filter(|_| *next < *end)?;
                *next = next.saturating_add(1);
                Some((key.value.clone(), value.clone()))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = match self {
            Self::Json(iter) => iter.len(),
            Self::Data(iter) => iter.len(),
            Self::Owned(_, next, end) => end.saturating_sub(*next),
        };
        (len, Some(len))
    }
}

impl DoubleEndedIterator for DictIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Self::Json(iter) => iter.next_back().map(|(key, value)| (Value::text(key), Value::from(value))),
            Self::Data(iter) => iter.next_back().map(|(key, value)| (Value::text(key), Value::from(value))),
            Self::Owned(dict, next, end) => {
                let last = end.checked_sub(1).filter(|last| last >= next)?;
                *end = last;
                let (key, value) = dict.entries.get_index(last)?;
                Some((key.value.clone(), value.clone()))
            }
        }
    }
}

impl ExactSizeIterator for DictIter<'_> {}

impl<'a> From<Str<'a>> for Key<'a> {
    fn from(text: Str<'a>) -> Self {
        Self {
            hash: super::key::hash_str(text.as_str()),
            value: Value::Str(text),
        }
    }
}
