//! Which operator of the value floor a sign of the tree is; folding and rendering both come through here.

use crate::ast::{BinaryOp, CompareOp, UnaryOp};
use crate::error::Result;
use crate::value::{Runtime, Value};

/// `-a`, `+a`, `not a`.
pub fn unary<'a>(runtime: &mut Runtime<'a>, op: UnaryOp, operand: &Value<'a>) -> Result<Value<'a>> {
    match op {
        UnaryOp::Not => Ok(Value::Bool(!runtime.truth(operand)?)),
        UnaryOp::Neg => runtime.negate(operand),
        UnaryOp::Pos => runtime.positive(operand),
    }
}

/// `a + b` and the other arithmetic.
pub fn binary<'a>(runtime: &mut Runtime<'a>, op: BinaryOp, left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>> {
    match op {
        BinaryOp::Add => runtime.add(left, right),
        BinaryOp::Sub => runtime.subtract(left, right),
        BinaryOp::Mul => runtime.multiply(left, right),
        BinaryOp::Div => runtime.divide(left, right),
        BinaryOp::FloorDiv => runtime.floor_divide(left, right),
        BinaryOp::Mod => runtime.modulo(left, right),
        BinaryOp::Pow => runtime.power(left, right),
    }
}

/// One link of a chain of comparisons.
#[inline]
pub fn compare<'a>(runtime: &mut Runtime<'a>, op: CompareOp, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    match op {
        CompareOp::Eq => runtime.equal(left, right),
        CompareOp::Ne => Ok(!runtime.equal(left, right)?),
        CompareOp::Lt => runtime.less(left, right),
        CompareOp::Le => runtime.less_equal(left, right),
        CompareOp::Gt => runtime.greater(left, right),
        CompareOp::Ge => runtime.greater_equal(left, right),
        CompareOp::In => runtime.contains(right, left),
        CompareOp::NotIn => Ok(!runtime.contains(right, left)?),
    }
}
