//! Assigns the variables of each frame to slots. A frame is what Jinja compiles to a Python function.
//!
//! A variable belongs to the frame around its scope. If an inner frame reads it too, it is in a cell, which is known only at the end
//! of the walk. Until then [`Slot::Local`] and [`Slot::Outer`] hold the index of the variable, [`Slot::Outer`] also the index of the
//! frame that reads it, and a [`Frame`] its own index. [`Frames::assign_slots`] replaces them.
//!
//! The first value of a variable that is always set before it is read is not loaded. A variable that a branch or the body of a loop
//! sets counts as set until the end of that body; if all branches of an `if` set it, it stays set after the `if`.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::ast::{ChildMut, ExprKind, Frame, Leaf, Load, Scope, Slot, Symbol, SymbolSet, Template};

/// A variable, as an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Variable(pub u32);

/// The maximum number of variables of one branch that are compared with those of the next; real templates set a few.
const COMPARED: usize = 64;

/// The frames of a template, and their variables.
#[derive(Debug, Default)]
pub(super) struct Frames {
    frames: Vec<FrameRecord>,
    /// The innermost frame that is open.
    current: Option<u32>,
    variables: Vec<VariableRecord>,
    /// The variables by their frames, their levels and the normal forms of their names.
    by_name: HashMap<(Option<u32>, u32, Symbol), Variable, RandomState>,
    /// The names that scopes inside the root look up in the context.
    looked_up: SymbolSet,
    /// Whether some assignment appends to its variable in place.
    pub accumulates: bool,
    /// Whether an inner frame reads some variable.
    captures: bool,
    /// The variables that are set on every path to the current node, in order.
    set: Vec<Variable>,
}

#[derive(Clone, Copy, Debug)]
struct FrameRecord {
    /// The frame around this one.
    parent: Option<u32>,
    size: Frame,
    /// The number of frames with cells from this one to the root. It is known when the slots are assigned.
    depth: u32,
}

#[derive(Clone, Copy, Debug)]
struct VariableRecord {
    frame: Option<u32>,
    level: u32,
    /// Whether an inner frame reads the variable.
    is_captured: bool,
    /// Whether the variable is set on every path to the current node.
    is_set: bool,
    /// Whether the variable is read at a place where it may not be set yet.
    is_read_first: bool,
    /// The index of the variable among the locals or the cells of its frame.
    place: u32,
}

impl Frames {
    pub fn open(&mut self) {
        let number = short(self.frames.len());
        self.frames.push(FrameRecord {
            parent: self.current,
            size: Frame::default(),
            depth: 0,
        });
        self.current = Some(number);
    }

    /// Closes the innermost frame, whose end has the line of an offset, and returns it.
    pub fn close(&mut self, end_at: u32) -> Frame {
        let closed = self.current;
        if let Some(frame) = closed.and_then(|number| self.frames.get_mut(number as usize)) {
            frame.size.end_at = end_at;
            self.current = frame.parent;
        }
        Frame {
            locals: closed.unwrap_or(u32::MAX),
            ..Frame::default()
        }
    }

    /// Returns the variable of a normalized name on a level of the innermost frame, and makes it if there is none.
    pub fn variable(&mut self, level: u32, name: Symbol) -> Variable {
        let (frame, variables) = (self.current, &mut self.variables);
        let variable = self.by_name.entry((frame, level, name));
        *variable.or_insert_with(|| make(variables, frame, level))
    }

    /// Makes a variable of the root for a name that has no other variable.
    pub fn root_variable(&mut self) -> Variable {
        make(&mut self.variables, Some(0), 0)
    }

    /// Returns the level of a variable's scope.
    pub fn level(&self, Variable(number): Variable) -> u32 {
        self.variables.get(number as usize).map_or(0, |record| record.level)
    }

    /// Marks a variable as unset, at the start of its scope.
    pub fn note_unset(&mut self, Variable(number): Variable) {
        if let Some(record) = self.variables.get_mut(number as usize) {
            record.is_set = false;
        }
    }

    /// Records that a scope on a level of the innermost frame looks a name up. The root looks names up before it sets any.
    pub fn note_lookup(&mut self, name: Symbol, level: u32) {
        if level > 0 || self.current != Some(0) {
            self.looked_up.insert(name);
        }
    }

    pub fn set(&mut self, variable: Variable) {
        let Variable(number) = variable;
        if let Some(record) = self.variables.get_mut(number as usize) {
            if !record.is_set {
                record.is_set = true;
                self.set.push(variable);
            }
        }
    }

    /// Returns the number of variables that are set on every path to the current node.
    pub fn count_set(&self) -> usize {
        self.set.len()
    }

    /// Marks the variables that were set after the first `count` as unset, because the body that sets them may not run. Returns the
    /// first `COMPARED` of them.
    pub fn forget_set(&mut self, count: usize) -> Vec<Variable> {
        let mut forgotten = self.set.split_off(count.min(self.set.len()));
        for Variable(number) in &forgotten {
            if let Some(record) = self.variables.get_mut(*number as usize) {
                record.is_set = false;
            }
        }
        forgotten.truncate(COMPARED);
        forgotten
    }

    /// Returns the slot of a variable that is read.
    pub fn read(&mut self, variable: Variable) -> Slot {
        let Variable(number) = variable;
        if let Some(record) = self.variables.get_mut(number as usize) {
            record.is_read_first |= !record.is_set || record.frame != self.current;
        }
        self.slot(variable)
    }

    /// Returns the slot of a variable, as seen from the innermost frame.
    pub fn slot(&mut self, Variable(number): Variable) -> Slot {
        let Some(record) = self.variables.get_mut(number as usize) else {
            return Slot::Unresolved;
        };
        if record.frame == self.current {
            return Slot::Local(number);
        }
        record.is_captured = true;
        self.captures = true;
        Slot::Outer {
            hops: self.current.unwrap_or(u32::MAX),
            cell: number,
        }
    }

    /// Replaces the indices in a template with the final slots.
    pub fn assign_slots(mut self, template: &mut Template) {
        template.looked_up = std::mem::take(&mut self.looked_up);
        template.accumulates = self.accumulates;
        if self.frames.len() == 1 {
            // The indices of the only frame's variables are their slots.
            template.frame.locals = short(self.variables.len());
            return;
        }
        for record in &mut self.variables {
            let Some(frame) = record.frame.and_then(|frame| self.frames.get_mut(frame as usize)) else {
                continue;
            };
            let size = &mut frame.size;
            let next = if record.is_captured {
                &mut size.cells
            } else {
                &mut size.locals
            };
            record.place = *next;
            *next = next.saturating_add(1);
        }
        // A frame is opened after those around it.
        for index in 0..self.frames.len() {
            let outer = self.frames.get(index).and_then(|frame| frame.parent);
            let around = self.depth(outer);
            if let Some(function) = self.frames.get_mut(index) {
                function.depth = around.saturating_add(u32::from(function.size.cells > 0));
            }
        }
        let assign = |slot: &mut Slot| *slot = self.final_slot(*slot);
        template.walk_mut(&mut |child| match child {
            ChildMut::Expr(expr) => {
                if let ExprKind::Name(name) = &mut expr.kind {
                    assign(&mut name.slot);
                }
            }
            ChildMut::Slot(slot) | ChildMut::Parameter(_, slot) => assign(slot),
            ChildMut::Leaves(leaves) => leaves.iter_mut().filter_map(Leaf::slot_mut).for_each(assign),
            ChildMut::Frame(frame) => *frame = self.frames.get(frame.locals as usize).map_or(*frame, |frame| frame.size),
            ChildMut::Scope(scope) => {
                self.load_captured(scope);
                scope.slots_mut().for_each(assign);
            }
            ChildMut::Target(_) | ChildMut::Body(_) => {}
        });
    }

    /// Completes a scope at its end: moves to `elided_loads` each load whose value is not read up to here, and lists in `show_missing` the
    /// parameters that an inner frame reads.
    pub fn elide_loads(&self, scope: &mut Scope) {
        let Scope {
            loads,
            elided_loads,
            parameters,
            show_missing,
        } = scope;
        if self.captures {
            let is_captured = |slot: &&Slot| self.at(**slot).is_some_and(|record| record.is_captured);
            *show_missing = parameters.iter().filter(is_captured).copied().collect();
        }
        elided_loads.extend(loads.iter().filter(|load| !self.is_seen(**load)));
        loads.retain(|load| self.is_seen(*load));
    }

    /// Returns whether code up to here reads the value of a load.
    fn is_seen(&self, load: Load) -> bool {
        self.loaded(load).is_none_or(|record| record.is_read_first)
    }

    /// Restores the loads of variables that a macro reads. The macro may be in a later scope of the same level, which shares the variable,
    /// and may be called here in the next round of a loop around both.
    fn load_captured(&self, scope: &mut Scope) {
        let Scope { loads, elided_loads, .. } = scope;
        let is_captured = |load: &Load| self.loaded(*load).is_some_and(|record| record.is_captured);
        loads.extend(elided_loads.iter().copied().filter(is_captured));
        elided_loads.retain(|load| !is_captured(load));
    }

    /// Returns the variable of a load, if the innermost frame owns it.
    fn loaded(&self, load: Load) -> Option<&VariableRecord> {
        self.at(load.slot())
    }

    /// Returns the variable of a slot, if the innermost frame owns it.
    fn at(&self, slot: Slot) -> Option<&VariableRecord> {
        match slot {
            Slot::Local(number) => self.variables.get(number as usize),
            _ => None,
        }
    }

    fn final_slot(&self, slot: Slot) -> Slot {
        let (Slot::Local(number) | Slot::Outer { cell: number, .. }) = slot else {
            return slot;
        };
        let Some(record) = self.variables.get(number as usize) else {
            return Slot::Unresolved;
        };
        match slot {
            Slot::Outer { hops: reader, .. } => Slot::Outer {
                hops: self.count_hops(reader, record.frame),
                cell: record.place,
            },
            _ if record.is_captured => Slot::Cell(record.place),
            _ => Slot::Local(record.place),
        }
    }

    /// Counts the frames with cells from the frame that reads a variable to the one that owns it, which is not counted.
    fn count_hops(&self, reader: u32, owner: Option<u32>) -> u32 {
        self.depth(Some(reader)).saturating_sub(self.depth(owner))
    }

    fn depth(&self, frame: Option<u32>) -> u32 {
        let function = frame.and_then(|frame| self.frames.get(frame as usize));
        function.map_or(0, |function| function.depth)
    }
}

fn make(variables: &mut Vec<VariableRecord>, frame: Option<u32>, level: u32) -> Variable {
    variables.push(VariableRecord {
        frame,
        level,
        is_captured: false,
        is_set: false,
        is_read_first: false,
        place: 0,
    });
    Variable(short(variables.len().saturating_sub(1)))
}

/// Converts an index to 32 bits, in which it fits because the size of a source is limited.
fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
