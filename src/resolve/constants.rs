//! Finds the operations whose operands are constant: `"a" ~ 1` is one, `a ~ 1` is not.
//!
//! The rules are those of the methods `as_const` of jinja2 3.1.6 `nodes.py`.

use super::fold::{Folder, takes_context};
use crate::ast::{Args, Expr, ExprKind, Filter};
use crate::builtins::filters;

/// The maximum number of levels of nested first operands that are followed to find out quickly that an operation is not constant.
const MAX_LEVELS: usize = 4;

impl Folder {
    /// Returns whether the reference could know the value of an expression before the render (`as_const`), if nothing fails. Some constants
    /// have no literal, such as a Markup inside a list, an iterator, and an undefined value.
    ///
    /// Each operand that is visited takes a step out of the budget. Without a step left, it counts as variable.
    pub fn is_constant(&mut self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Markup(_) => true,
            ExprKind::Name(_) | ExprKind::UnsupportedText(_) | ExprKind::Call(_) => false,
            kind => self.has_constant_operands(kind),
        }
    }

    fn are_constant<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) -> bool {
        exprs.into_iter().all(|expr| self.spend(1) && self.is_constant(expr))
    }

    /// Returns whether an operation has only constant operands.
    #[inline]
    pub fn has_constant_operands(&mut self, kind: &ExprKind) -> bool {
        !begins_with_variable(kind) && self.have_all_constants(kind)
    }

    fn have_all_constants(&mut self, kind: &ExprKind) -> bool {
        match kind {
            ExprKind::Literal(_) | ExprKind::UnsupportedText(_) | ExprKind::Markup(_) | ExprKind::Name(_) | ExprKind::Call(_) => {
                false
            }
            ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Concat(items) => self.are_constant(items),
            ExprKind::Dict(pairs) => self.are_constant(pairs.iter().flat_map(|(key, value)| [key, value])),
            ExprKind::Unary(_, operand) => self.are_constant([&**operand]),
            ExprKind::Binary(_, operands) | ExprKind::Item(operands) => self.are_constant(&**operands),
            // If the first operand decides the result, the second one need not be constant.
            ExprKind::Logic(_, operands) => self.are_constant(operands.first()),
            ExprKind::Compare(compare) => {
                let (_, second) = &compare.link;
                self.are_constant([&compare.first, second])
            }
            ExprKind::Conditional(conditional) => self.are_constant([&conditional.test]),
            ExprKind::Attribute(attribute) => self.are_constant([&attribute.object]),
            ExprKind::Slice(slice) => {
                let bounds = [&slice.start, &slice.stop, &slice.step].into_iter().flatten();
                self.are_constant([&slice.object]) && self.are_constant(bounds)
            }
            ExprKind::Filter(filter) => {
                filter.input.is_some() && self.are_constant(&filter.input) && self.is_constant_filter(filter)
            }
            ExprKind::Test(test) => self.are_constant([&test.input]) && self.have_constants(&test.args),
        }
    }

    /// Returns whether a filter of a constant is constant.
    fn is_constant_filter(&mut self, filter: &Filter) -> bool {
        let function = filter
            .builtin
            .or_else(|| filters::find_index(&filter.name))
            .and_then(filters::get);
        function.is_some_and(|function| !takes_context(function)) && self.have_constants(&filter.args)
    }

    fn have_constants(&mut self, args: &Args) -> bool {
        let mut all = true;
        args.for_each_child(&mut |child| all = all && self.are_constant([child]));
        all
    }
}

/// Returns whether the first operand of an operation is a variable or a call, so that the operation is not constant. If the first operand
/// is an operation, its own first operand counts, and so on for at most [`MAX_LEVELS`] levels.
#[inline]
fn begins_with_variable(kind: &ExprKind) -> bool {
    let mut kind = kind;
    for _ in 0..MAX_LEVELS {
        let first = match kind {
            ExprKind::Name(_) | ExprKind::Call(_) => return true,
            ExprKind::Unary(_, operand) => operand,
            ExprKind::Binary(_, operands) | ExprKind::Item(operands) | ExprKind::Logic(_, operands) => {
                let [first, _] = &**operands;
                first
            }
            ExprKind::Compare(compare) => &compare.first,
            ExprKind::Attribute(attribute) => &attribute.object,
            ExprKind::Test(test) => &test.input,
            _ => return false,
        };
        kind = &first.kind;
    }
    false
}
