//! Frames: what Jinja compiles to Python functions, and where their variables go.
//!
//! A variable belongs to the frame that stands around its scope. If an inner frame reads it too, it lives in a cell. Which variables
//! that concerns is known only at the end of the walk over the template; until then [`Slot::Local`] and [`Slot::Outer`] hold the
//! variable's number, and [`Slot::Outer`] the number of the frame that reads, and a [`Frame`] its own number. [`Frames::place`] puts
//! the real ones there.
//!
//! The first value of a variable that is always set before it is read is never seen, and not looked up. What is set is known only as
//! far as the walk goes straight on: what a branch or the body of a loop has set counts to its end.

use crate::ast::{Frame, Load, Scope, Slot, Stored, Symbol, Template};

/// A variable of a generated Python function, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variable(pub u32);

/// How many variables of one branch are compared with those of the next; real templates set a few.
const COMPARED: usize = 64;

/// The frames of a template, and their variables.
#[derive(Debug, Default)]
pub(super) struct Frames {
    frames: Vec<Function>,
    /// The innermost frame that is open.
    current: Option<u32>,
    variables: Vec<Owned>,
    /// Of each folded name, the variable that was made last among those of open frames.
    newest: Vec<Option<Variable>>,
    /// Of each symbol, whether scopes inside the root look it up in the context, which then has what the root has set.
    looked_up: Vec<bool>,
    /// Whether some assignment lets its variable grow in place.
    pub accumulates: bool,
    /// Whether an inner frame reads some variable.
    captures: bool,
    /// The variables that are set on every way to where the walk stands, in the order in which they were.
    set: Vec<Variable>,
}

#[derive(Clone, Copy, Debug)]
struct Function {
    /// The frame around this one.
    parent: Option<u32>,
    /// How many variables there were before.
    first: u32,
    size: Frame,
}

#[derive(Clone, Copy, Debug)]
struct Owned {
    frame: Option<u32>,
    level: u32,
    /// Its folded name.
    name: Symbol,
    /// The variable of an open frame that had the name before.
    older: Option<Variable>,
    /// Whether an inner frame reads it.
    is_captured: bool,
    /// Whether it is set on every way to where the walk stands.
    is_set: bool,
    /// Whether it is read where it may not be set yet, so that its first value matters.
    is_read_first: bool,
    /// Its place among the locals or the cells of its frame.
    place: u32,
}

impl Frames {
    /// Opens a frame.
    pub fn open(&mut self) {
        let number = short(self.frames.len());
        self.frames.push(Function {
            parent: self.current,
            first: short(self.variables.len()),
            size: Frame::default(),
        });
        self.current = Some(number);
    }

    /// Closes the innermost frame.
    pub fn close(&mut self) -> Frame {
        let closed = self.current;
        let function = closed.and_then(|number| self.frames.get(number as usize)).copied();
        self.current = function.and_then(|function| function.parent);
        // What frames inside it had is gone already.
        let first = function.map_or(0, |function| function.first);
        for owned in self
            .variables
            .iter()
            .skip(first as usize)
            .rev()
            .filter(|owned| owned.frame == closed)
        {
            if let Some(newest) = self.newest.get_mut(owned.name.0 as usize) {
                *newest = owned.older;
            }
        }
        Frame {
            locals: closed.unwrap_or(u32::MAX),
            cells: 0,
        }
    }

    /// Says how many names there are.
    pub fn name_all(&mut self, names: usize) {
        self.newest.resize(names, None);
    }

    /// The variable that the innermost frame has for a folded name on a level, a new one where there was none.
    ///
    /// A name has one variable for each level of each open frame at most, of which the parser allows few.
    pub fn variable(&mut self, level: u32, folded: Symbol) -> Variable {
        let older = self.newest.get(folded.0 as usize).copied().flatten();
        let mut next = older;
        while let Some(variable) = next {
            let Some(owned) = self.variables.get(variable.0 as usize) else {
                break;
            };
            if owned.level == level && owned.frame == self.current {
                return variable;
            }
            next = owned.older;
        }
        let variable = self.make(self.current, level, folded, older);
        if let Some(newest) = self.newest.get_mut(folded.0 as usize) {
            *newest = Some(variable);
        }
        variable
    }

    /// A variable of the root for a name that has no other, and is asked for once.
    pub fn root_variable(&mut self, name: Symbol) -> Variable {
        self.make(Some(0), 0, name, None)
    }

    fn make(&mut self, frame: Option<u32>, level: u32, name: Symbol, older: Option<Variable>) -> Variable {
        let variable = Variable(short(self.variables.len()));
        self.variables.push(Owned {
            frame,
            level,
            name,
            older,
            is_captured: false,
            is_set: false,
            is_read_first: false,
            place: 0,
        });
        variable
    }

    /// The level of the scope that has a variable.
    pub fn level(&self, Variable(number): Variable) -> u32 {
        self.variables.get(number as usize).map_or(0, |owned| owned.level)
    }

    /// Notes that a scope begins, which gives its variable a first value.
    pub fn begin(&mut self, Variable(number): Variable) {
        if let Some(owned) = self.variables.get_mut(number as usize) {
            owned.is_set = false;
        }
    }

    /// Notes that a scope on a level of the innermost frame looks a name up. The root does so before it sets anything.
    pub fn look_up(&mut self, name: Symbol, level: u32) {
        if level > 0 || self.current != Some(0) {
            let place = name.0 as usize;
            if self.looked_up.len() <= place {
                self.looked_up.resize(place.saturating_add(1), false);
            }
            if let Some(place) = self.looked_up.get_mut(place) {
                *place = true;
            }
        }
    }

    /// Notes that a variable is set.
    pub fn set(&mut self, variable: Variable) {
        let Variable(number) = variable;
        if let Some(owned) = self.variables.get_mut(number as usize) {
            if !owned.is_set {
                owned.is_set = true;
                self.set.push(variable);
            }
        }
    }

    /// How many variables are set on every way that leads here.
    pub fn count_set(&self) -> usize {
        self.set.len()
    }

    /// Ends what may not have been run: what was set since then may not be set. Gives the first of those.
    pub fn forget_set(&mut self, count: usize) -> Vec<Variable> {
        let mut forgotten = self.set.split_off(count.min(self.set.len()));
        for Variable(number) in &forgotten {
            if let Some(owned) = self.variables.get_mut(*number as usize) {
                owned.is_set = false;
            }
        }
        forgotten.truncate(COMPARED);
        forgotten
    }

    /// Where a variable that is read lives.
    pub fn read(&mut self, variable: Variable) -> Slot {
        let Variable(number) = variable;
        if let Some(owned) = self.variables.get_mut(number as usize) {
            owned.is_read_first |= !owned.is_set || owned.frame != self.current;
        }
        self.slot(variable)
    }

    /// Where a variable lives, as seen from the innermost frame.
    pub fn slot(&mut self, Variable(number): Variable) -> Slot {
        let Some(owned) = self.variables.get_mut(number as usize) else {
            return Slot::Unresolved;
        };
        if owned.frame == self.current {
            return Slot::Local(number);
        }
        owned.is_captured = true;
        self.captures = true;
        Slot::Outer {
            hops: self.current.unwrap_or(u32::MAX),
            cell: number,
        }
    }

    /// Gives all variables of a template their places.
    pub fn place(mut self, template: &mut Template) {
        template.looked_up = std::mem::take(&mut self.looked_up);
        template.accumulates = self.accumulates;
        if self.frames.len() == 1 {
            // The numbers of the only frame's variables are their places.
            template.frame.locals = short(self.variables.len());
            return;
        }
        for owned in &mut self.variables {
            let Some(function) = owned.frame.and_then(|frame| self.frames.get_mut(frame as usize)) else {
                continue;
            };
            let size = &mut function.size;
            let next = if owned.is_captured {
                &mut size.cells
            } else {
                &mut size.locals
            };
            owned.place = *next;
            *next = next.saturating_add(1);
        }
        template.storage(&mut |stored| match stored {
            Stored::Slot(slot) => *slot = self.final_slot(*slot),
            Stored::Frame(frame) => {
                *frame = self
                    .frames
                    .get(frame.locals as usize)
                    .map_or(*frame, |function| function.size)
            }
            Stored::Scope(scope) => self.load_captured(scope),
        });
    }

    /// Takes out of what a scope that ends loads and leaves what nobody sees, as far as the walk has come.
    pub fn settle(&self, scope: &mut Scope) {
        let Scope {
            loads,
            forgone,
            clears,
            shown,
        } = scope;
        if self.captures {
            // What nothing loads is a parameter.
            let is_shown = |slot: &Slot| {
                self.at(*slot).is_some_and(|owned| owned.is_captured) && loads.iter().all(|load| load.slot() != *slot)
            };
            *shown = clears.iter().copied().filter(is_shown).collect();
        }
        forgone.extend(loads.iter().filter(|load| !self.is_seen(**load)));
        loads.retain(|load| self.is_seen(*load));
    }

    /// Whether what a variable is loaded with is read, as far as the walk has come.
    fn is_seen(&self, load: Load) -> bool {
        self.loaded(load).is_none_or(|owned| owned.is_read_first)
    }

    /// Puts back what a macro sees that stands in a later scope of the same level, whose variable is the same. It may be called here
    /// in the next round of a loop around both.
    fn load_captured(&self, scope: &mut Scope) {
        let Scope { loads, forgone, .. } = scope;
        let is_captured = |load: &Load| self.loaded(*load).is_some_and(|owned| owned.is_captured);
        loads.extend(forgone.iter().copied().filter(is_captured));
        forgone.retain(|load| !is_captured(load));
    }

    /// The variable of the innermost frame that a load is of.
    fn loaded(&self, load: Load) -> Option<&Owned> {
        self.at(load.slot())
    }

    /// The variable of the innermost frame that has a slot.
    fn at(&self, slot: Slot) -> Option<&Owned> {
        match slot {
            Slot::Local(number) => self.variables.get(number as usize),
            _ => None,
        }
    }

    fn final_slot(&self, slot: Slot) -> Slot {
        let (Slot::Local(number) | Slot::Outer { cell: number, .. }) = slot else {
            return slot;
        };
        let Some(owned) = self.variables.get(number as usize) else {
            return Slot::Unresolved;
        };
        match slot {
            Slot::Outer { hops: reader, .. } => Slot::Outer {
                hops: self.hops(reader, owned.frame),
                cell: owned.place,
            },
            _ if owned.is_captured => Slot::Cell(owned.place),
            _ => Slot::Local(owned.place),
        }
    }

    /// How many frames with cells stand between a frame that reads and the one that has the variable, the reader included.
    fn hops(&self, reader: u32, owner: Option<u32>) -> u32 {
        let parent = |number: &u32| self.frames.get(*number as usize)?.parent;
        let inner = std::iter::successors(Some(reader), parent).take_while(|frame| Some(*frame) != owner);
        let with_cells = inner.filter(|frame| {
            self.frames
                .get(*frame as usize)
                .is_some_and(|function| function.size.cells > 0)
        });
        short(with_cells.count())
    }
}

/// The numbers of a template fit, because the size of its source is limited.
fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
