//! Reads a scope's names into it: jinja2 3.1.6 `idtracking.py`, `FrameSymbolVisitor` and `RootVisitor`, and
//! `compiler.py`, `find_undeclared`.

use super::scopes::Scopes;
use crate::ast::{Body, Child, Expr, For, If, Macro, Piece, Stmt, StmtKind, Symbol, Target, TargetKind, With};

impl Scopes {
    /// The statements of a template, a `set` block or a `filter` block.
    pub fn read_body(&mut self, body: &Body) {
        body.stmts.iter().for_each(|stmt| self.read_stmt(stmt));
    }

    /// `RootVisitor.visit_For` for the body.
    pub fn read_loop(&mut self, node: &For) {
        self.read_parameter(&node.target);
        self.read_body(&node.body);
    }

    /// `RootVisitor.visit_For` for the test.
    pub fn read_loop_test(&mut self, target: &Target, condition: &Expr) {
        self.read_parameter(target);
        self.read_expr(condition);
    }

    /// `RootVisitor.visit_Macro`, `visit_CallBlock`
    pub fn read_macro(&mut self, node: &Macro) {
        self.read_signature(node);
        let defaults = node.parameters.iter().filter_map(|parameter| parameter.default.as_ref());
        defaults.for_each(|default| self.read_expr(default));
        self.read_body(&node.body);
    }

    /// The parameters of a macro.
    pub fn read_signature(&mut self, node: &Macro) {
        for parameter in &node.parameters {
            self.declare_parameter(parameter.symbol);
        }
    }

    /// `RootVisitor.visit_With`
    pub fn read_with(&mut self, node: &With) {
        node.bindings.iter().for_each(|(target, ..)| self.read_parameter(target));
        self.read_body(&node.body);
    }

    /// The names of an expression.
    pub fn read_expr(&mut self, expr: &Expr) {
        expr.names(&mut |name| self.load(name.symbol));
    }

    /// `FrameSymbolVisitor`: what a statement reads and sets in the scope that it stands in.
    fn read_stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If(node) => self.read_if(node),
            StmtKind::Macro(node) => {
                if let Some(name) = node.name {
                    self.store(name);
                }
            }
            StmtKind::Set(node) => {
                self.read_expr(&node.value);
                self.read_target(&node.target);
            }
            StmtKind::SetBlock(node) => self.read_target(&node.target),
            StmtKind::For(node) => self.read_expr(&node.iter),
            StmtKind::CallBlock(node) => {
                self.read_expr(&node.callee);
                node.args.children(&mut |child| self.read_expr(child));
            }
            StmtKind::FilterBlock(node) => self.read_expr(&node.filter),
            StmtKind::With(node) => node.bindings.iter().for_each(|(_, value, _)| self.read_expr(value)),
            StmtKind::Output(pieces) => pieces.iter().for_each(|piece| {
                if let Piece::Expr(expr, _) = piece {
                    self.read_expr(expr);
                }
            }),
            StmtKind::Generation(_) | StmtKind::Unsupported(_) | StmtKind::Break | StmtKind::Continue => {}
        }
    }

    /// `FrameSymbolVisitor.visit_If`
    fn read_if(&mut self, node: &If) {
        let Some((first, rest)) = node.arms.split_first() else {
            return;
        };
        self.read_expr(&first.test);
        let start = self.mark();
        self.read_branch(&first.body);
        let arms = self.mark();
        // Each `elif` is an `If` node of its own inside one common branch.
        for arm in rest {
            self.read_expr(&arm.test);
            let body = self.mark();
            self.read_branch(&arm.body);
            self.join(body);
        }
        self.hide(arms);
        self.read_branch(&node.otherwise);
        self.join(start);
    }

    fn read_branch(&mut self, body: &Body) {
        let start = self.mark();
        self.read_body(body);
        self.hide(start);
    }

    fn read_target(&mut self, target: &Target) {
        match &target.kind {
            TargetKind::Name { symbol, .. } => self.store(*symbol),
            TargetKind::Attribute { object, .. } => self.load(*object),
            TargetKind::Tuple(targets) => targets.iter().for_each(|target| self.read_target(target)),
        }
    }

    fn read_parameter(&mut self, target: &Target) {
        match &target.kind {
            TargetKind::Name { symbol, .. } => {
                self.declare_parameter(*symbol);
            }
            TargetKind::Attribute { object, .. } => self.load(*object),
            TargetKind::Tuple(targets) => targets.iter().for_each(|target| self.read_parameter(target)),
        }
    }
}

/// `compiler.find_undeclared`: which of the names a body reads before it sets them, in the order of the tree.
/// Names that the template does not mention are none.
pub(super) fn undeclared<const N: usize>(body: &Body, wanted: [Option<Symbol>; N]) -> [bool; N] {
    let mut search = Search {
        wanted,
        found: [false; N],
    };
    search.body(body);
    search.found
}

struct Search<const N: usize> {
    /// The names that are still looked for.
    wanted: [Option<Symbol>; N],
    found: [bool; N],
}

impl<const N: usize> Search<N> {
    fn body(&mut self, body: &Body) {
        for stmt in &body.stmts {
            if self.wanted == [None; N] {
                return;
            }
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        stmt.children(&mut |child| match child {
            Child::Expr(expr) => expr.names(&mut |name| self.read(name.symbol)),
            Child::Target(target) => target.names(&mut |_, symbol| self.set(symbol)),
            Child::Parameter(symbol) => self.set(symbol),
            Child::Body(body) => self.body(body),
        });
    }

    fn read(&mut self, symbol: Symbol) {
        for (wanted, found) in self.wanted.iter_mut().zip(&mut self.found) {
            if *wanted == Some(symbol) {
                *found = true;
                *wanted = None;
            }
        }
    }

    /// A name that is set before it is read is not looked for any more.
    fn set(&mut self, symbol: Symbol) {
        for wanted in &mut self.wanted {
            if *wanted == Some(symbol) {
                *wanted = None;
            }
        }
    }
}
