//! Finds a template's own names: those that it sets and that are not meant for callers.
//!
//! ```text
//! {% if tools %}{% set n = 1 %}{% endif %}{{ n }}                  n is set in a branch before it is read: an own name
//! {% if n is not defined %}{% set n = true %}{% endif %}{{ n }}    n is read before it is set: a name for callers
//! ```
//!
//! A name is meant for callers in two cases:
//!
//! - The template reads it before it sets it. After an `if`, the names that one of its branches sets count as set. Names that a loop, a
//!   macro or another scope sets count as set only inside. In a macro, all names that the scopes around the macro set count as set, also
//!   those that they set later, because the macro is called later.
//! - An `if` tests whether it is defined, and a branch of this `if` sets it, or the template has so far set it only to true, false or none.

use indexmap::IndexSet;

use crate::ast::{
    Body, Child, Expr, ExprKind, If, Literal, Macro, Stmt, StmtKind, Symbol, SymbolSet, Target, TargetKind, Template,
};

/// Returns the names that the template sets and that are not meant for callers.
pub(super) fn find(template: &Template) -> SymbolSet {
    let mut walk = Walk::default();
    walk.body(&template.body);
    let Walk { mut all, read_first, .. } = walk;
    let symbols = template.symbols.all();
    symbols
        .filter(|name| read_first.contains(*name))
        .for_each(|name| all.remove(name));
    all
}

#[derive(Default)]
struct Walk {
    /// The names that are set on at least one path to the current node.
    set: SymbolSet,
    /// The names of `set` in the order in which they were set, so that the end of a scope can remove them.
    order: Vec<Symbol>,
    /// The names that the open scopes set anywhere.
    later: IndexSet<Symbol>,
    /// The number of names of `later` that the scopes around the innermost macro set.
    seen: usize,
    /// The names that are set anywhere in the template.
    all: SymbolSet,
    /// The names that are set to a value other than true, false or none.
    valued: SymbolSet,
    /// The names that are meant for callers. The template reads most of them before it sets them.
    read_first: SymbolSet,
}

impl Walk {
    /// Runs a walk in a scope of its own, and then removes the names of the scope.
    fn scope(&mut self, run: impl FnOnce(&mut Self)) {
        let (start, later) = (self.order.len(), self.later.len());
        run(self);
        for name in self.order.split_off(start) {
            self.set.remove(name);
        }
        self.later.truncate(later);
    }

    /// Walks over the statements of a scope.
    fn body(&mut self, body: &Body) {
        visit_stored(body, &mut |name| {
            self.later.insert(name);
        });
        self.stmts(body);
    }

    fn stmts(&mut self, body: &Body) {
        body.stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    /// Walks over a statement and its bodies, and records the names that they read and set.
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::For(node) => {
                self.read(&node.iter);
                self.scope(|walk| {
                    walk.target(&node.target);
                    node.test.iter().for_each(|test| walk.read(&test.condition));
                    walk.body(&node.body);
                });
                self.scope(|walk| walk.body(&node.otherwise));
            }
            StmtKind::If(node) => {
                for arm in &node.arms {
                    self.read(&arm.test);
                    self.stmts(&arm.body);
                }
                self.stmts(&node.otherwise);
                let mut tested = Vec::new();
                node.arms
                    .iter()
                    .for_each(|arm| visit_tested(&arm.test, &mut |name| tested.push(name)));
                if !tested.is_empty() {
                    let mut stored = SymbolSet::default();
                    visit_stored_by_if(node, &mut |name| {
                        stored.insert(name);
                    });
                    for name in tested {
                        if stored.contains(name) || !self.valued.contains(name) {
                            self.read_first.insert(name);
                        }
                    }
                }
            }
            StmtKind::Set(node) => {
                self.read(&node.value);
                match (&node.value.kind, &node.target.kind) {
                    (ExprKind::Literal(Literal::Bool(_) | Literal::None), TargetKind::Name { symbol, .. }) => self.set(*symbol),
                    _ => self.target(&node.target),
                }
            }
            StmtKind::SetBlock(node) => {
                node.filter.iter().for_each(|filter| self.read(filter));
                self.scope(|walk| walk.body(&node.body));
                self.target(&node.target);
            }
            StmtKind::Macro(node) => {
                node.name.iter().for_each(|name| self.name(*name));
                let outer = std::mem::replace(&mut self.seen, self.later.len());
                self.scope(|walk| walk.callable(node));
                self.seen = outer;
            }
            StmtKind::Generation(node) => self.scope(|walk| walk.callable(node)),
            StmtKind::CallBlock(node) => {
                self.read(&node.callee);
                node.args.for_each_child(&mut |argument| self.read(argument));
                self.scope(|walk| walk.callable(&node.body));
            }
            StmtKind::With(node) => {
                node.bindings.iter().for_each(|(_, value)| self.read(value));
                self.scope(|walk| {
                    node.bindings.iter().for_each(|(target, ..)| walk.target(target));
                    walk.body(&node.body);
                });
            }
            _ => stmt.for_each_child(&mut |child| match child {
                Child::Expr(expr) => self.read(expr),
                Child::Target(target) => self.target(target),
                Child::Parameter(name, _) => self.name(name),
                Child::Body(body) => self.scope(|walk| walk.body(body)),
                _ => {}
            }),
        }
    }

    /// Walks over the parameters and the body of a macro.
    fn callable(&mut self, node: &Macro) {
        for parameter in &node.parameters {
            self.name(parameter.symbol);
            parameter.default.iter().for_each(|default| self.read(default));
        }
        self.body(&node.body);
    }

    fn target(&mut self, target: &Target) {
        match &target.kind {
            TargetKind::Name { symbol, .. } => self.name(*symbol),
            TargetKind::Attribute { object, .. } => self.read_name(*object),
            TargetKind::Tuple(targets) => targets.iter().for_each(|target| self.target(target)),
        }
    }

    fn name(&mut self, name: Symbol) {
        self.valued.insert(name);
        self.set(name);
    }

    fn set(&mut self, name: Symbol) {
        self.all.insert(name);
        if self.set.insert(name) {
            self.order.push(name);
        }
    }

    fn read(&mut self, expr: &Expr) {
        expr.for_each_name(&mut |name| self.read_name(name.symbol));
    }

    fn read_name(&mut self, name: Symbol) {
        let is_later = self.later.get_index_of(&name).is_some_and(|index| index < self.seen);
        if !is_later && !self.set.contains(name) {
            self.read_first.insert(name);
        }
    }
}

/// Calls `visit` with the names that the statements set in their own scope.
fn visit_stored(body: &Body, visit: &mut dyn FnMut(Symbol)) {
    for stmt in &body.stmts {
        match &stmt.kind {
            StmtKind::Set(node) => node.target.for_each_name(&mut |_, name| visit(name)),
            StmtKind::SetBlock(node) => node.target.for_each_name(&mut |_, name| visit(name)),
            StmtKind::Macro(node) => node.name.into_iter().for_each(&mut *visit),
            StmtKind::If(node) => visit_stored_by_if(node, visit),
            _ => {}
        }
    }
}

fn visit_stored_by_if(node: &If, visit: &mut dyn FnMut(Symbol)) {
    node.arms.iter().for_each(|arm| visit_stored(&arm.body, visit));
    visit_stored(&node.otherwise, visit);
}

/// Calls `visit` with the names that a condition tests for being defined.
fn visit_tested(condition: &Expr, visit: &mut dyn FnMut(Symbol)) {
    match &condition.kind {
        ExprKind::Test(test) if ["defined", "undefined"].contains(&&*test.name) => {
            if let ExprKind::Name(name) = &test.input.kind {
                visit(name.symbol);
            }
        }
        _ => condition.for_each_child(&mut |part| visit_tested(part, visit)),
    }
}
