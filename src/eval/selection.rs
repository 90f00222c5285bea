//! Evaluates `selectattr` and `rejectattr` over objects of the input at once, without a generator for each filter.
//!
//! ```text
//! {% for message in messages|rejectattr("role", "equalto", "tool")|selectattr("tool_calls", "undefined") %}
//! {% set user_messages = messages|selectattr("role", "equalto", "user")|list %}
//! ```
//!
//! A generator selects an item only when it is needed. That makes no difference here: the items do not change, a loop and `list` need
//! all of them, and if a test is an error, the generators are made after all.

use super::Evaluator;
use crate::ast::{Expr, ExprKind, Filter, Form};
use crate::builtins::{access, filters, jinja_tests};
use crate::error::Result;
use crate::value::{Function, Peek, Seq, Shortcut, Undefined, Value, ValueRef};

/// The maximum number of filters in a row that are evaluated here.
const MAX_FILTERS: usize = 4;

/// A filter that keeps the objects in which the value of a key passes a test, or those in which it does not.
struct Selection<'a> {
    key: &'a str,
    check: Check<'a>,
    /// Whether the objects that pass the test are kept, rather than the others.
    keeps_passed: bool,
}

/// The check of a filter on the value under its key.
enum Check<'a> {
    /// The value is equal to a string.
    Equal(&'a str),
    /// The value passes a test.
    Test(&'static Function, Option<Value<'a>>),
    /// The value is true.
    Truth,
}

impl<'a> Selection<'a> {
    /// Returns the selection of a filter whose arguments are string literals and whose key is a name that is no attribute of dicts.
    fn of(filter: &'a Filter) -> Option<Self> {
        let Shortcut::SelectAttribute(keeps_passed) = filters::get(filter.builtin?)?.shortcut else {
            return None;
        };
        let mut arguments = filter.args.positional.iter().map(Expr::literal);
        let key = arguments.next()??;
        let test = arguments.next();
        let check = match (test, arguments.next()) {
            (None, _) => Check::Truth,
            (Some(test), argument) => {
                let test = jinja_tests::find(test?)?;
                match (test.shortcut, argument) {
                    (Shortcut::Equality, Some(text)) => Check::Equal(text?),
                    (_, Some(argument)) => Check::Test(test, Some(Value::text(argument?))),
                    (_, None) => Check::Test(test, None),
                }
            }
        };
        let is_name = key.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_') && !key.is_empty();
        let is_plain = filter.args.are_positional() && arguments.next().is_none();
        (is_name && is_plain && !access::is_dict_attribute(key)).then_some(Self {
            key,
            check,
            keeps_passed,
        })
    }
}

impl<'a> Evaluator<'a, '_> {
    /// Evaluates the iterable of a loop.
    #[inline]
    pub(super) fn iterable(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        match expr.form {
            Form::Selection => self.select_items(expr),
            Form::Entries => self.view_items(expr),
            _ => self.expr(expr),
        }
    }

    /// Evaluates `dict|items` to a view of the dict, which takes no memory.
    #[inline(never)]
    fn view_items(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        let ExprKind::Filter(filter) = &expr.kind else {
            return self.expr(expr);
        };
        let Some(input) = &filter.input else {
            return self.expr(expr);
        };
        match self.expr(input)? {
            Value::Dict(dict) => Ok(Value::Items(dict)),
            other => self
                .apply_filter(filter, other)
                .map_err(|error| self.explain_error(error, expr)),
        }
    }

    /// Evaluates a row of filters that select: to a list if that is possible, otherwise to a generator.
    #[inline(never)]
    fn select_items(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        let mut selections = Vec::with_capacity(MAX_FILTERS);
        let mut source = expr;
        while let ExprKind::Filter(filter) = &source.kind {
            let (Some(selection), Some(input)) = (Selection::of(filter), &filter.input) else {
                break;
            };
            if selections.len() == MAX_FILTERS {
                break;
            }
            selections.push(selection);
            source = input;
        }
        if selections.is_empty() {
            return self.expr(expr);
        }
        let items = self.expr(source)?;
        if let Value::List(items) = &items {
            if let Some(selected) = self.select(items, &selections)? {
                return self.runtime.list(&selected);
            }
        }
        self.filter_value(expr, source, items)
    }

    /// Applies the filters of `expr` to `value`, which is the value of `source`, the input of the first filter.
    fn filter_value(&mut self, expr: &'a Expr, source: &'a Expr, value: Value<'a>) -> Result<Value<'a>> {
        match &expr.kind {
            ExprKind::Filter(filter) if !std::ptr::eq(expr, source) => {
                let value = match &filter.input {
                    Some(input) => self.filter_value(input, source, value)?,
                    None => value,
                };
                self.apply_filter(filter, value)
                    .map_err(|error| self.explain_error(error, expr))
            }
            _ => Ok(value),
        }
    }

    /// Returns the items that all selections keep, or `None` if an item is not an object of the input or a test cannot be decided.
    fn select(&mut self, items: &Seq<'a>, selections: &[Selection<'a>]) -> Result<Option<Vec<Value<'a>>>> {
        let mut selected = Vec::new();
        for index in 0..items.len() {
            self.runtime.meter.charge(2)?;
            let Some(object) = items.object(index) else {
                return Ok(None);
            };
            let item = Value::Dict(object);
            // The innermost filter comes last.
            let mut passes_all = true;
            for selection in selections.iter().rev() {
                match self.passes(selection, &item) {
                    Some(true) => {}
                    Some(false) => {
                        passes_all = false;
                        break;
                    }
                    None => return Ok(None),
                }
            }
            if passes_all {
                selected.push(item);
            }
        }
        Ok(Some(selected))
    }

    /// Returns whether a selection keeps an item, or `None` if its test cannot be decided.
    #[inline]
    fn passes(&mut self, selection: &Selection<'a>, item: &Value<'a>) -> Option<bool> {
        let found = ValueRef::of_value(item, &self.runtime.heap, selection.key);
        let passes = match (&selection.check, found) {
            (_, Peek::Unknown) => return None,
            (Check::Equal(text), Peek::Found(found)) => found.is_text(text)?,
            (Check::Truth, Peek::Found(found)) => found.truth()?,
            (Check::Equal(_) | Check::Truth, Peek::Absent(_)) => false,
            (Check::Test(test, argument), Peek::Found(found)) => self.test_value(test, &found.to_value(), argument)?,
            (Check::Test(test, argument), Peek::Absent(ty)) => {
                self.test_value(test, &Value::Undefined(Undefined::Attribute(ty, selection.key)), argument)?
            }
        };
        Some(passes == selection.keeps_passed)
    }

    /// Returns whether a value passes a test, or `None` if the test is an error or has no direct form ([`Function::test`]).
    fn test_value(&mut self, test: &Function, value: &Value<'a>, argument: &Option<Value<'a>>) -> Option<bool> {
        test.test(self.runtime, value, argument.as_slice())?.ok()
    }
}
