//! What dict views and sets do as sets: `d.keys() - e.keys()`, `d.keys() <= e.keys()`.
//!
//! After CPython 3.11 `dictobject.c`, `dictviews_sub` and `dictview_richcompare`, and `setobject.c`. A view takes any iterable as the
//! other side of `-`, on either side; a `set` takes sets only. CPython prints a set in the order of its hash table, this crate in the
//! order in which the set was made.

use super::Value;
use super::dict::{Entries, Key};
use super::iterate::Iter;
use super::runtime::Runtime;
use super::set::Set;
use super::shared::Shared;
use crate::error::Result;

impl<'a> Value<'a> {
    /// Whether this compares as a set.
    pub(super) fn is_set_like(&self) -> bool {
        matches!(self, Self::Keys(_) | Self::Items(_) | Self::Set(_))
    }

    /// How many items there are in what compares as a set.
    pub(super) fn set_len(&self) -> usize {
        match self {
            Self::Keys(dict) | Self::Items(dict) => dict.len(),
            Self::Set(set) => set.len(),
            _ => 0,
        }
    }
}

impl<'a> Runtime<'a> {
    /// `left - right` where that is a set; None where the operator is not one of sets.
    pub(super) fn set_difference(&mut self, left: &Value<'a>, right: &Value<'a>) -> Result<Option<Value<'a>>> {
        let is_view = |value: &Value<'a>| matches!(value, Value::Keys(_) | Value::Items(_));
        let are_sets = matches!((left, right), (Value::Set(_), Value::Set(_)));
        if !are_sets && !is_view(left) && !is_view(right) {
            return Ok(None);
        }
        let mut entries = self.distinct(left)?;
        let removed = self.distinct(right)?;
        entries.retain(|key, _| !removed.contains_key(key));
        Ok(Some(Value::Set(Shared::new(Set::new(self.dict(entries)?)))))
    }

    /// The items of an iterable as keys, each once.
    fn distinct(&mut self, value: &Value<'a>) -> Result<Entries<'a>> {
        let mut entries = Entries::default();
        let mut items = Iter::new(value)?;
        while let Some(item) = items.next(self)? {
            self.meter
                .check_size(entries.len().saturating_mul(size_of::<[Value<'_>; 2]>()))?;
            entries.entry(Key::new(self, item)?).or_insert(Value::None);
        }
        Ok(entries)
    }

    /// Whether every item of one is in the other.
    pub(super) fn is_subset(&mut self, part: &Value<'a>, whole: &Value<'a>) -> Result<bool> {
        self.meter.check_stack()?;
        let mut items = Iter::new(part)?;
        while let Some(item) = items.next(self)? {
            if !self.contains(whole, &item)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use crate::limits::Limits;

    #[test]
    fn views_take_any_iterable() {
        let mut runtime = Runtime::new(Limits::default(), &SystemClock);
        let mut entries = Entries::default();
        for key in ["a", "b"] {
            entries.insert(Key::new(&mut runtime, Value::text(key)).unwrap(), Value::Int(1));
        }
        let dict = runtime.dict(entries).unwrap();
        let list = runtime.list(vec![Value::text("b"), Value::text("c")]).unwrap();
        let left = runtime.subtract(&Value::Keys(dict.clone()), &list).unwrap();
        let right = runtime.subtract(&list, &Value::Keys(dict.clone())).unwrap();
        assert_eq!(runtime.repr(&left).unwrap(), "{'a'}");
        assert_eq!(runtime.repr(&right).unwrap(), "{'c'}");
        assert!(runtime.less(&left, &Value::Keys(dict)).unwrap());
        let error = runtime.subtract(&left, &list).unwrap_err();
        assert_eq!(error.message(), "unsupported operand type(s) for -: 'set' and 'list'");
    }
}
