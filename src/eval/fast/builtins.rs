//! Shortcuts for filters and methods: calls of one common form, without binding arguments.
//!
//! ```text
//! messages|length      content|trim      text.startswith("<tool_response>")      text.split("</think>")[-1].lstrip("\n")
//! ```

use super::super::Evaluator;
use super::literal;
use crate::ast::{Args, Call, Expr, ExprKind, Filter, Literal};
use crate::builtins::{access, filters, methods};
use crate::error::Result;
use crate::value::{Dict, Function, Shortcut, Value, ops};

/// The arguments of a call after the value that it is applied to.
#[derive(Clone, Copy)]
enum Form<'t> {
    /// There are none.
    Unary,
    /// A string literal.
    Text(&'t str),
    /// Others.
    Other,
}

impl<'t> Form<'t> {
    #[inline]
    fn of(args: &'t Args) -> Self {
        match args.positional.as_slice() {
            _ if !args.are_positional() => Self::Other,
            [] => Self::Unary,
            [argument] => literal(argument).map_or(Self::Other, Self::Text),
            _ => Self::Other,
        }
    }
}

impl<'a> Evaluator<'a, '_> {
    /// Evaluates `input|name(args)`.
    #[inline(never)]
    pub(super) fn fast_filter(&mut self, filter: &'a Filter) -> Result<Value<'a>> {
        let function = filter.builtin.and_then(filters::get);
        let input = match &filter.input {
            Some(input) => match function.map(|function| function.shortcut) {
                Some(Shortcut::List) => self.list_source(filter, input)?,
                _ => self.expr(input)?,
            },
            None => Value::None,
        };
        if let Some(function) = function {
            if let Some(value) = self.apply_shortcut(function, &input, &filter.args, None)? {
                return Ok(value);
            }
        }
        self.apply_filter(filter, input)
    }

    /// Evaluates the input of the filter `list`.
    #[inline(never)]
    fn list_source(&mut self, filter: &'a Filter, input: &'a Expr) -> Result<Value<'a>> {
        if filter.args.is_empty() {
            self.fast_items(input)
        } else {
            self.expr(input)
        }
    }

    /// Evaluates a call, by a shortcut if it calls a method of a string or `get` of a dict.
    #[inline(never)]
    pub(super) fn fast_call(&mut self, call: &'a Call) -> Result<Value<'a>> {
        let Call { callee, args } = call;
        let ExprKind::Attribute(attribute) = &callee.kind else {
            return match self.local_macro(callee, args) {
                Some(callee) => self.call_macro(&callee, args),
                None => self.call(callee, args, None),
            };
        };
        let receiver = self.expr(&attribute.object)?;
        let value = match &receiver {
            Value::Dict(dict) if attribute.is_get => self.get_from_dict(dict, args)?,
            Value::Str(_) => match attribute.text_method.and_then(methods::get_str) {
                Some(method) => self.apply_shortcut(method, &receiver, args, None)?,
                None => None,
            },
            _ => None,
        };
        match value {
            Some(value) => Ok(value),
            None => self.call_on(receiver, attribute, callee.span, args, None),
        }
    }

    /// Evaluates `object[index]`, by a shortcut if it is `text.split("…")[0]` or the like.
    #[inline(never)]
    pub(super) fn fast_item(&mut self, operands: &'a [Expr; 2]) -> Result<Value<'a>> {
        let [object, index] = operands;
        if let (ExprKind::Call(call), ExprKind::Literal(Literal::Int(index))) = (&object.kind, &index.kind) {
            return self.item_of_call(object, call, *index);
        }
        self.item(operands)
    }

    #[inline(never)]
    fn item_of_call(&mut self, object: &'a Expr, call: &'a Call, index: i64) -> Result<Value<'a>> {
        let Call { callee, args } = call;
        let items = match &callee.kind {
            ExprKind::Attribute(attribute) => {
                let receiver = self.expr(&attribute.object)?;
                if let Some(method) = attribute.text_method.and_then(methods::get_str) {
                    let item = self.apply_shortcut(method, &receiver, args, Some(index));
                    if let Some(item) = item.map_err(|error| self.explained(error, object))? {
                        return Ok(item);
                    }
                }
                let items = self.call_on(receiver, attribute, callee.span, args, None);
                items.map_err(|error| self.explained(error, object))?
            }
            _ => self.expr(object)?,
        };
        access::get_item(self.runtime, &items, &Value::Int(index))
    }

    /// Evaluates a call of a built-in function, or with an index one item of its result, if its shortcut is for calls of this form.
    #[inline]
    fn apply_shortcut(
        &mut self,
        function: &'static Function,
        input: &Value<'a>,
        args: &'a Args,
        index: Option<i64>,
    ) -> Result<Option<Value<'a>>> {
        let meter = &mut self.runtime.meter;
        match (function.shortcut, Form::of(args), input, index) {
            (Shortcut::Length, Form::Unary, _, None) => ops::length(self.runtime, input).map(|length| Some(Value::from(length))),
            (Shortcut::Part(part), Form::Unary, Value::Str(text), None) if !text.is_markup() => {
                meter.charge_scan(text.as_str().len())?;
                Ok(Some(Value::Str(text.piece(part(text.as_str(), None)))))
            }
            (Shortcut::Part(part), Form::Text(argument), Value::Str(text), None) if !text.is_markup() => {
                meter.charge_scan(text.as_str().len().saturating_add(argument.len()))?;
                Ok(Some(Value::Str(text.piece(part(text.as_str(), Some(argument))))))
            }
            (Shortcut::Predicate(holds), Form::Text(argument), Value::Str(text), None) if !text.is_markup() => {
                meter.charge_bytes(argument.len())?;
                Ok(Some(Value::Bool(holds(text.as_str(), argument))))
            }
            (Shortcut::Item(item), Form::Text(argument), Value::Str(text), Some(index)) if !text.is_markup() => {
                item(self.runtime, text, argument, index)
            }
            _ => Ok(None),
        }
    }

    /// Evaluates `dict.get("key")` and `dict.get("key", default)`.
    #[inline(never)]
    fn get_from_dict(&mut self, dict: &Dict<'a>, args: &'a Args) -> Result<Option<Value<'a>>> {
        let [key, default @ ..] = args.positional.as_slice() else {
            return Ok(None);
        };
        let Some(key) = literal(key).filter(|_| args.are_positional()) else {
            return Ok(None);
        };
        let default = match default {
            [] => Value::None,
            [default] => self.expr(default)?,
            _ => return Ok(None),
        };
        self.runtime.meter.charge_bytes(key.len())?;
        Ok(Some(dict.get_str(key).unwrap_or(default)))
    }
}
