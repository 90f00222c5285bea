//! Expressions that only name something: a literal, a variable, a key of what a variable holds. Their value is looked at where it
//! stands and not cloned: most of what chat templates print, compare and ask is such a leaf.
//!
//! ```text
//! message.role          message["role"]          call.function.name          "user"
//! ```
//!
//! What is no leaf, or whose rule needs more than a look (a method behind a dot, an attribute of `loop`), is for [`super::expr`].

use super::Evaluator;
use super::answer::Answer;
use super::frame::Activation;
use crate::ast::{Attribute, Compare, CompareOp, Expr, ExprKind, Literal};
use crate::error::Result;
use crate::meter::{Meter, STEP_BYTES};
use crate::text::short_eq::is_equal;
use crate::value::{Dict, Heap, Peek, Piece, Runtime, Type, Undefined, Value, ValueRef};

impl Activation {
    /// What a variable or a key of one is.
    #[inline(always)]
    pub fn look_up<'v, 'a>(&self, heap: &'v Heap<'a>, expr: &'a Expr) -> Peek<'v, 'a> {
        match &expr.kind {
            ExprKind::Name(name) => self
                .get(heap, &name.slot)
                .map_or(Peek::Unknown, |value| Peek::Found(ValueRef::Value(value))),
            ExprKind::Attribute(attribute) => self.look_up_key(heap, attribute),
            _ => Peek::Unknown,
        }
    }

    /// What stands under a key of a variable, or of what stands under a key of a variable. A message of the caller is decided here.
    #[inline(always)]
    pub fn look_up_key<'v, 'a>(&self, heap: &'v Heap<'a>, attribute: &'a Attribute) -> Peek<'v, 'a> {
        if !attribute.is_key {
            return Peek::Unknown;
        }
        if let ExprKind::Name(name) = &attribute.object.kind {
            match self.get(heap, &name.slot) {
                Some(Value::Dict(Dict::Json(map))) => return Peek::in_json(map, &attribute.name),
                Some(Value::Dict(Dict::Data(object))) => return Peek::in_data(object, &attribute.name),
                _ => {}
            }
        }
        self.look_up_any_key(heap, attribute)
    }

    #[inline(never)]
    fn look_up_any_key<'v, 'a>(&self, heap: &'v Heap<'a>, attribute: &'a Attribute) -> Peek<'v, 'a> {
        match &attribute.object.kind {
            ExprKind::Name(name) => match self.get(heap, &name.slot) {
                Some(Value::Str(text)) if !text.is_markup() && attribute.text_method.is_none() => Peek::Absent(Type::Str),
                Some(object) => ValueRef::of_value(object, heap, &attribute.name),
                None => Peek::Unknown,
            },
            ExprKind::Attribute(outer) => self
                .outer_key(heap, outer)
                .map_or(Peek::Unknown, |object| object.key(heap, &attribute.name)),
            _ => Peek::Unknown,
        }
    }

    #[inline(never)]
    fn outer_key<'v, 'a>(&self, heap: &'v Heap<'a>, attribute: &'a Attribute) -> Option<ValueRef<'v, 'a>> {
        match &attribute.object.kind {
            ExprKind::Name(name) if attribute.is_key => {
                match ValueRef::Value(self.get(heap, &name.slot)?).key(heap, &attribute.name) {
                    Peek::Found(found) => Some(found),
                    Peek::Absent(_) | Peek::Unknown => None,
                }
            }
            _ => None,
        }
    }
}

/// What an object gives for a key or an attribute that it does not have.
#[inline]
pub(super) fn absent<'a>(ty: Type, attribute: &'a Attribute) -> Value<'a> {
    Value::Undefined(Undefined::Attribute(ty, &attribute.name))
}

impl<'a> Evaluator<'a, '_> {
    /// Writes a leaf that is a plain string; gives whether it was one.
    #[inline(never)]
    pub(super) fn write_leaf(&mut self, expr: &'a Expr) -> Result<Answer> {
        let Runtime { meter, heap, .. } = &mut *self.runtime;
        let text = match &expr.kind {
            ExprKind::Literal(Literal::Str(text)) => text,
            _ => match self.frame.look_up(heap, expr) {
                Peek::Found(found) => match found.plain_text() {
                    Some(text) => text,
                    None => return Ok(Answer::No),
                },
                Peek::Absent(_) | Peek::Unknown => return Ok(Answer::No),
            },
        };
        if text.len() > STEP_BYTES {
            meter.charge_bytes(text.len())?;
        }
        push(meter, &mut self.out, text)
    }

    /// Writes a part of a leaf that is a plain string; gives whether it was one.
    #[inline(never)]
    pub(super) fn write_piece(&mut self, leaf: &'a Expr, piece: Piece) -> Result<Answer> {
        let Runtime { meter, heap, .. } = &mut *self.runtime;
        let Peek::Found(found) = self.frame.look_up(heap, leaf) else {
            return Ok(Answer::No);
        };
        let Some(text) = found.plain_text() else {
            return Ok(Answer::No);
        };
        if text.len() > STEP_BYTES {
            meter.charge_scan(text.len())?;
        }
        push(meter, &mut self.out, piece(text))
    }

    /// Whether a leaf is true, where a look tells.
    #[inline]
    pub(super) fn truth_of_leaf(&self, expr: &'a Expr) -> Option<bool> {
        match self.frame.look_up(&self.runtime.heap, expr) {
            Peek::Found(found) => found.truth(),
            Peek::Absent(_) => Some(false),
            Peek::Unknown => self.is_missing(expr).then_some(false),
        }
    }

    /// Returns whether an expression is a name that nothing set, and so undefined.
    #[inline]
    fn is_missing(&self, expr: &'a Expr) -> bool {
        matches!(&expr.kind, ExprKind::Name(name) if self.get(&name.slot).is_none() && !self.is_unsupported(name.symbol))
    }

    /// What a test that only looks says of a leaf.
    #[inline]
    pub(super) fn ask_leaf(&self, expr: &'a Expr, asks: fn(&Value<'_>) -> bool) -> Option<bool> {
        match (self.frame.look_up(&self.runtime.heap, expr), &expr.kind) {
            (Peek::Found(ValueRef::Value(value)), _) => Some(asks(value)),
            (Peek::Found(found), _) => Some(asks(&found.to_value())),
            (Peek::Absent(ty), ExprKind::Attribute(attribute)) => Some(asks(&absent(ty, attribute))),
            (Peek::Unknown, ExprKind::Name(name)) => self.name(name).ok().map(|value| asks(&value)),
            _ => None,
        }
    }

    /// `leaf == "text"` and `leaf != "text"`, where a look tells.
    #[inline]
    pub(super) fn compare_leaf(&self, compare: &'a Compare) -> Option<bool> {
        let Compare { first, link, more } = compare;
        let (op @ (CompareOp::Eq | CompareOp::Ne), right) = link else {
            return None;
        };
        let text = literal(right).filter(|_| more.is_empty())?;
        let is_equal = match self.frame.look_up(&self.runtime.heap, first) {
            Peek::Found(found) => match (found.plain_text(), found) {
                (Some(left), _) => is_equal(left, text),
                (None, ValueRef::Value(_)) => return None,
                (None, ValueRef::Json(_) | ValueRef::Data(_) | ValueRef::Int(_) | ValueRef::Bool(_)) => false,
            },
            Peek::Absent(_) => false,
            Peek::Unknown => return None,
        };
        Some(is_equal == (*op == CompareOp::Eq))
    }

    /// `"text" in leaf` and `"text" not in leaf`, where a look tells.
    #[inline]
    pub(super) fn contains_leaf(&mut self, compare: &'a Compare) -> Result<Option<Answer>> {
        let Compare { first, link, more } = compare;
        let (op @ (CompareOp::In | CompareOp::NotIn), right) = link else {
            return Ok(None);
        };
        let Some(text) = literal(first).filter(|_| more.is_empty()) else {
            return Ok(None);
        };
        let contains = self.contains_text(right, text)?;
        Ok(contains.map(|contains| if *op == CompareOp::In { contains } else { !contains }))
    }

    #[inline(never)]
    fn contains_text(&mut self, leaf: &'a Expr, text: &str) -> Result<Option<Answer>> {
        let Runtime { meter, heap, .. } = &mut *self.runtime;
        let Peek::Found(found) = self.frame.look_up(heap, leaf) else {
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
        Ok(Some(Answer::from(contains)))
    }
}

/// Writes a text. The output is asked for its size where it would grow; what goes into the room that it has was asked for before.
#[inline(always)]
fn push(meter: &Meter<'_>, out: &mut String, text: &str) -> Result<Answer> {
    if text.len() > out.capacity().wrapping_sub(out.len()) {
        meter.check_output(out.len().saturating_add(text.len()))?;
    }
    out.push_str(text);
    Ok(Answer::Yes)
}

/// The text of a literal string.
#[inline]
pub(super) fn literal(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Literal(Literal::Str(text)) => Some(text),
        _ => None,
    }
}
