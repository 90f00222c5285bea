//! Visits all slots of a tree, the frames and scopes around them, and the forms of expressions: `{{ x }}` has one slot, that of the name `x`.
//!
//! The visitor recurses without a check of the depth, because the parser bounds the height of the tree.

use super::Template;
use super::expr::{Expr, ExprKind, Form};
use super::slot::{Frame, Load, Scope, Slot};
use super::stmt::{Body, Leaf, LoopTest, Macro, Piece, Stmt, StmtKind, Target, TargetKind};

/// A part of the tree that says where variables are stored.
#[derive(Debug)]
pub enum SlotNode<'t> {
    /// The slot of a variable.
    Slot(&'t mut Slot),
    /// The numbers of variables of a frame.
    Frame(&'t mut Frame),
    /// The loads of a scope. The slots in it are visited after it.
    Scope(&'t mut Scope),
    /// The form of an expression.
    Form(&'t mut Form),
    /// The leaves of an output. The slots in them are visited before it.
    Leaves(&'t mut Vec<Leaf>),
}

impl Template {
    /// Calls `visit` with each slot, frame and scope of the template.
    pub fn for_each_slot_mut(&mut self, visit: &mut impl FnMut(SlotNode<'_>)) {
        self.frame.for_each_slot_mut(visit);
        self.scope.for_each_slot_mut(visit);
        body(&mut self.body, visit);
    }

    /// Gives each expression its general form, and each assignment that appends in place the form that does not.
    pub fn generalize(&mut self) {
        self.accumulates = false;
        self.for_each_slot_mut(&mut |node| match node {
            SlotNode::Form(form) => *form = Form::General,
            SlotNode::Leaves(leaves) => leaves.clear(),
            SlotNode::Slot(_) | SlotNode::Frame(_) | SlotNode::Scope(_) => {}
        });
    }
}

impl Stmt {
    fn for_each_slot_mut(&mut self, visit: &mut impl FnMut(SlotNode<'_>)) {
        match &mut self.kind {
            StmtKind::Output(node) => {
                for piece in &mut node.pieces {
                    if let Piece::Expr(expr, _) = piece {
                        expr.for_each_slot_mut(visit);
                    }
                }
                slots(node.leaves.iter_mut().filter_map(Leaf::slot_mut), visit);
                visit(SlotNode::Leaves(&mut node.leaves));
            }
            StmtKind::For(node) => {
                node.target.for_each_slot_mut(visit);
                node.iter.for_each_slot_mut(visit);
                node.test.iter_mut().for_each(|test| test.for_each_slot_mut(visit));
                slots(&mut node.loop_slot, visit);
                node.scope.for_each_slot_mut(visit);
                node.otherwise_scope.for_each_slot_mut(visit);
                if node.recursive {
                    node.frame.for_each_slot_mut(visit);
                }
                body(&mut node.body, visit);
                body(&mut node.otherwise, visit);
            }
            StmtKind::If(node) => {
                for arm in &mut node.arms {
                    arm.test.for_each_slot_mut(visit);
                    body(&mut arm.body, visit);
                }
                body(&mut node.otherwise, visit);
            }
            StmtKind::Set(node) => {
                node.target.for_each_slot_mut(visit);
                node.value.for_each_slot_mut(visit);
            }
            StmtKind::SetBlock(node) => {
                node.target.for_each_slot_mut(visit);
                exprs(&mut node.filter, visit);
                node.scope.for_each_slot_mut(visit);
                body(&mut node.body, visit);
            }
            StmtKind::Macro(node) | StmtKind::Generation(node) => node.for_each_slot_mut(visit),
            StmtKind::CallBlock(node) => {
                node.callee.for_each_slot_mut(visit);
                node.args.for_each_child_mut(&mut |child| child.for_each_slot_mut(visit));
                node.body.for_each_slot_mut(visit);
            }
            StmtKind::FilterBlock(node) => {
                node.filter.for_each_slot_mut(visit);
                node.scope.for_each_slot_mut(visit);
                body(&mut node.body, visit);
            }
            StmtKind::With(node) => {
                for (target, value, _) in &mut node.bindings {
                    target.for_each_slot_mut(visit);
                    value.for_each_slot_mut(visit);
                }
                node.scope.for_each_slot_mut(visit);
                body(&mut node.body, visit);
            }
            StmtKind::Unsupported(_) | StmtKind::Break | StmtKind::Continue => {}
        }
    }
}

impl LoopTest {
    fn for_each_slot_mut(&mut self, visit: &mut impl FnMut(SlotNode<'_>)) {
        self.condition.for_each_slot_mut(visit);
        self.target.for_each_slot_mut(visit);
        self.scope.for_each_slot_mut(visit);
        self.frame.for_each_slot_mut(visit);
    }
}

impl Macro {
    fn for_each_slot_mut(&mut self, visit: &mut impl FnMut(SlotNode<'_>)) {
        visit(SlotNode::Slot(&mut self.slot));
        for parameter in &mut self.parameters {
            visit(SlotNode::Slot(&mut parameter.slot));
            exprs(&mut parameter.default, visit);
        }
        slots(self.specials.iter_mut().flatten(), visit);
        self.scope.for_each_slot_mut(visit);
        self.frame.for_each_slot_mut(visit);
        body(&mut self.body, visit);
    }
}

impl Target {
    fn for_each_slot_mut(&mut self, visit: &mut impl FnMut(SlotNode<'_>)) {
        match &mut self.kind {
            TargetKind::Name { slot, .. } | TargetKind::Attribute { slot, .. } => visit(SlotNode::Slot(slot)),
            TargetKind::Tuple(targets) => targets.iter_mut().for_each(|target| target.for_each_slot_mut(visit)),
        }
    }
}

impl Expr {
    fn for_each_slot_mut(&mut self, visit: &mut impl FnMut(SlotNode<'_>)) {
        visit(SlotNode::Form(&mut self.form));
        match &mut self.kind {
            ExprKind::Name(name) => visit(SlotNode::Slot(&mut name.slot)),
            _ => self.for_each_child_mut(&mut |child| child.for_each_slot_mut(visit)),
        }
    }
}

impl Scope {
    fn for_each_slot_mut(&mut self, visit: &mut impl FnMut(SlotNode<'_>)) {
        visit(SlotNode::Scope(self));
        for load in self.loads.iter_mut().chain(&mut self.elided_loads) {
            match load {
                Load::Resolve(slot, _) | Load::Clear(slot) => visit(SlotNode::Slot(slot)),
                Load::Alias(slot, outer) => {
                    visit(SlotNode::Slot(slot));
                    visit(SlotNode::Slot(outer));
                }
            }
        }
        slots(&mut self.parameters, visit);
        slots(&mut *self.show_missing, visit);
    }
}

impl Frame {
    fn for_each_slot_mut(&mut self, visit: &mut impl FnMut(SlotNode<'_>)) {
        visit(SlotNode::Frame(self));
    }
}

fn body(body: &mut Body, visit: &mut impl FnMut(SlotNode<'_>)) {
    body.stmts.iter_mut().for_each(|stmt| stmt.for_each_slot_mut(visit));
}

fn exprs<'t>(exprs: impl IntoIterator<Item = &'t mut Expr>, visit: &mut impl FnMut(SlotNode<'_>)) {
    exprs.into_iter().for_each(|expr| expr.for_each_slot_mut(visit));
}

fn slots<'t>(slots: impl IntoIterator<Item = &'t mut Slot>, visit: &mut impl FnMut(SlotNode<'_>)) {
    slots.into_iter().for_each(|slot| visit(SlotNode::Slot(slot)));
}
