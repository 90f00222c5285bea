//! Variables: the locals and cells of frames, and the context.

use std::mem::ManuallyDrop;

use super::Evaluator;
use crate::ast::{Frame, Load, Name, Scope, Slot, Symbol};
use crate::builtins::globals;
use crate::error::Result;
use crate::unsupported::{self, Place};
use crate::value::{ContextEntry, Environment, EnvironmentId, Heap, Recycler, Undefined, Value, next_object_index};

/// Where the variables of a frame that runs are found on the heap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Activation {
    /// The first of the frame's locals.
    locals: usize,
    /// The environment of the frame, or the nearest one around it.
    pub environment: Option<EnvironmentId>,
    /// The first of that environment's cells.
    cells: usize,
}

impl Activation {
    /// The value of a variable; None where it is missing.
    #[inline(always)]
    pub fn get<'v, 'a>(&self, heap: &'v Heap<'a>, slot: &Slot) -> Option<&'v Value<'a>> {
        match slot {
            Slot::Local(local) => heap.frames.locals.get(self.locals.wrapping_add(*local as usize))?.as_ref(),
            _ => self.get_captured(heap, slot),
        }
    }

    /// The same of a variable that macros close over; few are, and most accesses do without this.
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
        put(place, &mut heap.recycler, value);
    }

    /// Where the cell of a variable is.
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

/// Puts a value into the place of a variable. The one before it is not moved if it holds nothing, as most do.
#[inline(always)]
fn put<'a>(place: Option<&mut Option<Value<'a>>>, recycler: &mut Recycler, value: Option<Value<'a>>) {
    // A value that nothing here may drop can be written where it belongs, and nowhere before: every slot has its place.
    let value = ManuallyDrop::new(value);
    let Some(place) = place else { return };
    if place.as_ref().is_some_and(Value::holds_memory) {
        empty(place, recycler);
    }
    std::mem::forget(std::mem::replace(place, ManuallyDrop::into_inner(value)));
}

/// Keeps what a variable holds for the next text, or drops it.
#[inline(never)]
fn empty<'a>(place: &mut Option<Value<'a>>, recycler: &mut Recycler) {
    if let Some(old) = place.take().filter(Recycler::accepts) {
        recycler.recycle(old);
    }
}

/// Where the cells of an environment begin.
fn first_cell(environments: &[Environment], environment: Option<EnvironmentId>) -> usize {
    let number = environment.map_or(usize::MAX, |EnvironmentId(number)| number as usize);
    environments.get(number).map_or(0, |environment| environment.cells)
}

impl<'a> Evaluator<'a, '_> {
    /// Opens the evaluator's frame inside the environment where its code was defined.
    pub(super) fn enter_frame(&mut self, frame: Frame, parent: Option<EnvironmentId>) -> Result<()> {
        self.enter_frame_with_locals(frame, parent, 0)
    }

    /// Opens a frame whose first variables are the last of the local variables.
    pub(super) fn enter_frame_with_locals(&mut self, frame: Frame, parent: Option<EnvironmentId>, count: usize) -> Result<()> {
        let variables = u64::from(frame.locals).saturating_add(u64::from(frame.cells));
        self.runtime.meter.charge(variables >> 3)?;
        let heap = &mut self.runtime.heap;
        self.frame.locals = heap.frames.locals.len().saturating_sub(count);
        let locals = self.frame.locals.saturating_add(frame.locals as usize);
        heap.frames.locals.resize_with(locals, || None);
        self.frame.environment = parent;
        if frame.cells > 0 {
            let cells = heap.frames.cells.len();
            let number = next_object_index(heap.frames.environments.len())?;
            heap.frames
                .cells
                .resize_with(cells.saturating_add(frame.cells as usize), || None);
            heap.frames.environments.push(Environment { cells, parent });
            self.frame.environment = Some(EnvironmentId(number));
        }
        let room = self.runtime.heap.frames.cells.len().saturating_add(locals);
        self.frame.cells = first_cell(&self.runtime.heap.frames.environments, self.frame.environment);
        self.runtime
            .meter
            .check_size(room.saturating_mul(size_of::<Option<Value<'_>>>()))
    }

    /// Closes it; what inner frames close over stays.
    pub(super) fn leave_frame(&mut self) {
        self.runtime.heap.frames.locals.truncate(self.frame.locals);
    }

    /// Gives the variables of the root their first values. Nothing is set yet, and no name is looked up here twice.
    pub(super) fn enter_root(&mut self, scope: &Scope) -> Result<()> {
        self.runtime.meter.charge(scope.loads.len() as u64 >> 1)?;
        for load in &scope.loads {
            if let Load::Resolve(slot, symbol) = load {
                if let Some(value) = self.given(*symbol) {
                    self.store(slot, value);
                }
            }
        }
        Ok(())
    }

    /// Gives the variables of a scope their first values: also those of branches that are not taken. Where something may grow in place,
    /// what it has grown out of is let go.
    #[inline]
    pub(super) fn enter_scope(&mut self, scope: &Scope) -> Result<()> {
        self.runtime.meter.charge(scope.loads.len() as u64 >> 1)?;
        self.load(scope);
        Ok(())
    }

    /// The same without the charge; most scopes have nothing to load.
    #[inline(always)]
    pub(super) fn load(&mut self, scope: &Scope) {
        if !scope.loads.is_empty() {
            self.load_all(&scope.loads);
        }
        if self.render.template.accumulates {
            self.clear_elided(&scope.elided_loads);
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
                        Slot::Outer { .. } => self.present(outer),
                        _ => self.get(outer).cloned(),
                    };
                    self.set(slot, value);
                }
                Load::Clear(slot) => self.clear(slot),
            }
        }
    }

    /// The value of a variable of another frame; None also where that shows `missing`.
    #[inline(never)]
    fn present(&self, outer: &Slot) -> Option<Value<'a>> {
        self.get(outer).filter(|value| !value.is_missing()).cloned()
    }

    #[inline(never)]
    fn clear_elided(&mut self, elided_loads: &[Load]) {
        elided_loads.iter().for_each(|load| self.clear(&load.slot()));
    }

    /// Forgets the variables of a scope.
    #[inline]
    pub(super) fn leave_scope(&mut self, scope: &Scope) -> Result<()> {
        self.runtime.meter.charge(scope.clears.len() as u64 >> 3)?;
        for slot in &scope.clears {
            self.clear(slot);
        }
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

    /// Forgets a variable; mostly it is missing already.
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
            Some(value) => Ok(value.clone()),
            None => self.missing_name(name.symbol),
        }
    }

    #[inline(never)]
    fn missing_name(&self, symbol: Symbol) -> Result<Value<'a>> {
        let name = self.render.template.symbols.name(symbol);
        if self.is_unsupported(symbol) {
            if let Some(error) = unsupported::find(Place::Variable, name) {
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

    /// The value of a variable; None where it is missing.
    #[inline]
    pub(super) fn get(&self, slot: &Slot) -> Option<&Value<'a>> {
        self.frame.get(&self.runtime.heap, slot)
    }

    /// Gives a variable a value.
    #[inline(always)]
    pub(super) fn store(&mut self, slot: &Slot, value: Value<'a>) {
        self.set(slot, Some(value));
    }

    #[inline(always)]
    fn set(&mut self, slot: &Slot, value: Option<Value<'a>>) {
        self.frame.set(&mut self.runtime.heap, slot, value);
    }

    /// `Context.resolve_or_missing`: what the root has set, then the input, then the globals.
    pub(super) fn resolve(&mut self, symbol: Symbol) -> Option<Value<'a>> {
        if let Some(Some(value)) = self.runtime.heap.frames.exported.get(symbol.0 as usize) {
            return Some(value.clone());
        }
        match self.runtime.heap.frames.context.get(symbol.0 as usize) {
            Some(ContextEntry::Found(value)) => Some(value.clone()),
            Some(ContextEntry::Absent) => None,
            Some(ContextEntry::Unknown) | None => self.look_up_context(symbol),
        }
    }

    /// Looks a name up in the input and among the globals, and remembers the result.
    #[inline(never)]
    fn look_up_context(&mut self, symbol: Symbol) -> Option<Value<'a>> {
        let value = self.given(symbol);
        let context = &mut self.runtime.heap.frames.context;
        if context.is_empty() {
            context.resize(self.render.template.symbols.len(), ContextEntry::Unknown);
        }
        if let Some(entry) = context.get_mut(symbol.0 as usize) {
            *entry = ContextEntry::from(value.clone());
        }
        value
    }

    /// What the input has under a name, or the global of that name.
    fn given(&self, symbol: Symbol) -> Option<Value<'a>> {
        let template = self.render.template;
        let input = self.runtime.heap.frames.input.as_ref();
        let given = input.and_then(|input| input.get_str(template.symbols.name(symbol)));
        given.or_else(|| {
            let (_, number) = template.globals.iter().find(|(name, _)| *name == symbol)?;
            globals::all().get(*number).map(Value::Function)
        })
    }

    /// Sets a name of the context, as the root does at top level; what nothing will look up there is not kept.
    pub(super) fn export(&mut self, symbol: Symbol, value: &Value<'a>) {
        let looked_up = &self.render.template.looked_up;
        if looked_up.get(symbol.0 as usize) != Some(&true) {
            return;
        }
        let exported = &mut self.runtime.heap.frames.exported;
        if exported.is_empty() {
            exported.resize(looked_up.len(), None);
        }
        if let Some(place) = exported.get_mut(symbol.0 as usize) {
            *place = Some(value.clone());
        }
    }
}
