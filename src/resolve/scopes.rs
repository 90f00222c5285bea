//! Which variable a name is: jinja2 3.1.6 `idtracking.py`, class by class.
//!
//! Scopes are open one inside the other, as the walk stands in them. What the reference keeps in a dict of each scope and looks for
//! from the inside out is kept by name here, as of the innermost scope: opening a scope costs nothing, and closing it puts back what its
//! names meant before. A variable is what the reference writes as `l_1_x`: a function of the generated code, the level of the scope and
//! the name as Python folds identifiers; two scopes side by side on one level therefore share it, as they do there.

use std::collections::BTreeMap;

use super::frames::{Frames, Variable};
use crate::ast::{Load, Scope, Symbol};

/// Room for the variables of most templates.
const USUAL: usize = 16;

/// How a variable gets its first value in its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instruction {
    /// It is a parameter: whoever makes it gives it a value.
    Parameter,
    /// It is looked up in the context.
    Resolve(Symbol),
    /// It is a copy of an outer variable.
    Alias(Variable),
    /// It is missing.
    Undefined,
}

/// What a name means at a place.
#[derive(Clone, Copy, Debug, Default)]
struct Binding {
    variable: Option<Variable>,
    /// What it means to the scopes around the one that bound it.
    outer: Option<Variable>,
}

/// What is known of a name.
#[derive(Clone, Copy, Debug)]
struct Name {
    /// What it means here.
    binding: Binding,
    /// Whether the innermost scope sets it, as long as its names are read.
    is_stored: bool,
    /// Whether only the context gives it a value.
    is_given: bool,
}

/// A name that a scope has bound.
#[derive(Clone, Copy, Debug)]
struct Bound {
    name: Symbol,
    variable: Variable,
    before: Binding,
}

/// How much the scopes had bound and set at some point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    bound: usize,
    stores: usize,
}

/// The `idtracking.Symbols` of all scopes that are open.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// The functions of the generated code, which have the variables.
    pub frames: Frames,
    /// The folded name of each name that folds to another one.
    folded: BTreeMap<Symbol, Symbol>,
    names: Vec<Name>,
    /// Where each scope begins in the two lists below, the outermost first.
    open: Vec<Mark>,
    /// What the scopes have bound.
    bound: Vec<Bound>,
    /// The names that the scopes set.
    stores: Vec<Symbol>,
    /// What the innermost scope loads, as long as its names are read.
    loads: Vec<(Variable, Instruction)>,
    /// The place of each variable among the loads, if it is there.
    places: Vec<u32>,
    /// The names that only the context gives values to, as far as they were met, with the variable of the root that has their value.
    given: Vec<(Variable, Symbol)>,
}

impl Scopes {
    /// Says of each name that there is whether it has the value that the context has, and no other anywhere: it is looked up once, when
    /// the render begins, and not in each scope that mentions it.
    pub fn name_all(&mut self, are_given: impl Iterator<Item = bool>) {
        self.names.extend(are_given.map(|is_given| Name {
            binding: Binding::default(),
            is_stored: false,
            is_given,
        }));
        self.frames.name_all(self.names.len());
        self.bound.reserve(USUAL);
        self.stores.reserve(USUAL);
        self.loads.reserve(USUAL);
        self.places.reserve(USUAL);
    }

    /// Adds the names that only the context gives values to what the root loads.
    pub fn load_given(&mut self, root: &mut Scope) {
        for (variable, name) in self.given.drain(..) {
            root.loads.push(Load::Resolve(self.frames.slot(variable), name));
        }
    }

    /// Says that Python reads a name as another one.
    pub fn fold(&mut self, name: Symbol, folded: Symbol) {
        self.folded.insert(name, folded);
    }

    /// Opens a scope, whose names are to be read next.
    pub fn open(&mut self) {
        self.open.push(self.mark());
    }

    /// Ends the reading of the innermost scope's names; gives what entering and leaving it does.
    pub fn enter(&mut self) -> Scope {
        let start = self.open.last().map_or(0, |open| open.stores);
        let level = self.level();
        for name in self.stores.get(start..).unwrap_or_default() {
            set_stored(&mut self.names, *name, false);
        }
        let mut scope = Scope {
            loads: Vec::with_capacity(self.loads.len()),
            forgone: Vec::new(),
            clears: Vec::with_capacity(self.loads.len()),
            shown: Box::default(),
        };
        for (variable, load) in self.loads.drain(..) {
            let slot = self.frames.slot(variable);
            self.frames.begin(variable);
            scope.clears.push(slot);
            match load {
                Instruction::Parameter => {}
                Instruction::Resolve(name) => {
                    self.frames.look_up(name, level);
                    scope.loads.push(Load::Resolve(slot, name));
                }
                Instruction::Alias(outer) => scope.loads.push(Load::Alias(slot, self.frames.read(outer))),
                Instruction::Undefined => scope.loads.push(Load::Clear(slot)),
            }
        }
        scope
    }

    /// Closes the innermost scope, all of which is known now.
    pub fn close(&mut self, scope: &mut Scope) {
        self.frames.settle(scope);
        let Some(start) = self.open.pop() else { return };
        self.hide(start);
        self.bound.truncate(start.bound);
        self.stores.truncate(start.stores);
    }

    /// The level of the innermost scope.
    pub fn level(&self) -> u32 {
        u32::try_from(self.open.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// `Symbols.find_ref`
    pub fn find(&self, name: Symbol) -> Option<Variable> {
        self.binding(name).variable
    }

    /// `Symbols.store`: a name is set.
    pub fn store(&mut self, name: Symbol) {
        self.add_store(name);
        if self.own(name).is_none() {
            let outer = self.find(name);
            self.define(name, outer.map_or(Instruction::Undefined, Instruction::Alias));
        }
    }

    /// `Symbols.declare_parameter`
    pub fn declare_parameter(&mut self, name: Symbol) -> Variable {
        self.add_store(name);
        self.define(name, Instruction::Parameter)
    }

    /// `Symbols.load`: a name is read.
    pub fn load(&mut self, name: Symbol) {
        if self.find(name).is_some() {
            return;
        }
        if !self.names.get(name.0 as usize).is_some_and(|name| name.is_given) {
            self.define(name, Instruction::Resolve(name));
            return;
        }
        let variable = self.frames.root_variable(name);
        let binding = Binding {
            variable: Some(variable),
            outer: None,
        };
        bind_name(&mut self.names, name, binding);
        self.given.push((variable, name));
    }

    /// Where the branches of an `if`, or one of them, begin.
    pub fn mark(&self) -> Mark {
        Mark {
            bound: self.bound.len(),
            stores: self.stores.len(),
        }
    }

    /// Ends a branch: the next one does not see what it did (`Symbols.copy`).
    pub fn hide(&mut self, start: Mark) {
        for Bound { name, before, .. } in self.bound.iter().skip(start.bound).rev() {
            bind_name(&mut self.names, *name, *before);
        }
        for name in self.stores.iter().skip(start.stores) {
            set_stored(&mut self.names, *name, false);
        }
    }

    /// `Symbols.branch_update`: what follows an `if` sees what all its branches did.
    pub fn join(&mut self, start: Mark) {
        for Bound { name, variable, before } in self.bound.iter().skip(start.bound) {
            let binding = Binding {
                variable: Some(*variable),
                outer: before.variable,
            };
            bind_name(&mut self.names, *name, binding);
        }
        let mut stores = self.stores.split_off(start.stores.min(self.stores.len()));
        stores.sort_unstable();
        stores.dedup();
        for name in stores {
            self.add_store(name);
            let Binding { variable, outer } = self.binding(name);
            let load = outer.map_or(Instruction::Resolve(name), Instruction::Alias);
            if let Some(variable) = variable {
                self.set_load(variable, load);
            }
        }
    }

    /// `Symbols._define_ref`
    fn define(&mut self, name: Symbol, load: Instruction) -> Variable {
        let variable = match self.own(name) {
            Some(variable) => variable,
            None => self.bind(name),
        };
        self.set_load(variable, load);
        variable
    }

    /// Gives a name a variable of the innermost scope.
    fn bind(&mut self, name: Symbol) -> Variable {
        let folded = self.folded.get(&name).copied().unwrap_or(name);
        let variable = self.frames.variable(self.level(), folded);
        let before = self.binding(name);
        let binding = Binding {
            variable: Some(variable),
            outer: before.variable,
        };
        bind_name(&mut self.names, name, binding);
        self.bound.push(Bound { name, variable, before });
        variable
    }

    /// The variable of a name that the innermost scope has bound.
    fn own(&self, name: Symbol) -> Option<Variable> {
        self.find(name)
            .filter(|variable| self.frames.level(*variable) == self.level())
    }

    /// Says how a variable of the innermost scope gets its first value. It keeps its place if it has one.
    fn set_load(&mut self, variable: Variable, load: Instruction) {
        let Variable(number) = variable;
        let number = number as usize;
        if self.places.len() <= number {
            self.places.resize(number.saturating_add(1), u32::MAX);
        }
        let Some(place) = self.places.get_mut(number) else { return };
        match self.loads.get_mut(*place as usize) {
            Some((other, instruction)) if *other == variable => *instruction = load,
            _ => {
                *place = u32::try_from(self.loads.len()).unwrap_or(u32::MAX);
                self.loads.push((variable, load));
            }
        }
    }

    fn add_store(&mut self, name: Symbol) {
        let is_new = self.names.get(name.0 as usize).is_some_and(|name| !name.is_stored);
        if is_new {
            set_stored(&mut self.names, name, true);
            self.stores.push(name);
        }
    }

    fn binding(&self, name: Symbol) -> Binding {
        self.names.get(name.0 as usize).map(|name| name.binding).unwrap_or_default()
    }
}

fn bind_name(names: &mut [Name], name: Symbol, binding: Binding) {
    if let Some(name) = names.get_mut(name.0 as usize) {
        name.binding = binding;
    }
}

fn set_stored(names: &mut [Name], name: Symbol, is_stored: bool) {
    if let Some(name) = names.get_mut(name.0 as usize) {
        name.is_stored = is_stored;
    }
}
