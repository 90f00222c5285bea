//! Frames: what Jinja compiles to Python functions, and where their variables go.
//!
//! A variable belongs to the innermost frame whose first level is not above the variable's. If an inner frame reads it too, it lives in
//! a cell. Which variables that concerns is known only at the end of a walk over the template, so the walk is done again where there
//! are any ([`Captures`]).

use std::collections::{HashMap, HashSet};

use super::symbols::{Ident, Instruction, TableId, Tables};
use crate::ast::{Frame, Load, Scope, Slot};

/// The variables that inner frames read, by the number of the frame that owns them.
pub(super) type Captures = Vec<HashSet<Ident>>;

/// The frames around the place of the walk, and what is known of captures.
#[derive(Debug, Default)]
pub(super) struct Frames {
    stack: Vec<Open>,
    /// From the walk before.
    known: Captures,
    /// From this walk.
    found: Captures,
}

/// A frame under construction.
#[derive(Debug)]
struct Open {
    number: usize,
    first_level: u32,
    slots: HashMap<Ident, u32>,
    size: Frame,
}

impl Frames {
    /// For a walk that knows what an earlier one found.
    pub fn new(known: Captures) -> Self {
        Self {
            known,
            ..Self::default()
        }
    }

    /// What this walk found.
    pub fn into_found(self) -> Captures {
        self.found
    }

    /// Opens a frame whose variables begin at a level.
    pub fn open(&mut self, first_level: u32) {
        self.stack.push(Open {
            number: self.found.len(),
            first_level,
            slots: HashMap::new(),
            size: Frame::default(),
        });
        self.found.push(HashSet::new());
    }

    /// Closes the innermost frame.
    pub fn close(&mut self) -> Frame {
        self.stack.pop().map_or_else(Frame::default, |frame| frame.size)
    }

    /// Where a variable lives, as seen from the innermost frame.
    pub fn slot(&mut self, ident: Ident) -> Slot {
        let Some(owner) = self.stack.iter().rposition(|frame| frame.first_level <= ident.level) else {
            return Slot::Unresolved;
        };
        let first_inner = owner.saturating_add(1);
        let is_inner = first_inner < self.stack.len();
        let hops = self
            .stack
            .iter()
            .skip(first_inner)
            .filter(|frame| has_cells(&self.known, frame))
            .count();
        let Some(frame) = self.stack.get_mut(owner) else {
            return Slot::Unresolved;
        };
        let captured = self.known.get(frame.number).is_some_and(|idents| idents.contains(&ident));
        if let Some(found) = self.found.get_mut(frame.number).filter(|_| is_inner) {
            found.insert(ident);
        }
        let next = if captured {
            &mut frame.size.cells
        } else {
            &mut frame.size.locals
        };
        let index = *frame.slots.entry(ident).or_insert_with(|| {
            let free = *next;
            *next = free.saturating_add(1);
            free
        });
        match (captured, is_inner) {
            (false, false) => Slot::Local(index),
            (true, false) => Slot::Cell(index),
            (_, true) => Slot::Outer {
                hops: u32::try_from(hops).unwrap_or(u32::MAX),
                cell: index,
            },
        }
    }

    /// What entering and leaving the scope of a table does.
    pub fn scope(&mut self, tables: &Tables, table: TableId) -> Scope {
        let mut scope = Scope::default();
        for (ident, load) in tables.loads(table) {
            let slot = self.slot(ident);
            scope.clears.push(slot);
            match load {
                Instruction::Parameter => {}
                Instruction::Resolve(symbol) => scope.loads.push(Load::Resolve(slot, symbol)),
                Instruction::Alias(outer) => scope.loads.push(Load::Alias(slot, self.slot(outer))),
                Instruction::Undefined => scope.loads.push(Load::Clear(slot)),
            }
        }
        scope
    }
}

fn has_cells(known: &Captures, frame: &Open) -> bool {
    known.get(frame.number).is_some_and(|idents| !idents.is_empty())
}
