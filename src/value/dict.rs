//! Dicts: an object of the caller, an object of a JSON text or of a literal, or a dict that the render made.

use std::hash::BuildHasherDefault;

use indexmap::IndexMap;

use super::Value;
use super::arena::Arena;
use super::key::{Key, KeyHasher, hash_str};
use super::runtime::Runtime;
use crate::error::Result;
use crate::json::{Data, Entry, Object};
use crate::meter::STEP_BYTES;
use crate::text::short_eq::{SHORT, is_equal_to_short};

/// An object of the caller.
pub type Map = serde_json::Map<String, serde_json::Value>;

/// The maximum number of entries of an object that is searched from its start, which is faster than hashing the key.
const SCANNED: usize = 8;

/// The maximum number of entries of a dict in which finding a short key takes no more time than the rest of the lookup.
const FEW: usize = 256;

/// The number of steps that it costs to read an entry that is not in the caches of the processor.
const DISTANT: u64 = 4;

/// An immutable dict.
#[derive(Clone, Copy, Debug)]
pub enum Dict<'a> {
    /// An object of the caller.
    Json(&'a Map),
    /// An object of a JSON text or a dict literal.
    Data(&'a Object<'a>),
    /// A dict that the render made.
    Owned(&'a OwnedDict<'a>),
}

/// The entries of a dict that the render made.
#[derive(Debug)]
pub struct OwnedDict<'a> {
    entries: &'a [(Key<'a>, Value<'a>)],
    /// The indices of the entries, each plus one, by their hashes: an entry is at its hash, or after it if that place is taken. The table
    /// is empty if the entries are few.
    table: &'a [u32],
    height: u32,
}

impl<'a> OwnedDict<'a> {
    /// Returns the value of the entry with a hash that a function accepts.
    fn find(&self, hash: u64, is_key: impl Fn(&Key<'a>) -> bool) -> Option<&'a Value<'a>> {
        let is_found = |(key, _): &&(Key<'a>, Value<'a>)| key.hash() == hash && is_key(key);
        if self.table.is_empty() {
            return self.entries.iter().find(is_found).map(|(_, value)| value);
        }
        let mut places = probe(hash, self.table.len()).map_while(|place| self.table.get(place)?.checked_sub(1));
        places.find_map(|index| self.entries.get(index as usize).filter(is_found).map(|(_, value)| value))
    }
}

/// Returns the places of a table in which an entry with a hash can be, in the order in which they are tried. The length of a table is a power
/// of two.
fn probe(hash: u64, len: usize) -> impl Iterator<Item = usize> {
    let mask = len.saturating_sub(1) as u64;
    (0..len as u64).map(move |step| usize::try_from(hash.wrapping_add(step) & mask).unwrap_or_default())
}

/// Returns the table of a dict's entries.
fn make_table(entries: &Entries<'_>) -> Vec<u32> {
    if entries.len() <= SCANNED {
        return Vec::new();
    }
    let mut table = vec![0; entries.len().saturating_mul(2).next_power_of_two()];
    for (key, number) in entries.keys().zip(1..) {
        let place = probe(key.hash(), table.len()).find(|place| table.get(*place) == Some(&0));
        if let Some(place) = place.and_then(|place| table.get_mut(place)) {
            *place = number;
        }
    }
    table
}

/// The entries of a dict under construction.
pub type Entries<'a> = IndexMap<Key<'a>, Value<'a>, BuildHasherDefault<KeyHasher>>;

/// A value of the input.
#[derive(Clone, Copy, Debug)]
pub enum Found<'a> {
    /// A value of the caller.
    Json(&'a serde_json::Value),
    /// A value of a JSON text or of a literal.
    Data(&'a Data<'a>),
}

impl<'a> Found<'a> {
    #[inline(always)]
    pub fn as_str(self) -> Option<&'a str> {
        match self {
            Self::Json(json) => json.as_str(),
            Self::Data(data) => data.text(),
        }
    }
}

impl<'a> From<Found<'a>> for Value<'a> {
    #[inline(always)]
    fn from(found: Found<'a>) -> Self {
        match found {
            Found::Json(json) => Self::from(json),
            Found::Data(data) => Self::from(data),
        }
    }
}

impl<'a> Dict<'a> {
    pub(super) fn owned(arena: &'a Arena, entries: &Entries<'a>, height: u32) -> Self {
        let pairs: Vec<_> = entries.iter().map(|(key, value)| (*key, *value)).collect();
        Self::Owned(arena.store(OwnedDict {
            entries: arena.store_items(&pairs),
            table: arena.store_items(&make_table(entries)),
            height,
        }))
    }

    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Json(map) => map.len(),
            Self::Data(object) => object.len(),
            Self::Owned(dict) => dict.entries.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of steps that finding a string key costs. A short key in a small dict costs one.
    #[inline]
    fn lookup_steps(&self, key: &str) -> u64 {
        if self.is_found_at_once(key) {
            return 1;
        }
        let bytes = (key.len() / STEP_BYTES) as u64;
        let distance = u64::from(
            (self.len() / FEW)
                .checked_ilog2()
                .map_or(0, |doublings| doublings.saturating_add(1)),
        );
        match self {
            // The charge grows with the logarithm of the size: a scan compares the key with several others, and the entries that a large
            // index refers to are far apart in memory.
            Self::Data(object) => {
                let compared = u64::from(object.len().checked_ilog2().unwrap_or(0)) + 1;
                bytes
                    .saturating_add(DISTANT.saturating_mul(u64::from(distance > 0)))
                    .saturating_mul(compared)
            }
            _ => bytes.saturating_add(distance).saturating_add(1),
        }
    }

    /// Returns whether a string key is short and the dict small, so that a shortcut may find it without charging for it.
    #[inline]
    pub fn is_found_at_once(&self, key: &str) -> bool {
        key.len() <= SHORT && self.len() <= FEW
    }

    /// Looks a key up in an object of the input, if the key is short and the entries are few. This calls no other function.
    #[inline(always)]
    pub fn scan(&self, key: &str) -> Option<Option<Found<'a>>> {
        match self {
            Self::Json(map) if map.len() <= SCANNED && key.len() <= SHORT => {
                for (name, value) in *map {
                    if is_equal_to_short(name, key) {
                        return Some(Some(Found::Json(value)));
                    }
                }
                Some(None)
            }
            Self::Data(object) if key.len() <= SHORT => {
                for (name, value) in object.scanned()? {
                    if is_equal_to_short(name, key) {
                        return Some(Some(Found::Data(value)));
                    }
                }
                Some(None)
            }
            _ => None,
        }
    }

    /// Returns the value under a string key without charging for it. Built-ins use [`Runtime::find_str`].
    pub fn get_str(&self, key: &str) -> Option<Value<'a>> {
        let found = self.scan(key).unwrap_or_else(|| match self {
            Self::Json(map) => map.get(key).map(Found::Json),
            Self::Data(object) => object.get(key).map(Found::Data),
            Self::Owned(_) => None,
        });
        match (found, self) {
            (None, Self::Owned(dict)) => dict.find(hash_str(key), |known| known.value.as_str() == Some(key)).copied(),
            (found, _) => found.map(Value::from),
        }
    }

    fn get(&self, key: &Key<'a>) -> Option<Value<'a>> {
        match (self, &key.value) {
            (Self::Owned(dict), _) => dict.find(key.hash(), |known| known == key).copied(),
            (_, Value::Str(text)) => self.get_str(text.as_str()),
            _ => None,
        }
    }

    /// Returns whether a function accepts any entry with a string key. The function gets the key, and whether the value is `None`.
    #[inline(always)]
    pub fn has_entry(&self, accepts: impl Fn(&str, bool) -> bool) -> bool {
        match self {
            Self::Json(map) => map.iter().any(|(key, value)| accepts(key, value.is_null())),
            Self::Data(object) => object
                .entries()
                .iter()
                .any(|(key, value)| accepts(key, matches!(value, Data::None))),
            other => other
                .iter()
                .any(|(key, value)| key.as_str().is_some_and(|key| accepts(key, matches!(value, Value::None)))),
        }
    }

    pub fn iter(&self) -> DictIter<'a> {
        match self {
            Self::Json(map) => DictIter::Json(map.iter()),
            Self::Data(object) => DictIter::Data(object.entries().iter()),
            Self::Owned(dict) => DictIter::Owned(dict.entries.iter()),
        }
    }

    pub fn keys(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        self.iter().map(|(key, _)| key)
    }

    /// Returns the nesting depth of the containers in the dict. A dict that the render did not make counts as one level.
    pub fn height(&self) -> u32 {
        match self {
            Self::Owned(dict) => dict.height,
            _ => 1,
        }
    }

    /// Returns the address of the dict, which no other dict has while this one exists.
    pub(super) fn address(&self) -> usize {
        match self {
            Self::Json(map) => std::ptr::from_ref(*map).addr(),
            Self::Data(object) => std::ptr::from_ref(*object).addr(),
            Self::Owned(dict) => std::ptr::from_ref(*dict).addr(),
        }
    }

    /// Returns whether both dicts are in the same place in memory.
    pub(super) fn shares_storage(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl<'a> Runtime<'a> {
    /// Returns the value under a string key of a dict, and charges for finding it.
    #[inline]
    pub fn find_str(&mut self, dict: &Dict<'a>, key: &str) -> Result<Option<Value<'a>>> {
        self.meter.charge(dict.lookup_steps(key))?;
        Ok(dict.get_str(key))
    }

    /// Returns the value under any key of a dict, and charges for hashing and finding it. An unhashable key is a type error.
    pub fn find_key(&mut self, dict: &Dict<'a>, key: &Value<'a>) -> Result<Option<Value<'a>>> {
        if let Value::Str(text) = key {
            return self.find_str(dict, text.as_str());
        }
        let key = Key::new(self, *key)?;
        self.meter.charge(dict.lookup_steps(""))?;
        Ok(dict.get(&key))
    }
}

/// An iterator over the entries of a dict, from either end.
#[derive(Clone, Debug)]
pub enum DictIter<'a> {
    /// The entries of the caller's object.
    Json(serde_json::map::Iter<'a>),
    /// The entries of an object of a JSON text or of a dict literal.
    Data(std::slice::Iter<'a, Entry<'a>>),
    /// The entries of a dict that the render made.
    Owned(std::slice::Iter<'a, (Key<'a>, Value<'a>)>),
}

impl<'a> Iterator for DictIter<'a> {
    type Item = (Value<'a>, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Json(iter) => iter.next().map(|(key, value)| (Value::text(key), Value::from(value))),
            Self::Data(iter) => iter.next().map(|(key, value)| (Value::text(key), Value::from(value))),
            Self::Owned(iter) => iter.next().map(|(key, value)| (key.value, *value)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = match self {
            Self::Json(iter) => iter.len(),
            Self::Data(iter) => iter.len(),
            Self::Owned(iter) => iter.len(),
        };
        (len, Some(len))
    }
}

impl DoubleEndedIterator for DictIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Self::Json(iter) => iter.next_back().map(|(key, value)| (Value::text(key), Value::from(value))),
            Self::Data(iter) => iter.next_back().map(|(key, value)| (Value::text(key), Value::from(value))),
            Self::Owned(iter) => iter.next_back().map(|(key, value)| (key.value, *value)),
        }
    }
}

impl ExactSizeIterator for DictIter<'_> {}
