//! Names as numbers: the third name that a template mentions is the symbol 2, wherever it occurs.
//!
//! A parser asks for each name that it meets, mostly for one of few. What a name is to the template is unknown here.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::text::short_eq::is_equal;

/// A name of the template, as an index into [`Symbols`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

/// How many places there are for names, and how many names may share one.
const PLACES: usize = 64;
const NEIGHBOURS: usize = 8;

/// No name's symbol: what follows the last name of a place.
const NOBODY: Symbol = Symbol(u32::MAX);

/// The names of a template, each once.
#[derive(Clone, Debug)]
pub struct Symbols {
    names: Vec<Name>,
    /// The name that was put last into each place.
    places: [Symbol; PLACES],
    /// The names whose place was full: ordered, so that many names cannot make a stranger's template slow.
    crowded: BTreeMap<Arc<str>, Symbol>,
}

#[derive(Clone, Debug)]
struct Name {
    spelling: Arc<str>,
    /// The name that was put into the same place before.
    neighbour: Symbol,
    /// Whether what it means depends on the scope.
    is_scoped: bool,
}

impl Default for Symbols {
    fn default() -> Self {
        Self {
            names: Vec::with_capacity(PLACES / 2),
            places: [NOBODY; PLACES],
            crowded: BTreeMap::new(),
        }
    }
}

impl Symbols {
    /// The symbol of `name`, a new one where it was not met before.
    pub fn intern(&mut self, name: &str) -> Symbol {
        let (found, is_full) = self.look(name);
        if let Some(symbol) = found {
            return symbol;
        }
        let symbol = Symbol(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        let spelling = Arc::<str>::from(name);
        let mut neighbour = NOBODY;
        if is_full {
            self.crowded.insert(Arc::clone(&spelling), symbol);
        } else if let Some(place) = self.places.get_mut(place(name)) {
            neighbour = std::mem::replace(place, symbol);
        }
        self.names.push(Name {
            spelling,
            neighbour,
            is_scoped: false,
        });
        symbol
    }

    /// The symbol of `name`, if it occurs.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        self.look(name).0
    }

    /// The symbol of `name`, if it occurs, and otherwise whether its place is full.
    fn look(&self, name: &str) -> (Option<Symbol>, bool) {
        let mut next = self.places.get(place(name)).copied().unwrap_or(NOBODY);
        for _ in 0..NEIGHBOURS {
            let Some(known) = self.names.get(next.0 as usize) else {
                return (None, false);
            };
            if is_equal(&known.spelling, name) {
                return (Some(next), false);
            }
            next = known.neighbour;
        }
        (self.crowded.get(name).copied(), true)
    }

    /// The spelling of a symbol.
    pub fn name(&self, symbol: Symbol) -> &str {
        self.names.get(symbol.0 as usize).map_or("", |name| &name.spelling)
    }

    /// Notes that what a name means depends on the scope.
    pub fn note_scoped(&mut self, symbol: Symbol) {
        if let Some(name) = self.names.get_mut(symbol.0 as usize) {
            name.is_scoped = true;
        }
    }

    /// Whether what a name means may depend on the scope: the template assigns it anywhere, loops over it, defines it; or a function
    /// mentions it that can be called when a scope around it has ended, which has made the name missing.
    pub fn is_scoped(&self, symbol: Symbol) -> bool {
        self.names.get(symbol.0 as usize).is_some_and(|name| name.is_scoped)
    }

    /// The spelling of a symbol, to keep.
    pub fn spelling(&self, symbol: Symbol) -> Arc<str> {
        let name = self.names.get(symbol.0 as usize);
        name.map_or_else(|| "".into(), |name| Arc::clone(&name.spelling))
    }

    /// All of them, in the order in which they were first met.
    pub fn all(&self) -> impl Iterator<Item = Symbol> + use<> {
        (0..u32::try_from(self.names.len()).unwrap_or(u32::MAX)).map(Symbol)
    }

    /// How many there are.
    #[allow(clippy::len_without_is_empty, reason = "a template without names is nothing special")]
    pub fn len(&self) -> usize {
        self.names.len()
    }
}

/// The place of a name: by its length and its ends, which tell most names apart.
fn place(name: &str) -> usize {
    let ends = [name.as_bytes().first(), name.as_bytes().last()];
    let [first, last] = ends.map(|byte| byte.copied().map_or(0, usize::from));
    (first ^ last.wrapping_mul(5) ^ name.len().wrapping_mul(9)) % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_symbols_when_their_places_are_full() {
        let mut symbols = Symbols::default();
        let names: Vec<String> = (0..1000).map(|number| format!("n{number:04}")).collect();
        let first: Vec<Symbol> = names.iter().map(|name| symbols.intern(name)).collect();
        let again: Vec<Symbol> = names.iter().map(|name| symbols.intern(name)).collect();
        assert!(!symbols.crowded.is_empty());
        assert_eq!(first, again);
        assert_eq!(symbols.len(), names.len());
        let spelled = names.iter().zip(&first).all(|(name, symbol)| symbols.name(*symbol) == name);
        assert!(spelled);
        assert_eq!(symbols.find("n1000"), None);
    }
}
