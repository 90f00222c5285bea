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
use crate::value::{Dict, Heap, Type, Value, absent, peek_json, scan_json};

impl<'a> Evaluator<'a, '_> {
    /// Peeks at an expression with the form [`Form::Path`](crate::ast::Form::Path).
    #[inline(always)]
    pub(super) fn peek(&self, expr: &'a Expr) -> Option<Value<'a>> {
        match &expr.kind {
            ExprKind::Name(name) => self.name(name).ok(),
            ExprKind::Attribute(attribute) => self.frame.peek_key(&self.runtime.heap, attribute),
            _ => None,
        }
    }
}

impl Activation {
    /// Peeks at a key of a variable. The keys of an object of the input, such as a message, are found without another call.
    #[inline(always)]
    pub fn peek_key<'a>(&self, heap: &Heap<'a>, attribute: &'a Attribute) -> Option<Value<'a>> {
        if let ExprKind::Name(name) = &attribute.object.kind {
            match self.get(heap, &name.slot)? {
                Value::Dict(Dict::Json(map)) => return peek_json(map, &attribute.name),
                Value::Dict(dict) => return dict.peek(&attribute.name),
                Value::Namespace(id) => {
                    if let Some(value) = heap.namespace(*id)?.get_at(attribute.index, &attribute.name) {
                        return Some(*value);
                    }
                }
                Value::Loop(context) => return context.peek_number(heap, attribute.loop_number?),
                _ => {}
            }
        }
        self.peek_any_key(heap, attribute)
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

    /// Decides a comparison with the form [`Form::KeyIsText`](crate::ast::Form::KeyIsText) if the variable is a small object of the
    /// caller, such as a message. This calls no other function.
    #[inline(always)]
    pub fn compare_json_key(&self, heap: &Heap<'_>, compare: &Compare) -> Option<bool> {
        let (value, key, text) = self.key_and_text(heap, compare)?;
        let Value::Dict(Dict::Json(map)) = value else { return None };
        let found = scan_json(map, key)?;
        let is_equal = matches!(found, Some(serde_json::Value::String(found)) if is_equal_to_short(found, text));
        Some(is_equal == (compare.link.0 == CompareOp::Eq))
    }

    /// Decides such a comparison if the variable is an object of a JSON text.
    #[inline]
    pub fn compare_data_key(&self, heap: &Heap<'_>, compare: &Compare) -> Option<bool> {
        let (value, key, text) = self.key_and_text(heap, compare)?;
        let Value::Dict(dict @ Dict::Data(_)) = value else {
            return None;
        };
        let is_equal = dict.peek_text(key)? == Some(text);
        Some(is_equal == (compare.link.0 == CompareOp::Eq))
    }

    /// Returns the local variable, the key and the string of a comparison with the form [`Form::KeyIsText`](crate::ast::Form::KeyIsText).
    #[inline(always)]
    fn key_and_text<'v, 'a, 't>(&self, heap: &'v Heap<'a>, compare: &'t Compare) -> Option<(&'v Value<'a>, &'t str, &'t str)> {
        let ExprKind::Attribute(attribute) = &compare.first.kind else {
            return None;
        };
        match attribute.object.kind {
            ExprKind::Name(Name {
                slot: Slot::Local(local),
                ..
            }) => Some((self.local(heap, local)?, &attribute.name, compare.link.1.literal()?)),
            _ => None,
        }
    }
}
