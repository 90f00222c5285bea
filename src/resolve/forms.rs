//! Chooses the form in which a render evaluates an expression, once its parts are resolved.

use crate::ast::{BinaryOp, Compare, CompareOp, Expr, ExprKind, Filter, Form, Literal, UnaryOp};
use crate::builtins::{filters, jinja_tests, methods};
use crate::text::short_eq::SHORT;
use crate::value::{Code, Shortcut};

/// The maximum nesting of arithmetic with the form [`Form::Count`]. If an operand is no integer after all, each level is computed twice.
const MAX_DEPTH: u32 = 3;

/// Returns the form of an expression.
pub(super) fn choose(kind: &ExprKind) -> Form {
    match kind {
        ExprKind::Name(_) => Form::Path,
        ExprKind::Attribute(attribute) if attribute.is_key && is_object(&attribute.object.kind) => Form::Path,
        ExprKind::Unary(UnaryOp::Not, _) => Form::Not,
        ExprKind::Logic(..) => Form::Logic,
        ExprKind::Compare(compare) if compare.more.is_empty() => choose_comparison(compare),
        ExprKind::Test(test) => {
            let code = test.builtin.and_then(jinja_tests::get).map(|row| row.code);
            match code {
                Some(Code::Inspect(_)) if test.args.is_empty() && test.input.form == Form::Path => Form::Inspection,
                _ => Form::General,
            }
        }
        ExprKind::Binary(BinaryOp::Add, operands) if has_text(operands) => Form::TextSum,
        ExprKind::Binary(..) if is_count(kind, MAX_DEPTH) => Form::Count,
        ExprKind::Binary(BinaryOp::Add, _) => Form::Sum,
        ExprKind::Filter(filter) => choose_filter(filter),
        ExprKind::Call(call) => match &call.callee.kind {
            ExprKind::Attribute(callee) if call.args.is_empty() && callee.object.form == Form::Path => {
                match callee.text_method.and_then(methods::get_str).map(|method| method.shortcut) {
                    Some(Shortcut::Part(_)) => Form::Part,
                    _ => Form::Applied,
                }
            }
            _ => Form::Applied,
        },
        ExprKind::Item(_) => Form::Applied,
        _ => Form::General,
    }
}

/// Returns whether an expression is the object of a path: a variable, or a key or an item of one.
fn is_object(kind: &ExprKind) -> bool {
    let is_name = |expr: &Expr| matches!(expr.kind, ExprKind::Name(_));
    match kind {
        ExprKind::Name(_) => true,
        ExprKind::Attribute(attribute) => attribute.is_key && is_name(&attribute.object),
        ExprKind::Item(operands) => {
            let [object, index] = &**operands;
            is_name(object) && matches!(index.kind, ExprKind::Literal(Literal::Int(_)))
        }
        _ => false,
    }
}

fn choose_comparison(compare: &Compare) -> Form {
    let (first, (op, right)) = (&compare.first, &compare.link);
    match op {
        CompareOp::Eq | CompareOp::Ne if first.form == Form::Path => match (&first.kind, right.literal()) {
            (ExprKind::Attribute(key), Some(text)) if matches!(key.object.kind, ExprKind::Name(_)) => {
                if key.name.len() <= SHORT && text.len() <= SHORT {
                    Form::KeyIsText
                } else {
                    Form::PathIsText
                }
            }
            (_, Some(_)) => Form::PathIsText,
            _ => choose_order(compare),
        },
        CompareOp::Eq | CompareOp::Ne if first.is_condition() && right.is_condition() => Form::Agreement,
        CompareOp::In | CompareOp::NotIn if first.literal().is_some() && right.form == Form::Path => Form::TextInPath,
        CompareOp::In | CompareOp::NotIn => Form::General,
        _ => choose_order(compare),
    }
}

fn choose_order(compare: &Compare) -> Form {
    let (_, right) = &compare.link;
    if is_count(&compare.first.kind, MAX_DEPTH) && is_count(&right.kind, MAX_DEPTH) {
        Form::Order
    } else {
        Form::General
    }
}

/// Returns whether an expression may be an integer whose computation has no effect.
fn is_count(kind: &ExprKind, depth: u32) -> bool {
    match kind {
        ExprKind::Literal(Literal::Int(_)) => true,
        ExprKind::Name(_) => true,
        ExprKind::Attribute(attribute) => attribute.is_key && is_object(&attribute.object.kind),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mod, operands) => {
            let below = depth.checked_sub(1);
            below.is_some_and(|depth| operands.iter().all(|operand| is_count(&operand.kind, depth)))
        }
        ExprKind::Filter(filter) => {
            let is_length = matches!(find_shortcut(filter), Shortcut::Length) && filter.args.is_empty();
            is_length && filter.input.as_ref().is_some_and(|input| input.form == Form::Path)
        }
        _ => false,
    }
}

/// Returns whether a sum has a string literal as one of its last two operands or as its first, so that it is most likely a string.
fn has_text(operands: &[Expr; 2]) -> bool {
    let is_text = |operand: &Expr| operand.literal().is_some_and(|text| !text.is_empty());
    let [left, right] = operands;
    is_text(right)
        || match &left.kind {
            ExprKind::Binary(BinaryOp::Add, operands) => operands.iter().any(is_text),
            _ => is_text(left),
        }
}

fn choose_filter(filter: &Filter) -> Form {
    match (find_shortcut(filter), &filter.input) {
        (Shortcut::Part(_), Some(input)) if filter.args.is_empty() && input.form == Form::Path => Form::Part,
        (Shortcut::Write(_), Some(_)) => Form::Written,
        (Shortcut::Items, Some(_)) if filter.args.is_empty() => Form::Entries,
        (Shortcut::SelectAttribute(_), Some(input)) => {
            let are_literals = filter.args.positional.iter().all(|argument| argument.literal().is_some());
            match &input.kind {
                _ if !are_literals => Form::Applied,
                ExprKind::Filter(inner) if matches!(find_shortcut(inner), Shortcut::SelectAttribute(_)) => input.form,
                _ => Form::Selection,
            }
        }
        _ => Form::Applied,
    }
}

fn find_shortcut(filter: &Filter) -> Shortcut {
    let function = filter.builtin.and_then(filters::get);
    function.map_or(Shortcut::None, |function| function.shortcut)
}
