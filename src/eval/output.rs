//! Writes what expressions print.

use super::{Evaluator, Mode, add_place};
use crate::ast::{Expr, Piece, TextPlaces};
use crate::error::Result;
use crate::value::{Recycler, Value, print};

impl<'a> Evaluator<'a, '_> {
    /// Runs an output statement.
    #[inline(never)]
    pub(super) fn output(&mut self, pieces: &'a [Piece]) -> Result<()> {
        let start = self.out.len();
        let before = self.runtime.begin_stretch();
        self.pieces += pieces.len();
        for piece in pieces {
            match piece {
                Piece::Text(text, places) => {
                    if before.is_some() {
                        self.record_text(text, places)?;
                    }
                    self.out.push_str(text);
                }
                Piece::Expr(expr, line) => {
                    self.count_root();
                    self.write_expr(expr).map_err(|error| add_place(error, *line, expr.span))?;
                }
            }
        }
        if let Some(before) = before {
            self.runtime.end_stretch(start, before, self.out.len())?;
        }
        self.runtime.meter.check_output(self.out.len())
    }

    /// Records the lines of the template's own text that is about to be written.
    #[cold]
    fn record_text(&mut self, text: &str, places: &TextPlaces) -> Result<()> {
        let mut start = self.out.len();
        let mut offset = places.first;
        for (next, next_offset) in places.joined.iter().copied() {
            let end = self.out.len() + next as usize;
            self.runtime.record_template(self.render.source.line(offset), start..end)?;
            (start, offset) = (end, next_offset);
        }
        let end = self.out.len() + text.len();
        self.runtime.record_template(self.render.source.line(offset), start..end)
    }

    /// Writes `str(expr)`.
    #[inline(always)]
    pub(super) fn write_expr(&mut self, expr: &'a Expr) -> Result<()> {
        match self.render.mode {
            Mode::Fast => self.fast_write::<false>(expr),
            Mode::Traced => self.traced_write(expr),
            Mode::Plain => self.plain_write(expr),
        }
    }

    /// Writes `str(expr)` in a render that is traced.
    #[cold]
    fn traced_write(&mut self, expr: &'a Expr) -> Result<()> {
        self.fast_write::<true>(expr)
    }

    /// Writes `str(expr)`, without a shortcut for the expression itself.
    #[inline(never)]
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
                self.runtime.push(text, &mut self.out)?;
                self.runtime.meter.check_output(self.out.len())
            }
            _ => print::write_str(self.runtime, value, &mut self.out),
        }
    }
}
