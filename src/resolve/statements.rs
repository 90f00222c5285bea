//! Statements: `compiler.py`, the `visit_…` methods from `visit_For` on, in their order of writing.

use super::accumulate::way;
use super::frames::Variable;
use super::refusals::Stage;
use super::track::undeclared;
use super::{Place, Resolver};
use crate::ast::{
    Block, Body, CallBlock, Child, FilterBlock, For, If, Include, LoaderTag, LoopTest, Macro, Set, SetBlock, Stmt, StmtKind,
    Symbol, Target, TargetKind, Way, With,
};
use crate::error::{Error, Result};
use crate::limits::{Limit, Reached};
use crate::span::Span;
use crate::unicode::nfkc;

/// CPython's tokenizer refuses the hundredth level of indentation (`MAXINDENT`).
const MAX_INDENTATION: u32 = 99;

/// CPython's compiler refuses the twenty-first loop inside loops of one function (`CO_MAXBLOCKS`).
const MAX_LOOPS: u32 = 20;

/// Each scoped block copies what the scopes around it set, as it does in the reference: ten thousand names and as many blocks would take
/// gigabytes.
const MAX_VISIBLE: usize = 1 << 20;

impl Resolver<'_> {
    pub(super) fn body(&mut self, body: &mut Body, place: &Place) -> Result<()> {
        for index in 0..body.stmts.len() {
            let Some(stmt) = body.stmts.get_mut(index) else { break };
            let is_extends = matches!(&stmt.kind, StmtKind::Include(node) if node.tag == LoaderTag::Extends);
            // The reference compiles nothing behind a second one (`CompilerExit`).
            if is_extends && self.has_extended && place.toplevel {
                body.stmts.truncate(index);
                break;
            }
            let steps = self.stmt(stmt, place)?;
            body.steps = body.steps.saturating_add(steps);
        }
        Ok(())
    }

    /// A body one level of indentation deeper.
    fn indented(&mut self, body: &mut Body, place: &Place, span: Span) -> Result<()> {
        let outer = self.indentation;
        self.indentation = outer.saturating_add(1);
        if self.indentation > MAX_INDENTATION {
            self.refusals.add(Stage::Grammar, "too many levels of indentation", span);
        }
        let result = self.body(body, place);
        self.indentation = outer;
        result
    }

    /// The same for a body that may not run; gives the variables that it sets, if it runs to its end.
    fn branch(&mut self, body: &mut Body, place: &Place, span: Span) -> Result<Vec<Variable>> {
        let set = self.scopes.frames.count_set();
        self.indented(body, place, span)?;
        Ok(self.scopes.frames.forget_set(set))
    }

    /// A statement; gives the steps of its own work.
    fn stmt(&mut self, stmt: &mut Stmt, place: &Place) -> Result<u32> {
        let (at, span) = (stmt.at, stmt.span);
        self.check_stack(span)?;
        let outer = std::mem::replace(&mut self.parts, 1);
        let line = match &mut stmt.kind {
            StmtKind::Output(pieces) => {
                self.output(pieces, place)?;
                self.line
            }
            StmtKind::For(node) => self.for_loop(node, place, at, span)?,
            StmtKind::If(node) => {
                self.if_arms(node, place, span)?;
                self.line
            }
            StmtKind::Set(node) => self.set(node, place, at)?,
            StmtKind::SetBlock(node) => self.set_block(node, place, at)?,
            StmtKind::Macro(node) => {
                let line = self.macro_body(node, at, span)?;
                if let Some(name) = node.name {
                    node.exported = place.toplevel;
                    node.slot = self.name_slot(name, span)?;
                }
                line
            }
            StmtKind::CallBlock(node) => self.call_block(node, place, at, span)?,
            StmtKind::Generation(node) => {
                self.macro_body(node, at, span)?;
                self.newline(at)
            }
            StmtKind::FilterBlock(node) => self.filter_block(node, place, at)?,
            StmtKind::With(node) => self.with(node, place)?,
            StmtKind::Block(node) => self.block(node, at, span)?,
            StmtKind::Autoescape(node) => self.autoescape(node, place)?,
            StmtKind::Include(node) => self.include(node, place, at, span)?,
            StmtKind::Break | StmtKind::Continue => {
                if place.loops == 0 {
                    let message = match stmt.kind {
                        StmtKind::Break => "'break' outside loop",
                        _ => "'continue' not properly in loop",
                    };
                    self.refusals.add(Stage::Bytecode, message, span);
                }
                self.newline(at)
            }
        };
        stmt.line = line;
        Ok(self.take_steps(outer))
    }

    fn for_loop(&mut self, node: &mut For, place: &Place, at: u32, span: Span) -> Result<u32> {
        let [loop_name, ..] = self.specials;
        let uses_loop = node.loop_slot.is_some() && undeclared(&node.body, [loop_name]) == [true];
        let bodies = || node.body.stmts.iter().chain(&node.otherwise.stmts);
        let is_extended = node.recursive || uses_loop || (self.has_blocks && bodies().any(has_scoped_block));
        if let Some(test) = &mut node.test {
            self.loop_test(test, &node.target, &place.inner())?;
        }
        if node.recursive {
            self.newline(at);
        }
        if let Some(found) = assigned_loop(node, loop_name.filter(|_| self.sets_loop)) {
            let message = "Can't assign to special loop variable in for-loop target";
            return Err(Error::syntax(message, found.span).on_line(self.source.line(found.at)));
        }

        let line = self.newline(at);
        if !node.recursive {
            self.root(&mut node.iter, place, 1)?;
        } else {
            self.scopes.frames.open();
        }
        let inner = Place {
            loops: if node.recursive { 1 } else { place.loops.saturating_add(1) },
            passed: Some("_loop_vars"),
            ..place.inner()
        };
        if inner.loops > MAX_LOOPS {
            self.refusals.add(Stage::Bytecode, "too many statically nested blocks", span);
        }
        self.scopes.open();
        let loop_variable = loop_name
            .filter(|_| is_extended)
            .map(|name| self.scopes.declare_parameter(name));
        self.scopes.read_loop(node);
        node.scope = self.scopes.enter();
        self.target(&mut node.target, &inner)?;
        node.loop_slot = loop_variable.map(|variable| self.slot(variable));
        node.autoescape = self.eval_context.known();
        if node.recursive && node.otherwise.stmts.is_empty() {
            // The reference leaves the variables to the end of the Python function, and macros of the body keep them.
            node.scope.clears.clear();
        }
        let has_empty_output = self.has_empty_output;
        self.branch(&mut node.body, &inner, span)?;
        self.scopes.close(&mut node.scope);

        self.scopes.open();
        self.scopes.read_body(&node.otherwise);
        node.otherwise_scope = self.scopes.enter();
        let otherwise = Place {
            loops: if node.recursive { 0 } else { place.loops },
            ..place.inner()
        };
        self.branch(&mut node.otherwise, &otherwise, span)?;
        self.scopes.close(&mut node.otherwise_scope);
        if node.recursive {
            // Its text is collected, and to collect nothing is something to do.
            self.has_empty_output = has_empty_output;
            node.frame = self.scopes.frames.close();
            node.end_line = self.line;
            self.newline(at);
            self.root(&mut node.iter, place, 1)?;
        }
        Ok(line)
    }

    /// The test of a loop, which is a function of its own in the reference's Python; it assigns the loop's target too.
    fn loop_test(&mut self, test: &mut LoopTest, target: &Target, place: &Place) -> Result<()> {
        test.line = self.newline(test.condition.at);
        let outer = std::mem::take(&mut self.parts);
        self.scopes.frames.open();
        self.scopes.open();
        self.scopes.read_loop_test(target, &test.condition);
        test.scope = self.scopes.enter();
        self.target(&mut test.target, place)?;
        self.root(&mut test.condition, place, 0)?;
        test.steps = self.take_steps(outer);
        self.scopes.close(&mut test.scope);
        test.frame = self.scopes.frames.close();
        Ok(())
    }

    fn if_arms(&mut self, node: &mut If, place: &Place, span: Span) -> Result<()> {
        let soft = place.soft();
        let mut set_by_all: Option<Vec<Variable>> = None;
        for arm in &mut node.arms {
            arm.line = self.newline(arm.at);
            self.root(&mut arm.test, &soft, 0)?;
            let set = self.branch(&mut arm.body, &soft, span)?;
            match &mut set_by_all {
                Some(before) => before.retain(|variable| set.contains(variable)),
                None => set_by_all = Some(set),
            }
        }
        let set = self.branch(&mut node.otherwise, &soft, span)?;
        for variable in set_by_all.into_iter().flatten().filter(|variable| set.contains(variable)) {
            self.scopes.frames.set(variable);
        }
        Ok(())
    }

    fn set(&mut self, node: &mut Set, place: &Place, at: u32) -> Result<u32> {
        node.check_line = self.line.max(1);
        let line = self.newline(at);
        self.target(&mut node.target, place)?;
        self.root(&mut node.value, place, 0)?;
        self.note_set(&node.target);
        node.way = way(&node.target, &node.value);
        self.scopes.frames.accumulates |= node.way == Way::Grown;
        Ok(line)
    }

    fn set_block(&mut self, node: &mut SetBlock, place: &Place, at: u32) -> Result<u32> {
        self.scopes.open();
        self.scopes.read_body(&node.body);
        node.scope = self.scopes.enter();
        node.autoescape = self.eval_context.known();
        let inner = Place {
            is_silenced: false,
            ..place.inner()
        };
        self.body(&mut node.body, &inner)?;
        let line = self.newline(at);
        if let Some(filter) = &mut node.filter {
            self.root(filter, &inner, 1)?;
        }
        self.scopes.close(&mut node.scope);
        self.target(&mut node.target, place)?;
        self.note_set(&node.target);
        Ok(line)
    }

    /// `macro_body`, for macros, call blocks and generation blocks.
    fn macro_body(&mut self, node: &mut Macro, at: u32, span: Span) -> Result<u32> {
        self.scopes.frames.open();
        self.scopes.open();
        self.scopes.read_macro(node);
        let [_, caller, kwargs, varargs] = self.specials;
        let has_parameter = |name: Option<Symbol>| node.parameters.iter().any(|parameter| Some(parameter.symbol) == name);
        let uses = undeclared(&node.body, [caller, kwargs, varargs]);
        let mut variables = [None; 3];
        for ((variable, name), is_used) in variables.iter_mut().zip([caller, kwargs, varargs]).zip(uses) {
            if let Some(name) = name.filter(|_| is_used && !has_parameter(name)) {
                *variable = Some(self.scopes.declare_parameter(name));
            }
        }
        let [uses_caller, ..] = uses;
        node.uses_caller = uses_caller;
        node.explicit_caller = caller.is_some() && has_parameter(caller);
        let explicit = node.parameters.iter().find(|parameter| Some(parameter.symbol) == caller);
        if uses_caller && explicit.is_some_and(|parameter| parameter.default.is_none()) {
            let message =
                "When defining macros or call blocks the special \"caller\" argument must be omitted or be given a default.";
            return Err(Error::syntax(message, span).on_line(self.source.line(at)));
        }
        // The reference reads the whole macro once more here; of all its names only the parameters make a difference, where Python
        // folds a name of the body to one of theirs.
        self.scopes.read_signature(node);
        let mut names = std::collections::BTreeSet::new();
        for parameter in &node.parameters {
            // CPython reads names in their normal form.
            let name = nfkc(self.symbols.name(parameter.symbol));
            if !names.insert(name.clone()) {
                let level = self.scopes.level();
                let message = format!("duplicate argument 'l_{level}_{name}' in function definition");
                self.refusals.add(Stage::Names, message, span);
            }
        }

        let line = self.newline(at);
        node.scope = self.scopes.enter();
        node.specials = variables.map(|variable| variable.map(|variable| self.slot(variable)));
        let inner = Place::default();
        let outer = std::mem::take(&mut self.parts);
        for parameter in &mut node.parameters {
            self.count(0);
            parameter.slot = self.name_slot(parameter.symbol, span)?;
            parameter.line = self.line;
            if let Some(default) = &mut parameter.default {
                self.root(default, &inner, 0)?;
            }
        }
        node.steps = self.take_steps(outer);
        self.indented(&mut node.body, &inner, span)?;
        node.end_line = self.line;
        self.scopes.close(&mut node.scope);
        node.frame = self.scopes.frames.close();
        Ok(line)
    }

    fn call_block(&mut self, node: &mut CallBlock, place: &Place, at: u32, span: Span) -> Result<u32> {
        self.macro_body(&mut node.body, at, span)?;
        let line = self.newline(at);
        // The call is folded as any other, and so is what stands in it.
        self.is_folding = !self.eval_context.volatile;
        self.check_names(&mut node.args, Some("caller").into_iter().chain(place.passed), node.span);
        let nesting = self.expr(&mut node.callee, place)?.max(self.args(&mut node.args, place)?);
        self.check_nesting(nesting.saturating_add(2), node.span);
        self.check_digits(&node.callee)?;
        let mut checked = Ok(());
        node.args.children(&mut |argument| {
            if checked.is_ok() {
                checked = self.check_digits(argument);
            }
        });
        checked?;
        Ok(line)
    }

    fn filter_block(&mut self, node: &mut FilterBlock, place: &Place, at: u32) -> Result<u32> {
        self.scopes.open();
        self.scopes.read_body(&node.body);
        self.scopes.read_expr(&node.filter);
        node.scope = self.scopes.enter();
        node.autoescape = self.eval_context.known();
        let inner = place.inner();
        // To collect nothing is something to do.
        let has_empty_output = self.has_empty_output;
        self.body(&mut node.body, &inner)?;
        self.has_empty_output = has_empty_output;
        let line = self.newline(at);
        self.root(&mut node.filter, &inner, 1)?;
        self.scopes.close(&mut node.scope);
        Ok(line)
    }

    fn with(&mut self, node: &mut With, place: &Place) -> Result<u32> {
        let recorded = self.line.max(1);
        for (_, value, line) in &mut node.bindings {
            *line = recorded;
            self.root(value, place, 0)?;
        }
        self.scopes.open();
        self.scopes.read_with(node);
        node.scope = self.scopes.enter();
        let inner = place.inner();
        for (target, ..) in &mut node.bindings {
            self.target(target, &inner)?;
        }
        self.body(&mut node.body, &inner)?;
        self.scopes.close(&mut node.scope);
        Ok(recorded)
    }

    /// `visit_Block`: the block's own body is walked after the root.
    fn block(&mut self, node: &mut Block, at: u32, span: Span) -> Result<u32> {
        if node.scoped {
            let stores = self.scopes.all_stores();
            self.visible = self.visible.saturating_add(stores.len());
            if self.visible > MAX_VISIBLE {
                return Err(Error::limit(Reached::from_sizes(Limit::Visible, self.visible, MAX_VISIBLE)).at(span));
            }
            // It sees them as they are here: those that are set further down as they were loaded.
            node.visible = stores
                .into_iter()
                .map(|(name, variable)| (name, self.scopes.frames.read(variable)))
                .collect();
        }
        Ok(self.newline(at))
    }

    fn include(&mut self, node: &mut Include, place: &Place, at: u32, span: Span) -> Result<u32> {
        if node.tag == LoaderTag::Extends && !place.toplevel {
            let message = "cannot use extend from a non top-level scope";
            return Err(Error::syntax(message, span).on_line(self.source.line(at)));
        }
        let line = self.newline(at);
        self.root(&mut node.template, place, 1)?;
        self.has_extended |= node.tag == LoaderTag::Extends && !place.soft;
        self.extends = self.extends.or((node.tag == LoaderTag::Extends).then_some(span));
        Ok(line)
    }

    /// A target's variables, and whether the context gets them too.
    fn target(&mut self, target: &mut Target, place: &Place) -> Result<()> {
        let span = target.span;
        match &mut target.kind {
            TargetKind::Name { symbol, slot, exported } => {
                *exported = place.toplevel;
                let variable = self.variable(*symbol, span)?;
                *slot = self.slot(variable);
            }
            TargetKind::Attribute { object, slot, .. } => {
                *slot = self.name_slot(*object, span)?;
            }
            TargetKind::Tuple(targets) => targets.iter_mut().try_for_each(|target| self.target(target, place))?,
        }
        Ok(())
    }

    /// Notes that the variables of a target have values from here on.
    fn note_set(&mut self, target: &Target) {
        target.names(&mut |_, name| {
            if let Some(variable) = self.scopes.find(name) {
                self.scopes.frames.set(variable);
            }
        });
    }
}

fn has_scoped_block(stmt: &Stmt) -> bool {
    let mut found = matches!(&stmt.kind, StmtKind::Block(block) if block.scoped);
    stmt.children(&mut |child| {
        if let Child::Body(body) = child {
            found |= body.stmts.iter().any(has_scoped_block);
        }
    });
    found
}

/// The first target named `loop` in a loop, its own included, where `loop` is special everywhere.
fn assigned_loop(node: &For, loop_name: Option<Symbol>) -> Option<Target> {
    let name = loop_name?;
    let own = named(&node.target, name);
    own.or_else(|| first_target(node.body.stmts.iter().chain(&node.otherwise.stmts), name))
}

/// The first target of that name in statements, those inside them included.
pub(super) fn first_target<'t>(stmts: impl Iterator<Item = &'t Stmt>, name: Symbol) -> Option<Target> {
    let mut found = None;
    for stmt in stmts {
        each_target(stmt, &mut |target| {
            if found.is_none() {
                found = named(target, name);
            }
        });
    }
    found
}

fn named(target: &Target, name: Symbol) -> Option<Target> {
    let mut found = None;
    target.names(&mut |target, symbol| {
        if symbol == name && found.is_none() {
            found = Some(target.clone());
        }
    });
    found
}

/// Calls `look` with each target of `for` and `set` in a statement; those of `with` are parameters to the reference.
fn each_target(stmt: &Stmt, look: &mut dyn FnMut(&Target)) {
    let is_with = matches!(stmt.kind, StmtKind::With(_));
    if let StmtKind::Block(block) = &stmt.kind {
        block.loop_target.iter().for_each(&mut *look);
    }
    stmt.children(&mut |child| match child {
        Child::Target(target) if !is_with => look(target),
        Child::Body(body) => body.stmts.iter().for_each(|stmt| each_target(stmt, look)),
        _ => {}
    });
}
