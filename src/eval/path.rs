//! Peeks at paths: variables, their keys, and keys of keys and items. Most values that chat templates print, compare and test are found
//! there.
//!
//! ```text
//! message.role          message["role"]          call.function.name          messages[0].role
//! ```
//!
//! A peek borrows the value from where it is, and no [`Value`] is made. For an attribute of `loop` that must be computed, and whatever else
//! needs the runtime, it returns [`Peek::Unknown`].

use super::frame::Activation;
use crate::ast::{Attribute, Compare, CompareOp, Expr, ExprKind, Literal, Name, Slot};
use crate::value::{Dict, Heap, Peek, Type, Undefined, Value, ValueRef, has_json_text};

impl Activation {
    /// Peeks at an expression with the form [`Form::Path`](crate::ast::Form::Path).
    #[inline(always)]
    pub fn peek<'v, 'a>(&self, heap: &'v Heap<'a>, expr: &'a Expr) -> Peek<'v, 'a> {
        match &expr.kind {
            ExprKind::Name(name) => self
                .get(heap, &name.slot)
                .map_or(Peek::Unknown, |value| Peek::Found(ValueRef::Value(value))),
            ExprKind::Attribute(attribute) => self.peek_key(heap, attribute),
            _ => Peek::Unknown,
        }
    }

    /// Peeks at a key of a variable. The keys of an object of the input, such as a message, are found without another call.
    #[inline(always)]
    pub fn peek_key<'v, 'a>(&self, heap: &'v Heap<'a>, attribute: &'a Attribute) -> Peek<'v, 'a> {
        if let ExprKind::Name(name) = &attribute.object.kind {
            match self.get(heap, &name.slot) {
                Some(Value::Dict(Dict::Json(map))) => return Peek::in_json(map, &attribute.name),
                Some(Value::Dict(Dict::Data(object))) => return Peek::in_data(object, &attribute.name),
                Some(Value::Namespace(id)) => {
                    let namespace = heap.namespace(*id);
                    let value = namespace.and_then(|namespace| namespace.get_at(attribute.index, &attribute.name));
                    if let Some(value) = value {
                        return Peek::Found(ValueRef::Value(value));
                    }
                }
                Some(Value::Loop(context)) => {
                    return attribute
                        .loop_number
                        .map_or(Peek::Unknown, |number| context.peek_number(heap, number));
                }
                _ => {}
            }
        }
        self.peek_any_key(heap, attribute)
    }

    /// Returns the plain string in a variable, or under a key of it.
    #[inline(always)]
    pub fn peek_text<'v, 'a>(&self, heap: &'v Heap<'a>, slot: &Slot, key: Option<&str>) -> Option<&'v str> {
        let value = self.get(heap, slot)?;
        let Some(key) = key else {
            return ValueRef::Value(value).plain_text();
        };
        let found = match value {
            Value::Dict(Dict::Json(map)) => Peek::in_json(map, key),
            _ => ValueRef::of_value(value, heap, key),
        };
        match found {
            Peek::Found(found) => found.plain_text(),
            Peek::Absent(_) | Peek::Unknown => None,
        }
    }

    /// Decides a comparison with the form [`Form::KeyIsText`](crate::ast::Form::KeyIsText) if the variable is a small object of the
    /// caller, such as a message.
    #[inline(always)]
    pub fn compare_key(&self, heap: &Heap<'_>, compare: &Compare) -> Option<bool> {
        let Compare {
            first,
            link: (op, right),
            ..
        } = compare;
        let (ExprKind::Attribute(attribute), Some(text)) = (&first.kind, right.literal()) else {
            return None;
        };
        match &attribute.object.kind {
            ExprKind::Name(Name {
                slot: Slot::Local(local),
                ..
            }) => match self.local(heap, *local)? {
                Value::Dict(Dict::Json(map)) => Some(has_json_text(map, &attribute.name, text)? == (*op == CompareOp::Eq)),
                _ => None,
            },
            _ => None,
        }
    }

    #[inline(never)]
    fn peek_any_key<'v, 'a>(&self, heap: &'v Heap<'a>, attribute: &'a Attribute) -> Peek<'v, 'a> {
        match &attribute.object.kind {
            ExprKind::Name(name) => match self.get(heap, &name.slot) {
                Some(Value::Str(text)) if !text.is_markup() && attribute.text_method.is_none() => Peek::Absent(Type::Str),
                Some(object) => ValueRef::of_value(object, heap, &attribute.name),
                None => Peek::Unknown,
            },
            outer => self
                .object(heap, outer)
                .map_or(Peek::Unknown, |object| object.key(heap, &attribute.name)),
        }
    }

    /// Peeks at an object that is a key or an item of a variable.
    #[inline(never)]
    fn object<'v, 'a>(&self, heap: &'v Heap<'a>, kind: &'a ExprKind) -> Option<ValueRef<'v, 'a>> {
        match kind {
            ExprKind::Attribute(attribute) => {
                let ExprKind::Name(name) = &attribute.object.kind else {
                    return None;
                };
                match ValueRef::Value(self.get(heap, &name.slot)?).key(heap, &attribute.name) {
                    Peek::Found(found) => Some(found),
                    Peek::Absent(_) | Peek::Unknown => None,
                }
            }
            ExprKind::Item(operands) => match &**operands {
                [
                    Expr {
                        kind: ExprKind::Name(name),
                        ..
                    },
                    Expr {
                        kind: ExprKind::Literal(Literal::Int(index)),
                        ..
                    },
                ] => ValueRef::Value(self.get(heap, &name.slot)?).item(*index),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Returns the undefined value of an attribute that an object does not have.
#[inline]
pub(super) fn absent<'a>(ty: Type, attribute: &'a Attribute) -> Value<'a> {
    Value::Undefined(Undefined::Attribute(ty, &attribute.name))
}
