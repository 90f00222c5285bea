//! `ns.text = ns.text + x`: a text or list that grows round by round grows in place, where nobody else holds it.

use super::super::Evaluator;
use crate::ast::{BinaryOp, Expr, ExprKind, Set, Target, TargetKind};
use crate::error::Result;
use crate::value::{Value, ops, print};

impl<'a> Evaluator<'a, '_> {
    /// Assigns the target with something added. The resolver has made sure that what is added cannot see the target meanwhile, so
    /// that its value can be taken out first; a failure ends the render.
    #[inline(never)]
    pub(in crate::eval) fn accumulate(&mut self, node: &'a Set) -> Result<()> {
        let Some(value) = self.take(&node.target) else {
            let value = self.expr(&node.value)?;
            return self.assign(&node.target, value);
        };
        let value = self.added(value, &node.value)?;
        self.assign(&node.target, value)
    }

    /// Takes a string or list out of its variable or attribute; other values gain nothing by it.
    fn take(&mut self, target: &'a Target) -> Option<Value<'a>> {
        let can_grow = |value: &Value<'a>| matches!(value, Value::Str(_) | Value::List(_));
        match &target.kind {
            TargetKind::Name { slot, .. } => {
                let value = self.get(slot).filter(|value| can_grow(value)).cloned()?;
                self.store(slot, Value::None);
                Some(value)
            }
            TargetKind::Attribute { slot, name, .. } => {
                let Some(Value::Namespace(id)) = self.get(slot).cloned() else {
                    return None;
                };
                let namespace = self.runtime.heap.namespace_mut(id)?;
                namespace.get(name).filter(|value| can_grow(value))?;
                namespace.take(name)
            }
            TargetKind::Tuple(_) => None,
        }
    }

    fn added(&mut self, value: Value<'a>, expr: &'a Expr) -> Result<Value<'a>> {
        match &expr.kind {
            ExprKind::Binary(BinaryOp::Add, operands) => {
                let [left, right] = &**operands;
                let left = self.added(value, left)?;
                let right = self.expr(right)?;
                let sum = ops::append(self.runtime, left, &right);
                sum.map_err(|error| self.explained(error, expr))
            }
            ExprKind::Concat(items) => {
                let mut text = Value::Str(print::to_str(self.runtime, &value)?.with_markup(false));
                drop(value);
                for item in items.iter().skip(1) {
                    let item = self.expr(item)?;
                    let item = print::to_str(self.runtime, &item)?.with_markup(false);
                    text = ops::append(self.runtime, text, &Value::Str(item))?;
                }
                Ok(text)
            }
            _ => Ok(value),
        }
    }
}
