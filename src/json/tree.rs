//! The tree of plain values that comes from outside: JSON text or anything `Serialize`, before it is a value of the template language.
//!
//! ```text
//! {"role": "user", "tokens": 18446744073709551616}   ->   Object[("role", Str), ("tokens", BigInt)]
//! ```
//!
//! Strings borrow from the text that was read. Against `serde_json::Value` it keeps integers of any size, `NaN` and the infinities, and
//! the order of keys always. It deliberately knows no operator of the template language and no JSON syntax. What an object does with a
//! repeated key is Python's rule for `dict` (CPython 3.11 `json.loads`): the first place, the last value.
//!
//! Comparing, cloning and dropping descend into the tree. The reader and the serializer bound its depth.

use std::borrow::Cow;

use num_bigint::BigInt;
use serde::ser::{Error, Serialize, SerializeMap, Serializer};

use crate::text::short_eq::is_equal;

/// One value from outside, with the text that it borrows from.
#[derive(Clone, Debug, PartialEq)]
pub enum Data<'a> {
    /// `null`
    None,
    /// `true`
    Bool(bool),
    /// `7`
    Int(i64),
    /// `18446744073709551616`; never one that fits into [`Data::Int`] when the reader made it.
    BigInt(Box<BigInt>),
    /// `7.0`, `NaN`
    Float(f64),
    /// `"text"`
    Str(Cow<'a, str>),
    /// `[1, 2]`
    List(Vec<Data<'a>>),
    /// Python's `(1, 2)`, which JSON has no text for.
    Tuple(Vec<Data<'a>>),
    /// `{"key": 1}`
    Object(Object<'a>),
}

impl Data<'_> {
    /// The same tree, borrowing from nothing.
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
}

/// A key and its value.
pub type Entry<'a> = (Cow<'a, str>, Data<'a>);

/// An object: entries in the order of their first appearance, no key twice.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    entries: Vec<Entry<'a>>,
    /// Where the keys are, in the order of the keys; none for an object that is small enough to be scanned.
    index: Option<Box<Index>>,
}

/// Positions of entries. Boxed as a whole, so that an object without an index is one word smaller.
#[derive(Clone, Debug)]
struct Index(Box<[u32]>);

/// Up to so many entries are scanned: most objects in messages have two to four keys, and comparing the lengths of twelve short
/// keys costs less than the binary search of an index and the making of it.
const SCANNED: usize = 12;

impl<'a> Object<'a> {
    /// The object with these entries. Of equal keys the first gives the place and the last the value.
    pub fn new(mut entries: Vec<Entry<'a>>) -> Self {
        if entries.len() <= SCANNED {
            if has_repeated_key(&entries) {
                entries = without_repeated_keys(entries);
            }
            return Self::from_distinct(entries);
        }
        let mut sorted = sorted_positions(&entries);
        let key = |position: &u32| entries.get(*position as usize).map(|(key, _)| key);
        if sorted
            .windows(2)
            .any(|pair| matches!(pair, [left, right] if key(left) == key(right)))
        {
            entries = without_repeated_keys(entries);
            sorted = sorted_positions(&entries);
        }
        // Positions that do not fit into 32 bits were left out; such an object is scanned.
        let index = (sorted.len() == entries.len()).then(|| Box::new(Index(sorted.into_boxed_slice())));
        Self { entries, index }
    }

    /// Whether these are few enough to be scanned, and no two have the same key.
    pub(crate) fn is_small_and_distinct(entries: &[Entry<'a>]) -> bool {
        entries.len() <= SCANNED && !has_repeated_key(entries)
    }

    /// The object with entries that are [plain](Self::is_small_and_distinct).
    pub(crate) fn from_distinct(entries: Vec<Entry<'a>>) -> Self {
        Self { entries, index: None }
    }

    /// The value of a key.
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

    /// Not inlined, so that the way for small objects stays short.
    #[inline(never)]
    fn get_indexed(&self, index: &Index, key: &str) -> Option<&Data<'a>> {
        let place = index.0.binary_search_by(|position| {
            let other = self.entries.get(*position as usize).map_or("", |(other, _)| other);
            other.cmp(key)
        });
        let (_, value) = self.entries.get(*index.0.get(place.ok()?)? as usize)?;
        Some(value)
    }

    /// The entries, in order.
    pub fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    /// The entries, in order, taken out.
    pub fn into_entries(self) -> Vec<Entry<'a>> {
        self.entries
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
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

/// Same keys in the same order with the same values; the index follows from them.
impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

/// Compares each key with those before it, for the few keys of a small object.
fn has_repeated_key(entries: &[Entry<'_>]) -> bool {
    let mut before = entries;
    while let Some(((key, _), rest)) = before.split_last() {
        if rest.iter().any(|(other, _)| is_equal(other, key)) {
            return true;
        }
        before = rest;
    }
    false
}

/// The positions of all entries by key, equal keys in the order of the entries.
fn sorted_positions(entries: &[Entry<'_>]) -> Vec<u32> {
    let mut positions: Vec<u32> = (0..=u32::MAX).zip(entries).map(|(position, _)| position).collect();
    positions.sort_by(|left, right| {
        let key = |position: &u32| entries.get(*position as usize).map(|(key, _)| key);
        key(left).cmp(&key(right))
    });
    positions
}

/// Moves the last value of each repeated key to the key's first place, and closes the gaps.
fn without_repeated_keys(entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    let sorted = sorted_positions(&entries);
    let key = |position: &u32| entries.get(*position as usize).map(|(key, _)| key);
    let repeated: Vec<&[u32]> = sorted
        .chunk_by(|left, right| key(left) == key(right))
        .filter(|run| run.len() > 1)
        .collect();
    let mut places: Vec<Option<Entry<'_>>> = entries.into_iter().map(Some).collect();
    let mut take = |position: &u32| places.get_mut(*position as usize).and_then(Option::take);
    let mut merged = Vec::with_capacity(repeated.len());
    for run in repeated {
        if let [first, superseded @ .., last] = run {
            superseded.iter().for_each(|position| drop(take(position)));
            if let (Some((key, _)), Some((_, value))) = (take(first), take(last)) {
                merged.push((*first, (key, value)));
            }
        }
    }
    for (position, entry) in merged {
        if let Some(place) = places.get_mut(position as usize) {
            *place = Some(entry);
        }
    }
    places.into_iter().flatten().collect()
}

/// A tuple becomes a sequence, and an integer beyond 128 bits an error: serde has no word for either.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn object(keys: &[&'static str]) -> Object<'static> {
        Object::new(
            (0..)
                .zip(keys)
                .map(|(place, key)| (Cow::Borrowed(*key), Data::Int(place)))
                .collect(),
        )
    }

    fn shown(object: &Object<'_>) -> Vec<String> {
        object
            .entries()
            .iter()
            .map(|(key, value)| format!("{key}={value:?}"))
            .collect()
    }

    #[test]
    fn of_equal_keys_the_first_gives_the_place_and_the_last_the_value() {
        assert_eq!(
            shown(&object(&["a", "b", "a", "c", "a"])),
            ["a=Int(4)", "b=Int(1)", "c=Int(3)"]
        );
        let many = ["z", "y", "x", "w", "v", "u", "t", "s", "r", "q", "p", "o", "n", "y", "z"];
        let many = object(&many);
        assert_eq!(many.len(), 13);
        assert_eq!(shown(&many)[..3], ["z=Int(14)", "y=Int(13)", "x=Int(2)"]);
    }

    #[test]
    fn small_and_large_objects_find_their_keys() {
        let keys = ["n", "c", "b", "m", "a", "l", "d", "k", "e", "j", "f", "i", "g", "h"];
        for count in 0..=keys.len() {
            let object = object(&keys[..count]);
            for (place, key) in (0..).zip(&keys[..count]) {
                assert_eq!(object.get(key), Some(&Data::Int(place)));
            }
            assert_eq!(object.get("cc"), None);
            assert_eq!(object.get(""), None);
        }
    }

    #[test]
    fn it_is_small_and_may_be_sent() {
        fn sent<T: Send + Sync>() {}
        fn shortened<'short>(data: Data<'static>, _: &'short str) -> Data<'short> {
            data
        }
        sent::<Data<'_>>();
        assert_eq!(size_of::<Data<'_>>(), 32);
        assert_eq!(shortened(Data::Int(1), ""), Data::Int(1));
    }
}
