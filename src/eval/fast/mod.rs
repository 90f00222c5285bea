//! Shortcuts for the expressions that are frequent in chat templates.
//!
//! The other modules of [`eval`](super) are the plain evaluator, which is complete without this one. The shortcuts repeat its rules for
//! common cases, and leave all other cases to it. [`Template::without_shortcuts`](crate::Template::without_shortcuts) turns them off. A
//! test renders each case both ways. Each file says what its shortcuts save: the instructions of one render of a short conversation, as the
//! median over those of 20 template families (`tests/cases/families`) in which the shortcut saves more than 50 instructions. A shortcut
//! that saves this much in fewer than three families is not worth its code.
//!
//! In a render that is traced, the shortcuts record the origin of what they write. The segments are the same with and without them.
//!
//! The evaluator does one of four things with an expression. Each has a function here:
//!
//! | operation | plain | fast |
//! |---|---|---|
//! | evaluate it | `plain_value` | [`fast_value`](Evaluator::fast_value) |
//! | find whether it is true | `plain_truth` | [`fast_truth`](Evaluator::fast_truth) |
//! | write it to the output | `plain_write` | [`fast_write`](Evaluator::fast_write) |
//! | find its items, for a loop | `plain_value` | [`fast_items`](Evaluator::fast_items) |

mod accumulate;
mod builtins;
mod conditions;
mod integers;
mod macros;
mod names;
mod output;
mod selection;

use super::Evaluator;
use crate::ast::{Attribute, BinaryOp, Expr, ExprKind, Literal};
use crate::error::Result;
use crate::value::{Peek, Value};
use names::absent;

impl<'a> Evaluator<'a, '_> {
    /// Returns the value of an expression, by a shortcut if there is one for it.
    #[inline(always)]
    pub(super) fn fast_value(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        match &expr.kind {
            ExprKind::Attribute(attribute) => self.fast_attribute(attribute, expr),
            ExprKind::Filter(_) | ExprKind::Call(_) | ExprKind::Item(_) => self.fast_compound(expr),
            ExprKind::Binary(op, operands) => self.fast_binary(*op, operands, expr),
            _ => self.plain_value(expr),
        }
    }

    #[inline(never)]
    fn fast_binary(&mut self, op: BinaryOp, operands: &'a [Expr; 2], expr: &'a Expr) -> Result<Value<'a>> {
        if op == BinaryOp::Add && has_text(operands) {
            return self.fast_compound(expr);
        }
        match self.peek_int(expr) {
            Some(int) => Ok(Value::Int(int)),
            None => self.plain_value(expr),
        }
    }

    #[inline(never)]
    fn fast_attribute(&mut self, attribute: &'a Attribute, expr: &'a Expr) -> Result<Value<'a>> {
        match self.frame.peek_key(&self.runtime.heap, attribute) {
            Peek::Found(found) => Ok(found.to_value()),
            Peek::Absent(ty) => Ok(absent(ty, attribute)),
            Peek::Unknown => self.plain_value(expr),
        }
    }

    /// Evaluates an expression that keeps values on the stack while its operands are evaluated. Checks the stack before.
    #[inline(never)]
    fn fast_compound(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        self.runtime.meter.check_stack()?;
        let value = match &expr.kind {
            ExprKind::Filter(filter) => self.fast_filter(filter),
            ExprKind::Call(call) => self.fast_call(call),
            ExprKind::Item(operands) => self.fast_item(operands),
            ExprKind::Binary(BinaryOp::Add, _) => self.fast_sum(expr),
            _ => return self.plain_value(expr),
        };
        value.map_err(|error| self.explain_error(error, expr))
    }
}

/// Returns the text of a string literal.
#[inline]
fn literal(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Literal(Literal::Str(text)) => Some(text),
        _ => None,
    }
}

/// Returns whether a sum has a string literal as one of its last two operands or as its first, so that it is most likely a string.
#[inline]
fn has_text(operands: &[Expr; 2]) -> bool {
    let is_text = |operand: &Expr| literal(operand).is_some_and(|text| !text.is_empty());
    let [left, right] = operands;
    is_text(right)
        || match &left.kind {
            ExprKind::Binary(BinaryOp::Add, operands) => operands.iter().any(is_text),
            _ => is_text(left),
        }
}
