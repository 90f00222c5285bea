//! Decides conditions: comparisons, tests, and whether a value is true.
//!
//! ```text
//! {% if message.role == "user" and not loop.first and message.content is string %}
//! ```

use super::Evaluator;
use super::arguments::unknown;
use super::truth::Truth;
use crate::ast::{Compare, Conditional, Expr, ExprKind, LogicOp, Test, UnaryOp};
use crate::builtins::jinja_tests;
use crate::error::Result;
use crate::resolve::operators;
use crate::value::{Arguments, Code, ops};

impl<'a> Evaluator<'a, '_> {
    /// Decides whether an expression is true.
    #[inline]
    pub(super) fn truth(&mut self, expr: &'a Expr) -> Result<Truth> {
        if self.render.is_fast() {
            self.fast_truth(expr)
        } else {
            self.plain_truth(expr)
        }
    }

    /// Decides whether an expression is true, without a shortcut for the expression itself.
    #[inline(never)]
    pub(super) fn plain_truth(&mut self, expr: &'a Expr) -> Result<Truth> {
        match &expr.kind {
            ExprKind::Compare(compare) => self.compare(compare, expr),
            ExprKind::Logic(op, operands) => self.logic_truth(*op, operands),
            ExprKind::Unary(UnaryOp::Not, operand) => self.not_truth(operand),
            ExprKind::Test(test) => self.test(test).map_err(|error| self.explain_error(error, expr)),
            _ => {
                let value = self.expr(expr)?;
                let truth = ops::is_true(self.runtime, &value).map_err(|error| error.at(expr.span));
                truth.map(Truth::from)
            }
        }
    }

    /// Decides `left and right` or `left or right`.
    #[inline(never)]
    pub(super) fn logic_truth(&mut self, op: LogicOp, operands: &'a [Expr; 2]) -> Result<Truth> {
        let [left, right] = operands;
        match (op, self.truth(left)?) {
            (LogicOp::Or, Truth::Yes) => Ok(Truth::Yes),
            (LogicOp::And, Truth::No) => Ok(Truth::No),
            _ => self.truth(right),
        }
    }

    /// Decides `not operand`.
    #[inline(never)]
    pub(super) fn not_truth(&mut self, operand: &'a Expr) -> Result<Truth> {
        self.truth(operand).map(|truth| !truth)
    }

    /// Decides a chain of comparisons.
    #[inline(never)]
    pub(super) fn compare(&mut self, compare: &'a Compare, expr: &'a Expr) -> Result<Truth> {
        self.compare_operands(compare)
            .map_err(|error| self.explain_error(error, expr))
    }

    #[inline(never)]
    fn compare_operands(&mut self, compare: &'a Compare) -> Result<Truth> {
        self.runtime.meter.check_stack()?;
        let mut left = self.expr(&compare.first)?;
        for (op, right) in compare.links() {
            let right = self.expr(right)?;
            if !operators::compare(self.runtime, *op, &left, &right)? {
                return Ok(Truth::No);
            }
            left = right;
        }
        Ok(Truth::Yes)
    }

    /// Returns the branch that a conditional expression takes, if it has one.
    pub(super) fn branch(&mut self, conditional: &'a Conditional) -> Result<Option<&'a Expr>> {
        Ok(match self.truth(&conditional.test)? {
            Truth::Yes => Some(&conditional.then),
            Truth::No => conditional.otherwise.as_ref(),
        })
    }

    /// Decides `input is test(args)`.
    #[inline(never)]
    fn test(&mut self, test: &'a Test) -> Result<Truth> {
        self.runtime.meter.check_stack()?;
        let input = self.expr(&test.input)?;
        let function = test.builtin.and_then(jinja_tests::get);
        let mut arguments = Arguments::new();
        match (function, test.args.positional.as_slice(), test.args.are_positional()) {
            (Some(function), [], true) => {
                if let Some(truth) = function.test(self.runtime, &input, &[]) {
                    return truth.map(Truth::from);
                }
                arguments.push(input);
            }
            (Some(function), [other], true) => {
                let known = match function.code {
                    Code::Identify(_) => self.identify_variables(&test.input, other),
                    _ => None,
                };
                let other = self.expr(other)?;
                if let Some(truth) = known {
                    return Ok(truth);
                }
                if let Some(truth) = function.test(self.runtime, &input, std::slice::from_ref(&other)) {
                    return truth.map(Truth::from);
                }
                arguments.push(input);
                arguments.push(other);
            }
            _ => {
                arguments.push(input);
                self.arguments(&test.args, &mut arguments, function)?;
            }
        }
        let function = function.ok_or_else(|| unknown("test", &test.name))?;
        let outcome = function.call(self.runtime, &mut arguments)?;
        ops::is_true(self.runtime, &outcome).map(Truth::from)
    }

    /// Returns whether two variables are one object, if their values need not be compared: a variable is identical to itself, even if the
    /// representation of its value does not show this. Each access to a variable without a value makes another undefined value.
    fn identify_variables(&self, left: &Expr, right: &Expr) -> Option<Truth> {
        let has_no_value = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(name) if self.get(&name.slot).is_none());
        match (&left.kind, &right.kind) {
            _ if has_no_value(left) || has_no_value(right) => Some(Truth::No),
            (ExprKind::Name(left), ExprKind::Name(right)) if left.symbol == right.symbol => Some(Truth::Yes),
            _ => None,
        }
    }
}
