//! Resolves statements (jinja2 3.1.6 `compiler.py`, the `visit_…` methods from `visit_For` on).

use std::sync::Arc;

use super::accumulate::choose_strategy;
use super::frames::Variable;
use super::{Place, Resolver, find_repeated};
use crate::ast::{
    Body, CallBlock, Child, ExprKind, FilterBlock, For, If, LoopTest, Macro, Set, SetBlock, SetStrategy, Stmt, StmtKind, Symbol,
    Target, TargetKind, With,
};
use crate::error::{Error, Result};
use crate::span::Span;
use crate::unicode::nfkc;

/// The maximum number of namespaces whose attributes are recorded.
const FEW_NAMESPACES: usize = 8;

/// The maximum number of attributes that are recorded of a namespace. Others are found without their index.
const FEW_ATTRIBUTES: usize = 16;

impl Resolver<'_> {
    pub(super) fn body(&mut self, body: &mut Body, place: &Place) -> Result<()> {
        for stmt in &mut body.stmts {
            let steps = self.stmt(stmt, place)?;
            body.steps = body.steps.saturating_add(steps);
        }
        Ok(())
    }

    /// Resolves a body that may not run, and then marks the variables that it sets as unset again. Returns these variables, if there are not
    /// too many to compare.
    fn branch(&mut self, body: &mut Body, place: &Place) -> Result<Vec<Variable>> {
        let set = self.scopes.frames.count_set();
        self.body(body, place)?;
        Ok(self.scopes.frames.forget_set(set))
    }

    /// Resolves a statement, and returns the steps of its own work.
    fn stmt(&mut self, stmt: &mut Stmt, place: &Place) -> Result<u32> {
        let (at, span) = (stmt.at, stmt.span);
        self.check_stack(span)?;
        self.meter.charge(1).map_err(|error| error.at(span))?;
        let outer = std::mem::replace(&mut self.parts, 1);
        let before = self.line_at;
        match &mut stmt.kind {
            StmtKind::Output(node) => self.output(node, place)?,
            StmtKind::For(node) => self.for_loop(node, place, at)?,
            StmtKind::If(node) => self.if_arms(node, place)?,
            StmtKind::Set(node) => self.set(node, place, at)?,
            StmtKind::SetBlock(node) => self.set_block(node, place, at)?,
            StmtKind::Macro(node) => {
                self.macro_body(node, at, span)?;
                if let Some(name) = node.name {
                    node.exported = place.toplevel;
                    node.slot = self.name_slot(name, span)?;
                }
            }
            StmtKind::CallBlock(node) => self.call_block(node, place, at, span)?,
            StmtKind::Generation(node) => {
                self.macro_body(node, at, span)?;
                self.line_at = at;
            }
            StmtKind::FilterBlock(node) => self.filter_block(node, place, at)?,
            StmtKind::With(node) => self.with(node, place)?,
            StmtKind::Unsupported(_) => self.line_at = at,
            StmtKind::Break | StmtKind::Continue => {
                if !place.in_loop {
                    let message = match stmt.kind {
                        StmtKind::Break => "'break' outside loop",
                        _ => "'continue' not properly in loop",
                    };
                    self.refuse(message, span);
                }
                self.line_at = at;
            }
        }
        stmt.line_at = match stmt.kind {
            StmtKind::Output(_) | StmtKind::If(_) => self.line_at,
            StmtKind::With(_) => before,
            _ => at,
        };
        Ok(self.take_steps(outer))
    }

    fn for_loop(&mut self, node: &mut For, place: &Place, at: u32) -> Result<()> {
        let [loop_name, ..] = self.specials;
        let uses_loop = node.loop_slot.is_some() && self.find_undeclared(&node.body, [loop_name])? == [true];
        let is_extended = node.recursive || uses_loop;
        if let Some(test) = &mut node.test {
            self.loop_test(test, &node.target, &place.inner())?;
        }
        if let Some(found) = self.find_assigned_loop(node, loop_name.filter(|_| self.sets_loop))? {
            let message = "Can't assign to special loop variable in for-loop target";
            return Err(Error::syntax(message, found.span).on_line(self.source.line(found.at)));
        }

        self.line_at = at;
        if !node.recursive {
            self.whole_expr(&mut node.iter, place)?;
        } else {
            self.scopes.frames.open();
        }
        let inner = Place {
            in_loop: true,
            ..place.inner()
        };
        self.scopes.open();
        let loop_variable = loop_name
            .filter(|_| is_extended)
            .map(|name| self.scopes.declare_parameter(name));
        self.scopes.collect_loop(node, &mut self.meter)?;
        node.scope = self.scopes.enter();
        self.target(&mut node.target, &inner)?;
        node.loop_slot = loop_variable.map(|variable| self.slot(variable));
        self.branch(&mut node.body, &inner)?;
        self.scopes.close(&mut node.scope);

        self.scopes.open();
        self.scopes.collect_body(&node.otherwise, &mut self.meter)?;
        node.otherwise_scope = self.scopes.enter();
        let otherwise = Place {
            in_loop: place.in_loop && !node.recursive,
            ..place.inner()
        };
        self.branch(&mut node.otherwise, &otherwise)?;
        self.scopes.close(&mut node.otherwise_scope);
        if node.recursive {
            node.frame = self.scopes.frames.close(self.line_at);
            self.line_at = at;
            self.whole_expr(&mut node.iter, place)?;
        }
        Ok(())
    }

    /// Returns the first target named `loop` in a loop or among its own targets, where it is not allowed.
    fn find_assigned_loop(&mut self, node: &For, loop_name: Option<Symbol>) -> Result<Option<Target>> {
        let Some(name) = loop_name else { return Ok(None) };
        let (mut found, mut visited) = (None, 0);
        find_target(&node.target, name, &mut found, &mut visited);
        let stmts = node.body.stmts.iter().chain(&node.otherwise.stmts);
        stmts.for_each(|stmt| find_target_in(stmt, name, &mut found, &mut visited));
        self.meter.charge(visited)?;
        Ok(found)
    }

    /// Resolves the condition of a loop, `for x in items if …`. It is a frame of its own, in which the loop's target is assigned too.
    fn loop_test(&mut self, test: &mut LoopTest, target: &Target, place: &Place) -> Result<()> {
        self.line_at = test.condition.at;
        let outer = std::mem::take(&mut self.parts);
        self.scopes.frames.open();
        self.scopes.open();
        self.scopes.collect_loop_test(target, &test.condition);
        test.scope = self.scopes.enter();
        self.target(&mut test.target, place)?;
        self.whole_expr(&mut test.condition, place)?;
        test.steps = self.take_steps(outer);
        self.scopes.close(&mut test.scope);
        test.frame = self.scopes.frames.close(self.line_at);
        Ok(())
    }

    /// Resolves the arms of an `if`. A variable that all of them set is set after the `if`.
    fn if_arms(&mut self, node: &mut If, place: &Place) -> Result<()> {
        let soft = place.soft();
        let mut set_by_all: Option<Vec<Variable>> = None;
        for arm in &mut node.arms {
            self.line_at = arm.at;
            self.whole_expr(&mut arm.test, &soft)?;
            let set = self.branch(&mut arm.body, &soft)?;
            match &mut set_by_all {
                Some(before) => before.retain(|variable| set.contains(variable)),
                None => set_by_all = Some(set),
            }
        }
        let set = self.branch(&mut node.otherwise, &soft)?;
        for variable in set_by_all.into_iter().flatten().filter(|variable| set.contains(variable)) {
            self.scopes.frames.set(variable);
        }
        Ok(())
    }

    fn set(&mut self, node: &mut Set, place: &Place, at: u32) -> Result<()> {
        node.check_at = self.line_at;
        self.line_at = at;
        self.target(&mut node.target, place)?;
        self.whole_expr(&mut node.value, place)?;
        self.note_set(&node.target);
        self.note_namespace(node);
        node.strategy = choose_strategy(&node.target, &node.value);
        self.scopes.frames.accumulates |= node.strategy == SetStrategy::Append;
        Ok(())
    }

    fn set_block(&mut self, node: &mut SetBlock, place: &Place, at: u32) -> Result<()> {
        self.scopes.open();
        self.scopes.collect_body(&node.body, &mut self.meter)?;
        node.scope = self.scopes.enter();
        let inner = place.inner();
        self.body(&mut node.body, &inner)?;
        self.line_at = at;
        if let Some(filter) = &mut node.filter {
            self.whole_expr(filter, &inner)?;
        }
        self.scopes.close(&mut node.scope);
        self.target(&mut node.target, place)?;
        self.note_set(&node.target);
        Ok(())
    }

    /// Resolves a macro, a call block or a generation block (`macro_body`).
    fn macro_body(&mut self, node: &mut Macro, at: u32, span: Span) -> Result<()> {
        self.scopes.frames.open();
        self.scopes.open();
        self.scopes.collect_macro(node, &mut self.meter)?;
        let [_, caller, kwargs, varargs] = self.specials;
        let has_parameter = |name: Option<Symbol>| node.parameters.iter().any(|parameter| Some(parameter.symbol) == name);
        let uses = self.find_undeclared(&node.body, [caller, kwargs, varargs])?;
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
        // The reference collects the names of the macro once more here. Only its parameters make a difference, where a name of the body
        // has the same normal form.
        self.scopes.collect_signature(node);
        // Python reads names in their normal form.
        let symbols = self.symbols;
        let names = node.parameters.iter().map(|parameter| nfkc(symbols.name(parameter.symbol)));
        if let Some(name) = find_repeated(names) {
            let level = self.scopes.level();
            let message = format!("duplicate argument 'l_{level}_{name}' in function definition");
            self.refuse(message, span);
        }

        self.line_at = at;
        node.scope = self.scopes.enter();
        node.specials = variables.map(|variable| variable.map(|variable| self.slot(variable)));
        let inner = Place::default();
        let outer = std::mem::take(&mut self.parts);
        node.at = at;
        for parameter in &mut node.parameters {
            self.count(0);
            parameter.slot = self.name_slot(parameter.symbol, span)?;
            if let Some(default) = &mut parameter.default {
                self.whole_expr(default, &inner)?;
            }
        }
        node.steps = self.take_steps(outer);
        self.body(&mut node.body, &inner)?;
        self.scopes.close(&mut node.scope);
        node.frame = self.scopes.frames.close(self.line_at);
        Ok(())
    }

    fn call_block(&mut self, node: &mut CallBlock, place: &Place, at: u32, span: Span) -> Result<()> {
        self.macro_body(&mut node.body, at, span)?;
        self.line_at = at;
        // The reference tries to fold the call like any other.
        self.is_folding = true;
        self.check_keywords(&mut node.args, Some("caller"), node.span);
        self.expr(&mut node.callee, place)?;
        self.args(&mut node.args, place)
    }

    fn filter_block(&mut self, node: &mut FilterBlock, place: &Place, at: u32) -> Result<()> {
        self.scopes.open();
        self.scopes.collect_body(&node.body, &mut self.meter)?;
        self.scopes.collect_expr(&node.filter);
        node.scope = self.scopes.enter();
        let inner = place.inner();
        self.body(&mut node.body, &inner)?;
        self.line_at = at;
        self.whole_expr(&mut node.filter, &inner)?;
        self.scopes.close(&mut node.scope);
        Ok(())
    }

    fn with(&mut self, node: &mut With, place: &Place) -> Result<()> {
        for (_, value) in &mut node.bindings {
            self.whole_expr(value, place)?;
        }
        self.scopes.open();
        self.scopes.collect_with(node, &mut self.meter)?;
        node.scope = self.scopes.enter();
        let inner = place.inner();
        for (target, ..) in &mut node.bindings {
            self.target(target, &inner)?;
        }
        self.body(&mut node.body, &inner)?;
        self.scopes.close(&mut node.scope);
        Ok(())
    }

    /// Resolves the variables of a target, and notes whether the context gets them too.
    fn target(&mut self, target: &mut Target, place: &Place) -> Result<()> {
        let span = target.span;
        match &mut target.kind {
            TargetKind::Name { symbol, slot, exported } => {
                *exported = place.toplevel;
                let variable = self.variable(*symbol, span)?;
                *slot = self.slot(variable);
            }
            TargetKind::Attribute {
                object,
                slot,
                name,
                index,
            } => {
                *slot = self.name_slot(*object, span)?;
                *index = self.attribute_index(*object, name);
            }
            TargetKind::Tuple(targets) => targets.iter_mut().try_for_each(|target| self.target(target, place))?,
        }
        Ok(())
    }

    /// Records the names of the attributes of a namespace that a `set` statement makes.
    fn note_namespace(&mut self, node: &Set) {
        let (TargetKind::Name { symbol, .. }, ExprKind::Call(call)) = (&node.target.kind, &node.value.kind) else {
            return;
        };
        let (ExprKind::Name(callee), Some(others)) = (&call.callee.kind, &call.args.others) else {
            return;
        };
        if self.symbols.name(callee.symbol) == "namespace" && self.namespaces.len() < FEW_NAMESPACES {
            let keywords = others.keywords.iter().take(FEW_ATTRIBUTES);
            let names = keywords.map(|keyword| Arc::clone(&keyword.name)).collect();
            self.namespaces.push((*symbol, names));
        }
    }

    /// Returns the index of an attribute in the namespace that the template makes under a name, or 0.
    pub(super) fn attribute_index(&self, object: Symbol, name: &str) -> u32 {
        let made = self.namespaces.iter().rev().find(|(symbol, _)| *symbol == object);
        let index = made.and_then(|(_, names)| names.iter().position(|known| **known == *name));
        index.and_then(|index| u32::try_from(index).ok()).unwrap_or(0)
    }

    /// Marks the variables of a target as set.
    fn note_set(&mut self, target: &Target) {
        target.for_each_name(&mut |_, name| {
            if let Some(variable) = self.scopes.find(name) {
                self.scopes.frames.set(variable);
            }
        });
    }
}

/// Finds the first target of a name in a statement and its bodies. The targets of `with` are parameters in the reference. Counts the
/// parts that are visited.
fn find_target_in(stmt: &Stmt, name: Symbol, found: &mut Option<Target>, visited: &mut u64) {
    let is_with = matches!(stmt.kind, StmtKind::With(_));
    stmt.for_each_child(&mut |child| {
        *visited = visited.saturating_add(1);
        match child {
            Child::Target(target) if !is_with => find_target(target, name, found, visited),
            Child::Body(body) if found.is_none() => {
                body.stmts.iter().for_each(|stmt| find_target_in(stmt, name, found, visited));
            }
            _ => {}
        }
    });
}

fn find_target(target: &Target, name: Symbol, found: &mut Option<Target>, visited: &mut u64) {
    target.for_each_name(&mut |target, symbol| {
        *visited = visited.saturating_add(1);
        if symbol == name && found.is_none() {
            *found = Some(target.clone());
        }
    });
}
