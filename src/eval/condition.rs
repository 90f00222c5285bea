//! Decides conditions: whether an expression is true, where the value itself does not matter.
//!
//! ```text
//! {% if message.role == "user" and not loop.first and message.content is string %}
//! ```
//!
//! What can be decided by a look at a variable is [`super::leaf`]'s; what needs values asks [`super::expr`] for them.

use super::Evaluator;
use super::answer::Answer;
use super::arguments::unknown;
use crate::ast::{Compare, Conditional, Expr, ExprKind, LogicOp, Test, UnaryOp};
use crate::builtins::jinja_tests;
use crate::error::Result;
use crate::resolve::operators;
use crate::value::ops;
use crate::value::{Arguments, Code, Value};

impl<'a> Evaluator<'a, '_> {
    /// Whether an expression is true; comparisons and tests make no value on the way. Each kind is a function of its own, which is
    /// entered without a frame of this one.
    pub(super) fn truth(&mut self, expr: &'a Expr) -> Result<Answer> {
        match &expr.kind {
            ExprKind::Compare(compare) => self.compare(compare, expr),
            ExprKind::Logic(op, operands) => self.logic_truth(*op, operands),
            ExprKind::Unary(UnaryOp::Not, operand) => self.falsity(operand),
            ExprKind::Test(test) => self.answer(test, expr),
            _ => self.value_truth(expr),
        }
    }

    #[inline(never)]
    fn logic_truth(&mut self, op: LogicOp, operands: &'a [Expr; 2]) -> Result<Answer> {
        let [left, right] = operands;
        match (op, self.truth(left)?) {
            (LogicOp::Or, Answer::Yes) => Ok(Answer::Yes),
            (LogicOp::And, Answer::No) => Ok(Answer::No),
            _ => self.truth(right),
        }
    }

    #[inline(never)]
    fn falsity(&mut self, operand: &'a Expr) -> Result<Answer> {
        self.truth(operand).map(|truth| !truth)
    }

    #[inline(never)]
    fn value_truth(&mut self, expr: &'a Expr) -> Result<Answer> {
        match self.truth_of_leaf(expr) {
            Some(truth) => Ok(Answer::from(truth)),
            None => self.made_truth(expr),
        }
    }

    #[inline(never)]
    fn made_truth(&mut self, expr: &'a Expr) -> Result<Answer> {
        let value = self.expr(expr)?;
        let truth = ops::is_true(self.runtime, &value).map_err(|error| error.at(expr.span));
        truth.map(Answer::from)
    }

    /// What a test answers; most only look.
    #[inline(never)]
    fn answer(&mut self, test: &'a Test, expr: &'a Expr) -> Result<Answer> {
        match look(test) {
            Some(asks) => match self.ask_leaf(&test.input, asks) {
                Some(answer) => Ok(Answer::from(answer)),
                None => self.ask(test, asks, expr),
            },
            None => self.test(test).map_err(|error| self.explained(error, expr)),
        }
    }

    #[inline(never)]
    fn ask(&mut self, test: &'a Test, asks: fn(&Value<'_>) -> bool, expr: &'a Expr) -> Result<Answer> {
        match self.expr(&test.input) {
            Ok(value) => Ok(Answer::from(asks(&value))),
            Err(error) => Err(self.explained(error, expr)),
        }
    }

    #[inline(never)]
    fn compare(&mut self, compare: &'a Compare, expr: &'a Expr) -> Result<Answer> {
        match self.compare_leaf(compare) {
            Some(truth) => Ok(Answer::from(truth)),
            None => self.compare_values(compare).map_err(|error| self.explained(error, expr)),
        }
    }

    #[inline(never)]
    fn compare_values(&mut self, compare: &'a Compare) -> Result<Answer> {
        if let Some(truth) = self.contains_leaf(compare)? {
            return Ok(truth);
        }
        self.runtime.meter.check_stack()?;
        let mut left = self.expr(&compare.first)?;
        for (op, right) in compare.links() {
            let right = self.expr(right)?;
            if !operators::compare(self.runtime, *op, &left, &right)? {
                return Ok(Answer::No);
            }
            left = right;
        }
        Ok(Answer::Yes)
    }

    /// The branch that a conditional takes, if there is one.
    pub(super) fn branch(&mut self, conditional: &'a Conditional) -> Result<Option<&'a Expr>> {
        Ok(match self.truth(&conditional.test)? {
            Answer::Yes => Some(&conditional.then),
            Answer::No => conditional.otherwise.as_ref(),
        })
    }

    #[inline(never)]
    fn test(&mut self, test: &'a Test) -> Result<Answer> {
        self.runtime.meter.check_stack()?;
        let input = self.expr(&test.input)?;
        let found = test.builtin.and_then(jinja_tests::get);
        let mut arguments = Arguments::new();
        match (found, test.args.positional.as_slice(), test.args.are_positional()) {
            (Some(row), [other], true) => {
                if row.name == "sameas" && is_one_variable(&test.input, other) && !input.is_undefined() {
                    return Ok(Answer::Yes);
                }
                let other = self.expr(other)?;
                if let Some(told) = row.test(self.runtime, &input, std::slice::from_ref(&other)) {
                    return told.map(Answer::from);
                }
                arguments.push(input);
                arguments.push(other);
            }
            _ => {
                arguments.push(input);
                self.arguments(&test.args, &mut arguments, found)?;
            }
        }
        let function = found.ok_or_else(|| unknown("test", &test.name))?;
        let told = function.call(self.runtime, &mut arguments)?;
        ops::is_true(self.runtime, &told).map(Answer::from)
    }
}

/// Returns whether both expressions are the same variable, which holds one object even where the value does not say which.
fn is_one_variable(left: &Expr, right: &Expr) -> bool {
    matches!((&left.kind, &right.kind), (ExprKind::Name(left), ExprKind::Name(right)) if left.symbol == right.symbol)
}

/// The question of a test without arguments that only looks at its value.
#[inline]
fn look(test: &Test) -> Option<fn(&Value<'_>) -> bool> {
    let row = jinja_tests::get(test.builtin?)?;
    match row.code {
        Code::Look(asks) if test.args.is_empty() => {
            #[cfg(test)]
            crate::value::called::note(row);
            Some(asks)
        }
        _ => None,
    }
}
