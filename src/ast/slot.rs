//! The places where variables are stored at run time.

use super::symbols::Symbol;

/// The place of a variable at run time.
///
/// A *frame* holds the variables of one call of what Jinja compiles to a Python function: the root of the template, a macro, the body of a
/// call block, the body of a recursive loop, or the test of a loop. A *cell* is a variable of a frame that frames inside it can read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slot {
    /// The variable has no place yet: the resolver has not run.
    #[default]
    Unresolved,
    /// A variable that only its own frame reads, by index.
    Local(u32),
    /// A cell of the current frame, by index.
    Cell(u32),
    /// A cell of an enclosing frame.
    Outer {
        /// The number of enclosing frames to go out. Frames without cells do not count.
        hops: u32,
        /// The index of the cell in that frame.
        cell: u32,
    },
}

/// The numbers of variables of a frame, and its last line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The number of variables that only this frame reads.
    pub locals: u32,
    /// The number of variables that frames inside this one read.
    pub cells: u32,
    /// The offset whose line the reference reports if the output of the frame cannot be joined at its end.
    pub end_at: u32,
}

/// The first value of one variable when a scope is entered (jinja2 3.1.6 `compiler.py`, `enter_frame`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// The value that the context has under the name, or missing.
    Resolve(Slot, Symbol),
    /// The current value of a variable of an outer scope, which is the second slot.
    Alias(Slot, Slot),
    /// The variable is missing: it has no value at first.
    Clear(Slot),
}

impl Load {
    pub fn slot(self) -> Slot {
        match self {
            Self::Resolve(slot, _) | Self::Alias(slot, _) | Self::Clear(slot) => slot,
        }
    }

    /// Returns the name that is looked up in the context, if any.
    pub fn name(self) -> Option<Symbol> {
        match self {
            Self::Resolve(_, name) => Some(name),
            Self::Alias(..) | Self::Clear(_) => None,
        }
    }
}

/// The variables that a scope loads when it is entered and clears when it is left.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The variables to load on entry, in this order.
    pub loads: Vec<Load>,
    /// The loads that the reference does and this crate skips, because the template always sets the variable before it reads it.
    pub elided_loads: Vec<Load>,
    /// The variables that have a value when the scope begins, such as the targets of a loop.
    pub parameters: Vec<Slot>,
    /// The parameters that a macro can still read after the end of the scope. The reference prints its own object `missing` for them.
    pub show_missing: Box<[Slot]>,
}

impl Scope {
    /// Returns the number of steps that it costs to enter the scope. A load that is skipped costs little.
    pub fn steps(&self) -> u64 {
        (self.loads.len() as u64 >> 1).saturating_add(self.elided_loads.len() as u64 >> 3)
    }

    /// Returns the variables that become missing on exit (jinja2 3.1.6 `compiler.py`, `leave_frame`): all variables of the scope.
    pub fn clears(&self) -> impl Iterator<Item = Slot> {
        let loads = self.loads.iter().chain(&self.elided_loads);
        loads.map(|load| load.slot()).chain(self.parameters.iter().copied())
    }

    /// Returns all places of variables in the scope.
    pub fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        let loads = self.loads.iter_mut().chain(&mut self.elided_loads);
        let slots = loads.flat_map(|load| match load {
            Load::Resolve(slot, _) | Load::Clear(slot) => [Some(slot), None],
            Load::Alias(slot, outer) => [Some(slot), Some(outer)],
        });
        slots.flatten().chain(&mut self.parameters).chain(&mut self.show_missing)
    }

    /// Returns the number of steps that it costs to leave the scope.
    pub fn exit_steps(&self) -> u64 {
        let loads = self.loads.len() + self.elided_loads.len();
        (loads + self.parameters.len()) as u64 >> 3
    }
}
