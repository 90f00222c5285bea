//! The tree of plain values that JSON text and `Serialize` values are read into.
//!
//! ```text
//! {"role": "user", "tokens": 18446744073709551616}   ->   Object[("role", Str), ("tokens", BigInt)]
//! ```
//!
//! Strings borrow from the text. Unlike `serde_json::Value`, the tree has integers of any size, `NaN` and the infinities, and always
//! keeps the order of keys. If an object repeats a key, Python's rule for `dict` applies (CPython 3.13 `json.loads`): the key keeps its
//! first position and gets its last value.
//!
//! Comparing, cloning and dropping recurse. The reader and the serializer limit the depth of the tree.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::mem;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use num_bigint::BigInt;
use serde::ser::{Error, Serialize, SerializeMap, Serializer};

use crate::text::short_eq::is_equal;

/// A plain value, which may borrow from the text that it was read from.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Data<'a> {
    /// `null`
    #[default]
    None,
    /// `true`
    Bool(bool),
    /// `7`
    Int(i64),
    /// `18446744073709551616`. The reader uses it only for integers that do not fit into [`Data::Int`].
    BigInt(Box<BigInt>),
    /// `7.0`, `NaN`
    Float(f64),
    /// `"text"`
    Str(Cow<'a, str>),
    /// `[1, 2]`
    List(Vec<Data<'a>>),
    /// Python's `(1, 2)`. JSON has no tuples: reading never returns one, and writing makes it an array.
    Tuple(Vec<Data<'a>>),
    /// `{"key": 1}`
    Object(Object<'a>),
}

impl Data<'_> {
    /// The number of levels to which arrays and objects may nest in a tree that is read or made from another type.
    ///
    /// A tool's schema has about 20 levels, and CPython fails at about 1000. A tree is compared, cloned and dropped recursively. At 512
    /// levels this takes at most 300 KiB of stack with optimisations and 1.2 MiB without; a thread usually has 2 MiB.
    pub const MAX_DEPTH: usize = 512;

    /// Converts the tree to one that owns all its strings.
    pub fn into_owned(self) -> Data<'static> {
        match self {
            Self::None => Data::None,
            Self::Bool(bool) => Data::Bool(bool),
            Self::Int(int) => Data::Int(int),
            Self::BigInt(int) => Data::BigInt(int),
            Self::Float(float) => Data::Float(float),
            Self::Str(text) => Data::Str(Cow::Owned(text.into_owned())),
            Self::List(items) => Data::List(items.into_iter().map(Data::into_owned).collect()),
            Self::Tuple(items) => Data::Tuple(items.into_iter().map(Data::into_owned).collect()),
            Self::Object(object) => Data::Object(object.into_owned()),
        }
    }

    /// Returns whether Python counts the value as true.
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(bool) => *bool,
            Self::Int(int) => *int != 0,
            Self::BigInt(_) => true,
            Self::Float(float) => *float != 0.0,
            Self::Str(text) => !text.is_empty(),
            Self::List(items) | Self::Tuple(items) => !items.is_empty(),
            Self::Object(object) => !object.is_empty(),
        }
    }

    /// Returns a tree whose strings are borrowed from this one.
    pub(crate) fn borrowed(&self) -> Data<'_> {
        match self {
            Self::Str(text) => Data::Str(Cow::Borrowed(text)),
            Self::List(items) => Data::List(items.iter().map(Data::borrowed).collect()),
            Self::Tuple(items) => Data::Tuple(items.iter().map(Data::borrowed).collect()),
            Self::Object(object) => {
                let entries = object.entries().iter();
                let entries = entries.map(|(key, value)| (Cow::Borrowed(&**key), value.borrowed()));
                Data::Object(Object::new(entries.collect()))
            }
            Self::None => Data::None,
            Self::Bool(bool) => Data::Bool(*bool),
            Self::Int(int) => Data::Int(*int),
            Self::BigInt(int) => Data::BigInt(int.clone()),
            Self::Float(float) => Data::Float(*float),
        }
    }

    /// Returns the number of values in the tree.
    pub(crate) fn count_values(&self) -> usize {
        match self {
            Self::List(items) => items.iter().fold(1, |count, item| count.saturating_add(item.count_values())),
            Self::Object(object) => {
                let values = object.entries.iter();
                values.fold(1, |count, (_, value)| count.saturating_add(value.count_values()))
            }
            _ => 1,
        }
    }

    /// Returns the items of a list. Any other value has none.
    pub(crate) fn items(&self) -> std::slice::Iter<'_, Self> {
        match self {
            Self::List(items) => items.iter(),
            _ => [].iter(),
        }
    }

    /// Returns the name of the value's type in the words of JSON, for a message.
    #[doc(hidden)]
    pub fn describe(&self) -> &'static str {
        match self {
            Self::None => "null",
            Self::Bool(_) => "a bool",
            Self::Int(_) | Self::BigInt(_) | Self::Float(_) => "a number",
            Self::Str(_) => "a string",
            Self::List(_) | Self::Tuple(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

impl<'a> Data<'a> {
    /// Returns the value of a key of an object, unless it is null.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(object) => object.get(key).filter(|value| !value.is_null()),
            _ => None,
        }
    }

    /// Returns whether an object has a key, even with the value null.
    pub(crate) fn has(&self, key: &str) -> bool {
        matches!(self, Self::Object(object) if object.get(key).is_some())
    }

    /// Returns the entries of an object. Any other value has none.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &Self)> + Clone {
        let entries = match self {
            Self::Object(object) => object.entries(),
            _ => &[],
        };
        entries.iter().map(|(key, value)| (&**key, value))
    }

    /// Returns the value, if it is a string.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the string at a key.
    pub(crate) fn get_text(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// Returns the value, if it is a bool.
    pub(crate) fn bool(&self) -> Option<bool> {
        match self {
            Self::Bool(bool) => Some(*bool),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::None)
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Self::List(_))
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }
}

/// A key and its value.
pub type Entry<'a> = (Cow<'a, str>, Data<'a>);

/// An object: entries with different keys, in the order in which the keys first occurred.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    entries: Vec<Entry<'a>>,
    /// The positions of the entries by their keys, or `None` if the object is small enough to be scanned.
    index: Option<Box<Index>>,
}

/// The positions of entries by the hashes of their keys.
#[derive(Clone, Debug)]
struct Index {
    hasher: RandomState,
    positions: HashTable<usize>,
}

impl Index {
    /// Indexes entries. Moves the last value of each repeated key to the key's first position, and removes the other entries of that key.
    fn new(entries: &mut Vec<Entry<'_>>) -> Self {
        let hasher = RandomState::default();
        let mut positions = HashTable::with_capacity(entries.len());
        let mut kept: usize = 0;
        for position in 0..entries.len() {
            let key = key_at(entries, position);
            let hash_at = |position: &usize| hasher.hash_one(key_at(entries, *position));
            match positions.entry(hash_at(&position), |other| key_at(entries, *other) == key, hash_at) {
                Slot::Vacant(slot) => {
                    slot.insert(kept);
                    entries.swap(kept, position);
                    kept += 1;
                }
                Slot::Occupied(slot) => {
                    let value = entries.get_mut(position).map(|(_, value)| mem::replace(value, Data::None));
                    if let (Some(value), Some((_, first))) = (value, entries.get_mut(*slot.get())) {
                        *first = value;
                    }
                }
            }
        }
        entries.truncate(kept);
        Self { hasher, positions }
    }

    /// Returns the position of a key.
    fn find(&self, entries: &[Entry<'_>], key: &str) -> Option<usize> {
        let hash = self.hasher.hash_one(key);
        self.positions
            .find(hash, |position| key_at(entries, *position) == key)
            .copied()
    }
}

fn key_at<'e>(entries: &'e [Entry<'_>], position: usize) -> &'e str {
    entries.get(position).map_or("", |(key, _)| key)
}

/// The largest number of entries that are scanned instead of searched in an index. Most objects in messages have two to four keys, and
/// for twelve short keys comparing lengths costs less than building an index and searching in it.
const SCANNED: usize = 12;

impl<'a> Object<'a> {
    /// Creates an object. A repeated key keeps its first position and gets its last value.
    pub fn new(mut entries: Vec<Entry<'a>>) -> Self {
        if Self::is_small_and_distinct(&entries) {
            return Self::from_distinct(entries);
        }
        let index = Index::new(&mut entries);
        let is_large = entries.len() > SCANNED;
        Self {
            entries,
            index: is_large.then(|| Box::new(index)),
        }
    }

    /// Returns whether the entries need no index and have different keys.
    pub(crate) fn is_small_and_distinct(entries: &[Entry<'a>]) -> bool {
        entries.len() <= SCANNED && !has_repeated_key(entries)
    }

    /// Creates an object without an index from entries with different keys.
    pub(crate) fn from_distinct(entries: Vec<Entry<'a>>) -> Self {
        Self { entries, index: None }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Data<'a>> {
        match &self.index {
            None => self
                .entries
                .iter()
                .find(|(other, _)| is_equal(other, key))
                .map(|(_, value)| value),
            Some(index) => self.get_indexed(index, key),
        }
    }

    /// Returns the value of a key by the index. It is not inlined, to keep the code for small objects short.
    #[inline(never)]
    fn get_indexed(&self, index: &Index, key: &str) -> Option<&Data<'a>> {
        let position = index.find(&self.entries, key)?;
        self.entries.get(position).map(|(_, value)| value)
    }

    /// Returns the value of a key for modification.
    #[cfg(feature = "response")]
    #[doc(hidden)]
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Data<'a>> {
        self.values_mut().find_map(|(name, value)| (name == key).then_some(value))
    }

    /// Returns the keys, and the values for modification.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = (&str, &mut Data<'a>)> {
        self.entries.iter_mut().map(|(key, value)| (&**key, value))
    }

    /// Returns the entries, if they are so few that a key is found by scanning them.
    #[inline]
    pub(crate) fn scanned(&self) -> Option<&[Entry<'a>]> {
        self.index.is_none().then_some(&self.entries)
    }

    /// Returns the entries in their order.
    pub fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    /// Converts the object to its entries in their order.
    pub fn into_entries(self) -> Vec<Entry<'a>> {
        self.entries
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn into_owned(self) -> Object<'static> {
        let entries = self.entries.into_iter();
        Object {
            entries: entries
                .map(|(key, value)| (Cow::Owned(key.into_owned()), value.into_owned()))
                .collect(),
            index: self.index,
        }
    }
}

/// Objects are equal if they have the same entries in the same order.
impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

/// Returns whether two of a few entries have equal keys.
///
/// Each key sets one bit, chosen by its length and its first byte. Keys are compared only if two of them have the same bit.
#[inline]
fn has_repeated_key(entries: &[Entry<'_>]) -> bool {
    let mut seen: u64 = 0;
    entries.iter().any(|(key, _)| {
        let first = key.as_bytes().first().copied().unwrap_or_default();
        let bit = 1_u64 << ((key.len().wrapping_mul(7) ^ usize::from(first)) % 64);
        let is_new = seen & bit == 0;
        seen |= bit;
        !is_new
    }) && has_equal_pair(entries)
}

/// Returns whether two entries have equal keys. It compares each key with all earlier ones.
#[inline(never)]
fn has_equal_pair(entries: &[Entry<'_>]) -> bool {
    let mut before = entries;
    while let Some(((key, _), rest)) = before.split_last() {
        if rest.iter().any(|(other, _)| is_equal(other, key)) {
            return true;
        }
        before = rest;
    }
    false
}

/// A tuple is serialized as a sequence. An integer of more than 128 bits is an error, because serde has no type for it.
impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_unit(),
            Self::Bool(bool) => serializer.serialize_bool(*bool),
            Self::Int(int) => serializer.serialize_i64(*int),
            Self::BigInt(int) => match (i128::try_from(int.as_ref()), u128::try_from(int.as_ref())) {
                (Ok(int), _) => serializer.serialize_i128(int),
                (_, Ok(int)) => serializer.serialize_u128(int),
                _ => Err(S::Error::custom("an integer of more than 128 bits cannot be serialized")),
            },
            Self::Float(float) => serializer.serialize_f64(*float),
            Self::Str(text) => serializer.serialize_str(text),
            Self::List(items) | Self::Tuple(items) => serializer.collect_seq(items),
            Self::Object(object) => object.serialize(serializer),
        }
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self.entries() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
