//! From names to variables: jinja2 3.1.6 `compiler.py` without the Python.
//!
//! The resolver walks the tree in the order in which the reference writes its Python code, and fills in what that code would decide:
//! which variable a name is, which built-in a filter is, which line a failure names, which expressions are constant. What the
//! reference, or CPython when it compiles that code, refuses is refused here. It knows no run-time values beyond constants.

mod accumulate;
mod autoescape;
mod blocks;
mod expressions;
mod fold;
mod frames;
pub mod operate;
mod output;
mod own_names;
mod refusals;
mod scopes;
mod statements;
mod stubs;
mod track;

use std::collections::BTreeSet;

use autoescape::EvalContext;
use frames::{Frames, Variable};
use refusals::{Refusals, Stage};
use scopes::Scopes;
use stubs::Stub;
use track::undeclared;

use crate::ast::{Block, Body, Child, Frame, Scope, Slot, Stmt, StmtKind, Symbol, Symbols, Template};
use crate::builtins::globals;
use crate::error::{Error, Result};
use crate::meter::{STEP_BYTES, Stack};
use crate::source::{LineCounter, Source};
use crate::span::Span;
use crate::text::quote;
use crate::unicode::nfkc;
use crate::unsupported;

/// The names that loops and macros give values by themselves.
const SPECIALS: [&str; 4] = ["loop", "caller", "kwargs", "varargs"];

/// Resolves all of a template.
pub fn resolve(template: &mut Template, source: &Source) -> Result<()> {
    if template.has_blocks {
        blocks::take_out(template)?;
    }
    let frames = walk(template, source)?;
    frames.place(template);
    let globals = globals::all().iter().enumerate();
    let mentioned = globals.filter_map(|(number, function)| Some((template.symbols.find(function.name)?, number)));
    template.globals = mentioned.collect();
    template.unsupported = unsupported::names(unsupported::Place::Variable)
        .filter_map(|name| template.symbols.find(name))
        .collect();
    Ok(())
}

/// The walk over the template; gives the frames, whose variables have no places yet.
fn walk(template: &mut Template, source: &Source) -> Result<Frames> {
    let Template {
        body,
        symbols,
        blocks,
        sets_loop,
        has_blocks,
        stubs,
        scope,
        self_slot,
        frame,
        ..
    } = template;
    let [own, parent] = ["self", "super"].map(|name| symbols.find(name));
    let mut scopes = Scopes::default();
    let are_folded = fold_names(symbols, &mut scopes);
    let symbols = &*symbols;
    let specials = SPECIALS.map(|name| symbols.find(name));
    // Blocks have contexts of their own.
    let are_given = !*has_blocks && !are_folded;
    let is_given = |name| are_given && !symbols.is_scoped(name) && !specials.contains(&Some(name));
    scopes.name_all(symbols.all().map(is_given));
    let mut resolver = Resolver {
        source,
        lines: LineCounter::new(source),
        symbols,
        scopes,
        line: 0,
        indentation: 1,
        refusals: Refusals::default(),
        has_empty_output: false,
        extends: None,
        is_folding: false,
        has_long_number: false,
        eval_context: EvalContext::default(),
        has_extended: false,
        parts: 0,
        stack: Stack::for_trees(),
        folds_left: MAX_FOLDS,
        sets_loop: *sets_loop,
        has_blocks: *has_blocks,
        visible: 0,
        block: None,
        stubs: Vec::new(),
        specials,
    };
    (*self_slot, *frame) = resolver.root_body(body, scope, own)?;
    for block in blocks.iter_mut() {
        resolver.block_body(block, [own, parent])?;
    }
    if let (true, Some(span)) = (resolver.has_empty_output, resolver.extends) {
        let message = "expected an indented block after 'if' statement";
        resolver.refusals.add(Stage::Grammar, message, span);
    }
    if let Some(error) = resolver.refusals.into_first() {
        return Err(error);
    }
    *stubs = stubs::names(&resolver.stubs, source)?;
    Ok(resolver.scopes.frames)
}

/// Makes one variable of names that Python takes for one, because they have the same normal form; gives whether there may be such.
fn fold_names(symbols: &mut Symbols, scopes: &mut Scopes) -> bool {
    let mut are_folded = false;
    for symbol in symbols.all() {
        if !symbols.name(symbol).is_ascii() {
            let folded = nfkc(symbols.name(symbol)).into_owned();
            scopes.fold(symbol, symbols.intern(&folded));
            are_folded = true;
        }
    }
    are_folded
}

/// A template of strangers may consist of nothing but constants that take long; what is not folded is computed by the render, which
/// has limits of its own. Real templates have a few hundred.
const MAX_FOLDS: u32 = 10_000;

/// So many parts of a statement are worked through in the time that other steps take.
const PARTS_OF_A_STEP: u32 = 4;

/// The state of a walk.
struct Resolver<'t> {
    source: &'t Source<'t>,
    lines: LineCounter<'t>,
    symbols: &'t Symbols,
    scopes: Scopes,
    /// The line that the reference recorded last (`CodeGenerator._last_line`).
    line: u32,
    /// How deep the generated Python would be indented.
    indentation: u32,
    /// What CPython would refuse when it compiles the finished code.
    refusals: Refusals,
    /// Whether the walk is inside an expression that the reference tries to fold.
    is_folding: bool,
    /// Whether some constant is an integer that Python does not print, which the template may have to write.
    has_long_number: bool,
    /// Shared by all frames, as in the reference.
    eval_context: EvalContext,
    /// Whether an `extends` of the root was met (`CodeGenerator.has_known_extends`).
    has_extended: bool,
    /// The parts of the statement that were walked so far: its expressions, and each 64 bytes of its texts.
    parts: u32,
    /// How much of our own stack is used.
    stack: Stack,
    /// Whether an output of the root puts out nothing, though no parent is known yet: `{% print %}`.
    has_empty_output: bool,
    /// Where the first `extends` is.
    extends: Option<Span>,
    /// How many more constant operations may become literals.
    folds_left: u32,
    /// Whether some target is named `loop`.
    sets_loop: bool,
    /// Whether there are blocks.
    has_blocks: bool,
    /// How many names the scoped blocks so far see, all together.
    visible: usize,
    /// The block that the walk is in.
    block: Option<Symbol>,
    /// The unknown filters and tests that may complain about their arguments.
    stubs: Vec<Stub>,
    /// `loop`, `caller`, `kwargs`, `varargs`, where they occur.
    specials: [Option<Symbol>; 4],
}

/// Where the walk stands: `compiler.Frame` without the variables.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// In the root, or in an `if` of it.
    toplevel: bool,
    /// Outside of blocks, macros and set blocks: behind an `extends`, nothing is put out here (`Frame.require_output_check`).
    is_silenced: bool,
    /// In an `if` or a conditional expression: unknown filters are errors only when they are reached.
    soft: bool,
    /// How many Python loops of the same function are around.
    loops: u32,
    /// The keyword under which calls pass the variables of the loop or block whose body this is (`Frame.loop_frame`,
    /// `Frame.block_frame`).
    passed: Option<&'static str>,
}

impl Place {
    /// `Frame.soft`
    fn soft(&self) -> Self {
        Self { soft: true, ..*self }
    }

    /// `Frame.inner`, in the same Python function.
    fn inner(&self) -> Self {
        Self {
            loops: self.loops,
            is_silenced: self.is_silenced,
            ..Self::default()
        }
    }
}

impl Resolver<'_> {
    /// The body of the root, where `self` is a variable if it is mentioned. Gives that variable, and the frame.
    fn root_body(&mut self, body: &mut Body, scope: &mut Scope, own: Option<Symbol>) -> Result<(Option<Slot>, Frame)> {
        self.scopes.frames.open();
        self.scopes.open();
        let [uses_self] = undeclared(body, [own]);
        let self_variable = own.filter(|_| uses_self).map(|own| self.scopes.declare_parameter(own));
        self.scopes.read_body(body);
        *scope = self.scopes.enter();
        let self_slot = self_variable.map(|variable| self.slot(variable));
        let place = Place {
            toplevel: true,
            is_silenced: true,
            ..Place::default()
        };
        self.body(body, &place)?;
        self.scopes.close(scope);
        self.scopes.load_given(scope);
        Ok((self_slot, self.scopes.frames.close()))
    }

    /// The body of a block, where `self` and `super` are variables if they are mentioned.
    fn block_body(&mut self, block: &mut Block, specials: [Option<Symbol>; 2]) -> Result<()> {
        self.newline(block.at);
        self.block = Some(block.name);
        self.scopes.frames.open();
        self.scopes.open();
        let mut variables = [None; 2];
        for ((variable, name), is_used) in variables.iter_mut().zip(specials).zip(undeclared(&block.body, specials)) {
            *variable = name.filter(|_| is_used).map(|name| self.scopes.declare_parameter(name));
        }
        self.scopes.read_body(&block.body);
        block.scope = self.scopes.enter();
        block.specials = variables.map(|variable| variable.map(|variable| self.slot(variable)));
        let place = Place {
            passed: Some("_block_vars"),
            ..Place::default()
        };
        self.body(&mut block.body, &place)?;
        self.scopes.close(&mut block.scope);
        block.frame = self.scopes.frames.close();
        Ok(())
    }

    /// `CodeGenerator.newline` for a node: its line is recorded, and is what a failure there names.
    fn newline(&mut self, at: u32) -> u32 {
        self.line = self.lines.line(at);
        self.line
    }

    /// Counts what the render will do for an expression or a text, which has so many bytes of its own: once before the statement runs,
    /// and not in each part of it.
    fn count(&mut self, bytes: usize) {
        let bytes = u32::try_from(bytes / STEP_BYTES).unwrap_or(u32::MAX);
        self.parts = self.parts.saturating_add(bytes).saturating_add(1);
    }

    /// The steps of the parts that were counted since so many were; the count goes on with those before.
    fn take_steps(&mut self, before: u32) -> u32 {
        std::mem::replace(&mut self.parts, before).div_ceil(PARTS_OF_A_STEP)
    }

    /// Where the variable of a name that is read lives.
    fn name_slot(&mut self, name: Symbol, span: Span) -> Result<Slot> {
        let variable = self.variable(name, span)?;
        Ok(self.scopes.frames.read(variable))
    }

    /// `Symbols.ref`: the variable of a name. A name in the filter of a `set` block that nothing else mentions is unknown
    /// to the reference: a fault of it, which shows as Python's AssertionError.
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

    /// Refuses a tree that would exhaust our own stack; the parser's stack is bounded, but our frames have other sizes than its. A
    /// quarter of the limit is left to the visitors of `track.rs` and `visit.rs`, which go down from here without asking.
    fn check_stack(&self, span: Span) -> Result<()> {
        self.stack.check().map_err(|error| error.at(span).without_line())
    }
}

/// Returns the names that a resolved template looks up in its context and that are not its own, in the order in which it first mentions
/// them.
pub fn context_names(template: &Template) -> Vec<&str> {
    let mut names = Names::default();
    names.scope(&template.scope);
    template.body.stmts.iter().for_each(|stmt| names.stmt(stmt));
    for block in &template.blocks {
        names.scope(&block.scope);
        block.body.stmts.iter().for_each(|stmt| names.stmt(stmt));
    }
    let own = own_names::find(template);
    let found = names.found.difference(&own).map(|symbol| template.symbols.name(*symbol));
    let is_unsupported = |name: &str| unsupported::names(unsupported::Place::Variable).any(|other| other == name);
    found
        .filter(|name| globals::find(name).is_none() && !is_unsupported(name))
        .collect()
}

/// Collects what scopes look up.
#[derive(Default)]
struct Names {
    found: BTreeSet<Symbol>,
}

impl Names {
    fn scope(&mut self, scope: &Scope) {
        let loads = scope.loads.iter().chain(&scope.forgone);
        self.found.extend(loads.filter_map(|load| load.name()));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::For(node) => {
                node.test.iter().for_each(|test| self.scope(&test.scope));
                self.scope(&node.scope);
                self.scope(&node.otherwise_scope);
            }
            StmtKind::SetBlock(node) => self.scope(&node.scope),
            StmtKind::Macro(node) | StmtKind::Generation(node) => self.scope(&node.scope),
            StmtKind::CallBlock(node) => self.scope(&node.body.scope),
            StmtKind::FilterBlock(node) => self.scope(&node.scope),
            StmtKind::With(node) => self.scope(&node.scope),
            StmtKind::Autoescape(node) => self.scope(&node.scope),
            _ => {}
        }
        stmt.children(&mut |child| {
            if let Child::Body(body) = child {
                body.stmts.iter().for_each(|stmt| self.stmt(stmt));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::Template;

    #[test]
    fn names_count_for_scopes_where_a_constant_stands_for_them() {
        let source = "{% generation %}{{ a }}{% endgeneration %}{{ '<' or a }}";
        let rendered = Template::compile(source).unwrap().render(&serde_json::json!({"a": "a"}));
        assert_eq!(rendered.unwrap(), "a<");
    }

    #[test]
    fn a_recursive_loop_keeps_its_variables_for_its_macros() {
        let source = "{% set ns = namespace() %}{% for i in [1] recursive %}{% macro m() %}{{ a }}{% endmacro %}\
                      {% set ns.m = m %}{{ a }}{% endfor %}{{ ns.m() }}";
        let rendered = Template::compile(source).unwrap().render(&serde_json::json!({"a": "a"}));
        assert_eq!(rendered.unwrap(), "aa");
    }
}
