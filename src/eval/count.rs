//! Computes integers that count messages. No value is made for the parts of such an expression.
//!
//! ```text
//! (messages|length - 1) - loop.index0          loop.index0 % 2 == 0          loop.index0 > ns.last_query_index
//! ```

use super::Evaluator;
use crate::ast::{BinaryOp, Expr, ExprKind, Literal};
use crate::resolve::operators;
use crate::value::Value;

impl<'a> Evaluator<'a, '_> {
    /// Returns the value of an expression if it is an integer. Computing it neither fails nor has an effect.
    #[inline]
    pub(super) fn peek_int(&self, expr: &'a Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Literal(Literal::Int(int)) => Some(*int),
            ExprKind::Binary(op, operands) => self.peek_result(*op, operands),
            _ => self.peek_count(expr),
        }
    }

    /// Returns the result of an operation of integers.
    #[inline(never)]
    fn peek_result(&self, op: BinaryOp, operands: &'a [Expr; 2]) -> Option<i64> {
        let [left, right] = operands;
        // If one operand is not an integer, it is mostly the right one, so that is read first.
        let right = self.peek_int(right)?;
        let left = self.peek_int(left)?;
        operators::compute_small(self.runtime, op, left, right)
    }

    /// Returns the integer in a variable or a key, or for `x|length` the number of items of the list, tuple or dict in it.
    #[inline(never)]
    fn peek_count(&self, expr: &'a Expr) -> Option<i64> {
        let ExprKind::Filter(filter) = &expr.kind else {
            return self.peek_with(expr, |value| match value {
                Value::Int(int) => Some(*int),
                _ => None,
            })?;
        };
        let count = self.peek_with(filter.input.as_ref()?, |value| match value {
            Value::List(items) | Value::Tuple(items) => Some(items.len()),
            Value::Dict(dict) => Some(dict.len()),
            _ => None,
        })?;
        i64::try_from(count?).ok()
    }
}
