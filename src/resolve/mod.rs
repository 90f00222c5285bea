//! Resolves names to variables, and folds constants.
//!
//! The resolver follows jinja2 3.1.6 `compiler.py`. It walks the tree in the order in which the reference compiles it, and fills in the
//! variable of each name, the built-in of each filter and test, the line that an error names, and the value of each constant
//! expression.

mod accumulate;
mod collect_names;
mod expressions;
mod fold;
mod forms;
mod frames;
pub mod operators;
mod output;
mod own_names;
mod scopes;
mod statements;

use std::borrow::Cow;
use std::sync::Arc;

use fold::Folder;
use frames::{Frames, Variable};
use indexmap::IndexSet;
use scopes::Scopes;

use crate::ast::{Body, Child, Frame, Scope, Slot, Symbol, SymbolSet, Symbols, Template};
use crate::builtins::globals;
use crate::error::{Error, ErrorKind, Result};
use crate::meter::{Meter, STEP_BYTES, Stack};
use crate::source::{LineCounter, Source};
use crate::span::Span;
use crate::text::quote;
use crate::unicode::nfkc;
use crate::unsupported;

/// The variables that loops and macros define themselves.
const SPECIALS: [&str; 4] = ["loop", "caller", "kwargs", "varargs"];

pub fn resolve(template: &mut Template, source: &Source, meter: Meter<'_>) -> Result<()> {
    let frames = walk(template, source, meter)?;
    frames.assign_slots(template);
    let globals = globals::all().iter().enumerate();
    let mentioned = globals.filter_map(|(number, function)| Some((template.symbols.find(function.name)?, number)));
    template.globals = mentioned.collect();
    template.unsupported = unsupported::names(unsupported::Site::Variable)
        .filter_map(|name| template.symbols.find(name))
        .collect();
    Ok(())
}

/// Walks the template, and returns its frames, whose variables do not have their final slots yet.
fn walk(template: &mut Template, source: &Source, meter: Meter<'_>) -> Result<Frames> {
    let Template {
        body,
        symbols,
        sets_loop,
        scope,
        frame,
        ..
    } = template;
    let mut scopes = Scopes::default();
    let has_non_ascii = normalize_names(symbols, &mut scopes);
    let symbols = &*symbols;
    let specials = SPECIALS.map(|name| symbols.find(name));
    let is_given = |name| !has_non_ascii && !symbols.is_scoped(name) && !specials.contains(&Some(name));
    scopes.register_names(symbols.all().map(is_given));
    let mut resolver = Resolver {
        source,
        lines: LineCounter::new(source),
        symbols,
        scopes,
        line_at: 0,
        refused: None,
        is_folding: false,
        parts: 0,
        stack: Stack::for_trees(meter.limits()),
        meter,
        folder: Folder::new(),
        sets_loop: *sets_loop,
        namespaces: Vec::new(),
        specials,
    };
    *frame = resolver.root_body(body, scope)?;
    match resolver.refused {
        Some(error) => Err(error),
        None => Ok(resolver.scopes.frames),
    }
}

/// Assigns one variable to all names with the same normal form, as Python does. Returns whether any name is not ASCII.
fn normalize_names(symbols: &mut Symbols, scopes: &mut Scopes) -> bool {
    let mut has_non_ascii = false;
    for symbol in symbols.all() {
        if !symbols.name(symbol).is_ascii() {
            let normal = nfkc(symbols.name(symbol)).into_owned();
            scopes.normalize(symbol, symbols.intern(&normal));
            has_non_ascii = true;
        }
    }
    has_non_ascii
}

/// The number of expressions, or pieces of text, that cost one step.
const PARTS_OF_A_STEP: u32 = 4;

/// The state of a walk.
struct Resolver<'t> {
    source: &'t Source<'t>,
    lines: LineCounter<'t>,
    symbols: &'t Symbols,
    scopes: Scopes,
    /// The offset of the node whose line was recorded last (`CodeGenerator._last_line`). An error in the node names the line.
    line_at: u32,
    /// The first error that Python finds in the compiled code: any other error comes before it.
    refused: Option<Error>,
    /// Whether the current expression is inside one that the reference tries to fold.
    is_folding: bool,
    /// The work of the current statement so far: one for each expression, and one for every 64 bytes of text.
    parts: u32,
    /// Measures the call stack.
    stack: Stack,
    /// Counts the work of the compilation.
    meter: Meter<'t>,
    folder: Folder,
    /// Whether some target is named `loop`.
    sets_loop: bool,
    /// The namespaces that `set` statements have made so far: the names of the variables, and those of the attributes.
    namespaces: Vec<(Symbol, Vec<Arc<str>>)>,
    /// The symbols of `loop`, `caller`, `kwargs`, `varargs`, if they occur.
    specials: [Option<Symbol>; 4],
}

/// Where a statement or an expression is (`compiler.Frame` without the variables).
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Whether the place is in the root, or in an `if` of the root.
    toplevel: bool,
    /// Whether the place is in an `if` or a conditional expression, where an unknown filter is an error only when it is reached.
    soft: bool,
    /// Whether the place is in a loop of the same frame, where `break` and `continue` are allowed.
    in_loop: bool,
}

impl Place {
    /// Returns this place, but inside an `if` or a conditional expression (`Frame.soft`).
    fn soft(&self) -> Self {
        Self { soft: true, ..*self }
    }

    /// Returns this place, but inside another statement of the same frame (`Frame.inner`).
    fn inner(&self) -> Self {
        Self {
            in_loop: self.in_loop,
            ..Self::default()
        }
    }
}

impl Resolver<'_> {
    /// Resolves the body of the root, and returns its frame. The variable `self` is never looked up in the context.
    fn root_body(&mut self, body: &mut Body, scope: &mut Scope) -> Result<Frame> {
        self.scopes.frames.open();
        self.scopes.open();
        if let Some(own) = self.symbols.find("self") {
            self.scopes.declare_parameter(own);
        }
        self.scopes.collect_body(body, &mut self.meter)?;
        *scope = self.scopes.enter();
        let place = Place {
            toplevel: true,
            ..Place::default()
        };
        self.body(body, &place)?;
        self.scopes.close(scope);
        self.scopes.load_given(scope);
        Ok(self.scopes.frames.close(self.line_at))
    }

    /// Records a syntax error that Python finds in the compiled code, unless there is an earlier one. It has no line of the template.
    #[cold]
    fn refuse(&mut self, message: impl Into<String>, span: Span) {
        let error = || Error::new(ErrorKind::Syntax, message).without_line().at(span);
        self.refused.get_or_insert_with(error);
    }

    /// Drops an error in an expression that was folded, because Python never compiles that.
    fn forget_refused(&mut self, was_refused: bool) {
        self.refused.take_if(|_| !was_refused);
    }

    /// Adds the work of one expression, or of text of this many bytes. A render charges it once, before the statement runs.
    fn count(&mut self, bytes: usize) {
        let bytes = u32::try_from(bytes / STEP_BYTES).unwrap_or(u32::MAX);
        self.parts = self.parts.saturating_add(bytes).saturating_add(1);
    }

    /// Returns the number of steps that the added work costs, and sets the count back to `before`.
    fn take_steps(&mut self, before: u32) -> u32 {
        std::mem::replace(&mut self.parts, before).div_ceil(PARTS_OF_A_STEP)
    }

    /// Returns the slot of a name that is read.
    fn name_slot(&mut self, name: Symbol, span: Span) -> Result<Slot> {
        let variable = self.variable(name, span)?;
        Ok(self.scopes.frames.read(variable))
    }

    /// Returns the variable of a name (`Symbols.ref`). The reference does not know a name that only the filter of a `set` block mentions,
    /// and raises an AssertionError.
    fn variable(&self, name: Symbol, span: Span) -> Result<Variable> {
        match self.scopes.find(name) {
            Some(variable) => Ok(variable),
            None => {
                let name = quote::repr(self.symbols.name(name));
                let message = format!("Tried to resolve a name to a reference that was unknown to the frame ({name})");
                Err(Error::runtime(message).without_line().at(span))
            }
        }
    }

    fn slot(&mut self, variable: Variable) -> Slot {
        self.scopes.frames.slot(variable)
    }

    /// Refuses a tree that would exhaust the call stack: the functions here use more of it than the parser's. A quarter of the limit is
    /// left to the visitors in `collect_names.rs` and `visit.rs`, which do not check the stack.
    fn check_stack(&self, span: Span) -> Result<()> {
        self.stack.check().map_err(|error| error.at(span).without_line())
    }
}

/// Returns the names that a resolved template looks up in its context, in the order in which it first mentions them. Names of its own,
/// global functions and unsupported variables are left out.
pub fn context_names(template: &Template) -> impl Iterator<Item = Symbol> + use<> {
    let mut found = SymbolSet::default();
    let mut add = |scope: &Scope| {
        let loads = scope.loads.iter().chain(&scope.elided_loads);
        for name in loads.filter_map(|load| load.name()) {
            found.insert(name);
        }
    };
    add(&template.scope);
    template.body.walk(&mut |child| match child {
        Child::Scope(scope) => {
            add(scope);
            false
        }
        child => matches!(child, Child::Body(_)),
    });
    let globals = template.globals.iter().map(|(name, _)| name);
    globals.chain(&template.unsupported).for_each(|name| found.remove(*name));
    let own = own_names::find(template);
    template
        .symbols
        .all()
        .filter(move |name| found.contains(*name) && !own.contains(*name))
}

/// Returns the first name that is equal to an earlier one.
fn find_repeated<'n>(mut names: impl Iterator<Item = Cow<'n, str>>) -> Option<Cow<'n, str>> {
    let mut earlier = IndexSet::new();
    names.find(|name| !earlier.insert(name.clone()))
}
