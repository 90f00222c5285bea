//! Writes what expressions print, straight to the output: sums and concatenations are never built.

use super::Evaluator;
use crate::ast::{BinaryOp, Expr, ExprKind, Piece};
use crate::error::Result;
use crate::resolve::operate;
use crate::value::Value;

impl<'a> Evaluator<'a, '_> {
    /// An output statement.
    pub(super) fn output(&mut self, pieces: &'a [Piece]) -> Result<()> {
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    self.runtime.meter.charge_bytes(text.len())?;
                    self.out.push_str(text);
                }
                Piece::Expr(expr, line) => {
                    self.count_root();
                    self.write_expr(expr).map_err(|error| error.on_line(*line).at(expr.span))?;
                }
            }
        }
        self.joined.add(pieces.len());
        self.runtime.meter.check_output(self.out.len())
    }

    /// Writes `str(expr)`.
    pub(super) fn write_expr(&mut self, expr: &'a Expr) -> Result<()> {
        match &expr.kind {
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
            ExprKind::Call(callee, args) if matches!(callee.kind, ExprKind::Name(_)) => {
                self.runtime.meter.charge(1)?;
                let function = self.expr(callee)?;
                let arguments = self.call_arguments(args, None)?;
                self.write_call(&function, arguments).map_err(|error| error.at(expr.span))
            }
            _ => {
                let value = self.expr(expr)?;
                self.write_value(&value).map_err(|error| error.at(expr.span))
            }
        }
    }

    /// Writes `str(value)`.
    #[inline]
    pub(super) fn write_value(&mut self, value: &Value<'a>) -> Result<()> {
        match value {
            Value::Str(text) => {
                let text = text.as_str();
                self.runtime.meter.charge_bytes(text.len())?;
                self.out.push_str(text);
                Ok(())
            }
            _ => self.runtime.write_str(value, &mut self.out),
        }
    }

    /// Writes `a + b + c`. As long as all are plain strings each goes straight to the output; the first that is none takes what was
    /// written back as a value, and goes on with the operator.
    fn write_sum(&mut self, expr: &'a Expr) -> Result<()> {
        let mut sums = Vec::new();
        let mut first = expr;
        while let ExprKind::Binary(BinaryOp::Add, operands) = &first.kind {
            let [left, right] = &**operands;
            sums.push((first, right));
            first = left;
        }
        let start = self.out.len();
        let value = self.expr(first)?;
        let mut built = match is_plain(&value) {
            true => {
                self.write_value(&value)?;
                None
            }
            false => Some(value),
        };
        for (sum, operand) in sums.into_iter().rev() {
            self.runtime.meter.charge(1)?;
            let value = self.expr(operand)?;
            built = match built {
                None if is_plain(&value) => {
                    self.write_value(&value)?;
                    None
                }
                built => {
                    let left = match built {
                        Some(left) => left,
                        None => {
                            let text = self.out.split_off(start);
                            self.runtime.str(text)?
                        }
                    };
                    let added = operate::binary(self.runtime, BinaryOp::Add, &left, &value);
                    Some(added.map_err(|error| error.at(sum.span))?)
                }
            };
        }
        match built {
            Some(value) => self.write_value(&value),
            None => Ok(()),
        }
    }
}

fn is_plain(value: &Value<'_>) -> bool {
    matches!(value, Value::Str(text) if !text.is_markup())
}
