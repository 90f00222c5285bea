//! Reads a scope's names into its table: jinja2 3.1.6 `idtracking.py`, `FrameSymbolVisitor` and `RootVisitor`, and
//! `compiler.py`, `find_undeclared`.

use super::symbols::{TableId, Tables};
use crate::ast::{Body, Child, Expr, For, If, Macro, Stmt, StmtKind, Symbol, Symbols, Target, TargetKind, With};

/// Which part of a loop is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Branch {
    /// The body.
    Body,
    /// The else body.
    Otherwise,
    /// The test.
    Test,
}

/// Reads names into one table.
pub(super) struct Tracker<'t> {
    pub tables: &'t mut Tables,
    pub table: TableId,
}

impl Tracker<'_> {
    /// The statements of a template, a block, a `set` block, a `filter` block or an `autoescape`.
    pub fn body(&mut self, body: &Body) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    /// `RootVisitor.visit_For`
    pub fn for_loop(&mut self, node: &For, branch: Branch) {
        match branch {
            Branch::Body => {
                self.target_as_parameter(&node.target);
                self.body(&node.body);
            }
            Branch::Otherwise => self.body(&node.otherwise),
            Branch::Test => {
                self.target_as_parameter(&node.target);
                if let Some(test) = &node.test {
                    self.expr(&test.condition);
                }
            }
        }
    }

    /// `RootVisitor.visit_Macro`, `visit_CallBlock`
    pub fn macro_body(&mut self, node: &Macro) {
        for parameter in &node.parameters {
            self.tables.declare_parameter(self.table, parameter.symbol);
        }
        node.parameters
            .iter()
            .filter_map(|parameter| parameter.default.as_ref())
            .for_each(|default| self.expr(default));
        self.body(&node.body);
    }

    /// `RootVisitor.visit_With`
    pub fn with_body(&mut self, node: &With) {
        node.bindings.iter().for_each(|(target, ..)| self.target_as_parameter(target));
        self.body(&node.body);
    }

    /// `RootVisitor.visit_FilterBlock`
    pub fn filter_body(&mut self, filter: &Expr, body: &Body) {
        self.body(body);
        self.expr(filter);
    }

    /// `autoescape`: its value is read inside the scope of its body.
    pub fn autoescape_body(&mut self, value: &Expr, body: &Body) {
        self.expr(value);
        self.body(body);
    }

    /// `FrameSymbolVisitor`: what a statement reads and sets in the scope that it stands in.
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If(node) => self.if_branches(node),
            StmtKind::Macro(node) => {
                if let Some(name) = node.name {
                    self.tables.store(self.table, name);
                }
            }
            StmtKind::Set(node) => {
                self.expr(&node.value);
                self.target(&node.target);
            }
            StmtKind::SetBlock(node) => self.target(&node.target),
            StmtKind::For(node) => self.expr(&node.iter),
            StmtKind::CallBlock(node) => {
                self.expr(&node.callee);
                node.args.children(&mut |child| self.expr(child));
            }
            StmtKind::FilterBlock(node) => self.expr(&node.filter),
            StmtKind::With(node) => node.bindings.iter().for_each(|(_, value, _)| self.expr(value)),
            StmtKind::Include(node) => {
                self.expr(&node.template);
                node.names.iter().for_each(|name| self.target(name));
            }
            StmtKind::Output(_) => stmt.children(&mut |child| {
                if let Child::Expr(expr) = child {
                    self.expr(expr);
                }
            }),
            StmtKind::Generation(_) | StmtKind::Block(_) | StmtKind::Autoescape(..) | StmtKind::Break | StmtKind::Continue => {}
        }
    }

    /// `FrameSymbolVisitor.visit_If`
    fn if_branches(&mut self, node: &If) {
        let Some((first, rest)) = node.arms.split_first() else {
            return;
        };
        self.expr(&first.test);
        let outer = self.table;
        let body = self.branch(outer, |tracker| tracker.body(&first.body));
        let arms = self.branch(outer, |tracker| {
            // Each `elif` is an `If` node of its own inside one common branch.
            for arm in rest {
                tracker.expr(&arm.test);
                let inner = tracker.table;
                let body = tracker.branch(inner, |tracker| tracker.body(&arm.body));
                tracker.tables.branch_update(inner, &[body]);
            }
        });
        let otherwise = self.branch(outer, |tracker| tracker.body(&node.otherwise));
        self.tables.branch_update(outer, &[body, arms, otherwise]);
    }

    fn branch(&mut self, outer: TableId, visit: impl FnOnce(&mut Self)) -> TableId {
        let branch = self.tables.branch(outer);
        self.table = branch;
        visit(self);
        self.table = outer;
        branch
    }

    fn expr(&mut self, expr: &Expr) {
        expr.names(&mut |name| self.tables.load(self.table, name.symbol));
    }

    fn target(&mut self, target: &Target) {
        match &target.kind {
            TargetKind::Name { symbol, .. } => self.tables.store(self.table, *symbol),
            TargetKind::Attribute { object, .. } => self.tables.load(self.table, *object),
            TargetKind::Tuple(targets) => targets.iter().for_each(|target| self.target(target)),
        }
    }

    fn target_as_parameter(&mut self, target: &Target) {
        match &target.kind {
            TargetKind::Name { symbol, .. } => {
                self.tables.declare_parameter(self.table, *symbol);
            }
            TargetKind::Attribute { object, .. } => self.tables.load(self.table, *object),
            TargetKind::Tuple(targets) => targets.iter().for_each(|target| self.target_as_parameter(target)),
        }
    }
}

/// `compiler.find_undeclared`: which of the names a body reads before it sets them, in the order of the tree; blocks are not entered.
pub(super) fn undeclared<const N: usize>(body: &Body, symbols: &Symbols, names: [&str; N]) -> [bool; N] {
    let wanted = names.map(|name| symbols.find(name));
    let mut search = Search {
        wanted,
        found: [false; N],
    };
    if wanted.iter().any(Option::is_some) {
        body.iter().for_each(|stmt| search.stmt(stmt));
    }
    search.found
}

struct Search<const N: usize> {
    wanted: [Option<Symbol>; N],
    found: [bool; N],
}

impl<const N: usize> Search<N> {
    fn stmt(&mut self, stmt: &Stmt) {
        if matches!(stmt.kind, StmtKind::Block(_)) {
            return;
        }
        stmt.children(&mut |child| match child {
            Child::Expr(expr) => expr.names(&mut |name| self.read(name.symbol)),
            Child::Target(target) => target.names(&mut |_, symbol| self.set(symbol)),
            Child::Parameter(symbol) => self.set(symbol),
            Child::Stmt(stmt) => self.stmt(stmt),
        });
    }

    fn read(&mut self, symbol: Symbol) {
        for (wanted, found) in self.wanted.iter().zip(&mut self.found) {
            *found |= *wanted == Some(symbol);
        }
    }

    /// A name that is set before it is read is not looked for any more.
    fn set(&mut self, symbol: Symbol) {
        for (wanted, found) in self.wanted.iter_mut().zip(&self.found) {
            if *wanted == Some(symbol) && !found {
                *wanted = None;
            }
        }
    }
}
