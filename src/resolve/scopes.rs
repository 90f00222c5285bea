//! Finds the variable of each name (jinja2 3.1.6 `idtracking.py`).
//!
//! The reference keeps a dict for each scope, and searches the open scopes from the innermost outwards. Here each name stores its meaning
//! in the innermost scope: opening a scope costs nothing, and closing it restores what its names meant before. A variable is identified
//! by its frame, the level of its scope and the normal form of its name, as `l_1_x` is in the reference. So two scopes side by side on
//! one level share it.

use foldhash::fast::RandomState;
use indexmap::IndexMap;

use super::frames::{Frames, Variable};
use crate::ast::{Load, Scope, Slot, Symbol};

/// The usual number of variables of a template, for which room is reserved.
const USUAL: usize = 16;

/// How a variable gets its first value in its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instruction {
    /// The variable is a parameter, which has a value when the scope begins.
    Parameter,
    /// The variable gets the value of its name in the context.
    Resolve(Symbol),
    /// The variable gets the value of an outer variable.
    Alias(Variable),
    /// The variable begins without a value.
    Undefined,
}

/// The variable of a name in a scope.
#[derive(Clone, Copy, Debug, Default)]
struct Binding {
    variable: Option<Variable>,
    /// The variable that the name had before this scope bound it.
    outer: Option<Variable>,
}

/// The state of a name.
#[derive(Clone, Copy, Debug)]
struct Name {
    /// The variable that the name refers to in the innermost scope, if it has one.
    binding: Binding,
    /// Whether the innermost scope sets the name. It is used only while the names of that scope are collected.
    is_stored: bool,
    /// Whether only the context sets the name.
    is_given: bool,
}

/// A name that a scope has bound.
#[derive(Clone, Copy, Debug)]
struct Bound {
    name: Symbol,
    variable: Variable,
    before: Binding,
}

/// A point in the lists of bound and set names: their lengths then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    bound: usize,
    stores: usize,
}

/// The `idtracking.Symbols` of all scopes that are open.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// The open frames with the variables that they own.
    pub frames: Frames,
    /// Names and their normal forms, sorted by name. Names of ASCII characters are in normal form.
    normal_forms: Vec<(Symbol, Symbol)>,
    names: Vec<Name>,
    /// Where each open scope begins in the two lists below, the outermost first.
    open: Vec<Mark>,
    /// The names that the open scopes have bound.
    bound: Vec<Bound>,
    /// The names that the open scopes set.
    stores: Vec<Symbol>,
    /// The loads of the innermost scope, while its names are collected.
    loads: IndexMap<Variable, Instruction, RandomState>,
    /// The loads of the names met so far that only the context sets.
    given: Vec<Load>,
}

impl Scopes {
    /// Registers all names. If only the context sets a name, it is looked up once when the render begins, not in each scope.
    pub fn register_names(&mut self, are_given: impl Iterator<Item = bool>) {
        self.names.extend(are_given.map(|is_given| Name {
            binding: Binding::default(),
            is_stored: false,
            is_given,
        }));
        self.bound.reserve(USUAL);
        self.stores.reserve(USUAL);
        self.loads.reserve(USUAL);
    }

    /// Adds the names that only the context sets to the loads of the root.
    pub fn load_given(&mut self, root: &mut Scope) {
        let given = std::mem::take(&mut self.given);
        if root.loads.is_empty() {
            root.loads = given;
        } else {
            root.loads.extend(given);
        }
    }

    /// Sets the normal form of a name, which Python uses in its place. The caller passes the names in ascending order.
    pub fn normalize(&mut self, name: Symbol, normal: Symbol) {
        self.normal_forms.push((name, normal));
    }

    pub fn open(&mut self) {
        self.open.push(self.mark());
    }

    /// Ends the collection of the innermost scope's names, and returns what the render does on entry and exit.
    pub fn enter(&mut self) -> Scope {
        let start = self.open.last().map_or(0, |open| open.stores);
        let level = self.level();
        for name in self.stores.get(start..).unwrap_or_default() {
            set_stored(&mut self.names, *name, false);
        }
        let parameters = self.loads.values().filter(|load| **load == Instruction::Parameter);
        let count = parameters.count();
        let mut scope = Scope {
            loads: Vec::with_capacity(self.loads.len().saturating_sub(count)),
            parameters: Vec::with_capacity(count),
            ..Scope::default()
        };
        for (variable, load) in self.loads.drain(..) {
            let slot = self.frames.slot(variable);
            self.frames.note_unset(variable);
            match load {
                Instruction::Parameter => scope.parameters.push(slot),
                Instruction::Resolve(name) => {
                    self.frames.note_lookup(name, level);
                    scope.loads.push(Load::Resolve(slot, name));
                }
                Instruction::Alias(outer) => scope.loads.push(Load::Alias(slot, self.frames.read(outer))),
                Instruction::Undefined => scope.loads.push(Load::Clear(slot)),
            }
        }
        scope
    }

    pub fn close(&mut self, scope: &mut Scope) {
        self.frames.elide_loads(scope);
        let Some(start) = self.open.pop() else { return };
        self.hide_names(start);
        self.bound.truncate(start.bound);
        self.stores.truncate(start.stores);
    }

    pub fn level(&self) -> u32 {
        u32::try_from(self.open.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Returns the variable of a name, if it has one (`Symbols.find_ref`).
    pub fn find(&self, name: Symbol) -> Option<Variable> {
        self.binding(name).variable
    }

    /// Adds a name that the innermost scope sets (`Symbols.store`).
    pub fn store(&mut self, name: Symbol) {
        self.add_store(name);
        if self.find_own(name).is_none() {
            let outer = self.find(name);
            self.define(name, outer.map_or(Instruction::Undefined, Instruction::Alias));
        }
    }

    /// Adds a parameter to the innermost scope, and returns its variable (`Symbols.declare_parameter`).
    pub fn declare_parameter(&mut self, name: Symbol) -> Variable {
        self.add_store(name);
        self.define(name, Instruction::Parameter)
    }

    /// Adds a name that the innermost scope reads (`Symbols.load`).
    pub fn load(&mut self, name: Symbol) {
        if self.find(name).is_some() {
            return;
        }
        if !self.names.get(name.0 as usize).is_some_and(|name| name.is_given) {
            self.define(name, Instruction::Resolve(name));
            return;
        }
        // The root loads the name, and sees its own variable as a local one.
        let variable @ Variable(number) = self.frames.root_variable();
        let binding = Binding {
            variable: Some(variable),
            outer: None,
        };
        bind_name(&mut self.names, name, binding);
        self.given.push(Load::Resolve(Slot::Local(number), name));
    }

    /// Marks the start of an `if` or of one of its branches.
    pub fn mark(&self) -> Mark {
        Mark {
            bound: self.bound.len(),
            stores: self.stores.len(),
        }
    }

    /// Returns the number of names that were bound or set since the start of an `if`.
    pub fn count_names(&self, start: Mark) -> usize {
        let bound = self.bound.len().saturating_sub(start.bound);
        bound + self.stores.len().saturating_sub(start.stores)
    }

    /// Hides the names that were bound or set since a mark, so that the next branch does not see them (`Symbols.copy`).
    pub fn hide_names(&mut self, start: Mark) {
        for Bound { name, before, .. } in self.bound.iter().skip(start.bound).rev() {
            bind_name(&mut self.names, *name, *before);
        }
        for name in self.stores.iter().skip(start.stores) {
            set_stored(&mut self.names, *name, false);
        }
    }

    /// Ends an `if` that began at a mark. The statements after it see the names of all branches (`Symbols.branch_update`).
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
                self.loads.insert(variable, load);
            }
        }
    }

    /// Binds a name in the innermost scope, and sets its load (`Symbols._define_ref`).
    fn define(&mut self, name: Symbol, load: Instruction) -> Variable {
        let variable = match self.find_own(name) {
            Some(variable) => variable,
            None => self.bind(name),
        };
        self.loads.insert(variable, load);
        variable
    }

    /// Binds a name to a new variable of the innermost scope.
    fn bind(&mut self, name: Symbol) -> Variable {
        let place = self.normal_forms.binary_search_by_key(&name, |(name, _)| *name).ok();
        let normal = place
            .and_then(|place| self.normal_forms.get(place))
            .map_or(name, |(_, normal)| *normal);
        let variable = self.frames.variable(self.level(), normal);
        let before = self.binding(name);
        let binding = Binding {
            variable: Some(variable),
            outer: before.variable,
        };
        bind_name(&mut self.names, name, binding);
        self.bound.push(Bound { name, variable, before });
        variable
    }

    /// Returns the variable of a name that the innermost scope has bound.
    fn find_own(&self, name: Symbol) -> Option<Variable> {
        self.find(name)
            .filter(|variable| self.frames.level(*variable) == self.level())
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
