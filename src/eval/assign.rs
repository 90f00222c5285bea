//! Assigns to targets.

use super::Evaluator;
use crate::ast::{Target, TargetKind};
use crate::builtins::globals;
use crate::error::{Error, Result};
use crate::unsupported;
use crate::value::{Iter, Str, Value};

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
            TargetKind::Attribute { slot, name, .. } => {
                let object = self.get(slot).cloned();
                self.set_attribute(object, name, value).map_err(|error| error.at(target.span))
            }
            TargetKind::Tuple(targets) => {
                let assigned = match (targets.as_slice(), &value) {
                    ([first, second], Value::Tuple(pair)) => match pair.as_entry() {
                        Some(entry) => self.assign_entry([first, second], entry),
                        None => self.unpack(targets, value),
                    },
                    _ => self.unpack(targets, value),
                };
                assigned.map_err(|error| error.at(target.span))
            }
        }
    }

    /// Assigns a key and its value to two targets.
    #[inline]
    pub(super) fn assign_entry(&mut self, [first, second]: [&'a Target; 2], (key, value): (Value<'a>, Value<'a>)) -> Result<()> {
        self.runtime.meter.charge(1)?;
        self.assign(first, key)?;
        self.assign(second, value)
    }

    #[inline(never)]
    fn set_attribute(&mut self, object: Option<Value<'a>>, name: &'a str, value: Value<'a>) -> Result<()> {
        match object {
            Some(Value::Namespace(id)) => {
                globals::check_attribute_name(name)?;
                let runtime = &mut *self.runtime;
                if let Some(namespace) = runtime.heap.namespace_mut(id) {
                    namespace.set(&mut runtime.meter, Str::from(name), value)?;
                }
                Ok(())
            }
            Some(Value::Dict(_)) => Err(unsupported::ITEM_ASSIGNMENT.error()),
            Some(Value::List(_)) => Err(Error::type_error("list indices must be integers or slices, not str")),
            Some(other) => {
                let message = format!("'{}' object does not support item assignment", other.ty().name());
                Err(Error::type_error(message))
            }
            None => Err(Error::type_error("'_MissingType' object does not support item assignment")),
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
        let Some(mut iter) = Iter::try_new(&value) else {
            let message = format!("cannot unpack non-iterable {} object", value.ty().name());
            return Err(Error::type_error(message));
        };
        let mut items = Vec::with_capacity(expected);
        while let Some(item) = iter.next(self.runtime)? {
            if items.len() == expected {
                return Err(Error::value(format!("too many values to unpack (expected {expected})")));
            }
            items.push(item);
        }
        if items.len() < expected {
            let got = items.len();
            return Err(Error::value(format!(
                "not enough values to unpack (expected {expected}, got {got})"
            )));
        }
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
                let items = targets.iter().map(|target| self.pack(target)).collect::<Result<_>>()?;
                self.runtime.tuple(items)
            }
        }
    }
}
