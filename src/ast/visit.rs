//! Visits the parts of a node, in the order of the fields of jinja2 3.1.6 `nodes.py`.

use super::Template;
use super::expr::{Args, Expr, ExprKind, Form, Literal, Name, UnaryOp};
use super::slot::{Frame, Scope, Slot};
use super::stmt::{Body, Leaf, LeafKind, Macro, Piece, Stmt, StmtKind, Target, TargetKind};
use super::symbols::Symbol;

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

/// Declares the parts of statements, and visitors of the direct parts of statements and expressions. Both are shared or `mut`.
macro_rules! visitors {
    ($child:ident, $for_each:ident, $iter:ident, $as_deref:ident, $visit_part:ty, $visit:ty $(, $mut:tt)?) => {
        /// A part of a statement.
        #[derive(Debug)]
        pub enum $child<'t> {
            Expr(&'t $($mut)? Expr),
            /// The target of an assignment or a loop.
            Target(&'t $($mut)? Target),
            /// A parameter of a macro, and its place.
            Parameter(Symbol, &'t $($mut)? Slot),
            /// The statements of a body.
            Body(&'t $($mut)? Body),
            /// The variables of a body.
            Scope(&'t $($mut)? Scope),
            /// The frame of a function, of a recursive loop, or of the condition of a loop.
            Frame(&'t $($mut)? Frame),
            /// The place of a variable that the statement sets itself, such as `loop`.
            Slot(&'t $($mut)? Slot),
            /// The leaves of an output.
            Leaves(&'t $($mut)? Vec<Leaf>),
        }

        impl Stmt {
            /// Calls `visit` with each direct part of the statement.
            pub fn $for_each<'t>(&'t $($mut)? self, visit: &mut $visit_part) {
                match &$($mut)? self.kind {
                    StmtKind::Output(node) => {
                        for piece in node.pieces.$iter() {
                            if let Piece::Expr(expr) = piece {
                                visit($child::Expr(expr));
                            }
                        }
                        visit($child::Leaves(&$($mut)? node.leaves));
                    }
                    StmtKind::For(node) => {
                        visit($child::Target(&$($mut)? node.target));
                        visit($child::Expr(&$($mut)? node.iter));
                        visit($child::Scope(&$($mut)? node.scope));
                        visit($child::Body(&$($mut)? node.body));
                        visit($child::Scope(&$($mut)? node.otherwise_scope));
                        visit($child::Body(&$($mut)? node.otherwise));
                        if let Some(test) = &$($mut)? node.test {
                            visit($child::Target(&$($mut)? test.target));
                            visit($child::Expr(&$($mut)? test.condition));
                            visit($child::Scope(&$($mut)? test.scope));
                            visit($child::Frame(&$($mut)? test.frame));
                        }
                        node.loop_slot.$iter().for_each(|slot| visit($child::Slot(slot)));
                        if node.recursive {
                            visit($child::Frame(&$($mut)? node.frame));
                        }
                    }
                    StmtKind::If(node) => {
                        for arm in node.arms.$iter() {
                            visit($child::Expr(&$($mut)? arm.test));
                            visit($child::Body(&$($mut)? arm.body));
                        }
                        visit($child::Body(&$($mut)? node.otherwise));
                    }
                    StmtKind::Set(node) => {
                        visit($child::Target(&$($mut)? node.target));
                        visit($child::Expr(&$($mut)? node.value));
                    }
                    StmtKind::SetBlock(node) => {
                        visit($child::Target(&$($mut)? node.target));
                        node.filter.$iter().for_each(|filter| visit($child::Expr(filter)));
                        visit($child::Scope(&$($mut)? node.scope));
                        visit($child::Body(&$($mut)? node.body));
                    }
                    StmtKind::Macro(node) | StmtKind::Generation(node) => node.$for_each(visit),
                    StmtKind::CallBlock(node) => {
                        visit($child::Expr(&$($mut)? node.callee));
                        node.args.$for_each(&mut |child| visit($child::Expr(child)));
                        node.body.$for_each(visit);
                    }
                    StmtKind::FilterBlock(node) => {
                        visit($child::Scope(&$($mut)? node.scope));
                        visit($child::Body(&$($mut)? node.body));
                        visit($child::Expr(&$($mut)? node.filter));
                    }
                    StmtKind::With(node) => {
                        let (mut targets, mut values) = (Vec::new(), Vec::new());
                        for (target, value) in node.bindings.$iter() {
                            targets.push(target);
                            values.push(value);
                        }
                        targets.into_iter().for_each(|target| visit($child::Target(target)));
                        values.into_iter().for_each(|value| visit($child::Expr(value)));
                        visit($child::Scope(&$($mut)? node.scope));
                        visit($child::Body(&$($mut)? node.body));
                    }
                    StmtKind::Unsupported(_) | StmtKind::Break | StmtKind::Continue => {}
                }
            }
        }

        impl Macro {
            fn $for_each<'t>(&'t $($mut)? self, visit: &mut $visit_part) {
                visit($child::Slot(&$($mut)? self.slot));
                let mut defaults = Vec::new();
                for parameter in self.parameters.$iter() {
                    visit($child::Parameter(parameter.symbol, &$($mut)? parameter.slot));
                    defaults.extend(&$($mut)? parameter.default);
                }
                defaults.into_iter().for_each(|default| visit($child::Expr(default)));
                self.specials.$iter().flatten().for_each(|slot| visit($child::Slot(slot)));
                visit($child::Scope(&$($mut)? self.scope));
                visit($child::Frame(&$($mut)? self.frame));
                visit($child::Body(&$($mut)? self.body));
            }
        }

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

visitors!(
    Child,
    for_each_child,
    iter,
    as_deref,
    dyn FnMut(Child<'t>),
    dyn FnMut(&'t Expr)
);
visitors!(
    ChildMut,
    for_each_child_mut,
    iter_mut,
    as_deref_mut,
    impl FnMut(ChildMut<'t>),
    impl FnMut(&'t mut Expr),
    mut
);

impl Stmt {
    /// Calls `visit` with each part of the statement at any depth. The parts of an expression or a body follow it if `visit` returns true.
    pub fn walk<'t>(&'t self, visit: &mut dyn FnMut(Child<'t>) -> bool) {
        self.for_each_child(&mut |child| match child {
            Child::Expr(expr) => expr.walk(visit),
            Child::Body(body) => {
                if visit(Child::Body(body)) {
                    body.walk(visit);
                }
            }
            other => {
                visit(other);
            }
        });
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

    /// Calls `visit` with each part of the statements at any depth, as [`Stmt::walk`] does.
    pub fn walk<'t>(&'t self, visit: &mut dyn FnMut(Child<'t>) -> bool) {
        self.stmts.iter().for_each(|stmt| stmt.walk(visit));
    }

    /// Calls `visit` with each part of the statements at any depth, and with each part of their targets and expressions.
    fn walk_mut(&mut self, visit: &mut impl FnMut(ChildMut<'_>)) {
        for stmt in &mut self.stmts {
            stmt.for_each_child_mut(&mut |child| match child {
                ChildMut::Expr(expr) => expr.walk_mut(visit),
                ChildMut::Target(target) => target.walk_mut(visit),
                ChildMut::Body(body) => body.walk_mut(visit),
                other => visit(other),
            });
        }
    }
}

impl Expr {
    /// Calls `visit` with the expression and its parts at any depth. The parts of an expression follow it if `visit` returns true.
    fn walk<'t>(&'t self, visit: &mut dyn FnMut(Child<'t>) -> bool) {
        if visit(Child::Expr(self)) && !matches!(self.kind, ExprKind::Name(_)) {
            self.for_each_child(&mut |child| child.walk(visit));
        }
    }

    fn walk_mut(&mut self, visit: &mut impl FnMut(ChildMut<'_>)) {
        visit(ChildMut::Expr(self));
        self.for_each_child_mut(&mut |child| child.walk_mut(visit));
    }
}

impl Template {
    /// Calls `visit` with each part of the template at any depth. It recurses without a check of the depth, because the parser bounds the
    /// height of the tree.
    pub fn walk_mut(&mut self, visit: &mut impl FnMut(ChildMut<'_>)) {
        visit(ChildMut::Frame(&mut self.frame));
        visit(ChildMut::Scope(&mut self.scope));
        self.body.walk_mut(visit);
    }

    /// Sets each expression to the general form, and each assignment that appends in place to the strategy that does not.
    pub fn generalize(&mut self) {
        self.accumulates = false;
        self.walk_mut(&mut |child| match child {
            ChildMut::Expr(expr) => expr.form = Form::General,
            ChildMut::Leaves(leaves) => leaves.clear(),
            _ => {}
        });
    }
}

impl Target {
    fn walk_mut(&mut self, visit: &mut impl FnMut(ChildMut<'_>)) {
        match &mut self.kind {
            TargetKind::Name { slot, .. } | TargetKind::Attribute { slot, .. } => visit(ChildMut::Slot(slot)),
            TargetKind::Tuple(targets) => targets.iter_mut().for_each(|target| target.walk_mut(visit)),
        }
    }

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
