//! Assigns to targets.
//!
//! In `ns.text = ns.text + x`, a string or a list that grows from round to round grows in place. This keeps the work linear: otherwise each
//! round copies all of the text before it.

use super::Evaluator;
use crate::ast::{BinaryOp, Expr, ExprKind, Set, Slot, Target, TargetKind};
use crate::builtins::globals;
use crate::error::{Error, Result};
use crate::resolve::operators;
use crate::unsupported;
use crate::value::{Iter, NamespaceId, Str, Value, print};

impl<'a> Evaluator<'a, '_> {
    /// Checks that `ns` is a namespace in each target `ns.x`. The reference does so before it evaluates the value.
    pub(super) fn check_namespaces(&self, target: &'a Target) -> Result<()> {
        match &target.kind {
            TargetKind::Name { .. } => Ok(()),
            TargetKind::Attribute { slot, .. } => match self.get(slot) {
                Some(Value::Namespace(_)) => Ok(()),
                _ => Err(Error::runtime("cannot assign attribute on non-namespace object").at(target.span)),
            },
            TargetKind::Tuple(targets) => targets.iter().try_for_each(|target| self.check_namespaces(target)),
        }
    }

    /// Assigns a value to a target. A tuple of targets unpacks it. Most targets are names that are not exported, and are assigned here.
    #[inline(always)]
    pub(super) fn assign(&mut self, target: &'a Target, value: Value<'a>) -> Result<()> {
        if let TargetKind::Name {
            slot, exported: false, ..
        } = &target.kind
        {
            self.store(slot, value);
            return Ok(());
        }
        self.assign_other(target, value)
    }

    #[inline(never)]
    fn assign_other(&mut self, target: &'a Target, value: Value<'a>) -> Result<()> {
        match &target.kind {
            TargetKind::Name { symbol, slot, exported } => {
                if *exported {
                    self.export(*symbol, &value);
                }
                self.store(slot, value);
                Ok(())
            }
            TargetKind::Attribute { slot, name, index, .. } => {
                let set = self.set_attribute(slot, name, *index, value);
                set.map_err(|error| error.at(target.span))
            }
            TargetKind::Tuple(targets) => {
                let assigned = self.unpack(targets, value);
                assigned.map_err(|error| error.at(target.span))
            }
        }
    }

    #[inline]
    pub(super) fn set_attribute(&mut self, slot: &Slot, name: &'a str, index: u32, value: Value<'a>) -> Result<()> {
        let Some(Value::Namespace(id)) = self.get(slot) else {
            return Err(self.refuse_item(slot));
        };
        let id = *id;
        let runtime = &mut *self.runtime;
        let Some(namespace) = runtime.heap.namespace_mut(id) else {
            return Ok(());
        };
        if namespace.replace(index, name, value) {
            return Ok(());
        }
        globals::check_attribute_name(name)?;
        namespace.set(&mut runtime.meter, Str::from(name), value)
    }

    /// Returns the error of assigning an item of an object that is not a namespace.
    #[cold]
    fn refuse_item(&self, slot: &Slot) -> Error {
        match self.get(slot) {
            Some(Value::Dict(_)) => unsupported::ITEM_ASSIGNMENT.error(),
            Some(Value::List(_)) => Error::type_error("list indices must be integers or slices, not str"),
            Some(other) => {
                let message = format!("'{}' object does not support item assignment", other.ty().name());
                Error::type_error(message)
            }
            None => Error::type_error("'_MissingType' object does not support item assignment"),
        }
    }

    /// Unpacks a value to several targets (CPython `UNPACK_SEQUENCE`).
    #[inline(never)]
    fn unpack(&mut self, targets: &'a [Target], value: Value<'a>) -> Result<()> {
        let expected = targets.len();
        self.runtime.meter.charge_items(expected / 4)?;
        if let Value::Tuple(items) | Value::List(items) = &value {
            if items.len() == expected {
                for (target, item) in targets.iter().zip(items.iter()) {
                    self.assign(target, item)?;
                }
                return Ok(());
            }
        }
        let items = Iter::unpack(self.runtime, &value, expected)?;
        targets
            .iter()
            .zip(items)
            .try_for_each(|(target, item)| self.assign(target, item))
    }

    /// Returns the item that the generator of `for x in items if …` yields: the value of the variable `x`, or a tuple for several
    /// variables.
    pub(super) fn pack(&mut self, target: &'a Target) -> Result<Value<'a>> {
        match &target.kind {
            TargetKind::Name { slot, .. } | TargetKind::Attribute { slot, .. } => {
                Ok(self.get(slot).cloned().unwrap_or(Value::None))
            }
            TargetKind::Tuple(targets) => {
                let items = targets.iter().map(|target| self.pack(target)).collect::<Result<Vec<_>>>()?;
                self.runtime.tuple(&items)
            }
        }
    }

    /// Runs an assignment that appends to the value of its target. The resolver has made sure that the appended expressions do not read
    /// the target.
    #[inline(never)]
    pub(super) fn accumulate(&mut self, node: &'a Set) -> Result<()> {
        if let TargetKind::Attribute { slot, name, .. } = &node.target.kind {
            if let Some(Value::Namespace(id)) = self.get(slot) {
                let is_text = matches!(node.value.kind, ExprKind::Concat(_));
                if self.runtime.heap.can_grow(*id, name, is_text) {
                    return self.append(*id, name, &node.value);
                }
            }
        }
        let value = self.expr(&node.value)?;
        self.assign(&node.target, value)
    }

    /// Appends the operands of a sum or a concatenation that begins with an attribute to that attribute. They are evaluated before the
    /// first is appended, because they can read the attribute by another name of the namespace.
    fn append(&mut self, id: NamespaceId, name: &'a str, expr: &'a Expr) -> Result<()> {
        if let ExprKind::Concat(items) = &expr.kind {
            let mut texts = Vec::with_capacity(items.len());
            for item in items.iter().skip(1) {
                let item = self.expr(item)?;
                texts.push(print::to_str(self.runtime, &item)?.with_markup(false));
            }
            return texts
                .into_iter()
                .try_for_each(|text| self.runtime.append_to_attribute(id, name, &Value::Str(text)).map(drop));
        }
        let (mut sums, mut first) = (Vec::new(), expr);
        while let ExprKind::Binary(BinaryOp::Add, operands) = &first.kind {
            let [left, right] = &**operands;
            sums.push((first, right));
            first = left;
        }
        let (mut values, mut failed) = (Vec::with_capacity(sums.len()), Ok(()));
        for (_, right) in sums.iter().rev() {
            match self.expr(right) {
                Ok(value) => values.push(value),
                Err(error) => {
                    failed = Err(error);
                    break;
                }
            }
        }
        for ((sum, _), right) in sums.into_iter().rev().zip(values) {
            let appended = match self.runtime.append_to_attribute(id, name, &right) {
                Ok(false) => self.add_to_attribute(id, name, &right),
                appended => appended.map(drop),
            };
            appended.map_err(|error| self.explain_error(error, sum))?;
        }
        failed
    }

    /// Sets an attribute to the sum of it and a value, by the rules of `+`, if the value cannot be appended in place.
    fn add_to_attribute(&mut self, id: NamespaceId, name: &'a str, right: &Value<'a>) -> Result<()> {
        let left = self.runtime.namespace_value(id, name)?.unwrap_or(Value::None);
        let sum = operators::binary(self.runtime, BinaryOp::Add, &left, right)?;
        match self.runtime.heap.namespace_mut(id) {
            Some(namespace) => namespace.set(&mut self.runtime.meter, Str::from(name), sum),
            None => Ok(()),
        }
    }
}
