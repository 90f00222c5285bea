//! Calls functions and methods.
//!
//! ```text
//! message.content.split("</think>")[-1].lstrip("\n")        raise_exception("…")        render(message)
//! ```

use super::Evaluator;
use crate::ast::{Args, Attribute, Expr, ExprKind};
use crate::builtins::{access, call};
use crate::error::Result;
use crate::span::Span;
use crate::value::{Arguments, Str, Value};

impl<'a> Evaluator<'a, '_> {
    /// Evaluates `callee(args)`; `caller` is the body of a call block.
    #[inline(never)]
    pub(super) fn call(&mut self, callee: &'a Expr, args: &'a Args, caller: Option<Value<'a>>) -> Result<Value<'a>> {
        if let ExprKind::Attribute(attribute) = &callee.kind {
            let receiver = self.expr(&attribute.object)?;
            return self.call_on(receiver, attribute, callee.span, args, caller);
        }
        let function = self.expr(callee)?;
        self.call_with_args(&function, args, caller)
    }

    /// Evaluates `object.name(args)`.
    #[inline(never)]
    pub(super) fn call_on(
        &mut self,
        object: Value<'a>,
        attribute: &'a Attribute,
        span: Span,
        args: &'a Args,
        caller: Option<Value<'a>>,
    ) -> Result<Value<'a>> {
        let name = Str::from(&*attribute.name);
        if matches!(object, Value::Undefined(_) | Value::Namespace(_)) {
            // Python looks the attribute up before it evaluates the arguments. The lookup may fail, and the arguments may assign the
            // attribute.
            let method = access::get_attribute(self.runtime, &object, &name);
            let method = method.map_err(|error| self.explain_object(error.at(span), &attribute.object))?;
            return self.call_with_args(&method, args, caller);
        }
        self.called_method(object, &name, args, caller)
    }

    /// Evaluates the arguments and calls a function. It is a function of its own with a small stack frame, because a chain of calls holds
    /// many of them.
    #[inline(never)]
    fn call_with_args(&mut self, function: &Value<'a>, args: &'a Args, caller: Option<Value<'a>>) -> Result<Value<'a>> {
        let mut arguments = Arguments::new();
        self.arguments(args, &mut arguments, None, caller)?;
        call::call(self.runtime, function, &mut arguments)
    }

    #[inline(never)]
    fn called_method(&mut self, object: Value<'a>, name: &Str<'a>, args: &'a Args, caller: Option<Value<'a>>) -> Result<Value<'a>> {
        let mut arguments = Arguments::one(object);
        self.arguments(args, &mut arguments, None, caller)?;
        call::call_method(self.runtime, name, &mut arguments)
    }
}
