//! Writes what expressions print.

use super::{Evaluator, placed};
use crate::ast::{Expr, Piece};
use crate::error::Result;
use crate::value::{Recycler, Value, print};

impl<'a> Evaluator<'a, '_> {
    /// Runs an output statement.
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
        if self.render.is_fast {
            self.fast_write(expr)
        } else {
            self.plain_write(expr)
        }
    }

    /// Writes `str(expr)`, without a shortcut for the expression itself.
    pub(super) fn plain_write(&mut self, expr: &'a Expr) -> Result<()> {
        let value = self.expr(expr)?;
        self.write_last(value).map_err(|error| error.at(expr.span))
    }

    /// Writes `str(value)`, and recycles the memory of the value.
    #[inline]
    pub(super) fn write_last(&mut self, value: Value<'a>) -> Result<()> {
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
}
