//! Reads and writes variables: those of frames, and the context.

use super::Evaluator;
use crate::ast::{Frame, Load, Name, Scope, Slot, Symbol};
use crate::builtins::globals;
use crate::error::Result;
use crate::unsupported::{self, Site};
use crate::value::{Environment, EnvironmentId, Heap, Runtime, Undefined, Value, next_object_index};

/// The places of a running frame's variables on the heap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Activation {
    /// The index of the frame's first local variable.
    locals: usize,
    /// The environment of the frame, or the nearest one around it.
    pub environment: Option<EnvironmentId>,
    /// The index of the first cell of that environment.
    cells: usize,
}

impl Activation {
    /// Returns the value of a variable, or `None` if it is missing.
    #[inline(always)]
    pub fn get<'v, 'a>(&self, heap: &'v Heap<'a>, slot: &Slot) -> Option<&'v Value<'a>> {
        match slot {
            Slot::Local(local) => self.local(heap, *local),
            _ => self.get_captured(heap, slot),
        }
    }

    /// Returns the value of a local variable, or `None` if it is missing.
    #[inline(always)]
    pub fn local<'v, 'a>(&self, heap: &'v Heap<'a>, local: u32) -> Option<&'v Value<'a>> {
        heap.frames.locals.get(self.locals.wrapping_add(local as usize))?.as_ref()
    }

    /// Returns the value of a variable that macros close over. Few variables are, and the access to others does not need this.
    #[inline(never)]
    fn get_captured<'v, 'a>(&self, heap: &'v Heap<'a>, slot: &Slot) -> Option<&'v Value<'a>> {
        heap.frames.cells.get(self.cell(&heap.frames.environments, slot)?)?.as_ref()
    }

    #[inline(always)]
    fn set<'a>(&self, heap: &mut Heap<'a>, slot: &Slot, value: Option<Value<'a>>) {
        let place = match slot {
            Slot::Local(local) => heap.frames.locals.get_mut(self.locals.wrapping_add(*local as usize)),
            _ => self
                .cell(&heap.frames.environments, slot)
                .and_then(|cell| heap.frames.cells.get_mut(cell)),
        };
        if let Some(place) = place {
            *place = value;
        }
    }

    /// Returns the index of the cell of a variable.
    #[inline(never)]
    fn cell(&self, environments: &[Environment], slot: &Slot) -> Option<usize> {
        match *slot {
            Slot::Cell(cell) => Some(self.cells.wrapping_add(cell as usize)),
            Slot::Outer { hops, cell } => Some(self.outer_cells(environments, hops).wrapping_add(cell as usize)),
            Slot::Local(_) | Slot::Unresolved => None,
        }
    }

    fn outer_cells(&self, environments: &[Environment], hops: u32) -> usize {
        let mut environment = self.environment;
        for _ in 0..hops {
            environment = environment.and_then(|EnvironmentId(number)| environments.get(number as usize)?.parent);
        }
        first_cell(environments, environment)
    }
}

/// Returns the index of the first cell of an environment.
fn first_cell(environments: &[Environment], environment: Option<EnvironmentId>) -> usize {
    let number = environment.map_or(usize::MAX, |EnvironmentId(number)| number as usize);
    environments.get(number).map_or(0, |environment| environment.cells)
}

impl<'a> Evaluator<'a, '_> {
    /// Opens the evaluator's frame inside the environment where its code was defined.
    pub(super) fn enter_frame(&mut self, frame: Frame, parent: Option<EnvironmentId>) -> Result<()> {
        self.enter_frame_with_locals(frame, parent, 0)
    }

    /// Opens a frame whose first variables are the last `count` of the existing local variables.
    pub(super) fn enter_frame_with_locals(&mut self, frame: Frame, parent: Option<EnvironmentId>, count: usize) -> Result<()> {
        let variables = u64::from(frame.locals).saturating_add(u64::from(frame.cells));
        self.runtime.meter.charge(variables >> 3)?;
        let heap = &mut self.runtime.heap;
        self.frame.locals = heap.frames.locals.len().saturating_sub(count);
        let locals = self.frame.locals + frame.locals as usize;
        heap.frames.locals.resize(locals, None);
        self.frame.environment = parent;
        if frame.cells > 0 {
            let cells = heap.frames.cells.len();
            let number = next_object_index(heap.frames.environments.len())?;
            heap.frames.cells.resize(cells + frame.cells as usize, None);
            heap.frames.environments.push(Environment { cells, parent });
            self.frame.environment = Some(EnvironmentId(number));
        }
        self.frame.cells = first_cell(&self.runtime.heap.frames.environments, self.frame.environment);
        let Runtime { heap, meter, .. } = &mut *self.runtime;
        heap.frames.claim(meter)
    }

    /// Closes the frame. The cells that inner frames close over remain.
    pub(super) fn leave_frame(&mut self) {
        self.runtime.heap.frames.locals.truncate(self.frame.locals);
    }

    /// Assigns the initial values of the variables at the top level. No variable is set yet, and each name is looked up once.
    pub(super) fn enter_root(&mut self, scope: &Scope) -> Result<()> {
        self.runtime.meter.charge(scope.loads.len() as u64 >> 1)?;
        for load in &scope.loads {
            if let Load::Resolve(slot, symbol) = load {
                if let Some(value) = self.find_given(*symbol) {
                    self.store(slot, value);
                }
            }
        }
        Ok(())
    }

    /// Assigns the initial values of the variables of a scope, including those of branches that are not taken.
    #[inline]
    pub(super) fn enter_scope(&mut self, scope: &Scope) -> Result<()> {
        self.runtime.meter.charge(scope.steps())?;
        self.load(scope);
        Ok(())
    }

    /// Assigns the initial values of the variables of a scope without charging for it. Most scopes have none.
    #[inline(always)]
    pub(super) fn load(&mut self, scope: &Scope) {
        if !scope.loads.is_empty() {
            self.load_all(&scope.loads);
        }
    }

    #[inline(never)]
    fn load_all(&mut self, loads: &[Load]) {
        for load in loads {
            match load {
                Load::Resolve(slot, symbol) => {
                    let value = self.resolve(*symbol);
                    self.set(slot, value);
                }
                Load::Alias(slot, outer) => {
                    let value = match outer {
                        Slot::Outer { .. } => self.read_outer(outer),
                        _ => self.get(outer).cloned(),
                    };
                    self.set(slot, value);
                }
                Load::Clear(slot) => self.clear(slot),
            }
        }
    }

    /// Returns the initial value of a variable that another frame has, or `None` if it is missing or is the reference's object `missing`.
    #[inline(never)]
    fn read_outer(&self, outer: &Slot) -> Option<Value<'a>> {
        self.get(outer).filter(|value| !value.is_missing()).cloned()
    }

    /// Clears the variables of a scope at its end.
    #[inline]
    pub(super) fn leave_scope(&mut self, scope: &Scope) -> Result<()> {
        self.runtime.meter.charge(scope.exit_steps())?;
        scope.clears().for_each(|slot| self.clear(&slot));
        if !scope.show_missing.is_empty() {
            self.show_missing(&scope.show_missing);
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn show_missing(&mut self, shown: &[Slot]) {
        for slot in shown {
            self.store(slot, Value::Function(&globals::MISSING));
        }
    }

    /// Clears a variable. Most are missing already.
    #[inline]
    pub(super) fn clear(&mut self, slot: &Slot) {
        if self.get(slot).is_some() {
            self.set(slot, None);
        }
    }

    /// Returns the value of a name: an undefined value if nothing set it, an error if it is unsupported.
    #[inline]
    pub(super) fn name(&self, name: &Name) -> Result<Value<'a>> {
        match self.get(&name.slot) {
            Some(value) => Ok(*value),
            None => self.missing_name(name.symbol),
        }
    }

    #[inline(never)]
    pub(super) fn missing_name(&self, symbol: Symbol) -> Result<Value<'a>> {
        let name = self.render.template.symbols.name(symbol);
        if self.is_unsupported(symbol) {
            if let Some(error) = unsupported::find(Site::Variable, name) {
                return Err(error);
            }
        }
        Ok(Value::Undefined(Undefined::Name(name)))
    }

    /// Returns whether reading a name that nothing set is an error, and not an undefined value.
    #[inline]
    pub(super) fn is_unsupported(&self, symbol: Symbol) -> bool {
        self.render.template.unsupported.contains(&symbol)
    }

    /// Returns the value of a variable, or `None` if it is missing.
    #[inline]
    pub(super) fn get(&self, slot: &Slot) -> Option<&Value<'a>> {
        self.frame.get(&self.runtime.heap, slot)
    }

    #[inline(always)]
    pub(super) fn store(&mut self, slot: &Slot, value: Value<'a>) {
        self.set(slot, Some(value));
    }

    #[inline(always)]
    fn set(&mut self, slot: &Slot, value: Option<Value<'a>>) {
        self.frame.set(&mut self.runtime.heap, slot, value);
    }

    /// Looks a name up in the variables that the top level has set, then in the input, then among the globals (jinja2 `runtime.py`,
    /// `Context.resolve_or_missing`).
    pub(super) fn resolve(&mut self, symbol: Symbol) -> Option<Value<'a>> {
        match self.runtime.heap.frames.context.get(symbol.0 as usize) {
            Some(Some(known)) => *known,
            _ => self.look_up_context(symbol),
        }
    }

    /// Looks a name up in the input and among the globals, and remembers the result.
    #[inline(never)]
    fn look_up_context(&mut self, symbol: Symbol) -> Option<Value<'a>> {
        let value = self.find_given(symbol);
        self.remember(symbol, value);
        value
    }

    /// Sets the value of a name in the context.
    fn remember(&mut self, symbol: Symbol, value: Option<Value<'a>>) {
        let index = symbol.0 as usize;
        let context = &mut self.runtime.heap.frames.context;
        if context.len() <= index {
            context.resize(index + 1, None);
        }
        if let Some(entry) = context.get_mut(index) {
            *entry = Some(value);
        }
    }

    /// Returns the value of a name in the input, or the global of that name.
    fn find_given(&self, symbol: Symbol) -> Option<Value<'a>> {
        let template = self.render.template;
        let given = self.runtime.heap.frames.input.get(template.symbols.name(symbol));
        given.or_else(|| {
            let (_, number) = template.globals.iter().find(|(name, _)| *name == symbol)?;
            globals::all().get(*number).map(Value::Function)
        })
    }

    /// Sets a variable of the context, as assignments at the top level do, if a scope looks it up.
    pub(super) fn export(&mut self, symbol: Symbol, value: &Value<'a>) {
        if self.render.template.looked_up.contains(symbol) {
            self.remember(symbol, Some(*value));
        }
    }
}
