//! Decides conditions: comparisons, tests, and whether a value is true.
//!
//! ```text
//! {% if message.role == "user" and not loop.first and message.content is string and "</think>" in content %}
//! ```

use super::Evaluator;
use super::arguments::unknown;
use super::path::absent;
use super::truth::Truth;
use crate::ast::{Compare, CompareOp, Conditional, Expr, ExprKind, Form, LogicOp, Test, UnaryOp};
use crate::builtins::jinja_tests;
use crate::error::Result;
use crate::meter::STEP_BYTES;
use crate::resolve::operators;
use crate::value::{Arguments, Code, Peek, Runtime, Undefined, Value, ValueRef, ops};

impl<'a> Evaluator<'a, '_> {
    /// Decides whether an expression is true. Each form is a function of its own, so that entering it needs no other stack frame.
    #[inline]
    pub(super) fn truth(&mut self, expr: &'a Expr) -> Result<Truth> {
        match expr.form {
            Form::KeyIsText => self.key_is_text(expr),
            Form::Path => self.path_truth(expr),
            Form::Inspection => self.inspection_truth(expr),
            Form::Logic => self.logic_truth(expr),
            Form::Not => self.not_truth(expr),
            form => self.other_truth(expr, form),
        }
    }

    #[inline(never)]
    fn other_truth(&mut self, expr: &'a Expr, form: Form) -> Result<Truth> {
        match form {
            Form::PathIsText => self.path_is_text(expr),
            Form::TextInPath => self.text_in_path(expr),
            Form::Agreement => self.agreement(expr),
            Form::Order => self.order(expr),
            _ => self.general_truth(expr),
        }
    }

    /// Decides whether an expression is true by the rules of its kind.
    #[inline(never)]
    fn general_truth(&mut self, expr: &'a Expr) -> Result<Truth> {
        match &expr.kind {
            ExprKind::Compare(compare) => self.compare(compare, expr),
            ExprKind::Logic(..) => self.logic_truth(expr),
            ExprKind::Unary(UnaryOp::Not, _) => self.not_truth(expr),
            ExprKind::Test(test) => self.test(test).map_err(|error| self.explain_error(error, expr)),
            _ => self.value_truth(expr),
        }
    }

    #[inline(never)]
    fn value_truth(&mut self, expr: &'a Expr) -> Result<Truth> {
        let value = self.expr(expr)?;
        let truth = ops::is_true(self.runtime, &value).map_err(|error| error.at(expr.span));
        truth.map(Truth::from)
    }

    /// Returns the truth that a peek has found, or decides by the rules of the kind if it has found none.
    #[inline(always)]
    fn truth_or_general(&mut self, known: Option<bool>, expr: &'a Expr) -> Result<Truth> {
        match known {
            Some(truth) => Ok(Truth::from(truth)),
            None => self.general_truth(expr),
        }
    }

    #[inline(never)]
    fn path_truth(&mut self, expr: &'a Expr) -> Result<Truth> {
        let truth = match self.frame.peek(&self.runtime.heap, expr) {
            Peek::Found(found) => found.truth(),
            Peek::Absent(_) => Some(false),
            Peek::Unknown => self.is_missing(expr).then_some(false),
        };
        self.truth_or_general(truth, expr)
    }

    /// Returns whether an expression is a name that nothing set, and so undefined.
    #[inline]
    fn is_missing(&self, expr: &'a Expr) -> bool {
        matches!(&expr.kind, ExprKind::Name(name) if self.get(&name.slot).is_none() && !self.is_unsupported(name.symbol))
    }

    #[inline(never)]
    fn inspection_truth(&mut self, expr: &'a Expr) -> Result<Truth> {
        let truth = self.inspect(expr);
        self.truth_or_general(truth, expr)
    }

    /// Decides a test without arguments that needs nothing but its value.
    #[inline]
    fn inspect(&self, expr: &'a Expr) -> Option<bool> {
        let ExprKind::Test(test) = &expr.kind else { return None };
        let row = jinja_tests::get(test.builtin?)?;
        let Code::Inspect(holds) = row.code else { return None };
        #[cfg(test)]
        crate::value::called::note(row);
        let input = &test.input;
        match (self.frame.peek(&self.runtime.heap, input), &input.kind) {
            (Peek::Found(ValueRef::Value(value)), _) => Some(holds(value)),
            (Peek::Found(found), _) => match found.plain_text() {
                Some(text) => Some(holds(&Value::text(text))),
                None => Some(holds(&found.to_value())),
            },
            (Peek::Absent(ty), ExprKind::Attribute(attribute)) => Some(holds(&absent(ty, attribute))),
            (Peek::Unknown, _) if self.is_missing(input) => Some(holds(&Value::Undefined(Undefined::Name("")))),
            _ => None,
        }
    }

    /// Decides `message.role == "text"`. The most common comparison needs no other function.
    #[inline(never)]
    fn key_is_text(&mut self, expr: &'a Expr) -> Result<Truth> {
        let ExprKind::Compare(compare) = &expr.kind else {
            return self.general_truth(expr);
        };
        match self.frame.compare_key(&self.runtime.heap, compare) {
            Some(truth) => Ok(Truth::from(truth)),
            None => self.path_is_text(expr),
        }
    }

    #[inline(never)]
    fn path_is_text(&mut self, expr: &'a Expr) -> Result<Truth> {
        let truth = match &expr.kind {
            ExprKind::Compare(compare) => self.peek_equal(compare),
            _ => None,
        };
        self.truth_or_general(truth, expr)
    }

    /// Decides whether a path is equal to a string, or returns `None` if a peek does not decide it.
    #[inline]
    fn peek_equal(&self, compare: &'a Compare) -> Option<bool> {
        let (op, right) = &compare.link;
        let is_equal = match self.frame.peek(&self.runtime.heap, &compare.first) {
            Peek::Found(found) => found.is_text(right.literal()?)?,
            Peek::Absent(_) => false,
            Peek::Unknown => return None,
        };
        Some(is_equal == (*op == CompareOp::Eq))
    }

    /// Compares two integers.
    #[inline(never)]
    fn order(&mut self, expr: &'a Expr) -> Result<Truth> {
        if let ExprKind::Compare(compare) = &expr.kind {
            let (op, right) = &compare.link;
            if let (Some(right), Some(left)) = (self.peek_int(right), self.peek_int(&compare.first)) {
                return self.truth_or_general(operators::compare_small(*op, left, right), expr);
            }
        }
        self.general_truth(expr)
    }

    /// Compares the outcomes of two conditions.
    #[inline(never)]
    fn agreement(&mut self, expr: &'a Expr) -> Result<Truth> {
        let ExprKind::Compare(compare) = &expr.kind else {
            return self.general_truth(expr);
        };
        let (op, right) = &compare.link;
        self.check_stack(expr)?;
        let is_equal = self.truth(&compare.first)? == self.truth(right)?;
        Ok(Truth::from(is_equal == (*op == CompareOp::Eq)))
    }

    #[inline(never)]
    fn text_in_path(&mut self, expr: &'a Expr) -> Result<Truth> {
        if let ExprKind::Compare(compare) = &expr.kind {
            let (op, right) = &compare.link;
            let contains = self.peek_contains(right, compare.first.literal().unwrap_or_default());
            if let Some(contains) = contains.map_err(|error| self.explain_error(error, expr))? {
                return Ok(if *op == CompareOp::In { contains } else { !contains });
            }
        }
        self.general_truth(expr)
    }

    /// Returns whether a path contains a string, or `None` if a peek does not decide it.
    #[inline(never)]
    fn peek_contains(&mut self, path: &'a Expr, text: &str) -> Result<Option<Truth>> {
        let Runtime { meter, heap, .. } = &mut *self.runtime;
        let Peek::Found(found) = self.frame.peek(heap, path) else {
            return Ok(None);
        };
        let contains = match (found.plain_text(), found) {
            (Some(whole), _) => {
                if whole.len() > STEP_BYTES {
                    meter.charge_scan(whole.len())?;
                }
                whole.contains(text)
            }
            (None, ValueRef::Value(Value::Namespace(_) | Value::Loop(_))) => return Ok(None),
            (None, found) => {
                meter.charge(text.len() as u64 >> 3)?;
                match found.key(heap, text) {
                    Peek::Found(_) => true,
                    Peek::Absent(_) => false,
                    Peek::Unknown => return Ok(None),
                }
            }
        };
        Ok(Some(Truth::from(contains)))
    }

    /// Decides `left and right` or `left or right`.
    #[inline(never)]
    fn logic_truth(&mut self, expr: &'a Expr) -> Result<Truth> {
        let ExprKind::Logic(op, operands) = &expr.kind else {
            return self.value_truth(expr);
        };
        let [left, right] = &**operands;
        match (op, self.truth(left)?) {
            (LogicOp::Or, Truth::Yes) => Ok(Truth::Yes),
            (LogicOp::And, Truth::No) => Ok(Truth::No),
            _ => self.truth(right),
        }
    }

    /// Decides `not operand`.
    #[inline(never)]
    fn not_truth(&mut self, expr: &'a Expr) -> Result<Truth> {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => self.truth(operand).map(|truth| !truth),
            _ => self.value_truth(expr),
        }
    }

    /// Decides a chain of comparisons.
    #[inline(never)]
    fn compare(&mut self, compare: &'a Compare, expr: &'a Expr) -> Result<Truth> {
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
