//! Calls functions and methods.
//!
//! ```text
//! message.content.split("</think>")[-1].lstrip("\n")        raise_exception("…")        render(message)
//! ```

use super::Evaluator;
use super::leaf::literal;
use crate::ast::{Args, Attribute, Call, Expr, ExprKind, Literal};
use crate::builtins::{access, call, methods};
use crate::error::Result;
use crate::span::Span;
use crate::value::{Arguments, Dict, Shortcuts, Str, Value};

impl<'a> Evaluator<'a, '_> {
    /// A call; `caller` is the body of a call block.
    #[inline(never)]
    pub(super) fn call(&mut self, callee: &'a Expr, args: &'a Args, caller: Option<Value<'a>>) -> Result<Value<'a>> {
        if let ExprKind::Attribute(attribute) = &callee.kind {
            let object = self.expr(&attribute.object)?;
            let value = match (&object, &caller) {
                (_, Some(_)) => None,
                (Value::Dict(dict), None) => self.get_from_dict(dict, attribute, args)?,
                _ => self.call_on_text(&object, attribute, args, None)?,
            };
            return match value {
                Some(value) => Ok(value),
                None => self.call_on(object, attribute, callee.span, args, caller),
            };
        }
        let function = self.expr(callee)?;
        self.called(&function, args, caller)
    }

    #[inline(never)]
    fn call_on(
        &mut self,
        object: Value<'a>,
        attribute: &'a Attribute,
        span: Span,
        args: &'a Args,
        caller: Option<Value<'a>>,
    ) -> Result<Value<'a>> {
        let name = Str::from(&*attribute.name);
        if matches!(object, Value::Undefined(_) | Value::Namespace(_)) {
            // Python looks the attribute up before it evaluates the arguments: it mostly fails, or the arguments may assign it anew.
            let method = access::get_attribute(self.runtime, &object, &name);
            let method = method.map_err(|error| self.explain_object(error.at(span), &attribute.object))?;
            return self.called(&method, args, caller);
        }
        self.called_method(object, &name, args, caller)
    }

    /// `text.method()` and `text.method("…")` by a shortcut, where the method has one; with an index, the item there of what it gives.
    #[inline]
    fn call_on_text(
        &mut self,
        object: &Value<'a>,
        attribute: &'a Attribute,
        args: &'a Args,
        index: Option<i64>,
    ) -> Result<Option<Value<'a>>> {
        let (Value::Str(text), Some(method)) = (object, attribute.text_method.and_then(methods::get_str)) else {
            return Ok(None);
        };
        if text.is_markup() || !args.are_positional() {
            return Ok(None);
        }
        let argument = match args.positional.as_slice() {
            [] => None,
            [
                Expr {
                    kind: ExprKind::Literal(Literal::Str(argument)),
                    ..
                },
            ] => Some(argument),
            _ => return Ok(None),
        };
        let Shortcuts {
            alone, with_text, item, ..
        } = method.shortcuts;
        match (argument, index) {
            (None, None) => alone.map(|alone| alone(self.runtime, object)).transpose(),
            (Some(argument), None) => with_text.map(|with_text| with_text(self.runtime, text, argument)).transpose(),
            (Some(argument), Some(index)) => item.map_or(Ok(None), |item| item(self.runtime, text, argument, index)),
            (None, Some(_)) => Ok(None),
        }
    }

    /// `dict.get("key")` and `dict.get("key", default)`, where there is nothing else among the arguments.
    #[inline(never)]
    fn get_from_dict(&mut self, dict: &Dict<'a>, attribute: &'a Attribute, args: &'a Args) -> Result<Option<Value<'a>>> {
        let [key, default @ ..] = args.positional.as_slice() else {
            return Ok(None);
        };
        let Some(key) = literal(key).filter(|_| &*attribute.name == "get" && args.are_positional()) else {
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

    /// `text.split("…")[0]`, without the other pieces.
    #[inline]
    pub(super) fn piece(&mut self, object: &'a Expr, index: &'a Expr) -> Result<Option<Value<'a>>> {
        let (ExprKind::Call(call), ExprKind::Literal(Literal::Int(index))) = (&object.kind, &index.kind) else {
            return Ok(None);
        };
        let Call { callee, args } = &**call;
        match &callee.kind {
            ExprKind::Attribute(attribute) => self.piece_of(object, callee, attribute, args, *index).map(Some),
            _ => Ok(None),
        }
    }

    #[inline(never)]
    fn piece_of(
        &mut self,
        object: &'a Expr,
        callee: &'a Expr,
        attribute: &'a Attribute,
        args: &'a Args,
        index: i64,
    ) -> Result<Value<'a>> {
        let receiver = self.expr(&attribute.object)?;
        let item = self.call_on_text(&receiver, attribute, args, Some(index));
        if let Some(item) = item.map_err(|error| self.explained(error, object))? {
            return Ok(item);
        }
        let called = self.call_on(receiver, attribute, callee.span, args, None);
        let items = called.map_err(|error| self.explained(error, object))?;
        access::get_item(self.runtime, &items, &Value::Int(index))
    }

    /// The frames of calls are small and apart: a chain of calls, or of macros that call each other, holds many of them.
    #[inline(never)]
    fn called(&mut self, function: &Value<'a>, args: &'a Args, caller: Option<Value<'a>>) -> Result<Value<'a>> {
        let mut arguments = Arguments::new();
        self.call_arguments(args, &mut arguments, caller)?;
        call::call(self.runtime, function, &mut arguments)
    }

    #[inline(never)]
    fn called_method(&mut self, object: Value<'a>, name: &Str<'a>, args: &'a Args, caller: Option<Value<'a>>) -> Result<Value<'a>> {
        let mut arguments = Arguments::one(object);
        self.call_arguments(args, &mut arguments, caller)?;
        call::call_method(self.runtime, name, &mut arguments)
    }

    /// The arguments of a call behind those that are there, with the body of a call block.
    pub(super) fn call_arguments(
        &mut self,
        args: &'a Args,
        arguments: &mut Arguments<'a>,
        caller: Option<Value<'a>>,
    ) -> Result<()> {
        match caller {
            Some(caller) => self.arguments_with_caller(args, arguments, caller),
            None => self.arguments(args, arguments, None),
        }
    }
}
