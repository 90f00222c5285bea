//! Shortcuts for outputs: strings go straight to the output, and sums, concatenations and the results of macros are never built.
//!
//! ```text
//! {{ message.content }}      {{ "<|im_start|>" + message.role + "\n" + message.content|trim }}      {{ render(message) }}
//! ```
//!
//! | shortcut | saves | families of 20 |
//! |---|---|---|
//! | a sum or a concatenation | 4 530 | 18 |
//! | a variable or a key | 950 | 20 |
//! | a stripped text, or JSON | 470 | 13 |

use super::super::truth::Truth;
use super::super::{Evaluator, Mode};
use crate::ast::{Args, BinaryOp, Call, Expr, ExprKind, Filter, Literal};
use crate::builtins::{filters, methods};
use crate::error::Result;
use crate::meter::{Meter, STEP_BYTES};
use crate::resolve::operators;
use crate::trace::Address;
use crate::value::{Arguments, Function, Part, Peek, Runtime, Shortcut, Undefined, Value, Write};

/// The maximum number of sums in a row, as in `a + b + c`, that are written without recursion.
const MAX_SUMS: usize = 8;

impl<'a> Evaluator<'a, '_> {
    /// Writes `str(expr)`, by a shortcut if there is one for the expression. `TRACED` is whether the origin of the text is recorded.
    pub(in crate::eval) fn fast_write<const TRACED: bool>(&mut self, expr: &'a Expr) -> Result<()> {
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Name(_) | ExprKind::Attribute(_) if self.write_peeked::<TRACED>(expr)?.is_yes() => {
                Ok(())
            }
            ExprKind::Filter(filter) if self.write_filter::<TRACED>(filter, expr)?.is_yes() => Ok(()),
            ExprKind::Call(call) if self.write_method::<TRACED>(call)?.is_yes() => Ok(()),
            ExprKind::Binary(BinaryOp::Add, _) if !(TRACED && self.runtime.is_setting()) => self.write_sum::<TRACED>(expr),
            _ => self.write_rare::<TRACED>(expr),
        }
    }

    /// Writes the kinds of expressions that are printed less often.
    #[inline(never)]
    fn write_rare<const TRACED: bool>(&mut self, expr: &'a Expr) -> Result<()> {
        match &expr.kind {
            ExprKind::Concat(items) => items.iter().try_for_each(|item| self.fast_write::<TRACED>(item)),
            ExprKind::Conditional(conditional) => match self.branch(conditional)? {
                Some(branch) => self.fast_write::<TRACED>(branch),
                None => Ok(()),
            },
            ExprKind::Call(call) if matches!(call.callee.kind, ExprKind::Name(_)) => {
                self.write_called(&call.callee, &call.args, expr)
            }
            _ => self.plain_write(expr),
        }
    }

    /// Evaluates a sum that has a string among its operands: it is written to a new string, without the sums in between.
    #[inline(never)]
    pub(super) fn fast_sum(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        if self.runtime.is_setting() {
            return self.plain_value(expr);
        }
        let mut built = None;
        let ((), text) = self.capture(|evaluator| match evaluator.render.mode {
            Mode::Traced => evaluator.write_operands::<true>(expr, 0, &mut built),
            _ => evaluator.write_operands::<false>(expr, 0, &mut built),
        })?;
        Ok(built.unwrap_or(text))
    }

    /// Writes a literal, a variable or a key if it is a plain string. Returns whether it was written.
    #[inline(never)]
    fn write_peeked<const TRACED: bool>(&mut self, expr: &'a Expr) -> Result<Truth> {
        let Runtime { meter, heap, .. } = &mut *self.runtime;
        let text = match &expr.kind {
            ExprKind::Literal(Literal::Str(text)) => &**text,
            _ => match self.frame.peek(heap, expr) {
                Peek::Found(found) => match found.plain_text() {
                    Some(text) => text,
                    None => return Ok(Truth::No),
                },
                Peek::Absent(_) | Peek::Unknown => return Ok(Truth::No),
            },
        };
        if text.len() > STEP_BYTES {
            meter.charge_bytes(text.len())?;
        }
        let place = (Address::of(text), text.len());
        push(meter, &mut self.out, text)?;
        self.record::<TRACED>(place)
    }

    /// Writes a part of a variable or a key if that is a plain string. Returns whether it was written.
    #[inline(never)]
    fn write_part<const TRACED: bool>(&mut self, expr: &'a Expr, part: Part) -> Result<Truth> {
        let Runtime { meter, heap, .. } = &mut *self.runtime;
        let Peek::Found(found) = self.frame.peek(heap, expr) else {
            return Ok(Truth::No);
        };
        let Some(text) = found.plain_text() else {
            return Ok(Truth::No);
        };
        if text.len() > STEP_BYTES {
            meter.charge_scan(text.len())?;
        }
        let part = part(text, None);
        let place = (Address::of(part), part.len());
        push(meter, &mut self.out, part)?;
        self.record::<TRACED>(place)
    }

    /// Records the text that was just written, by the place in memory that it was copied from.
    #[inline(always)]
    fn record<const TRACED: bool>(&mut self, (address, length): (Address, usize)) -> Result<Truth> {
        if TRACED {
            self.runtime.record_copy(address, length, self.out.len())?;
        }
        Ok(Truth::Yes)
    }

    /// Writes the result of a filter, if there is a shortcut for it and its input. Returns whether it was written.
    #[inline(never)]
    fn write_filter<const TRACED: bool>(&mut self, filter: &'a Filter, expr: &'a Expr) -> Result<Truth> {
        let (Some(function), Some(input)) = (filter.builtin.and_then(filters::get), &filter.input) else {
            return Ok(Truth::No);
        };
        match function.shortcut {
            Shortcut::Part(part) if filter.args.is_empty() => self.write_part::<TRACED>(input, part),
            Shortcut::Write(write) if !TRACED || filter.args.is_empty() => {
                self.write_filtered(filter, input, function, write)
                    .map_err(|error| self.explain_error(error, expr))?;
                Ok(Truth::Yes)
            }
            _ => Ok(Truth::No),
        }
    }

    /// Writes the result of a method without arguments that returns a part of a plain string. Returns whether it was written.
    #[inline(never)]
    fn write_method<const TRACED: bool>(&mut self, call: &'a Call) -> Result<Truth> {
        let ExprKind::Attribute(callee) = &call.callee.kind else {
            return Ok(Truth::No);
        };
        match callee.text_method.and_then(methods::get_str).map(|method| method.shortcut) {
            Some(Shortcut::Part(part)) if call.args.is_empty() => self.write_part::<TRACED>(&callee.object, part),
            _ => Ok(Truth::No),
        }
    }

    #[inline(never)]
    fn write_filtered(&mut self, filter: &'a Filter, input: &'a Expr, function: &Function, write: Write) -> Result<()> {
        let mut arguments = Arguments::one(self.expr(input)?);
        self.arguments(&filter.args, &mut arguments, Some(function))?;
        function.write(write, self.runtime, arguments, &mut self.out)
    }

    /// Writes `str(name(args))`.
    #[inline(never)]
    fn write_called(&mut self, callee: &'a Expr, args: &'a Args, expr: &'a Expr) -> Result<()> {
        if let Some(callee) = self.local_macro(callee, args) {
            let written = self.write_macro(&callee, args);
            return written.map_err(|error| self.explain_error(error, expr));
        }
        let function = self.expr(callee)?;
        let mut arguments = Arguments::new();
        self.call_arguments(args, &mut arguments, None)?;
        self.write_call(&function, &mut arguments)
            .map_err(|error| self.explain_error(error, expr))
    }

    /// Writes `a + b + c`.
    #[inline(never)]
    fn write_sum<const TRACED: bool>(&mut self, expr: &'a Expr) -> Result<()> {
        let start = self.out.len();
        let mut built = None;
        self.write_operands::<TRACED>(expr, start, &mut built)?;
        match built {
            Some(value) => self.write_value(&value),
            None => Ok(()),
        }
    }

    /// Writes the operands of a sum from left to right. As long as all are plain strings, each is written to the output and no sum is
    /// built. At the first other operand, the text since `start` is taken back from the output and added to the operand, and `built` has
    /// the sum from there on.
    fn write_operands<const TRACED: bool>(&mut self, expr: &'a Expr, start: usize, built: &mut Option<Value<'a>>) -> Result<()> {
        let mut sums = [expr; MAX_SUMS];
        let mut count = 0_usize;
        let mut first = expr;
        while let (ExprKind::Binary(BinaryOp::Add, operands), Some(place)) = (&first.kind, sums.get_mut(count)) {
            let [left, _] = &**operands;
            *place = first;
            count += 1;
            first = left;
        }
        if !self.write_if_text::<TRACED>(first)?.is_yes() {
            self.write_operand::<TRACED>(first, built)?;
        }
        while let Some(sum) = count.checked_sub(1).and_then(|index| sums.get(index)) {
            count = count.saturating_sub(1);
            let ExprKind::Binary(_, operands) = &sum.kind else { break };
            let [_, right] = &**operands;
            if built.is_some() || !self.write_if_text::<TRACED>(right)?.is_yes() {
                self.add_operand::<TRACED>(sum, right, start, built)?;
            }
        }
        Ok(())
    }

    /// Writes an expression if a shortcut finds that it is a plain string. Returns whether it was written.
    #[inline]
    fn write_if_text<const TRACED: bool>(&mut self, expr: &'a Expr) -> Result<Truth> {
        match &expr.kind {
            ExprKind::Literal(Literal::Str(text)) if text.len() <= STEP_BYTES => {
                self.out.push_str(text);
                if TRACED {
                    self.runtime.record_memory(text, self.out.len())?;
                }
                Ok(Truth::Yes)
            }
            ExprKind::Filter(filter) => self.write_filter::<TRACED>(filter, expr),
            ExprKind::Call(call) => self.write_method::<TRACED>(call),
            _ => self.write_peeked::<TRACED>(expr),
        }
    }

    /// Evaluates an operand and writes it if it is a plain string. Otherwise its value is stored in `kept`.
    #[inline(never)]
    fn write_operand<const TRACED: bool>(&mut self, expr: &'a Expr, kept: &mut Option<Value<'a>>) -> Result<()> {
        let value = match &expr.kind {
            ExprKind::Conditional(conditional) => match self.branch(conditional)? {
                Some(branch) if self.write_if_text::<TRACED>(branch)?.is_yes() => return Ok(()),
                Some(branch) => return self.write_operand::<TRACED>(branch, kept),
                None => Value::Undefined(Undefined::NoElse(conditional.line)),
            },
            // The result is a plain string, whatever its operands are.
            ExprKind::Concat(_) => return self.write_expr(expr),
            ExprKind::Binary(BinaryOp::Add, _) => {
                self.check_stack(expr)?;
                return self.write_operands::<TRACED>(expr, self.out.len(), kept);
            }
            _ => self.expr(expr)?,
        };
        if is_plain(&value) {
            return self.write_last(value);
        }
        *kept = Some(value);
        Ok(())
    }

    /// Writes or adds the right operand of a sum. `built` is the value of the left operand if that was not written.
    #[inline(never)]
    fn add_operand<const TRACED: bool>(
        &mut self,
        expr: &'a Expr,
        right: &'a Expr,
        start: usize,
        built: &mut Option<Value<'a>>,
    ) -> Result<()> {
        let (left, right) = match built.take() {
            Some(left) => (left, self.expr(right)?),
            None => {
                self.write_operand::<TRACED>(right, built)?;
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

/// Writes a string. The size of the output is checked only if the memory of the output has to grow.
#[inline(always)]
fn push(meter: &Meter<'_>, out: &mut String, text: &str) -> Result<()> {
    if text.len() > out.capacity().wrapping_sub(out.len()) {
        meter.check_output(out.len() + text.len())?;
    }
    out.push_str(text);
    Ok(())
}

fn is_plain(value: &Value<'_>) -> bool {
    matches!(value, Value::Str(text) if !text.is_markup())
}
