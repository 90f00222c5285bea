//! The table of a Python set, which says in which order it goes over its items.
//!
//! ```text
//! {3, 1}    {1, 3}        {8, 1, 10, 3}    {8, 1, 10, 3}
//! ```
//!
//! After CPython 3.11 `setobject.c`. Where the hash of an item differs from one process to another, so does the order there, and here
//! they stay in the order in which they came.

use super::dict::Key;
use super::python_hash::python_hash;
use crate::error::Result;
use crate::meter::Meter;

/// How many places a new table has (`PySet_MINSIZE`).
const LEAST: usize = 8;

/// How many neighbours of a place are looked at before it goes elsewhere (`LINEAR_PROBES`).
const NEIGHBOURS: usize = 9;

/// From so many items on a table doubles; a smaller one becomes four times as large as they are.
const MANY: usize = 50_000;

/// An item with Python's hash.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// The item.
    pub key: Key<'a>,
    hash: u64,
    /// Whether the hash is the same in each process.
    is_fixed: bool,
}

impl<'a> Item<'a> {
    /// An item of this key.
    pub fn new(key: Key<'a>) -> Self {
        let hash = python_hash(&key.value);
        Self {
            hash: hash.unwrap_or(key.hash),
            is_fixed: hash.is_some(),
            key,
        }
    }
}

/// A place of the table.
#[derive(Clone, Debug)]
enum Place<'a> {
    Free,
    /// An item was here.
    Left,
    /// The item, and which one it was to come.
    Taken(Item<'a>, usize),
}

/// The table.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    /// As many as a power of two.
    places: Vec<Place<'a>>,
    /// How many are not free.
    fill: usize,
    /// How many are taken.
    used: usize,
    /// How many items ever came.
    came: usize,
}

impl<'a> Table<'a> {
    /// One without items.
    pub fn new() -> Self {
        Self {
            places: vec![Place::Free; LEAST],
            fill: 0,
            used: 0,
            came: 0,
        }
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.used
    }

    /// The bytes that it takes.
    pub fn size(&self) -> usize {
        self.places.len().saturating_mul(size_of::<Place<'_>>())
    }

    /// The items in the order of their places.
    pub fn items(&self) -> impl Iterator<Item = &Item<'a>> {
        self.places.iter().filter_map(|place| match place {
            Place::Taken(item, _) => Some(item),
            Place::Free | Place::Left => None,
        })
    }

    /// The items in the order in which the set goes over them.
    pub fn ordered(&self) -> Vec<&Item<'a>> {
        if self.items().all(|item| item.is_fixed) {
            return self.items().collect();
        }
        let mut items: Vec<_> = self
            .places
            .iter()
            .filter_map(|place| match place {
                Place::Taken(item, came) => Some((*came, item)),
                Place::Free | Place::Left => None,
            })
            .collect();
        items.sort_by_key(|(came, _)| *came);
        items.into_iter().map(|(_, item)| item).collect()
    }

    fn mask(&self) -> usize {
        self.places.len().saturating_sub(1)
    }

    /// Where the item is, or else where it would go: to the last place on its way that one has left, or to the free one at its end.
    fn find(&self, meter: &mut Meter<'_>, item: &Item<'a>) -> Result<(usize, bool)> {
        let mask = self.mask();
        let mut rest = item.hash;
        #[expect(clippy::cast_possible_truncation, reason = "the mask takes the lowest bits")]
        let mut start = item.hash as usize & mask;
        let mut left = None;
        loop {
            meter.charge(1)?;
            let neighbours = if start.saturating_add(NEIGHBOURS) <= mask {
                NEIGHBOURS
            } else {
                0
            };
            for at in start..=start.saturating_add(neighbours) {
                match self.places.get(at) {
                    Some(Place::Taken(other, _)) if other.hash == item.hash && other.key == item.key => return Ok((at, true)),
                    Some(Place::Taken(..)) => {}
                    Some(Place::Left) => left = Some(at),
                    Some(Place::Free) | None => return Ok((left.unwrap_or(at), false)),
                }
            }
            rest >>= 5;
            #[expect(clippy::cast_possible_truncation, reason = "the mask takes the lowest bits")]
            let turn = rest as usize;
            start = start.wrapping_mul(5).wrapping_add(1).wrapping_add(turn) & mask;
        }
    }

    /// Whether it holds the item.
    pub fn contains(&self, meter: &mut Meter<'_>, item: &Item<'a>) -> Result<bool> {
        Ok(self.find(meter, item)?.1)
    }

    fn put(&mut self, meter: &mut Meter<'_>, item: Item<'a>) -> Result<()> {
        let (at, is_there) = self.find(meter, &item)?;
        if let (Some(place), false) = (self.places.get_mut(at), is_there) {
            self.fill = self.fill.saturating_add(usize::from(matches!(place, Place::Free)));
            *place = Place::Taken(item, self.came);
            self.came = self.came.saturating_add(1);
            self.used = self.used.saturating_add(1);
        }
        Ok(())
    }

    /// `set_add_entry`
    pub fn add(&mut self, meter: &mut Meter<'_>, item: Item<'a>) -> Result<()> {
        let fill = self.fill;
        self.put(meter, item)?;
        match self.fill > fill && self.is_full(0) {
            true => self.grow(meter),
            false => Ok(()),
        }
    }

    /// `set_discard_entry`; gives whether the item was there.
    pub fn discard(&mut self, meter: &mut Meter<'_>, item: &Item<'a>) -> Result<bool> {
        let (at, is_there) = self.find(meter, item)?;
        if let (Some(place), true) = (self.places.get_mut(at), is_there) {
            *place = Place::Left;
            self.used = self.used.saturating_sub(1);
        }
        Ok(is_there)
    }

    /// Makes room for so many items at once.
    pub fn reserve(&mut self, meter: &mut Meter<'_>, more: usize) -> Result<()> {
        match self.is_full(more) {
            true => self.resize(meter, self.used.saturating_add(more).saturating_mul(2)),
            false => Ok(()),
        }
    }

    /// `set_merge`
    pub fn merge(&mut self, meter: &mut Meter<'_>, other: &Self) -> Result<()> {
        if other.used == 0 {
            return Ok(());
        }
        self.reserve(meter, other.used)?;
        if self.fill == 0 && self.places.len() == other.places.len() && other.fill == other.used {
            meter.charge_items(other.places.len())?;
            *self = other.clone();
            return Ok(());
        }
        let is_clean = self.fill == 0;
        let items: Vec<Item<'a>> = match other.items().all(|item| item.is_fixed) {
            true => other.items().cloned().collect(),
            false => other.ordered().into_iter().cloned().collect(),
        };
        for item in items {
            match is_clean {
                true => self.put(meter, item)?,
                false => self.add(meter, item)?,
            }
        }
        Ok(())
    }

    /// Forgets where items were, if these are many.
    pub fn tidy(&mut self, meter: &mut Meter<'_>) -> Result<()> {
        match self.fill.saturating_sub(self.used) > self.mask() / 4 {
            true => self.grow(meter),
            false => Ok(()),
        }
    }

    fn is_full(&self, more: usize) -> bool {
        self.fill.saturating_add(more).saturating_mul(5) >= self.mask().saturating_mul(3)
    }

    fn grow(&mut self, meter: &mut Meter<'_>) -> Result<()> {
        let factor = if self.used > MANY { 2 } else { 4 };
        self.resize(meter, self.used.saturating_mul(factor))
    }

    /// `set_table_resize`: room for more than so many.
    fn resize(&mut self, meter: &mut Meter<'_>, least: usize) -> Result<()> {
        let len = least
            .saturating_add(1)
            .max(LEAST)
            .checked_next_power_of_two()
            .unwrap_or(usize::MAX);
        meter.check_size(len.saturating_mul(size_of::<Place<'_>>()))?;
        if len == LEAST && self.places.len() == LEAST && self.fill == self.used {
            return Ok(());
        }
        let came = self.came;
        let places = std::mem::replace(&mut self.places, vec![Place::Free; len]);
        (self.fill, self.used) = (0, 0);
        for place in places {
            if let Place::Taken(item, number) = place {
                self.came = number;
                self.put(meter, item)?;
            }
        }
        self.came = came;
        Ok(())
    }
}
