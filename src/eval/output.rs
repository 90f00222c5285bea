//! Writes what expressions print. Strings go straight to the output, and sums, concatenations and the results of macros are never built.
//!
//! ```text
//! {{ message.content }}      {{ "<|im_start|>" + message.role + "\n" + message.content|trim }}      {{ render(message) }}
//! ```

use super::Evaluator;
use crate::ast::{Args, BinaryOp, Expr, ExprKind, Filter, Form, Leaf, LeafKind, Output, Piece, TextLines};
use crate::builtins::{filters, methods};
use crate::error::Result;
use crate::meter::{Meter, STEP_BYTES};
use crate::resolve::operators;
use crate::text::written;
use crate::value::{Arguments, Function, Passage, Runtime, Shortcut, Undefined, Value, Write, print};

impl<'a> Evaluator<'a, '_> {
    /// Runs an output statement.
    #[inline]
    pub(super) fn output(&mut self, node: &'a Output) -> Result<()> {
        if node.leaves.is_empty() || self.runtime.is_setting() || !self.write_leaves(node) {
            return self.write_all(&node.pieces);
        }
        self.pieces += node.pieces.len();
        Ok(())
    }

    /// Writes the leaves of an output, if all of them are plain strings and the limits allow it. Otherwise returns `false`, and neither
    /// writes nor charges anything.
    #[inline(never)]
    fn write_leaves(&mut self, node: &'a Output) -> bool {
        let start = self.out.len();
        let passage = self.runtime.begin_passage(start);
        let mut is_written = self.push_leaves(node, passage.as_ref());
        if let Some(passage) = passage {
            is_written = is_written && self.runtime.end_passage(&passage, self.out.len()).is_ok();
            if !is_written {
                self.runtime.undo_passage(&passage);
            }
        }
        if !is_written {
            self.out.truncate(start);
        }
        is_written
    }

    /// Appends the leaves to the output until one of them is not a plain string. Returns whether all were appended, and charged.
    #[inline(always)]
    fn push_leaves(&mut self, node: &'a Output, passage: Option<&Passage>) -> bool {
        let Runtime { meter, heap, pieces, .. } = &mut *self.runtime;
        let mut steps = u64::from(node.steps);
        for leaf in &node.leaves {
            let text = match leaf {
                Leaf::Text(text, _) => Some(&**text),
                Leaf::Path { slot, key, kind } => {
                    let found = self.frame.peek_text(heap, slot, key.as_deref());
                    found.and_then(|text| part_of(text, *kind, &mut steps))
                }
            };
            let Some(text) = text.filter(|text| push(meter, &mut self.out, text).is_ok()) else {
                return false;
            };
            if let Some(passage) = passage {
                match leaf {
                    Leaf::Text(_, lines) => passage.record_lines(pieces, text, lines, self.out.len()),
                    Leaf::Path { .. } => passage.record_copy(pieces, text, self.out.len()),
                }
            }
        }
        if let Some(passage) = passage {
            steps = steps.saturating_add(passage.added(pieces));
            if meter.check_size(pieces.bytes()).is_err() {
                return false;
            }
        }
        meter.check_output(self.out.len()).is_ok() && meter.charge(steps).is_ok()
    }

    /// Writes the pieces of an output, whatever their values are.
    #[inline(never)]
    fn write_all(&mut self, pieces: &'a [Piece]) -> Result<()> {
        let passage = self.runtime.begin_passage(self.out.len());
        self.pieces += pieces.len();
        for piece in pieces {
            match piece {
                Piece::Text { text, lines, .. } => self.write_text(text, lines, passage.as_ref())?,
                Piece::Expr(expr) => {
                    self.count_root();
                    let render = self.render;
                    self.write_expr(expr)
                        .map_err(|error| render.add_place(error, expr.at, expr.span))?;
                }
            }
        }
        self.end_output(passage.as_ref())
    }

    #[inline]
    fn write_text(&mut self, text: &str, lines: &TextLines, passage: Option<&Passage>) -> Result<()> {
        written::push(&mut self.out, text);
        if let Some(passage) = passage {
            passage.record_lines(&mut self.runtime.pieces, text, lines, self.out.len());
            self.runtime.check_pieces()?;
        }
        Ok(())
    }

    #[inline]
    fn end_output(&mut self, passage: Option<&Passage>) -> Result<()> {
        if let Some(passage) = passage {
            self.runtime.end_passage(passage, self.out.len())?;
        }
        self.runtime.meter.check_output(self.out.len())
    }

    #[inline]
    pub(super) fn write_expr(&mut self, expr: &'a Expr) -> Result<()> {
        match expr.form {
            Form::Path | Form::Part | Form::Written if self.write_if_found(expr)? => Ok(()),
            Form::TextSum if !self.runtime.is_setting() => self.write_sum(expr),
            Form::General if !matches!(expr.kind, ExprKind::Concat(_) | ExprKind::Conditional(_)) => self.write_built(expr),
            _ => self.write_other(expr),
        }
    }

    /// Writes the kinds of expressions that are printed less often.
    #[inline(never)]
    fn write_other(&mut self, expr: &'a Expr) -> Result<()> {
        match &expr.kind {
            ExprKind::Concat(items) => items.iter().try_for_each(|item| self.write_expr(item)),
            ExprKind::Conditional(conditional) => match self.branch(conditional)? {
                Some(branch) => self.write_expr(branch),
                None => Ok(()),
            },
            ExprKind::Call(call) if expr.form != Form::General && matches!(call.callee.kind, ExprKind::Name(_)) => {
                self.write_called(&call.callee, &call.args, expr)
            }
            _ => self.write_built(expr),
        }
    }

    #[inline(never)]
    fn write_built(&mut self, expr: &'a Expr) -> Result<()> {
        let value = self.expr(expr)?;
        self.write_value(&value).map_err(|error| error.at(expr.span))
    }

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

    /// Evaluates a sum that has a string among its operands: it is written to a new string, without the sums in between.
    #[inline(never)]
    pub(super) fn text_sum(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        let mut built = None;
        let ((), text) = self.capture(|evaluator| evaluator.write_operands(expr, 0, &mut built))?;
        Ok(built.unwrap_or(text))
    }

    /// Writes a string literal, or an expression with the form of a path, a part or a filter that writes, if it is a plain string. Returns
    /// whether it was written.
    #[inline(never)]
    fn write_if_found(&mut self, expr: &'a Expr) -> Result<bool> {
        if expr.form == Form::Written {
            return self.write_filtered(expr);
        }
        let (path, kind) = match expr.form {
            Form::Part => expr.as_part().unwrap_or((expr, LeafKind::Whole)),
            _ => (expr, LeafKind::Whole),
        };
        let text = match path.form {
            Form::Path => self.peek_with(path, Value::plain_text).flatten(),
            _ => path.literal(),
        };
        let mut steps = 0;
        let Some(text) = text.and_then(|text| part_of(text, kind, &mut steps)) else {
            return Ok(false);
        };
        self.runtime.meter.charge(steps)?;
        push(&self.runtime.meter, &mut self.out, text)?;
        if self.runtime.tape.is_some() {
            self.runtime.record_memory(text, self.out.len())?;
        }
        Ok(true)
    }

    /// Writes the result of a filter that can append it to the output. Returns whether it was written.
    #[inline(never)]
    fn write_filtered(&mut self, expr: &'a Expr) -> Result<bool> {
        let ExprKind::Filter(filter) = &expr.kind else {
            return Ok(false);
        };
        let (Some(function), Some(input)) = (filter.builtin.and_then(|index| filters::TABLE.get(index)), &filter.input) else {
            return Ok(false);
        };
        match function.shortcut {
            Shortcut::Write(write) if self.runtime.tape.is_none() || filter.args.is_empty() => {
                let written = self.apply_to_output(filter, input, function, write);
                written.map_err(|error| self.explain_error(error, expr))?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    #[inline(never)]
    fn apply_to_output(&mut self, filter: &'a Filter, input: &'a Expr, function: &Function, write: Write) -> Result<()> {
        let mut arguments = Arguments::one(self.expr(input)?);
        self.arguments(&filter.args, &mut arguments, Some(function), None)?;
        function.write(write, self.runtime, arguments, &mut self.out)
    }

    /// Writes `str(name(args))`.
    #[inline(never)]
    fn write_called(&mut self, callee: &'a Expr, args: &'a Args, expr: &'a Expr) -> Result<()> {
        if let Some(callee) = self.local_macro(callee, args) {
            let written = self.write_macro(callee, args);
            return written.map_err(|error| self.explain_error(error, expr));
        }
        let function = self.expr(callee)?;
        let mut arguments = Arguments::new();
        self.arguments(args, &mut arguments, None, None)?;
        self.write_call(&function, &mut arguments)
            .map_err(|error| self.explain_error(error, expr))
    }

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

    /// Writes the operands of a sum from left to right. As long as all are plain strings, each is written to the output and no sum is
    /// built. At the first other operand, the text since `start` is taken back from the output and added to the operand, and `built` has
    /// the sum from there on.
    #[inline(never)]
    fn write_operands(&mut self, expr: &'a Expr, start: usize, built: &mut Option<Value<'a>>) -> Result<()> {
        let ExprKind::Binary(BinaryOp::Add, operands) = &expr.kind else {
            return self.write_operand(expr, built);
        };
        self.check_stack(expr)?;
        let [left, right] = &**operands;
        self.write_operands(left, start, built)?;
        if built.is_none() && self.write_if_found(right)? {
            return Ok(());
        }
        self.add_operand(expr, right, start, built)
    }

    /// Writes an operand if it is a plain string. Otherwise its value is stored in `kept`.
    #[inline]
    fn write_operand(&mut self, expr: &'a Expr, kept: &mut Option<Value<'a>>) -> Result<()> {
        if self.write_if_found(expr)? {
            return Ok(());
        }
        self.write_evaluated(expr, kept)
    }

    /// Evaluates an operand, and writes it as [`Evaluator::write_operand`] does.
    #[inline(never)]
    fn write_evaluated(&mut self, expr: &'a Expr, kept: &mut Option<Value<'a>>) -> Result<()> {
        let value = match &expr.kind {
            ExprKind::Conditional(conditional) => match self.branch(conditional)? {
                Some(branch) => return self.write_operand(branch, kept),
                None => Value::Undefined(Undefined::NoElse(self.render.source.line(expr.at))),
            },
            // The result is a plain string, whatever its operands are.
            ExprKind::Concat(_) => return self.write_expr(expr),
            ExprKind::Binary(BinaryOp::Add, _) => return self.write_operands(expr, self.out.len(), kept),
            _ => self.expr(expr)?,
        };
        if is_plain(&value) {
            return self.write_value(&value);
        }
        *kept = Some(value);
        Ok(())
    }

    /// Writes or adds the right operand of a sum. `built` is the value of the left operand if that was not written.
    #[inline(never)]
    fn add_operand(&mut self, expr: &'a Expr, right: &'a Expr, start: usize, built: &mut Option<Value<'a>>) -> Result<()> {
        let (left, right) = match built.take() {
            Some(left) => (left, self.expr(right)?),
            None => {
                self.write_evaluated(right, built)?;
                let Some(right) = built.take() else { return Ok(()) };
                let text = self.out.split_off(start);
                let pieces = self.runtime.split_pieces(start)?;
                (self.runtime.finish_str(text, pieces)?, right)
            }
        };
        let sum = operators::binary(self.runtime, BinaryOp::Add, &left, &right);
        *built = Some(sum.map_err(|error| self.explain_error(error, expr))?);
        Ok(())
    }
}

/// Returns what is written of a string, and adds the steps that it costs.
#[inline(always)]
fn part_of<'t>(text: &'t str, kind: LeafKind, steps: &mut u64) -> Option<&'t str> {
    let length = text.len();
    let function = match kind {
        LeafKind::Whole => {
            if length > STEP_BYTES {
                *steps = steps.saturating_add((length / STEP_BYTES) as u64).saturating_add(1);
            }
            return Some(text);
        }
        LeafKind::Filter(index) => filters::TABLE.get(index)?,
        LeafKind::Method(index) => methods::get_str(index)?,
    };
    let Shortcut::Part(part) = function.shortcut else {
        return None;
    };
    if length > STEP_BYTES {
        *steps = steps.saturating_add(length as u64 >> 3).saturating_add(1);
    }
    Some(part(text, None))
}

/// Writes a string. The size of the output is checked only if the memory of the output has to grow.
#[inline(always)]
fn push(meter: &Meter<'_>, out: &mut String, text: &str) -> Result<()> {
    if text.len() > out.capacity().wrapping_sub(out.len()) {
        meter.check_output(out.len() + text.len())?;
        written::reserve(out, text.len());
    }
    out.push_str(text);
    Ok(())
}

fn is_plain(value: &Value<'_>) -> bool {
    matches!(value, Value::Str(text) if !text.is_markup())
}
