//! Writes what expressions print, straight to the output: sums and concatenations are never built.

use super::Evaluator;
use crate::ast::{Args, BinaryOp, Expr, ExprKind, Filter, Piece};
use crate::builtins::filters;
use crate::error::Result;
use crate::resolve::operate;
use crate::value::{Arguments, Value};

impl<'a> Evaluator<'a, '_> {
    /// An output statement.
    #[inline(never)]
    pub(super) fn output(&mut self, pieces: &'a [Piece]) -> Result<()> {
        for piece in pieces {
            match piece {
                Piece::Text(text, _) => {
                    self.runtime.meter.charge_bytes(text.len())?;
                    self.out.push_str(text);
                }
                Piece::Expr(expr, line) => {
                    self.count_root();
                    self.write_expr(expr).map_err(|error| error.on_line(*line).at(expr.span))?;
                }
                Piece::Escaped(expr, line, autoescape) => {
                    self.count_root();
                    let written = self.write_escaped(expr, *autoescape);
                    written.map_err(|error| error.on_line(*line).at(expr.span))?;
                }
            }
            self.runtime.meter.check_output(self.out.len())?;
        }
        self.joined.add(pieces.len());
        Ok(())
    }

    /// Writes `str(expr)`.
    pub(super) fn write_expr(&mut self, expr: &'a Expr) -> Result<()> {
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Name(_) | ExprKind::Attribute(_) if self.write_leaf(expr)? => Ok(()),
            ExprKind::Binary(BinaryOp::Add, _) => self.write_sum(expr),
            ExprKind::Concat(items) => {
                self.runtime.meter.charge(1)?;
                items.iter().try_for_each(|item| self.write_expr(item))
            }
            ExprKind::Conditional(conditional) => {
                self.runtime.meter.charge(1)?;
                match self.branch(conditional)? {
                    Some(branch) => self.write_expr(branch),
                    None => Ok(()),
                }
            }
            ExprKind::Filter(filter) if self.write_filtered(filter, expr)? => Ok(()),
            ExprKind::Call(callee, args) if matches!(callee.kind, ExprKind::Name(_)) => {
                self.runtime.meter.charge(1)?;
                self.write_called(callee, args, expr)
            }
            _ => {
                let value = self.expr(expr)?;
                self.write_value(&value).map_err(|error| error.at(expr.span))
            }
        }
    }

    /// Writes what a filter gives, if it has a shortcut for that; gives whether it has one.
    #[inline]
    fn write_filtered(&mut self, filter: &'a Filter, expr: &'a Expr) -> Result<bool> {
        let write = filter.builtin.and_then(filters::get).and_then(|function| function.shortcuts.write);
        match (write.filter(|_| filter.args.is_empty()), &filter.input) {
            (Some(write), Some(input)) => {
                self.runtime.meter.charge(2)?;
                let input = self.expr(input)?;
                write(self.runtime, &input, &mut self.out).map_err(|error| self.explained(error, expr))?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Writes `str(name(args))`.
    #[inline(never)]
    fn write_called(&mut self, callee: &'a Expr, args: &'a Args, expr: &'a Expr) -> Result<()> {
        let function = self.expr(callee)?;
        let mut arguments = Arguments::new();
        self.call_arguments(args, &mut arguments, None)?;
        self.write_call(&function, arguments).map_err(|error| error.at(expr.span))
    }

    /// Writes `str(value)`.
    #[inline]
    pub(super) fn write_value(&mut self, value: &Value<'a>) -> Result<()> {
        match value {
            Value::Str(text) => {
                self.runtime.meter.charge_bytes(text.as_str().len())?;
                self.runtime.note_generated(text, self.out.len())?;
                self.out.push_str(text.as_str());
                self.runtime.meter.check_output(self.out.len())
            }
            _ => self.runtime.write_str(value, &mut self.out),
        }
    }

    /// Writes `a + b + c`.
    #[inline(never)]
    fn write_sum(&mut self, expr: &'a Expr) -> Result<()> {
        let start = self.out.len();
        match self.write_operands(expr, start)? {
            Some(value) => self.write_value(&value),
            None => Ok(()),
        }
    }

    /// Writes the operands of a sum from the left. As long as all are plain strings each goes straight to the output, and there is no
    /// value; the first that is none takes back what was written since `start`, and goes on with the operator.
    fn write_operands(&mut self, expr: &'a Expr, start: usize) -> Result<Option<Value<'a>>> {
        let ExprKind::Binary(BinaryOp::Add, operands) = &expr.kind else {
            if self.write_leaf(expr)? {
                return Ok(None);
            }
            let value = self.expr(expr)?;
            return match is_plain(&value) {
                true => self.write_value(&value).map(|()| None),
                false => Ok(Some(value)),
            };
        };
        let [left, right] = &**operands;
        let built = self.write_operands(left, start)?;
        self.runtime.meter.charge(1)?;
        if built.is_none() && self.write_leaf(right)? {
            return Ok(None);
        }
        let right = self.expr(right)?;
        let left = match built {
            None if is_plain(&right) => return self.write_value(&right).map(|()| None),
            None => {
                let text = self.out.split_off(start);
                self.runtime.str(text)?
            }
            Some(left) => left,
        };
        let sum = operate::binary(self.runtime, BinaryOp::Add, &left, &right);
        sum.map(Some).map_err(|error| self.explained(error, expr))
    }
}

fn is_plain(value: &Value<'_>) -> bool {
    matches!(value, Value::Str(text) if !text.is_markup())
}
