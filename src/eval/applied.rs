//! Calls the built-in functions and macros of common calls without binding arguments.
//!
//! ```text
//! messages|length      text.startswith("<tool_response>")      text.split("</think>")[-1].lstrip("\n")      render(message, true)
//! ```

use super::Evaluator;
use crate::ast::{Args, Call, Expr, ExprKind, Filter, Literal};
use crate::builtins::{access, filters, methods};
use crate::error::Result;
use crate::value::{Content, Dict, Function, Macro, Shortcut, Str, Value, ops};

/// The maximum number of attributes of a namespace that is made by a shortcut.
const MAX_ATTRIBUTES: usize = 16;

/// Returns the string literal that is the only argument of a call, or an inner `None` for a call without arguments. Any other call is `None`.
#[inline]
fn text_argument(args: &Args) -> Option<Option<&str>> {
    match args.positional.as_slice() {
        _ if !args.are_positional() => None,
        [] => Some(None),
        [argument] => argument.literal().map(Some),
        _ => None,
    }
}

impl<'a> Evaluator<'a, '_> {
    /// Evaluates an expression with a form for filters, calls and items, which may keep values on the stack while others are evaluated.
    #[inline(never)]
    pub(super) fn applied(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        self.runtime.meter.check_stack()?;
        let value = match &expr.kind {
            ExprKind::Filter(filter) => self.filter_by_form(filter),
            ExprKind::Call(call) => self.call_by_form(call),
            ExprKind::Item(operands) => self.item_by_form(operands),
            _ => return self.general_value(expr),
        };
        value.map_err(|error| self.explain_error(error, expr))
    }

    /// Evaluates `input|name(args)`.
    #[inline(never)]
    fn filter_by_form(&mut self, filter: &'a Filter) -> Result<Value<'a>> {
        let function = filter.builtin.and_then(|index| filters::TABLE.get(index));
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

    #[inline(never)]
    fn list_source(&mut self, filter: &'a Filter, input: &'a Expr) -> Result<Value<'a>> {
        if filter.args.is_empty() {
            self.iterable(input)
        } else {
            self.expr(input)
        }
    }

    /// Evaluates a call, quickly if it calls a macro, `namespace`, a method of a string or `get` of a dict.
    #[inline(never)]
    fn call_by_form(&mut self, call: &'a Call) -> Result<Value<'a>> {
        let Call { callee, args } = call;
        let ExprKind::Attribute(attribute) = &callee.kind else {
            return match self.local_macro(callee, args) {
                Some(callee) => self.call_macro(callee, args),
                None if self.makes_namespace(callee) => self.make_namespace(callee, args),
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

    /// Returns whether the callee of a call is the function `namespace`.
    #[inline]
    fn makes_namespace(&self, callee: &'a Expr) -> bool {
        let ExprKind::Name(name) = &callee.kind else { return false };
        matches!(self.get(&name.slot), Some(Value::Function(function)) if matches!(function.shortcut, Shortcut::Namespace))
    }

    /// Evaluates `namespace(name=value)`, whose keywords become the attributes at once.
    #[inline(never)]
    fn make_namespace(&mut self, callee: &'a Expr, args: &'a Args) -> Result<Value<'a>> {
        let keywords = match &args.others {
            Some(others) if others.star.is_none() && others.double_star.is_none() && !others.are_packed => &others.keywords,
            _ => return self.call(callee, args, None),
        };
        let are_many = keywords.len() > MAX_ATTRIBUTES;
        if are_many || !args.positional.is_empty() || keywords.iter().any(|keyword| keyword.name.starts_with('_')) {
            return self.call(callee, args, None);
        }
        self.runtime.meter.charge_items(keywords.len().saturating_mul(4))?;
        let mut attributes = Vec::with_capacity(keywords.len());
        for keyword in keywords {
            let value = self.expr(&keyword.value)?;
            attributes.push((Value::Str(Str::from(&*keyword.name)), Content::Value(value)));
        }
        self.runtime.namespace(attributes).map(Value::Namespace)
    }

    /// Evaluates `object[index]`, by a shortcut if it is `text.split("…")[0]` or the like.
    #[inline(never)]
    fn item_by_form(&mut self, operands: &'a [Expr; 2]) -> Result<Value<'a>> {
        let [object, index] = operands;
        self.runtime.meter.charge(1)?;
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
                    if let Some(item) = item.map_err(|error| self.explain_error(error, object))? {
                        return Ok(item);
                    }
                }
                let items = self.call_on(receiver, attribute, callee.span, args, None);
                items.map_err(|error| self.explain_error(error, object))?
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
        let (Shortcut::Part(_) | Shortcut::Predicate(_) | Shortcut::Item(_), Value::Str(text)) = (function.shortcut, input) else {
            return match function.shortcut {
                Shortcut::Length if index.is_none() && args.is_empty() => {
                    ops::length(self.runtime, input).map(|length| Some(Value::from(length)))
                }
                _ => Ok(None),
            };
        };
        let Some(argument) = text_argument(args).filter(|_| !text.is_markup()) else {
            return Ok(None);
        };
        match (function.shortcut, argument, index) {
            (Shortcut::Part(part), _, None) => {
                let whole = text.as_str();
                self.runtime.meter.charge_scan(whole.len() + argument.map_or(0, str::len))?;
                Ok(Some(Value::Str(text.piece(part(whole, argument)))))
            }
            (Shortcut::Predicate(holds), Some(argument), None) => {
                self.runtime.meter.charge_bytes(argument.len())?;
                Ok(Some(Value::Bool(holds(text.as_str(), argument))))
            }
            (Shortcut::Item(item), Some(argument), Some(index)) => item(self.runtime, text, argument, index),
            _ => Ok(None),
        }
    }

    /// Evaluates `dict.get("key")` and `dict.get("key", default)`.
    #[inline(never)]
    fn get_from_dict(&mut self, dict: &Dict<'a>, args: &'a Args) -> Result<Option<Value<'a>>> {
        let [key, default @ ..] = args.positional.as_slice() else {
            return Ok(None);
        };
        let Some(key) = key.literal().filter(|_| args.are_positional()) else {
            return Ok(None);
        };
        let default = match default {
            [] => Value::None,
            [default] => self.expr(default)?,
            _ => return Ok(None),
        };
        self.runtime.meter.charge(1)?;
        Ok(Some(self.runtime.find_str(dict, key)?.unwrap_or(default)))
    }

    /// Returns the macro that a call runs, if the arguments can be evaluated straight to its local variables.
    #[inline]
    pub(super) fn local_macro(&self, callee: &'a Expr, args: &'a Args) -> Option<&'a Macro<'a>> {
        let ExprKind::Name(name) = &callee.kind else { return None };
        match self.get(&name.slot) {
            Some(Value::Macro(callee)) if callee.takes_locals && args.are_positional() => {
                let are_enough = args.positional.len() <= callee.parameters.len();
                are_enough.then_some(*callee)
            }
            _ => None,
        }
    }

    /// Evaluates a call of a macro to a string.
    #[inline(never)]
    pub(super) fn call_macro(&mut self, callee: &'a Macro<'a>, args: &'a Args) -> Result<Value<'a>> {
        self.push_locals(args)?;
        let count = args.positional.len();
        self.runtime
            .capture(|runtime, text| callee.code.write_with_locals(runtime, count, text))
    }

    #[inline(never)]
    pub(super) fn write_macro(&mut self, callee: &'a Macro<'a>, args: &'a Args) -> Result<()> {
        self.push_locals(args)?;
        callee
            .code
            .write_with_locals(self.runtime, args.positional.len(), &mut self.out)
    }

    /// Evaluates arguments, and appends their values to the local variables, where the frame of the macro will begin.
    #[inline]
    fn push_locals(&mut self, args: &'a Args) -> Result<()> {
        for argument in &args.positional {
            let value = self.expr(argument)?;
            self.runtime.heap.frames.locals.push(Some(value));
        }
        Ok(())
    }
}
