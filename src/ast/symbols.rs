//! The names of a template, each stored once. A [`Symbol`] is the index of a name: the third name that a template mentions is symbol 2,
//! wherever it occurs.

use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// A name of the template, as an index into [`Symbols`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

/// The names of a template, in the order in which they first occur.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// The names. The index of a name is its symbol.
    names: Vec<Arc<str>>,
    /// The symbols, by the hashes of their names.
    by_name: HashTable<Symbol>,
    hasher: RandomState,
    /// A bit for each length that some name has. It excludes most names that are looked up and do not occur.
    lengths: u64,
    /// The symbols of the names whose meaning depends on the scope.
    scoped: SymbolSet,
}

/// The number of names that a new table has room for: as many as a hash table of 64 places takes. They fit in a block of less than 1024
/// bytes, for which glibc's allocator does not merge its free blocks.
const ROOM: usize = 56;

impl Symbols {
    /// Returns a table without names, which has room for those of a short template.
    pub fn with_room() -> Self {
        Self {
            names: Vec::with_capacity(ROOM),
            by_name: HashTable::with_capacity(ROOM),
            ..Self::default()
        }
    }

    /// Returns the symbol of `name`, a new one if the name has not occurred before.
    pub fn intern(&mut self, name: &str) -> Symbol {
        let hash = self.hasher.hash_one(name);
        if let Some(symbol) = self.find_hashed(hash, name) {
            return symbol;
        }
        let symbol = symbol(self.names.len());
        self.lengths |= length_bit(name);
        self.names.push(name.into());
        let (names, hasher) = (&self.names, &self.hasher);
        let rehash = |symbol: &Symbol| hasher.hash_one(find_name(names, *symbol));
        self.by_name.insert_unique(hash, symbol, rehash);
        symbol
    }

    /// Returns the symbol of `name`, if the name occurs.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        if self.lengths & length_bit(name) == 0 {
            return None;
        }
        self.find_hashed(self.hasher.hash_one(name), name)
    }

    /// Returns the symbol of `name`, which has this hash, if the name occurs.
    fn find_hashed(&self, hash: u64, name: &str) -> Option<Symbol> {
        self.by_name.find(hash, |symbol| self.name(*symbol) == name).copied()
    }

    pub fn name(&self, symbol: Symbol) -> &str {
        find_name(&self.names, symbol)
    }

    /// Marks a name as one whose meaning depends on the scope.
    pub fn mark_scoped(&mut self, symbol: Symbol) {
        self.scoped.insert(symbol);
    }

    /// Returns whether the meaning of a name may depend on the scope.
    ///
    /// This is so if the template assigns the name anywhere, or uses it as a loop variable, a parameter or the name of a macro. It is also
    /// so if a function that can be called after the end of a scope around it mentions the name: the end of the scope makes names missing.
    pub fn is_scoped(&self, symbol: Symbol) -> bool {
        self.scoped.contains(symbol)
    }

    /// Returns the name of a symbol as a shared string.
    pub fn spelling(&self, symbol: Symbol) -> Arc<str> {
        self.names.get(symbol.0 as usize).map_or_else(|| "".into(), Arc::clone)
    }

    /// Returns all symbols, in the order in which their names first occur.
    pub fn all(&self) -> impl Iterator<Item = Symbol> + use<> {
        (0..self.names.len()).map(symbol)
    }

    #[allow(clippy::len_without_is_empty, reason = "a template without names is nothing special")]
    pub fn len(&self) -> usize {
        self.names.len()
    }
}

/// Returns the name of a symbol from a list of names, or an empty string if the list does not have it.
fn find_name(names: &[Arc<str>], symbol: Symbol) -> &str {
    names.get(symbol.0 as usize).map_or("", |name| name)
}

#[derive(Clone, Debug, Default)]
pub struct SymbolSet {
    /// Whether each symbol is in the set. Later symbols are not.
    members: Vec<bool>,
}

impl SymbolSet {
    /// Adds a symbol, and returns whether it is new.
    pub fn insert(&mut self, symbol: Symbol) -> bool {
        let index = symbol.0 as usize;
        if index >= self.members.len() {
            self.members.resize(index + 1, false);
        }
        let member = self.members.get_mut(index);
        member.is_some_and(|is_member| !std::mem::replace(is_member, true))
    }

    pub fn remove(&mut self, symbol: Symbol) {
        if let Some(is_member) = self.members.get_mut(symbol.0 as usize) {
            *is_member = false;
        }
    }

    pub fn contains(&self, symbol: Symbol) -> bool {
        self.members.get(symbol.0 as usize) == Some(&true)
    }
}

/// Returns the bit for the length of a name. All long names share one.
fn length_bit(name: &str) -> u64 {
    1 << name.len().min(63)
}

/// Returns the symbol with this index. Sources are limited to less than 2³² bytes, so they have fewer names.
fn symbol(index: usize) -> Symbol {
    Symbol(u32::try_from(index).unwrap_or(u32::MAX))
}
