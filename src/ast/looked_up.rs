//! The names of a template that are looked up in the context while it runs.

use super::symbols::Symbol;

/// The names that scopes inside a template look up in the context, numbered in the order in which they are added.
#[derive(Debug, Default)]
pub struct LookedUp {
    /// For each symbol, the index of its name plus one, or zero if the name is not looked up. Later symbols are not looked up.
    places: Vec<u32>,
    /// The number of names.
    count: u32,
}

impl LookedUp {
    /// Adds a name, unless it is there.
    pub fn add(&mut self, symbol: Symbol) {
        let symbol = symbol.0 as usize;
        if self.places.len() <= symbol {
            self.places.resize(symbol.saturating_add(1), 0);
        }
        if let Some(place) = self.places.get_mut(symbol).filter(|place| **place == 0) {
            self.count = self.count.saturating_add(1);
            *place = self.count;
        }
    }

    /// Returns the index of a name, or `None` if it is not looked up.
    #[inline]
    pub fn index(&self, symbol: Symbol) -> Option<usize> {
        (*self.places.get(symbol.0 as usize)? as usize).checked_sub(1)
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.count as usize
    }
}
