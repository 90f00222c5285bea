//! Measures the memory of a tree, which a render counts as live.

use super::expr::{
    Args, Attribute, Call, Compare, CompareOp, Conditional, Expr, ExprKind, Filter, Keyword, Literal, OtherArgs, Slice, Test,
};
use super::slot::Scope;
use super::stmt::{Body, CallBlock, FilterBlock, For, If, Macro, Piece, Set, SetBlock, Stmt, StmtKind, Target, TargetKind, With};
use super::visit::Child;
use super::{Symbols, Template};
use crate::json::Data;

/// The number of bytes that an allocation takes in addition to its size.
const ALLOCATION: usize = 16;

/// The number of bytes that a name takes besides its characters: its entry in the table, its place in the index, its reference counts,
/// and its places in the two tables that a render makes.
const NAME: usize = 192;

impl Template {
    /// Returns the number of bytes that the tree takes. The characters of its strings, which are no more than those of the source, and the
    /// contents of folded constants, which the resolver limits, are not counted.
    pub fn memory(&self) -> usize {
        let scope = self.scope.memory();
        [self.symbols.memory(), scope, self.looked_up.capacity(), self.body.memory()]
            .into_iter()
            .fold(0, usize::saturating_add)
    }
}

impl Body {
    fn memory(&self) -> usize {
        let stmts = self.stmts.iter().map(Stmt::memory);
        stmts.fold(of_vec(&self.stmts), usize::saturating_add)
    }
}

impl Stmt {
    /// Returns the memory of the parts of a statement. The statement itself is a part of its body.
    fn memory(&self) -> usize {
        let mut bytes = self.own_memory();
        self.for_each_child(&mut |child| {
            bytes += match child {
                Child::Expr(expr) => expr.memory(),
                Child::Target(target) => target.memory(),
                Child::Parameter(_) => 0,
                Child::Body(body) => body.memory(),
            };
        });
        bytes
    }

    /// Returns the memory of the statement's own allocations.
    fn own_memory(&self) -> usize {
        let parts = match &self.kind {
            StmtKind::Output(pieces) => [of_vec(pieces), pieces.iter().map(Piece::memory).sum(), 0, 0],
            StmtKind::For(node) => {
                let test = node.test.as_ref();
                let test = test.map_or(0, |test| test.scope.memory() + test.target.memory());
                [of_box::<For>(), node.scope.memory(), node.otherwise_scope.memory(), test]
            }
            StmtKind::If(node) => [of_box::<If>(), of_vec(&node.arms), 0, 0],
            StmtKind::Set(_) => [of_box::<Set>(), 0, 0, 0],
            StmtKind::SetBlock(node) => [of_box::<SetBlock>(), node.scope.memory(), 0, 0],
            StmtKind::Macro(node) | StmtKind::Generation(node) => [of_box::<Macro>(), node.memory(), 0, 0],
            StmtKind::CallBlock(node) => [of_box::<CallBlock>(), node.args.memory(), node.body.memory(), 0],
            StmtKind::FilterBlock(node) => [of_box::<FilterBlock>(), node.scope.memory(), 0, 0],
            StmtKind::With(node) => [of_box::<With>(), of_vec(&node.bindings), node.scope.memory(), 0],
            StmtKind::Unsupported(_) | StmtKind::Break | StmtKind::Continue => [0; 4],
        };
        parts.into_iter().fold(0, usize::saturating_add)
    }
}

impl Macro {
    /// Returns the memory of the macro's own allocations.
    fn memory(&self) -> usize {
        of_vec(&self.parameters) + self.scope.memory()
    }
}

impl Piece {
    /// Returns the memory of a piece of an output. That of an expression is counted with the parts of the statement.
    fn memory(&self) -> usize {
        match self {
            Self::Text(_, places) => ALLOCATION + size_of_val(&*places.joined),
            Self::Expr(..) => 0,
        }
    }
}

impl Target {
    fn memory(&self) -> usize {
        match &self.kind {
            TargetKind::Name { .. } | TargetKind::Attribute { .. } => 0,
            TargetKind::Tuple(targets) => targets.iter().map(Self::memory).fold(of_vec(targets), usize::saturating_add),
        }
    }
}

impl Scope {
    fn memory(&self) -> usize {
        let loads = of_vec(&self.loads) + of_vec(&self.elided_loads);
        let slots = of_vec(&self.parameters) + size_of_val(&*self.show_missing);
        loads + slots
    }
}

impl Expr {
    /// Returns the memory of the parts of an expression. The expression itself is a part of another node.
    fn memory(&self) -> usize {
        let mut bytes = self.own_memory();
        self.for_each_child(&mut |child| bytes += child.memory());
        bytes
    }

    /// Returns the memory of the expression's own allocations.
    fn own_memory(&self) -> usize {
        match &self.kind {
            ExprKind::Name(_) | ExprKind::UnsupportedText(_) => 0,
            ExprKind::Literal(Literal::Str(_)) | ExprKind::Markup(_) => ALLOCATION,
            ExprKind::Literal(Literal::Data(_)) => of_box::<Data<'_>>(),
            ExprKind::Literal(_) => 0,
            ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Concat(items) => of_vec(items),
            ExprKind::Dict(pairs) => of_vec(pairs),
            ExprKind::Unary(..) => of_box::<Self>(),
            ExprKind::Binary(..) | ExprKind::Logic(..) | ExprKind::Item(_) => of_box::<[Self; 2]>(),
            ExprKind::Compare(compare) => {
                let more = compare.more.len().saturating_mul(size_of::<(CompareOp, Self)>());
                of_box::<Compare>() + more
            }
            ExprKind::Conditional(_) => of_box::<Conditional>(),
            ExprKind::Attribute(_) => of_box::<Attribute>(),
            ExprKind::Slice(_) => of_box::<Slice>(),
            ExprKind::Filter(filter) => of_box::<Filter>() + filter.args.memory(),
            ExprKind::Test(test) => of_box::<Test>() + test.args.memory(),
            ExprKind::Call(call) => of_box::<Call>() + call.args.memory(),
        }
    }
}

impl Args {
    /// Returns the memory of the arguments' own allocations.
    fn memory(&self) -> usize {
        let others = self.others.as_ref().map_or(0, |others| {
            let stars = [&others.star, &others.double_star].into_iter().flatten().count();
            (of_box::<OtherArgs>() + others.keywords.capacity().saturating_mul(size_of::<Keyword>()))
                + stars.saturating_mul(of_box::<Expr>())
        });
        of_vec(&self.positional) + others
    }
}

impl Symbols {
    /// Returns the memory of the names.
    fn memory(&self) -> usize {
        self.len().saturating_mul(NAME)
    }
}

fn of_box<T>() -> usize {
    size_of::<T>() + ALLOCATION
}

fn of_vec<T>(items: &Vec<T>) -> usize {
    match items.capacity() {
        0 => 0,
        capacity => capacity.saturating_mul(size_of::<T>()) + ALLOCATION,
    }
}
