//! Decides conditions: comparisons, tests, and whether a value is true.
//!
//! ```text
//! {% if message.role == "user" and not loop.first and message.content is string and "</think>" in content %}
//! ```

use super::Evaluator;
use super::arguments::unknown;
use crate::ast::{Compare, CompareOp, Conditional, Expr, ExprKind, Form, Literal, LogicOp, Test, UnaryOp};
use crate::builtins::jinja_tests;
use crate::error::Result;
use crate::meter::STEP_BYTES;
use crate::resolve::operators;
use crate::text::short_eq::is_equal;
use crate::value::{Arguments, Code, Value, ops};

/// Whether a condition holds. The type is one word wide, so that a result with it is returned in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
enum Truth {
    False,
    True,
}

impl From<bool> for Truth {
    #[inline]
    fn from(truth: bool) -> Self {
        if truth { Self::True } else { Self::False }
    }
}

impl<'a> Evaluator<'a, '_> {
    /// Decides whether an expression is true.
    #[inline(always)]
    pub(super) fn truth(&mut self, expr: &'a Expr) -> Result<bool> {
        self.decide(expr).map(|truth| truth == Truth::True)
    }

    /// Decides an expression by its form. Each form is a function of its own, so that entering it needs no other stack frame.
    #[inline(always)]
    fn decide(&mut self, expr: &'a Expr) -> Result<Truth> {
        match expr.form {
            Form::KeyIsText => self.key_is_text(expr),
            Form::Path => self.path_truth(expr),
            Form::Inspection => self.inspection_truth(expr),
            Form::Peeked => self.compare_peeked(expr),
            Form::Agreement => self.agreement(expr),
            _ => match &expr.kind {
                ExprKind::Logic(op, operands) => self.logic_truth(*op, operands),
                _ => self.general_truth(expr),
            },
        }
    }

    /// Decides whether an expression is true by the rules of its kind.
    #[inline(never)]
    fn general_truth(&mut self, expr: &'a Expr) -> Result<Truth> {
        match &expr.kind {
            ExprKind::Compare(compare) => self.compare(compare, expr),
            ExprKind::Unary(UnaryOp::Not, operand) => self.not_truth(operand),
            ExprKind::Test(test) => self.test_truth(test, expr),
            _ => self.value_truth(expr),
        }
    }

    #[inline(never)]
    fn not_truth(&mut self, operand: &'a Expr) -> Result<Truth> {
        self.truth(operand).map(|truth| Truth::from(!truth))
    }

    #[inline(never)]
    fn test_truth(&mut self, test: &'a Test, expr: &'a Expr) -> Result<Truth> {
        let truth = self.test(test).map(Truth::from);
        truth.map_err(|error| self.explain_error(error, expr))
    }

    #[inline(never)]
    fn value_truth(&mut self, expr: &'a Expr) -> Result<Truth> {
        let value = self.expr(expr)?;
        let truth = ops::is_true(self.runtime, &value);
        truth.map(Truth::from).map_err(|error| error.at(expr.span))
    }

    #[inline(never)]
    fn path_truth(&mut self, expr: &'a Expr) -> Result<Truth> {
        match self.peek_with(expr, |value| ops::peek_truth(value)).flatten() {
            Some(truth) => Ok(truth.into()),
            None => self.value_truth(expr),
        }
    }

    /// Decides a test without arguments that needs nothing but its value.
    #[inline(never)]
    fn inspection_truth(&mut self, expr: &'a Expr) -> Result<Truth> {
        self.inspect(expr)
            .map_or_else(|| self.general_truth(expr), |truth| Ok(truth.into()))
    }

    #[inline]
    fn inspect(&self, expr: &'a Expr) -> Option<bool> {
        let ExprKind::Test(test) = &expr.kind else { return None };
        let Code::Inspect(holds) = jinja_tests::TABLE.get(test.builtin?)?.code else {
            return None;
        };
        self.peek_with(&test.input, holds)
    }

    /// Decides `message.role == "text"`. The most common comparison needs no other function.
    #[inline(never)]
    fn key_is_text(&mut self, expr: &'a Expr) -> Result<Truth> {
        let truth = match &expr.kind {
            ExprKind::Compare(compare) => self.frame.compare_key(&self.runtime.heap, compare),
            _ => None,
        };
        truth.map_or_else(|| self.compare_peeked(expr), |truth| Ok(truth.into()))
    }

    /// Decides a comparison of two integers or with a string, if peeks find the operands.
    #[inline(never)]
    fn compare_peeked(&mut self, expr: &'a Expr) -> Result<Truth> {
        let ExprKind::Compare(compare) = &expr.kind else {
            return self.general_truth(expr);
        };
        let (op, right) = &compare.link;
        let (Some(right), Some(left)) = (self.peek_operand(right), self.peek_operand(&compare.first)) else {
            return self.general_truth(expr);
        };
        let holds = match (op, left, right) {
            (op, Value::Int(left), Value::Int(right)) => operators::compare_small(*op, left, right),
            (CompareOp::Eq | CompareOp::Ne, left, Value::Str(text)) if text.as_str().len() <= STEP_BYTES => {
                let is_equal = left.as_str().is_some_and(|left| is_equal(left, text.as_str()));
                Some(is_equal == (*op == CompareOp::Eq))
            }
            (CompareOp::In | CompareOp::NotIn, Value::Str(part), Value::Str(whole)) if part.as_str().len() <= STEP_BYTES => {
                let whole = whole.as_str();
                if whole.len() > STEP_BYTES {
                    let charged = self.runtime.meter.charge_scan(whole.len());
                    charged.map_err(|error| self.explain_error(error, expr))?;
                }
                Some(whole.contains(part.as_str()) == (*op == CompareOp::In))
            }
            (CompareOp::In | CompareOp::NotIn, Value::Str(key), Value::Dict(dict)) if dict.is_found_at_once(key.as_str()) => {
                Some(dict.get_str(key.as_str()).is_some() == (*op == CompareOp::In))
            }
            _ => None,
        };
        holds.map_or_else(|| self.general_truth(expr), |holds| Ok(holds.into()))
    }

    /// Compares the outcomes of two conditions.
    #[inline(never)]
    fn agreement(&mut self, expr: &'a Expr) -> Result<Truth> {
        let ExprKind::Compare(compare) = &expr.kind else {
            return self.general_truth(expr);
        };
        let (op, right) = &compare.link;
        self.check_stack(expr)?;
        let is_equal = self.decide(&compare.first)? == self.decide(right)?;
        Ok(Truth::from(is_equal == (*op == CompareOp::Eq)))
    }

    /// Peeks at a string literal, a path or an integer.
    #[inline(always)]
    fn peek_operand(&self, expr: &'a Expr) -> Option<Value<'a>> {
        match (&expr.kind, expr.form) {
            (ExprKind::Literal(Literal::Str(text)), _) => Some(Value::text(text)),
            (_, Form::Path) => self.peek(expr),
            _ => self.peek_int(expr).map(Value::Int),
        }
    }

    /// Decides `left and right` or `left or right`.
    #[inline(never)]
    fn logic_truth(&mut self, op: LogicOp, [left, right]: &'a [Expr; 2]) -> Result<Truth> {
        match (op, self.decide(left)?) {
            (LogicOp::Or, truth @ Truth::True) | (LogicOp::And, truth @ Truth::False) => Ok(truth),
            _ => self.decide(right),
        }
    }

    /// Decides a chain of comparisons.
    #[inline(never)]
    fn compare(&mut self, compare: &'a Compare, expr: &'a Expr) -> Result<Truth> {
        self.compare_operands(compare)
            .map(Truth::from)
            .map_err(|error| self.explain_error(error, expr))
    }

    #[inline(never)]
    fn compare_operands(&mut self, compare: &'a Compare) -> Result<bool> {
        self.runtime.meter.check_stack()?;
        let mut left = self.expr(&compare.first)?;
        for (op, right) in compare.links() {
            let right = self.expr(right)?;
            if !operators::compare(self.runtime, *op, &left, &right)? {
                return Ok(false);
            }
            left = right;
        }
        Ok(true)
    }

    /// Returns the branch that a conditional expression takes, if it has one.
    pub(super) fn branch(&mut self, conditional: &'a Conditional) -> Result<Option<&'a Expr>> {
        let holds = self.truth(&conditional.test)?;
        Ok(if holds {
            Some(&conditional.then)
        } else {
            conditional.otherwise.as_ref()
        })
    }

    /// Decides `input is test(args)`.
    #[inline(never)]
    fn test(&mut self, test: &'a Test) -> Result<bool> {
        self.runtime.meter.check_stack()?;
        let input = self.expr(&test.input)?;
        let function = test.builtin.and_then(|index| jinja_tests::TABLE.get(index));
        let mut arguments = Arguments::new();
        match (function, test.args.positional.as_slice(), test.args.are_positional()) {
            (Some(function), [], true) => {
                if let Some(truth) = function.test(self.runtime, &input, &[]) {
                    return truth;
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
                    return truth;
                }
                arguments.push(input);
                arguments.push(other);
            }
            _ => {
                arguments.push(input);
                self.arguments(&test.args, &mut arguments, function, None)?;
            }
        }
        let function = function.ok_or_else(|| unknown("test", &test.name))?;
        let outcome = function.call(self.runtime, &mut arguments)?;
        ops::is_true(self.runtime, &outcome)
    }

    /// Returns whether two variables are one object, if their values need not be compared: a variable is identical to itself, even if the
    /// representation of its value does not show this. Each access to a variable without a value makes another undefined value.
    fn identify_variables(&self, left: &Expr, right: &Expr) -> Option<bool> {
        let has_no_value = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(name) if self.get(&name.slot).is_none());
        match (&left.kind, &right.kind) {
            _ if has_no_value(left) || has_no_value(right) => Some(false),
            (ExprKind::Name(left), ExprKind::Name(right)) if left.symbol == right.symbol => Some(true),
            _ => None,
        }
    }
}
