//! Writes what expressions print, straight to the output: sums and concatenations are never built.

use super::answer::Answer;
use super::{Evaluator, placed};
use crate::ast::{Args, BinaryOp, Call, Expr, ExprKind, Filter, Literal, Piece};
use crate::builtins::{filters, methods};
use crate::error::Result;
use crate::meter::STEP_BYTES;
use crate::resolve::operators;
use crate::value::print;
use crate::value::{Arguments, Function, Recycler, Undefined, Value, Write};

impl<'a> Evaluator<'a, '_> {
    /// An output statement.
    #[inline(never)]
    pub(super) fn output(&mut self, pieces: &'a [Piece]) -> Result<()> {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.out.push_str(text),
                Piece::Expr(expr, line) => {
                    self.count_root();
                    self.write_expr(expr).map_err(|error| placed(error, *line, expr.span))?;
                }
            }
        }
        self.runtime.meter.check_output(self.out.len())
    }

    /// Writes `str(expr)`.
    pub(super) fn write_expr(&mut self, expr: &'a Expr) -> Result<()> {
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Name(_) | ExprKind::Attribute(_) if self.write_leaf(expr)?.is_yes() => Ok(()),
            ExprKind::Filter(filter) if self.write_filter(filter, expr)?.is_yes() => Ok(()),
            ExprKind::Call(call) if self.write_method(call)?.is_yes() => Ok(()),
            ExprKind::Binary(BinaryOp::Add, _) => self.write_sum(expr),
            ExprKind::Concat(items) => items.iter().try_for_each(|item| self.write_expr(item)),
            ExprKind::Conditional(conditional) => match self.branch(conditional)? {
                Some(branch) => self.write_expr(branch),
                None => Ok(()),
            },
            ExprKind::Call(call) if matches!(call.callee.kind, ExprKind::Name(_)) => {
                self.write_called(&call.callee, &call.args, expr)
            }
            _ => {
                let value = self.expr(expr)?;
                self.write_last(value).map_err(|error| error.at(expr.span))
            }
        }
    }

    /// Writes what a filter gives, if it has a shortcut for that, which makes a plain string; gives whether it has one.
    #[inline(never)]
    fn write_filter(&mut self, filter: &'a Filter, expr: &'a Expr) -> Result<Answer> {
        let (Some(function), Some(input)) = (filter.builtin.and_then(filters::get), &filter.input) else {
            return Ok(Answer::No);
        };
        match (function.shortcuts.piece, function.shortcuts.write) {
            (Some(piece), _) if filter.args.is_empty() => self.write_piece(input, piece),
            (_, Some(write)) => {
                self.write_filtered(filter, input, function, write)
                    .map_err(|error| self.explained(error, expr))?;
                Ok(Answer::Yes)
            }
            _ => Ok(Answer::No),
        }
    }

    /// Writes what a method gives that takes a part of a plain string; gives whether it is one.
    #[inline(never)]
    fn write_method(&mut self, call: &'a Call) -> Result<Answer> {
        let ExprKind::Attribute(callee) = &call.callee.kind else {
            return Ok(Answer::No);
        };
        match callee
            .text_method
            .and_then(methods::get_str)
            .and_then(|method| method.shortcuts.piece)
        {
            Some(piece) if call.args.is_empty() => self.write_piece(&callee.object, piece),
            _ => Ok(Answer::No),
        }
    }

    #[inline(never)]
    fn write_filtered(&mut self, filter: &'a Filter, input: &'a Expr, function: &Function, write: Write) -> Result<()> {
        let input = self.expr(input)?;
        if filter.args.is_empty() && function.write_alone(self.runtime, &input, &mut self.out)? {
            return Ok(());
        }
        let mut arguments = Arguments::one(input);
        self.arguments(&filter.args, &mut arguments, Some(function))?;
        function.write(write, self.runtime, arguments, &mut self.out)
    }

    /// Writes `str(name(args))`.
    #[inline(never)]
    fn write_called(&mut self, callee: &'a Expr, args: &'a Args, expr: &'a Expr) -> Result<()> {
        let function = self.expr(callee)?;
        let mut arguments = Arguments::new();
        self.call_arguments(args, &mut arguments, None)?;
        self.write_call(&function, &mut arguments)
            .map_err(|error| error.at(expr.span))
    }

    /// Writes `str(value)` of a value that nobody needs any more.
    #[inline]
    fn write_last(&mut self, value: Value<'a>) -> Result<()> {
        self.write_value(&value)?;
        if Recycler::accepts(&value) {
            self.runtime.heap.recycler.recycle(value);
        }
        Ok(())
    }

    /// Writes `str(value)`.
    #[inline]
    pub(super) fn write_value(&mut self, value: &Value<'a>) -> Result<()> {
        match value {
            Value::Str(text) => {
                self.runtime.meter.charge_bytes(text.as_str().len())?;
                self.runtime.record_generated(text, self.out.len())?;
                self.out.push_str(text.as_str());
                self.runtime.meter.check_output(self.out.len())
            }
            _ => print::write_str(self.runtime, value, &mut self.out),
        }
    }

    /// Writes `a + b + c`.
    #[inline(never)]
    fn write_sum(&mut self, expr: &'a Expr) -> Result<()> {
        let start = self.out.len();
        let mut built = None;
        self.write_operands(expr, start, &mut built)?;
        match built {
            Some(value) => self.write_value(&value),
            None => Ok(()),
        }
    }

    /// Writes the operands of a sum from the left. As long as all are plain strings each goes straight to the output, and nothing is
    /// built; the first that is none takes back what was written since `start`, and goes on with the operator.
    pub(super) fn write_operands(&mut self, expr: &'a Expr, start: usize, built: &mut Option<Value<'a>>) -> Result<()> {
        match &expr.kind {
            ExprKind::Binary(BinaryOp::Add, operands) => {
                let [left, right] = &**operands;
                self.write_operands(left, start, built)?;
                if built.is_none() && self.write_simple(right)?.is_yes() {
                    return Ok(());
                }
                self.add_operand(expr, right, start, built)
            }
            _ if self.write_simple(expr)?.is_yes() => Ok(()),
            _ => self.write_operand(expr, built),
        }
    }

    /// Writes a literal, a leaf or the result of a filter that is a plain string; gives whether it was one.
    #[inline]
    fn write_simple(&mut self, expr: &'a Expr) -> Result<Answer> {
        match &expr.kind {
            ExprKind::Literal(Literal::Str(text)) if text.len() <= STEP_BYTES => {
                self.out.push_str(text);
                Ok(Answer::Yes)
            }
            ExprKind::Filter(filter) => self.write_filter(filter, expr),
            ExprKind::Call(call) => self.write_method(call),
            _ => self.write_leaf(expr),
        }
    }

    /// Writes an operand that is no leaf, if it is a plain string, or else keeps it.
    #[inline(never)]
    fn write_operand(&mut self, expr: &'a Expr, kept: &mut Option<Value<'a>>) -> Result<()> {
        let value = match &expr.kind {
            ExprKind::Conditional(conditional) => match self.branch(conditional)? {
                Some(branch) if self.write_simple(branch)?.is_yes() => return Ok(()),
                Some(branch) => return self.write_operand(branch, kept),
                None => Value::Undefined(Undefined::NoElse(conditional.line)),
            },
            // What it gives is a plain string, whatever it is made of.
            ExprKind::Concat(_) => return self.write_expr(expr),
            ExprKind::Binary(BinaryOp::Add, _) => {
                self.check_stack(expr)?;
                return self.write_operands(expr, self.out.len(), kept);
            }
            _ => self.expr(expr)?,
        };
        if is_plain(&value) {
            return self.write_last(value);
        }
        *kept = Some(value);
        Ok(())
    }

    /// The same for the right operand of a sum, which may have something built on its left.
    #[inline(never)]
    fn add_operand(&mut self, expr: &'a Expr, right: &'a Expr, start: usize, built: &mut Option<Value<'a>>) -> Result<()> {
        let (left, right) = match built.take() {
            Some(left) => (left, self.expr(right)?),
            None => {
                self.write_operand(right, built)?;
                let Some(right) = built.take() else { return Ok(()) };
                let text = self.out.split_off(start);
                let generated = self.runtime.heap.take_generated(start);
                (self.runtime.str_with_spans(text, generated)?, right)
            }
        };
        let sum = operators::binary(self.runtime, BinaryOp::Add, &left, &right);
        *built = Some(sum.map_err(|error| self.explained(error, expr))?);
        Ok(())
    }
}

fn is_plain(value: &Value<'_>) -> bool {
    matches!(value, Value::Str(text) if !text.is_markup())
}
