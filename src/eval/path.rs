//! Peeks at paths: variables, their keys, and keys of keys and items. Most values that chat templates print, compare and test are found
//! there.
//!
//! ```text
//! message.role          message["role"]          call.function.name          messages[0].role
//! ```
//!
//! A peek returns `None` for an attribute of `loop` that must be computed, and for whatever else needs the runtime.

use super::Evaluator;
use super::frame::Activation;
use crate::ast::{Attribute, Compare, CompareOp, Expr, ExprKind, Literal, Name, Slot};
use crate::text::short_eq::is_equal_to_short;
use crate::value::{Found, Heap, Type, Value, absent};

impl<'a> Evaluator<'a, '_> {
    /// Peeks at an expression with the form [`Form::Path`](crate::ast::Form::Path).
    #[inline(always)]
    pub(super) fn peek(&self, expr: &'a Expr) -> Option<Value<'a>> {
        self.peek_with(expr, |value| *value)
    }

    /// Peeks at an expression that is a path, and calls a function with its value.
    #[inline(always)]
    pub(super) fn peek_with<T>(&self, expr: &'a Expr, then: impl FnOnce(&Value<'a>) -> T) -> Option<T> {
        match &expr.kind {
            ExprKind::Name(name) => match self.get(&name.slot) {
                Some(value) => Some(then(value)),
                None => self.missing_name(name.symbol).ok().map(|value| then(&value)),
            },
            ExprKind::Attribute(attribute) => self.frame.peek_key(&self.runtime.heap, attribute, then),
            _ => None,
        }
    }
}

impl Activation {
    /// Peeks at a key of a variable. The keys of an object of the input, such as a message, are found without another call.
    #[inline(always)]
    pub fn peek_key<'a, T>(&self, heap: &Heap<'a>, attribute: &'a Attribute, then: impl FnOnce(&Value<'a>) -> T) -> Option<T> {
        if let ExprKind::Name(name) = &attribute.object.kind {
            match self.get(heap, &name.slot)? {
                Value::Dict(dict) => return dict.peek(&attribute.name, then),
                Value::Namespace(id) => {
                    if let Some(value) = heap.namespace(*id)?.get_at(attribute.index, &attribute.name) {
                        return Some(then(value));
                    }
                }
                Value::Loop(context) => return context.peek_number(heap, attribute.loop_number?).map(|value| then(&value)),
                _ => {}
            }
        }
        self.peek_any_key(heap, attribute).map(|value| then(&value))
    }

    #[inline(never)]
    fn peek_any_key<'a>(&self, heap: &Heap<'a>, attribute: &'a Attribute) -> Option<Value<'a>> {
        let object = match &attribute.object.kind {
            ExprKind::Name(name) => *self.get(heap, &name.slot)?,
            ExprKind::Attribute(outer) => self.peek_any_key(heap, outer)?,
            ExprKind::Item(operands) => match operands.each_ref().map(|operand| &operand.kind) {
                [ExprKind::Name(name), ExprKind::Literal(Literal::Int(index))] => self.get(heap, &name.slot)?.peek_item(*index)?,
                _ => return None,
            },
            _ => return None,
        };
        match object {
            Value::Str(text) if !text.is_markup() && attribute.text_method.is_none() => Some(absent(Type::Str, &attribute.name)),
            _ => object.peek_key(heap, &attribute.name),
        }
    }

    /// Returns the plain string in a variable, or under a key of it.
    #[inline(always)]
    pub fn peek_text<'a>(&self, heap: &Heap<'a>, slot: &Slot, key: Option<&'a str>) -> Option<&'a str> {
        let value = self.get(heap, slot)?;
        match key {
            None => value.plain_text(),
            Some(key) => match value {
                Value::Dict(dict) => dict.peek_text(key)?,
                _ => value.peek_key(heap, key)?.plain_text(),
            },
        }
    }

    /// Decides a comparison with the form [`Form::KeyIsText`](crate::ast::Form::KeyIsText) if the variable is a local one, and a small object
    /// of the input, such as a message. This calls no other function.
    #[inline(always)]
    pub fn compare_key(&self, heap: &Heap<'_>, compare: &Compare) -> Option<bool> {
        let ExprKind::Attribute(attribute) = &compare.first.kind else {
            return None;
        };
        let ExprKind::Name(Name {
            slot: Slot::Local(local),
            ..
        }) = attribute.object.kind
        else {
            return None;
        };
        let Value::Dict(dict) = self.local(heap, local)? else {
            return None;
        };
        let (op, text) = (compare.link.0, compare.link.1.literal()?);
        let found = dict.scan(&attribute.name)?.and_then(Found::as_str);
        let is_equal = found.is_some_and(|found| is_equal_to_short(found, text));
        Some(is_equal == (op == CompareOp::Eq))
    }
}
