//! Applies the operators of the tree to values, for folding and for rendering.

use crate::ast::{BinaryOp, CompareOp, Literal, UnaryOp};
use crate::error::Result;
use crate::value::{Runtime, Value, ops};

pub fn literal(literal: &Literal) -> Value<'_> {
    match literal {
        Literal::None => Value::None,
        Literal::Bool(bool) => Value::Bool(*bool),
        Literal::Int(int) => Value::Int(*int),
        Literal::Float(float) => Value::Float(*float),
        Literal::Str(text) => Value::text(text),
        Literal::Data(data) => Value::from(&**data),
    }
}

/// Applies a unary operator: `-a`, `+a`, `not a`.
pub fn unary<'a>(runtime: &mut Runtime<'a>, op: UnaryOp, operand: &Value<'a>) -> Result<Value<'a>> {
    match op {
        UnaryOp::Not => Ok(Value::Bool(!ops::is_true(runtime, operand)?)),
        UnaryOp::Neg => ops::negate(runtime, operand),
        UnaryOp::Pos => ops::positive(operand),
    }
}

/// Returns the sum or the difference of two integers, or the remainder by a positive divisor, if it fits in 64 bits and the limits allow
/// as many. Other results are left to [`binary`].
#[inline]
pub fn compute_small(runtime: &Runtime<'_>, op: BinaryOp, left: i64, right: i64) -> Option<i64> {
    let int = match op {
        BinaryOp::Add => left.checked_add(right)?,
        BinaryOp::Sub => left.checked_sub(right)?,
        // The remainder has the sign of the divisor.
        BinaryOp::Mod if right > 0 => left.checked_rem_euclid(right)?,
        _ => return None,
    };
    (runtime.meter.limits().bits >= u64::from(i64::BITS)).then_some(int)
}

/// Applies an arithmetic operator, as in `a + b`.
#[inline]
pub fn binary<'a>(runtime: &mut Runtime<'a>, op: BinaryOp, left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>> {
    if let (Value::Int(left), Value::Int(right)) = (left, right) {
        if let Some(int) = compute_small(runtime, op, *left, *right) {
            return Ok(Value::Int(int));
        }
    }
    match op {
        BinaryOp::Add => ops::add(runtime, left, right),
        BinaryOp::Sub => ops::subtract(runtime, left, right),
        BinaryOp::Mul => ops::multiply(runtime, left, right),
        BinaryOp::Div => ops::divide(runtime, left, right),
        BinaryOp::FloorDiv => ops::floor_divide(runtime, left, right),
        BinaryOp::Mod => ops::modulo(runtime, left, right),
        BinaryOp::Pow => ops::power(runtime, left, right),
    }
}

/// Compares two integers, if the operator orders them.
#[inline]
pub fn compare_small(op: CompareOp, left: i64, right: i64) -> Option<bool> {
    Some(match op {
        CompareOp::Eq => left == right,
        CompareOp::Ne => left != right,
        CompareOp::Lt => left < right,
        CompareOp::Le => left <= right,
        CompareOp::Gt => left > right,
        CompareOp::Ge => left >= right,
        CompareOp::In | CompareOp::NotIn => return None,
    })
}

/// Evaluates one link of a chain of comparisons.
#[inline]
pub fn compare<'a>(runtime: &mut Runtime<'a>, op: CompareOp, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    if let (Some(left), Some(right)) = (left.as_int(), right.as_int()) {
        if let Some(holds) = compare_small(op, left, right) {
            return Ok(holds);
        }
    }
    match op {
        CompareOp::Eq => ops::equal(runtime, left, right),
        CompareOp::Ne => Ok(!ops::equal(runtime, left, right)?),
        CompareOp::Lt => ops::less(runtime, left, right),
        CompareOp::Le => ops::less_equal(runtime, left, right),
        CompareOp::Gt => ops::greater(runtime, left, right),
        CompareOp::Ge => ops::greater_equal(runtime, left, right),
        CompareOp::In => ops::contains(runtime, right, left),
        CompareOp::NotIn => Ok(!ops::contains(runtime, right, left)?),
    }
}
