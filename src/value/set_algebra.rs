//! What dict views and sets do as sets: `d.keys() - e.keys()`, `d.keys() <= e.keys()`.
//!
//! After CPython 3.11 `dictobject.c`, `dictviews_sub` and `dictview_richcompare`, and `setobject.c`. A view takes any iterable as the
//! other side of `-`, on either side; a `set` takes sets only. How each is made says in which order its items stand in the
//! [table](super::set_table), and so does which of two equal items it keeps.

use super::Value;
use super::dict::Key;
use super::iterate::Iter;
use super::runtime::Runtime;
use super::set::Set;
use super::set_table::{Item, Table};
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
        let table = match left {
            Value::Set(set) if are_sets => self.set_minus(set, right)?,
            // The keys of a dict are read from the dict.
            Value::Keys(dict) => self.set_less(&Value::Dict((**dict).clone()), right)?,
            _ => self.set_less(left, right)?,
        };
        self.set(table).map(Some)
    }

    /// `set(left)` without what is in the other (`dictviews_sub`).
    fn set_less(&mut self, left: &Value<'a>, right: &Value<'a>) -> Result<Table<'a>> {
        let mut table = self.set_of(left)?;
        self.set_remove(&mut table, right)?;
        Ok(table)
    }

    /// The set of a table.
    pub fn set(&mut self, table: Table<'a>) -> Result<Value<'a>> {
        self.meter.charge_items(table.len())?;
        let items = table.ordered().into_iter().map(|item| (item.key.clone(), Value::None));
        let items = self.dict(items.collect())?;
        Ok(Value::Set(Shared::new(Set::new(items, table))))
    }

    /// `set(value)`
    pub fn set_of(&mut self, value: &Value<'a>) -> Result<Table<'a>> {
        let mut table = Table::new();
        self.set_update(&mut table, value)?;
        Ok(table)
    }

    /// Adds the items of a value (`set_update_internal`).
    pub fn set_update(&mut self, table: &mut Table<'a>, value: &Value<'a>) -> Result<()> {
        match value {
            Value::Set(set) => return table.merge(&mut self.meter, set.table()),
            Value::Dict(dict) => table.reserve(&mut self.meter, dict.len())?,
            _ => {}
        }
        let mut items = Iter::new(value)?;
        while let Some(item) = items.next(self)? {
            let item = Item::new(Key::new(self, item)?);
            table.add(&mut self.meter, item)?;
        }
        Ok(())
    }

    /// Takes out the items of a value (`set_difference_update_internal`).
    pub fn set_remove(&mut self, table: &mut Table<'a>, value: &Value<'a>) -> Result<()> {
        match value {
            Value::Set(set) => {
                let common;
                let mut removed = set.table();
                if removed.len() >> 3 > table.len() {
                    common = self.common(table, removed)?;
                    removed = &common;
                }
                for item in removed.items() {
                    table.discard(&mut self.meter, item)?;
                }
            }
            _ => {
                let mut items = Iter::new(value)?;
                while let Some(item) = items.next(self)? {
                    let item = Item::new(Key::new(self, item)?);
                    table.discard(&mut self.meter, &item)?;
                }
            }
        }
        table.tidy(&mut self.meter)
    }

    /// The items that a value does not have (`set_difference`).
    pub fn set_minus(&mut self, set: &Set<'a>, value: &Value<'a>) -> Result<Table<'a>> {
        let most = set.len() >> 2;
        let mut table = Table::new();
        match value {
            Value::Set(other) if other.len() >= most => {
                for item in set.table().ordered() {
                    if !other.table().contains(&mut self.meter, item)? {
                        table.add(&mut self.meter, item.clone())?;
                    }
                }
            }
            Value::Dict(dict) if dict.len() >= most => {
                for item in set.table().ordered() {
                    self.meter.charge(2)?;
                    if dict.get(&item.key).is_none() {
                        table.add(&mut self.meter, item.clone())?;
                    }
                }
            }
            _ => {
                table.merge(&mut self.meter, set.table())?;
                self.set_remove(&mut table, value)?;
            }
        }
        Ok(table)
    }

    /// The items that a value has too, those of the longer one of two sets apart (`set_intersection`).
    pub fn set_and(&mut self, table: &Table<'a>, value: &Value<'a>) -> Result<Table<'a>> {
        if let Value::Set(set) = value {
            return self.common(table, set.table());
        }
        let mut both = Table::new();
        let mut items = Iter::new(value)?;
        while let Some(item) = items.next(self)? {
            let item = Item::new(Key::new(self, item)?);
            if table.contains(&mut self.meter, &item)? {
                both.add(&mut self.meter, item)?;
            }
        }
        Ok(both)
    }

    fn common(&mut self, table: &Table<'a>, other: &Table<'a>) -> Result<Table<'a>> {
        let (asked, items) = match other.len() > table.len() {
            true => (other, table),
            false => (table, other),
        };
        let mut both = Table::new();
        for item in items.ordered() {
            if asked.contains(&mut self.meter, item)? {
                both.add(&mut self.meter, item.clone())?;
            }
        }
        Ok(both)
    }

    /// The items that only one of the two has (`set_symmetric_difference`).
    pub fn set_either(&mut self, table: &Table<'a>, value: &Value<'a>) -> Result<Table<'a>> {
        let mut either = self.set_of(value)?;
        for item in table.ordered() {
            if !either.discard(&mut self.meter, item)? {
                either.add(&mut self.meter, item.clone())?;
            }
        }
        Ok(either)
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
    use crate::value::Entries;

    #[test]
    fn views_take_any_iterable() {
        let mut runtime = Runtime::new(Limits::default(), &SystemClock);
        let mut entries = Entries::default();
        for key in ["a", "b"] {
            entries.insert(Key::new(&mut runtime, Value::text(key)).unwrap(), Value::Int(1));
        }
        let dict = runtime.dict(entries).unwrap();
        let list = runtime.list(vec![Value::text("b"), Value::text("c")]).unwrap();
        let keys = Value::Keys(runtime.view(dict));
        let left = runtime.subtract(&keys, &list).unwrap();
        let right = runtime.subtract(&list, &keys).unwrap();
        assert_eq!(runtime.repr(&left).unwrap(), "{'a'}");
        assert_eq!(runtime.repr(&right).unwrap(), "{'c'}");
        assert!(runtime.less(&left, &keys).unwrap());
        let error = runtime.subtract(&left, &list).unwrap_err();
        assert_eq!(error.message(), "unsupported operand type(s) for -: 'set' and 'list'");
    }
}
