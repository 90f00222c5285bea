//! Sets: distinct hashable items. Only the operators of dict views make one, as in `d.keys() - e.keys()`.

use super::Value;
use super::dict::{Dict, Key};
use super::set_table::Table;

/// A Python `set`.
#[derive(Clone, Debug)]
pub struct Set<'a> {
    /// The items as the keys of a dict, in the order in which the set goes over them.
    items: Dict<'a>,
    table: Table<'a>,
}

impl<'a> Set<'a> {
    /// The set of a dict's keys, which are those of the table.
    pub(super) fn new(items: Dict<'a>, table: Table<'a>) -> Self {
        Self { items, table }
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether the item is in it.
    pub fn contains(&self, key: &Key<'a>) -> bool {
        self.items.get(key).is_some()
    }

    /// The items.
    pub fn iter(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        self.items.keys()
    }

    /// Containers inside each other here.
    pub fn height(&self) -> u32 {
        self.items.height()
    }

    /// The items as the keys of a dict.
    pub fn as_dict(&self) -> &Dict<'a> {
        &self.items
    }

    /// Where the items are.
    pub fn table(&self) -> &Table<'a> {
        &self.table
    }
}
