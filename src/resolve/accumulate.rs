//! Finds the assignments that append to their target.
//!
//! ```text
//! {% set ns.text = ns.text + message.content %}      appends to the text
//! {% set ns.count = ns.count + 1 %}                  evaluates the sum: a number cannot be appended to
//! ```
//!
//! The appended expressions must not read the target, because an attribute of a namespace grows while the evaluator appends.

use crate::ast::{BinaryOp, Expr, ExprKind, Literal, SetStrategy, Slot, Target, TargetKind};

/// Returns how `set` assigns a value to a target.
pub(super) fn choose_strategy(target: &Target, value: &Expr) -> SetStrategy {
    match (&target.kind, &value.kind) {
        (TargetKind::Name { .. }, ExprKind::Name(name)) if matches!(name.slot, Slot::Outer { .. }) => SetStrategy::Alias,
        _ if accumulates(target, value) => SetStrategy::Append,
        _ => SetStrategy::Plain,
    }
}

/// Returns whether a value is `target + a + b` or `target ~ a ~ b`, where neither `a` nor `b` calls anything or reads the target. A sum
/// with a number does not count, because a number cannot be appended.
fn accumulates(target: &Target, value: &Expr) -> bool {
    let slot = match &target.kind {
        TargetKind::Name {
            slot, exported: false, ..
        }
        | TargetKind::Attribute { slot, .. } => *slot,
        TargetKind::Name { .. } | TargetKind::Tuple(_) => return false,
    };
    let mut first = value;
    let mut operands = Vec::new();
    while let ExprKind::Binary(BinaryOp::Add, pair) = &first.kind {
        let [left, right] = &**pair;
        if is_number(right) {
            return false;
        }
        operands.push(right);
        first = left;
    }
    if let (ExprKind::Concat(items), true) = (&first.kind, operands.is_empty()) {
        let Some((left, rest)) = items.split_first() else {
            return false;
        };
        operands.extend(rest);
        first = left;
    }
    let is_target = match (&target.kind, &first.kind) {
        (TargetKind::Name { .. }, ExprKind::Name(name)) => name.slot == slot,
        (TargetKind::Attribute { name, .. }, ExprKind::Attribute(attribute)) => {
            attribute.name == *name && matches!(&attribute.object.kind, ExprKind::Name(object) if object.slot == slot)
        }
        _ => false,
    };
    is_target && !operands.is_empty() && !operands.into_iter().any(|operand| may_read(operand, slot))
}

/// Returns whether an expression is always a number.
fn is_number(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(Literal::Int(_) | Literal::Float(_)) => true,
        ExprKind::Conditional(conditional) => is_number(&conditional.then) && conditional.otherwise.as_ref().is_some_and(is_number),
        _ => false,
    }
}

/// Returns whether an expression may read a variable.
fn may_read(expr: &Expr, slot: Slot) -> bool {
    let mut reads = match &expr.kind {
        ExprKind::Call(..) => true,
        ExprKind::Name(name) => name.slot == slot,
        _ => false,
    };
    expr.for_each_child(&mut |child| reads |= may_read(child, slot));
    reads
}
