//! Shortcuts for integers that count messages: no value is made for the parts of such an expression.
//!
//! ```text
//! (messages|length - 1) - loop.index0          loop.index0 % 2 == 0          loop.index0 > ns.last_query_index
//! ```
//!
//! Saves 240 instructions on 7 of 20 families, and 600 for each message in those that compute an index from `loop`.

use super::super::Evaluator;
use crate::ast::{BinaryOp, Expr, ExprKind, Literal};
use crate::builtins::filters;
use crate::resolve::operators;
use crate::value::{Peek, Shortcut};

/// The maximum nesting of an expression that is computed here. The plain evaluator computes deeper ones, so little is computed twice.
const MAX_DEPTH: u32 = 3;

impl<'a> Evaluator<'a, '_> {
    /// Returns the value of an expression if it is an integer and computing it neither fails nor has an effect.
    #[inline]
    pub(super) fn peek_int(&self, expr: &'a Expr) -> Option<i64> {
        self.peek_nested_int(expr, MAX_DEPTH)
    }

    #[inline]
    fn peek_nested_int(&self, expr: &'a Expr, depth: u32) -> Option<i64> {
        match &expr.kind {
            ExprKind::Literal(Literal::Int(int)) => Some(*int),
            ExprKind::Binary(op, operands) => self.peek_result(*op, operands, depth.checked_sub(1)?),
            _ => self.peek_count(expr),
        }
    }

    /// Returns the result of an operation of integers.
    #[inline(never)]
    fn peek_result(&self, op: BinaryOp, operands: &'a [Expr; 2], depth: u32) -> Option<i64> {
        let [left, right] = operands;
        // If one operand is not an integer, it is mostly the right one, so that is read first.
        let right = self.peek_nested_int(right, depth)?;
        let left = self.peek_nested_int(left, depth)?;
        operators::compute_small(self.runtime, op, left, right)
    }

    /// Returns the integer in a variable or a key, or for `x|length` the number of items of the list, tuple or dict in it.
    #[inline(never)]
    fn peek_count(&self, expr: &'a Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Name(_) | ExprKind::Attribute(_) => match self.frame.peek(&self.runtime.heap, expr) {
                Peek::Found(found) => found.as_int(),
                Peek::Absent(_) | Peek::Unknown => None,
            },
            ExprKind::Filter(filter) if filter.args.is_empty() => {
                let function = filters::get(filter.builtin?)?;
                let Shortcut::Length = function.shortcut else { return None };
                match self.frame.peek(&self.runtime.heap, filter.input.as_ref()?) {
                    Peek::Found(found) => i64::try_from(found.item_count()?).ok(),
                    Peek::Absent(_) | Peek::Unknown => None,
                }
            }
            _ => None,
        }
    }
}
