//! Chooses the form in which a render evaluates an expression, once its parts are resolved.

use crate::ast::{BinaryOp, Compare, CompareOp, Expr, ExprKind, Filter, Form, Literal};
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
        ExprKind::Compare(compare) if is_key_with_text(compare) => Form::KeyIsText,
        ExprKind::Compare(compare) if compare.more.is_empty() && is_peeked(&compare.first) && is_peeked(&compare.link.1) => {
            Form::Peeked
        }
        ExprKind::Compare(compare) if compare.more.is_empty() && compare.first.is_condition() && compare.link.1.is_condition() => {
            match compare.link.0 {
                CompareOp::Eq | CompareOp::Ne => Form::Agreement,
                _ => Form::General,
            }
        }
        ExprKind::Test(test) => {
            let code = test
                .builtin
                .and_then(|index| jinja_tests::TABLE.get(index))
                .map(|row| row.code);
            match code {
                Some(Code::Inspect(_)) if test.args.is_empty() && test.input.form == Form::Path => Form::Inspection,
                _ => Form::General,
            }
        }
        ExprKind::Binary(BinaryOp::Add, operands) if has_text(operands) => Form::TextSum,
        ExprKind::Binary(..) if is_count(kind, MAX_DEPTH) => Form::Count,
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

/// Returns whether a comparison has the form [`Form::KeyIsText`].
fn is_key_with_text(compare: &Compare) -> bool {
    let (op, right) = &compare.link;
    let is_key = match &compare.first.kind {
        ExprKind::Attribute(key) => key.is_key && key.name.len() <= SHORT && matches!(key.object.kind, ExprKind::Name(_)),
        _ => false,
    };
    let is_text = right.literal().is_some_and(|text| text.len() <= SHORT);
    matches!(op, CompareOp::Eq | CompareOp::Ne) && compare.more.is_empty() && is_key && is_text
}

/// Returns whether a peek may find the value of an expression.
fn is_peeked(expr: &Expr) -> bool {
    expr.literal().is_some() || expr.form == Form::Path || is_count(&expr.kind, MAX_DEPTH)
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
        (Shortcut::SelectAttribute(_), Some(_)) if filter.args.positional.iter().all(|argument| argument.literal().is_some()) => {
            Form::Selection
        }
        _ => Form::Applied,
    }
}

fn find_shortcut(filter: &Filter) -> Shortcut {
    let function = filter.builtin.and_then(|index| filters::TABLE.get(index));
    function.map_or(Shortcut::None, |function| function.shortcut)
}
