//! Visits the parts of a node, in the order of the fields of jinja2 3.1.6 `nodes.py`.

use super::expr::{Args, Expr, ExprKind, Form, Literal, Name, UnaryOp};
use super::slot::Slot;
use super::stmt::{Body, LeafKind, Macro, Piece, Stmt, StmtKind, Target, TargetKind};
use super::symbols::Symbol;

/// A part of a statement.
#[derive(Clone, Copy, Debug)]
pub enum Child<'t> {
    Expr(&'t Expr),
    /// The target of an assignment or a loop.
    Target(&'t Target),
    /// A parameter of a macro.
    Parameter(Symbol),
    /// The statements of a body.
    Body(&'t Body),
}

impl Expr {
    /// Returns whether the value of the expression is always a boolean.
    #[inline]
    pub fn is_condition(&self) -> bool {
        matches!(
            self.kind,
            ExprKind::Compare(_) | ExprKind::Test(_) | ExprKind::Unary(UnaryOp::Not, _)
        )
    }

    /// Returns the text, if the expression is a string literal.
    #[inline]
    pub fn literal(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Literal(Literal::Str(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the path and what is written of its value, if the expression has the form [`Form::Part`].
    pub fn as_part(&self) -> Option<(&Self, LeafKind)> {
        match &self.kind {
            _ if self.form != Form::Part => None,
            ExprKind::Filter(filter) => Some((filter.input.as_ref()?, LeafKind::Filter(filter.builtin?))),
            ExprKind::Call(call) => match &call.callee.kind {
                ExprKind::Attribute(callee) => Some((&callee.object, LeafKind::Method(callee.text_method?))),
                _ => None,
            },
            _ => None,
        }
    }

    /// Calls `visit` with each name that the expression reads, at any depth.
    pub fn for_each_name(&self, visit: &mut impl FnMut(&Name)) {
        match &self.kind {
            ExprKind::Name(name) => visit(name),
            ExprKind::Literal(_) => {}
            ExprKind::Attribute(attribute) => attribute.object.for_each_name(visit),
            ExprKind::Binary(_, operands) | ExprKind::Logic(_, operands) | ExprKind::Item(operands) => {
                operands.iter().for_each(|operand| operand.for_each_name(visit));
            }
            _ => self.for_each_child(&mut |child| child.for_each_name(visit)),
        }
    }
}

/// Declares a visitor of the direct parts of expressions, which is shared or `mut`.
macro_rules! visit_children {
    ($for_each:ident, $visit:ty, $iter:ident, $as_deref:ident $(, $mut:tt)?) => {
        impl Expr {
            /// Calls `visit` with each direct part of the expression.
            pub fn $for_each<'t>(&'t $($mut)? self, visit: &mut $visit) {
                match &$($mut)? self.kind {
                    ExprKind::Literal(_) | ExprKind::UnsupportedText(_) | ExprKind::Markup(_) | ExprKind::Name(_) => {}
                    ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Concat(items) => items.$iter().for_each(visit),
                    ExprKind::Dict(pairs) => pairs.$iter().for_each(|(key, value)| {
                        visit(key);
                        visit(value);
                    }),
                    ExprKind::Unary(_, operand) => visit(operand),
                    ExprKind::Binary(_, operands) | ExprKind::Logic(_, operands) | ExprKind::Item(operands) => {
                        operands.$iter().for_each(visit);
                    }
                    ExprKind::Compare(compare) => {
                        visit(&$($mut)? compare.first);
                        visit(&$($mut)? compare.link.1);
                        compare.more.$iter().for_each(|(_, operand)| visit(operand));
                    }
                    ExprKind::Conditional(conditional) => {
                        visit(&$($mut)? conditional.test);
                        visit(&$($mut)? conditional.then);
                        conditional.otherwise.$iter().for_each(visit);
                    }
                    ExprKind::Attribute(attribute) => visit(&$($mut)? attribute.object),
                    ExprKind::Slice(slice) => {
                        visit(&$($mut)? slice.object);
                        let bounds = [&$($mut)? slice.start, &$($mut)? slice.stop, &$($mut)? slice.step];
                        bounds.into_iter().flatten().for_each(visit);
                    }
                    ExprKind::Filter(filter) => {
                        filter.input.$iter().for_each(&mut *visit);
                        filter.args.$for_each(visit);
                    }
                    ExprKind::Test(test) => {
                        visit(&$($mut)? test.input);
                        test.args.$for_each(visit);
                    }
                    ExprKind::Call(call) => {
                        visit(&$($mut)? call.callee);
                        call.args.$for_each(visit);
                    }
                }
            }
        }

        impl Args {
            /// Calls `visit` with each argument.
            pub fn $for_each<'t>(&'t $($mut)? self, visit: &mut $visit) {
                self.positional.$iter().for_each(&mut *visit);
                if let Some(others) = &$($mut)? self.others {
                    others.keywords.$iter().for_each(|keyword| visit(&$($mut)? keyword.value));
                    others.star.$as_deref().into_iter().for_each(&mut *visit);
                    others.double_star.$as_deref().into_iter().for_each(visit);
                }
            }
        }
    };
}

visit_children!(for_each_child, dyn FnMut(&'t Expr), iter, as_deref);
visit_children!(for_each_child_mut, impl FnMut(&'t mut Expr), iter_mut, as_deref_mut, mut);

impl Target {
    /// Calls `visit` with each name that the target sets. The target `ns.x` sets an attribute and no name.
    pub fn for_each_name(&self, visit: &mut dyn FnMut(&Self, Symbol)) {
        match &self.kind {
            TargetKind::Name { symbol, .. } => visit(self, *symbol),
            TargetKind::Attribute { .. } => {}
            TargetKind::Tuple(targets) => targets.iter().for_each(|target| target.for_each_name(visit)),
        }
    }

    /// Calls `visit` with each variable that the target sets.
    pub fn for_each_slot(&self, visit: &mut dyn FnMut(Symbol, &Slot)) {
        match &self.kind {
            TargetKind::Name { symbol, slot, .. } => visit(*symbol, slot),
            TargetKind::Attribute { .. } => {}
            TargetKind::Tuple(targets) => targets.iter().for_each(|target| target.for_each_slot(visit)),
        }
    }
}

impl Body {
    /// Calls `visit` with each statement, at any depth. A statement comes before those in its bodies.
    pub fn for_each_stmt<'t>(&'t self, visit: &mut dyn FnMut(&'t Stmt)) {
        for stmt in &self.stmts {
            visit(stmt);
            stmt.for_each_child(&mut |child| {
                if let Child::Body(body) = child {
                    body.for_each_stmt(visit);
                }
            });
        }
    }
}

impl Stmt {
    /// Calls `visit` with each direct part of the statement.
    pub fn for_each_child<'t>(&'t self, visit: &mut dyn FnMut(Child<'t>)) {
        match &self.kind {
            StmtKind::Output(node) => node.pieces.iter().for_each(|piece| {
                if let Piece::Expr(expr, _) = piece {
                    visit(Child::Expr(expr));
                }
            }),
            StmtKind::For(node) => {
                visit(Child::Target(&node.target));
                visit(Child::Expr(&node.iter));
                visit(Child::Body(&node.body));
                visit(Child::Body(&node.otherwise));
                node.test.iter().for_each(|test| visit(Child::Expr(&test.condition)));
            }
            StmtKind::If(node) => {
                for arm in &node.arms {
                    visit(Child::Expr(&arm.test));
                    visit(Child::Body(&arm.body));
                }
                visit(Child::Body(&node.otherwise));
            }
            StmtKind::Set(node) => {
                visit(Child::Target(&node.target));
                visit(Child::Expr(&node.value));
            }
            StmtKind::SetBlock(node) => {
                visit(Child::Target(&node.target));
                node.filter.iter().for_each(|filter| visit(Child::Expr(filter)));
                visit(Child::Body(&node.body));
            }
            StmtKind::Macro(node) | StmtKind::Generation(node) => node.for_each_child(visit),
            StmtKind::CallBlock(node) => {
                visit(Child::Expr(&node.callee));
                node.args.for_each_child(&mut |child| visit(Child::Expr(child)));
                node.body.for_each_child(visit);
            }
            StmtKind::FilterBlock(node) => {
                visit(Child::Body(&node.body));
                visit(Child::Expr(&node.filter));
            }
            StmtKind::With(node) => {
                node.bindings.iter().for_each(|(target, ..)| visit(Child::Target(target)));
                node.bindings.iter().for_each(|(_, value, _)| visit(Child::Expr(value)));
                visit(Child::Body(&node.body));
            }
            StmtKind::Unsupported(_) | StmtKind::Break | StmtKind::Continue => {}
        }
    }
}

impl Macro {
    fn for_each_child<'t>(&'t self, visit: &mut dyn FnMut(Child<'t>)) {
        self.parameters
            .iter()
            .for_each(|parameter| visit(Child::Parameter(parameter.symbol)));
        let defaults = self.parameters.iter().filter_map(|parameter| parameter.default.as_ref());
        defaults.for_each(|default| visit(Child::Expr(default)));
        visit(Child::Body(&self.body));
    }
}
