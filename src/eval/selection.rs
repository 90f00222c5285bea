//! Evaluates `selectattr` and `rejectattr` over objects of the input at once, without a generator.
//!
//! ```text
//! {% for message in messages|rejectattr("role", "equalto", "tool")|selectattr("tool_calls", "undefined") %}
//! {% set user_messages = messages|selectattr("role", "equalto", "user")|list %}
//! ```
//!
//! A generator selects an item only when it is needed. That makes no difference here: the items do not change, a loop and `list` need
//! all of them, and if a test is an error, the generator is made after all.

use super::Evaluator;
use crate::ast::{Expr, ExprKind, Filter, Form};
use crate::builtins::{access, filters, jinja_tests};
use crate::error::Result;
use crate::value::{Dict, Function, Seq, Shortcut, Value, ops};

/// A filter that keeps the objects in which the value of a key passes a test, or those in which it does not.
struct Selection<'a> {
    key: &'a str,
    /// The test and its argument. Without a test, the value must be true.
    test: Option<(&'static Function, Option<Value<'a>>)>,
    /// Whether the objects that pass the test are kept, rather than the others.
    keeps_passed: bool,
}

impl<'a> Selection<'a> {
    /// Returns the selection of a filter whose arguments are string literals and whose key is a name that is no attribute of dicts.
    fn of(filter: &'a Filter) -> Option<Self> {
        let Shortcut::SelectAttribute(keeps_passed) = filters::TABLE.get(filter.builtin?)?.shortcut else {
            return None;
        };
        let mut arguments = filter.args.positional.iter().map(Expr::literal);
        let key = arguments.next()??;
        let test = match arguments.next() {
            None => None,
            Some(test) => Some((
                jinja_tests::TABLE.find_row(test?)?,
                arguments.next().flatten().map(Value::text),
            )),
        };
        let is_name = key.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_') && !key.is_empty();
        let is_plain = filter.args.are_positional() && arguments.next().is_none();
        (is_name && is_plain && !access::is_dict_attribute(key)).then_some(Self { key, test, keeps_passed })
    }
}

impl<'a> Evaluator<'a, '_> {
    #[inline]
    pub(super) fn iterable(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        match (expr.form, &expr.kind) {
            (Form::Selection, ExprKind::Filter(filter)) => self.select_items(filter, expr),
            (Form::Entries, ExprKind::Filter(filter)) => self.view_items(filter, expr),
            _ => self.expr(expr),
        }
    }

    /// Evaluates `dict|items` to a view of the dict, which takes no memory.
    #[inline(never)]
    fn view_items(&mut self, filter: &'a Filter, expr: &'a Expr) -> Result<Value<'a>> {
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

    /// Evaluates a filter that selects: to a list if that is possible, otherwise to a generator.
    #[inline(never)]
    fn select_items(&mut self, filter: &'a Filter, expr: &'a Expr) -> Result<Value<'a>> {
        let (Some(selection), Some(input)) = (Selection::of(filter), &filter.input) else {
            return self.expr(expr);
        };
        self.check_stack(expr)?;
        let items = self.iterable(input)?;
        if let Value::List(items) = &items {
            if let Some(selected) = self.select(items, &selection)? {
                return self.runtime.list(&selected);
            }
        }
        self.apply_filter(filter, items)
            .map_err(|error| self.explain_error(error, expr))
    }

    /// Returns the items that a selection keeps, or `None` if an item is not an object of the input or the test cannot be decided.
    fn select(&mut self, items: &Seq<'a>, selection: &Selection<'a>) -> Result<Option<Vec<Value<'a>>>> {
        let mut selected = Vec::new();
        for index in 0..items.len() {
            self.runtime.meter.charge(2)?;
            let Some(item) = items.object(index) else {
                return Ok(None);
            };
            match self.passes(selection, &item) {
                Some(passes) if passes == selection.keeps_passed => selected.push(Value::Dict(item)),
                Some(_) => {}
                None => return Ok(None),
            }
        }
        Ok(Some(selected))
    }

    /// Returns whether an item passes the test of a selection, or `None` if the test is an error or has no direct form
    /// ([`Function::test`]).
    #[inline]
    fn passes(&mut self, selection: &Selection<'a>, item: &Dict<'a>) -> Option<bool> {
        item.peek(selection.key, |value| match &selection.test {
            Some((test, argument)) => test.test(self.runtime, value, argument.as_slice())?.ok(),
            None => ops::is_true(self.runtime, value).ok(),
        })?
    }
}
