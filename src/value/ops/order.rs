//! Python's `<`, `<=`, `>` and `>=`.
//!
//! Numbers compare by their exact values, strings by code points, two lists or two tuples by the first items that differ, and views of
//! keys and items as sets: `<` means subset. Other pairs are a type error: `'<' not supported between instances of 'str' and 'int'`. An
//! undefined value raises its own error.

use std::cmp::Ordering;

use super::container::contains;
use super::{arithmetic, compare};
use crate::error::{Error, Result};
use crate::number::int_float;
use crate::value::{Iter, Runtime, Seq, Value};

/// One of the four operators.
#[derive(Clone, Copy)]
enum Order {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Order {
    fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        }
    }

    /// Returns the operator that is true for the exchanged operands.
    fn reflected(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessEqual => Self::GreaterEqual,
            Self::Greater => Self::Less,
            Self::GreaterEqual => Self::LessEqual,
        }
    }

    /// Returns whether the operator is true for two values of this order.
    fn accepts(self, ordering: Ordering) -> bool {
        match self {
            Self::Less => ordering.is_lt(),
            Self::LessEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterEqual => ordering.is_ge(),
        }
    }
}

pub fn less<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    compare(runtime, Order::Less, left, right)
}

pub fn less_equal<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    compare(runtime, Order::LessEqual, left, right)
}

pub fn greater<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    compare(runtime, Order::Greater, left, right)
}

pub fn greater_equal<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    compare(runtime, Order::GreaterEqual, left, right)
}

fn compare<'a>(runtime: &mut Runtime<'a>, order: Order, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    runtime.meter.charge(1)?;
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => Ok(order.accepts(left.cmp(right))),
        (Value::Str(left), Value::Str(right)) => {
            // UTF-8 orders bytes as it orders code points.
            let (left, right) = (left.as_str(), right.as_str());
            runtime.meter.charge_bytes(left.len().min(right.len()))?;
            Ok(order.accepts(left.cmp(right)))
        }
        // The type of a group is a subtype of `tuple`, so its operator comes first (CPython 3.13 `object.c`, `do_richcompare`).
        (Value::Tuple(left), Value::Tuple(right)) if right.is_group() && !left.is_group() => {
            compare_items(runtime, order.reflected(), right, left)
        }
        (Value::List(left), Value::List(right)) | (Value::Tuple(left), Value::Tuple(right)) => {
            compare_items(runtime, order, left, right)
        }
        (Value::Keys(one) | Value::Items(one), Value::Keys(other) | Value::Items(other)) => Ok(order
            .accepts(one.len().cmp(&other.len()))
            && match order {
                Order::Less | Order::LessEqual => is_subset(runtime, left, right)?,
                Order::Greater | Order::GreaterEqual => is_subset(runtime, right, left)?,
            }),
        (Value::Undefined(undefined), _) | (_, Value::Undefined(undefined)) => Err(undefined.error()),
        _ => match (left.as_number(), right.as_number()) {
            // A NaN has no order with any number.
            (Some(one), Some(other)) => {
                arithmetic::charge_digits(runtime, left, right)?;
                Ok(int_float::compare(one, other).is_some_and(|ordering| order.accepts(ordering)))
            }
            _ => Err(Error::type_error(format!(
                "'{}' not supported between instances of '{}' and '{}'",
                order.sign(),
                left.ty().name(),
                right.ty().name()
            ))),
        },
    }
}

fn compare_items<'a>(runtime: &mut Runtime<'a>, order: Order, left: &Seq<'a>, right: &Seq<'a>) -> Result<bool> {
    runtime.meter.check_stack()?;
    for index in 0..left.len().min(right.len()) {
        let (Some(left), Some(right)) = (left.get(index), right.get(index)) else {
            break;
        };
        if !compare::identical_or_equal(runtime, &left, &right)? {
            return compare(runtime, order, &left, &right);
        }
    }
    Ok(order.accepts(left.len().cmp(&right.len())))
}

/// Returns whether every item of one view of a dict is in the other (CPython 3.13 `dictobject.c`, `dictview_richcompare`).
pub(super) fn is_subset<'a>(runtime: &mut Runtime<'a>, part: &Value<'a>, whole: &Value<'a>) -> Result<bool> {
    runtime.meter.check_stack()?;
    let mut items = Iter::new(part)?;
    while let Some(item) = items.next(runtime)? {
        if !contains(runtime, whole, &item)? {
            return Ok(false);
        }
    }
    Ok(true)
}
