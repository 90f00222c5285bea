//! Finds the expressions of a template that look at later messages or at the number of messages.

use indexmap::IndexSet;

use crate::ast::{Child, Expr, ExprKind, Literal, UnaryOp};
use crate::template::Template;

/// The attributes of the variable `loop` that depend on later rounds.
const LATER: [&str; 5] = ["last", "nextitem", "revindex", "revindex0", "length"];

/// The filters of a list that depend on its end.
const ENDS: [&str; 5] = ["length", "count", "last", "reverse", "tojson"];

/// The maximum number of expressions that a report shows.
const MAX_SHOWN: usize = 5;

/// Returns the expressions that look at later messages, each with its line, those near a line first.
pub(crate) fn list_lookahead(template: &Template, near: usize) -> Vec<(usize, String)> {
    let source = template.source();
    let mut looks = IndexSet::new();
    template.tree().body.walk(&mut |child| {
        let Child::Expr(expr) = child else { return true };
        let looks_ahead = looks_ahead(template, expr);
        if looks_ahead {
            looks.insert((source.line(expr.span.start) as usize, source.slice(expr.span)));
        }
        !looks_ahead
    });
    looks.sort_by_key(|(line, _)| line.abs_diff(near));
    let looks = looks.into_iter().take(MAX_SHOWN);
    looks.map(|(line, expression)| (line, expression.to_owned())).collect()
}

fn looks_ahead(template: &Template, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Attribute(node) => name(template, &node.object) == Some("loop") && LATER.contains(&&*node.name),
        ExprKind::Filter(filter) => {
            let input = filter.input.as_ref().and_then(|input| name(template, input));
            input.is_some_and(|name| name.contains("messages")) && ENDS.contains(&&*filter.name)
        }
        ExprKind::Item(operands) => {
            let [object, key] = &**operands;
            let is_from_start = matches!(key.kind, ExprKind::Literal(Literal::Int(0..)));
            name(template, object).is_some_and(|name| name.contains("messages")) && !is_from_start
        }
        ExprKind::Slice(slice) => {
            let is_list = name(template, &slice.object).is_some_and(|name| name.contains("messages"));
            is_list && (slice.step.is_some() || slice.stop.is_some())
        }
        ExprKind::Unary(UnaryOp::Not, operand) => looks_ahead(template, operand),
        _ => false,
    }
}

fn name<'t>(template: &'t Template, expr: &Expr) -> Option<&'t str> {
    match &expr.kind {
        ExprKind::Name(name) => Some(template.tree().symbols.name(name.symbol)),
        _ => None,
    }
}
