//! Where the variable of a name lives at run time.

use super::symbols::Symbol;

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

impl Load {
    /// The variable that gets a value.
    pub fn slot(self) -> Slot {
        match self {
            Self::Resolve(slot, _) | Self::Alias(slot, _) | Self::Clear(slot) => slot,
        }
    }

    /// The name that is looked up in the context.
    pub fn name(self) -> Option<Symbol> {
        match self {
            Self::Resolve(_, name) => Some(name),
            Self::Alias(..) | Self::Clear(_) => None,
        }
    }
}

/// Jinja's scope of names: what is loaded on entry and cleared on exit.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// On entry, in this order.
    pub loads: Vec<Load>,
    /// Loads of the reference that are skipped here, because the variable is always set before it is read. It keeps the value that it
    /// had.
    pub elided_loads: Vec<Load>,
    /// On exit these become missing (`compiler.py`, `leave_frame`).
    pub clears: Vec<Slot>,
    /// The cleared variables that a macro may still read after the scope has ended, and that are targets of a loop or a `with`. The
    /// reference shows its own object `missing` for them.
    pub show_missing: Box<[Slot]>,
}
