//! Collects the names that a scope reads and sets.
//!
//! This follows jinja2 3.1.6 `idtracking.py`, `FrameSymbolVisitor` and `RootVisitor`, and `compiler.py`, `find_undeclared`.

use super::Resolver;
use super::scopes::Scopes;
use crate::ast::{Body, Child, Expr, ExprKind, For, If, Macro, Piece, Stmt, StmtKind, Symbol, Target, TargetKind, With};
use crate::error::Result;
use crate::meter::Meter;

impl Scopes {
    /// Collects the names of a template, a `set` block or a `filter` block.
    pub fn collect_body(&mut self, body: &Body, meter: &mut Meter<'_>) -> Result<()> {
        body.stmts.iter().try_for_each(|stmt| self.collect_stmt(stmt, meter))
    }

    /// Collects the names of a loop's body (`RootVisitor.visit_For`).
    pub fn collect_loop(&mut self, node: &For, meter: &mut Meter<'_>) -> Result<()> {
        self.collect_parameter(&node.target);
        self.collect_body(&node.body, meter)
    }

    /// Collects the names of a loop's test (`RootVisitor.visit_For`).
    pub fn collect_loop_test(&mut self, target: &Target, condition: &Expr) {
        self.collect_parameter(target);
        self.collect_expr(condition);
    }

    /// Collects the names of a macro or a call block (`RootVisitor.visit_Macro`, `visit_CallBlock`).
    pub fn collect_macro(&mut self, node: &Macro, meter: &mut Meter<'_>) -> Result<()> {
        self.collect_signature(node);
        let defaults = node.parameters.iter().filter_map(|parameter| parameter.default.as_ref());
        defaults.for_each(|default| self.collect_expr(default));
        self.collect_body(&node.body, meter)
    }

    pub fn collect_signature(&mut self, node: &Macro) {
        for parameter in &node.parameters {
            self.declare_parameter(parameter.symbol);
        }
    }

    /// Collects the names of a `with` (`RootVisitor.visit_With`).
    pub fn collect_with(&mut self, node: &With, meter: &mut Meter<'_>) -> Result<()> {
        node.bindings.iter().for_each(|(target, ..)| self.collect_parameter(target));
        self.collect_body(&node.body, meter)
    }

    pub fn collect_expr(&mut self, expr: &Expr) {
        expr.for_each_name(&mut |name| self.load(name.symbol));
    }

    /// Collects the names that a statement reads and sets in the scope around it (`FrameSymbolVisitor`).
    fn collect_stmt(&mut self, stmt: &Stmt, meter: &mut Meter<'_>) -> Result<()> {
        match &stmt.kind {
            StmtKind::If(node) => self.collect_if(node, meter)?,
            StmtKind::Macro(node) => {
                if let Some(name) = node.name {
                    self.store(name);
                }
            }
            StmtKind::Set(node) => {
                self.collect_expr(&node.value);
                self.collect_target(&node.target);
            }
            StmtKind::SetBlock(node) => self.collect_target(&node.target),
            StmtKind::For(node) => self.collect_expr(&node.iter),
            StmtKind::CallBlock(node) => {
                self.collect_expr(&node.callee);
                node.args.for_each_child(&mut |child| self.collect_expr(child));
            }
            StmtKind::FilterBlock(node) => self.collect_expr(&node.filter),
            StmtKind::With(node) => node.bindings.iter().for_each(|(_, value)| self.collect_expr(value)),
            StmtKind::Output(node) => node.pieces.iter().for_each(|piece| {
                if let Piece::Expr(expr) = piece {
                    self.collect_expr(expr);
                }
            }),
            StmtKind::Generation(_) | StmtKind::Unsupported(_) | StmtKind::Break | StmtKind::Continue => {}
        }
        Ok(())
    }

    /// Collects the names of an `if` (`FrameSymbolVisitor.visit_If`).
    fn collect_if(&mut self, node: &If, meter: &mut Meter<'_>) -> Result<()> {
        let Some((first, rest)) = node.arms.split_first() else {
            return Ok(());
        };
        self.collect_expr(&first.test);
        let start = self.mark();
        self.collect_branch(&first.body, meter)?;
        let arms = self.mark();
        // Each `elif` is an `If` node of its own inside one common branch.
        for arm in rest {
            self.collect_expr(&arm.test);
            let body = self.mark();
            self.collect_branch(&arm.body, meter)?;
            self.join(body);
        }
        self.hide_names(arms);
        self.collect_branch(&node.otherwise, meter)?;
        // Each `if` around a name takes this work for it.
        meter.charge(self.count_names(start) as u64)?;
        self.join(start);
        Ok(())
    }

    fn collect_branch(&mut self, body: &Body, meter: &mut Meter<'_>) -> Result<()> {
        let start = self.mark();
        self.collect_body(body, meter)?;
        self.hide_names(start);
        Ok(())
    }

    fn collect_target(&mut self, target: &Target) {
        match &target.kind {
            TargetKind::Name { symbol, .. } => self.store(*symbol),
            TargetKind::Attribute { object, .. } => self.load(*object),
            TargetKind::Tuple(targets) => targets.iter().for_each(|target| self.collect_target(target)),
        }
    }

    fn collect_parameter(&mut self, target: &Target) {
        match &target.kind {
            TargetKind::Name { symbol, .. } => {
                self.declare_parameter(*symbol);
            }
            TargetKind::Attribute { object, .. } => self.load(*object),
            TargetKind::Tuple(targets) => targets.iter().for_each(|target| self.collect_parameter(target)),
        }
    }
}

impl Resolver<'_> {
    /// Returns which of the wanted names a body reads before it sets them, in the order of the tree (`compiler.find_undeclared`).
    pub(super) fn find_undeclared<const N: usize>(&mut self, body: &Body, wanted: [Option<Symbol>; N]) -> Result<[bool; N]> {
        let (mut wanted, mut found, mut visited) = (wanted, [false; N], 0_u64);
        for stmt in &body.stmts {
            if wanted == [None; N] {
                break;
            }
            stmt.walk(&mut |child| {
                visited = visited.saturating_add(1);
                match child {
                    Child::Expr(expr) => match &expr.kind {
                        ExprKind::Name(name) => meet(&mut wanted, &mut found, name.symbol, true),
                        ExprKind::Literal(_) => return false,
                        _ => {}
                    },
                    Child::Target(target) => target.for_each_name(&mut |_, symbol| meet(&mut wanted, &mut found, symbol, false)),
                    Child::Parameter(symbol, _) => meet(&mut wanted, &mut found, symbol, false),
                    _ => {}
                }
                wanted != [None; N]
            });
        }
        self.meter.charge(visited)?;
        Ok(found)
    }
}

/// Removes a name that was met from those that are looked for. It is found if it was read, and not if it was set.
fn meet(wanted: &mut [Option<Symbol>], found: &mut [bool], symbol: Symbol, is_read: bool) {
    for (wanted, found) in wanted.iter_mut().zip(found) {
        if *wanted == Some(symbol) {
            *wanted = None;
            *found |= is_read;
        }
    }
}
