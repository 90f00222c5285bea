//! Names as numbers, and where the variable of a name lives at run time.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A name of the template, as an index into [`Symbols`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

/// The names of a template, each once.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    names: Vec<Arc<str>>,
    /// Ordered rather than hashed: a template has few names, and the names of a stranger's cannot make it slow.
    numbers: BTreeMap<Arc<str>, Symbol>,
}

impl Symbols {
    /// The symbol of `name`, a new one where it was not met before.
    pub fn intern(&mut self, name: &str) -> Symbol {
        if let Some(symbol) = self.numbers.get(name) {
            return *symbol;
        }
        let symbol = Symbol(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        let name = Arc::<str>::from(name);
        self.names.push(Arc::clone(&name));
        self.numbers.insert(name, symbol);
        symbol
    }

    /// The symbol of `name`, if it occurs.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        self.numbers.get(name).copied()
    }

    /// The spelling of a symbol.
    pub fn name(&self, symbol: Symbol) -> &str {
        self.names.get(symbol.0 as usize).map_or("", |name| name)
    }

    /// How many there are.
    #[allow(clippy::len_without_is_empty, reason = "a template without names is nothing special")]
    pub fn len(&self) -> usize {
        self.names.len()
    }
}

/// Where a variable lives.
///
/// A *frame* is one activation of what Jinja compiles to a Python function: the root, a block, a macro, a call body, the body of a
/// recursive loop, the test of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Slot {
    /// Not resolved yet.
    #[default]
    Unresolved,
    /// In the frame, and nobody else sees it.
    Local(u32),
    /// In the frame, in a cell that inner frames close over.
    Cell(u32),
    /// In a cell of an enclosing frame.
    Outer {
        /// How many environments out; frames without cells have none of their own.
        hops: u32,
        /// The cell there.
        cell: u32,
    },
}

/// How many variables a frame has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Variables that only the frame sees.
    pub locals: u32,
    /// Variables that inner frames close over.
    pub cells: u32,
}

/// What happens to one variable when a scope is entered (jinja2 `compiler.py`, `enter_frame`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// It becomes what the context has under the name, or missing.
    Resolve(Slot, Symbol),
    /// It becomes what the outer variable is now.
    Alias(Slot, Slot),
    /// It becomes missing.
    Clear(Slot),
}

/// Jinja's scope of names: what is loaded on entry and cleared on exit.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// On entry, in this order.
    pub loads: Vec<Load>,
    /// On exit these become missing (`compiler.py`, `leave_frame`).
    pub clears: Vec<Slot>,
}
