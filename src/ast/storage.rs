//! Goes over all places of a tree that say where variables live: `{{ x }}` has one, the slot of the name `x`.
//!
//! It goes down without asking how deep: the parser has bounded the tree. What the slots mean is unknown here.

use super::Template;
use super::expr::{Args, Expr, ExprKind};
use super::slot::{Frame, Load, Scope, Slot};
use super::stmt::{Body, LoopTest, Macro, Piece, Stmt, StmtKind, Target, TargetKind};

/// A place of the tree.
#[derive(Debug)]
pub enum Stored<'t> {
    /// Where a variable lives.
    Slot(&'t mut Slot),
    /// How many variables a frame has.
    Frame(&'t mut Frame),
    /// What a scope loads, before the places in it.
    Scope(&'t mut Scope),
}

impl Template {
    /// Calls `visit` with each place.
    pub fn storage(&mut self, visit: &mut impl FnMut(Stored<'_>)) {
        self.frame.storage(visit);
        self.scope.storage(visit);
        body(&mut self.body, visit);
    }
}

impl Stmt {
    fn storage(&mut self, visit: &mut impl FnMut(Stored<'_>)) {
        match &mut self.kind {
            StmtKind::Output(pieces) => pieces.iter_mut().for_each(|piece| match piece {
                Piece::Text(..) => {}
                Piece::Expr(expr, _) => expr.storage(visit),
            }),
            StmtKind::For(node) => {
                node.target.storage(visit);
                node.iter.storage(visit);
                node.test.iter_mut().for_each(|test| test.storage(visit));
                slots(&mut node.loop_slot, visit);
                node.scope.storage(visit);
                node.otherwise_scope.storage(visit);
                if node.recursive {
                    node.frame.storage(visit);
                }
                body(&mut node.body, visit);
                body(&mut node.otherwise, visit);
            }
            StmtKind::If(node) => {
                for arm in &mut node.arms {
                    arm.test.storage(visit);
                    body(&mut arm.body, visit);
                }
                body(&mut node.otherwise, visit);
            }
            StmtKind::Set(node) => {
                node.target.storage(visit);
                node.value.storage(visit);
            }
            StmtKind::SetBlock(node) => {
                node.target.storage(visit);
                exprs(&mut node.filter, visit);
                node.scope.storage(visit);
                body(&mut node.body, visit);
            }
            StmtKind::Macro(node) | StmtKind::Generation(node) => node.storage(visit),
            StmtKind::CallBlock(node) => {
                node.callee.storage(visit);
                node.args.storage(visit);
                node.body.storage(visit);
            }
            StmtKind::FilterBlock(node) => {
                node.filter.storage(visit);
                node.scope.storage(visit);
                body(&mut node.body, visit);
            }
            StmtKind::With(node) => {
                for (target, value, _) in &mut node.bindings {
                    target.storage(visit);
                    value.storage(visit);
                }
                node.scope.storage(visit);
                body(&mut node.body, visit);
            }
            StmtKind::Unsupported(_) | StmtKind::Break | StmtKind::Continue => {}
        }
    }
}

impl LoopTest {
    fn storage(&mut self, visit: &mut impl FnMut(Stored<'_>)) {
        self.condition.storage(visit);
        self.target.storage(visit);
        self.scope.storage(visit);
        self.frame.storage(visit);
    }
}

impl Macro {
    fn storage(&mut self, visit: &mut impl FnMut(Stored<'_>)) {
        visit(Stored::Slot(&mut self.slot));
        for parameter in &mut self.parameters {
            visit(Stored::Slot(&mut parameter.slot));
            exprs(&mut parameter.default, visit);
        }
        slots(self.specials.iter_mut().flatten(), visit);
        self.scope.storage(visit);
        self.frame.storage(visit);
        body(&mut self.body, visit);
    }
}

impl Target {
    fn storage(&mut self, visit: &mut impl FnMut(Stored<'_>)) {
        match &mut self.kind {
            TargetKind::Name { slot, .. } | TargetKind::Attribute { slot, .. } => visit(Stored::Slot(slot)),
            TargetKind::Tuple(targets) => targets.iter_mut().for_each(|target| target.storage(visit)),
        }
    }
}

impl Expr {
    fn storage(&mut self, visit: &mut impl FnMut(Stored<'_>)) {
        match &mut self.kind {
            ExprKind::Literal(_) | ExprKind::UnsupportedText(_) | ExprKind::Markup(_) => {}
            ExprKind::Name(name) => visit(Stored::Slot(&mut name.slot)),
            ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Concat(items) => {
                exprs(items, visit);
            }
            ExprKind::Dict(pairs) => pairs.iter_mut().for_each(|(key, value)| {
                key.storage(visit);
                value.storage(visit);
            }),
            ExprKind::Unary(_, operand) => operand.storage(visit),
            ExprKind::Binary(_, operands) | ExprKind::Logic(_, operands) | ExprKind::Item(operands) => {
                exprs(&mut **operands, visit);
            }
            ExprKind::Compare(compare) => {
                compare.first.storage(visit);
                compare.link.1.storage(visit);
                compare.more.iter_mut().for_each(|(_, operand)| operand.storage(visit));
            }
            ExprKind::Conditional(conditional) => {
                conditional.test.storage(visit);
                conditional.then.storage(visit);
                exprs(&mut conditional.otherwise, visit);
            }
            ExprKind::Attribute(attribute) => attribute.object.storage(visit),
            ExprKind::Slice(slice) => {
                slice.object.storage(visit);
                let bounds = [&mut slice.start, &mut slice.stop, &mut slice.step];
                exprs(bounds.into_iter().flatten(), visit);
            }
            ExprKind::Filter(filter) => {
                exprs(&mut filter.input, visit);
                filter.args.storage(visit);
            }
            ExprKind::Test(test) => {
                test.input.storage(visit);
                test.args.storage(visit);
            }
            ExprKind::Call(call) => {
                call.callee.storage(visit);
                call.args.storage(visit);
            }
        }
    }
}

impl Args {
    fn storage(&mut self, visit: &mut impl FnMut(Stored<'_>)) {
        exprs(&mut self.positional, visit);
        if let Some(others) = &mut self.others {
            exprs(others.keywords.iter_mut().map(|keyword| &mut keyword.value), visit);
            exprs(&mut others.star, visit);
            exprs(&mut others.double_star, visit);
        }
    }
}

impl Scope {
    fn storage(&mut self, visit: &mut impl FnMut(Stored<'_>)) {
        visit(Stored::Scope(self));
        for load in self.loads.iter_mut().chain(&mut self.elided_loads) {
            match load {
                Load::Resolve(slot, _) | Load::Clear(slot) => visit(Stored::Slot(slot)),
                Load::Alias(slot, outer) => {
                    visit(Stored::Slot(slot));
                    visit(Stored::Slot(outer));
                }
            }
        }
        slots(&mut self.clears, visit);
        slots(&mut *self.show_missing, visit);
    }
}

impl Frame {
    fn storage(&mut self, visit: &mut impl FnMut(Stored<'_>)) {
        visit(Stored::Frame(self));
    }
}

fn body(body: &mut Body, visit: &mut impl FnMut(Stored<'_>)) {
    body.stmts.iter_mut().for_each(|stmt| stmt.storage(visit));
}

fn exprs<'t>(exprs: impl IntoIterator<Item = &'t mut Expr>, visit: &mut impl FnMut(Stored<'_>)) {
    exprs.into_iter().for_each(|expr| expr.storage(visit));
}

fn slots<'t>(slots: impl IntoIterator<Item = &'t mut Slot>, visit: &mut impl FnMut(Stored<'_>)) {
    slots.into_iter().for_each(|slot| visit(Stored::Slot(slot)));
}
