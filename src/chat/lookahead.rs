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
    let mut walk = Walk {
        template,
        looks: IndexSet::new(),
    };
    template.tree().body.for_each_stmt(&mut |stmt| {
        stmt.for_each_child(&mut |child| {
            if let Child::Expr(expr) = child {
                walk.expr(expr);
            }
        });
    });
    let mut looks = walk.looks;
    looks.sort_by_key(|(line, _)| line.abs_diff(near));
    let looks = looks.into_iter().take(MAX_SHOWN);
    looks.map(|(line, expression)| (line, expression.to_owned())).collect()
}

struct Walk<'t> {
    template: &'t Template,
    /// The lines and the sources of the expressions.
    looks: IndexSet<(usize, &'t str)>,
}

impl Walk<'_> {
    fn expr(&mut self, expr: &Expr) {
        if self.looks_ahead(expr) {
            let source = self.template.source();
            let line = source.line(expr.span.start) as usize;
            self.looks.insert((line, source.slice(expr.span)));
        } else {
            expr.for_each_child(&mut |child| self.expr(child));
        }
    }

    fn looks_ahead(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Attribute(node) => self.name(&node.object) == Some("loop") && LATER.contains(&&*node.name),
            ExprKind::Filter(filter) => {
                let input = filter.input.as_ref().and_then(|input| self.name(input));
                input.is_some_and(|name| name.contains("messages")) && ENDS.contains(&&*filter.name)
            }
            ExprKind::Item(operands) => {
                let [object, key] = &**operands;
                let is_from_start = matches!(key.kind, ExprKind::Literal(Literal::Int(0..)));
                self.name(object).is_some_and(|name| name.contains("messages")) && !is_from_start
            }
            ExprKind::Slice(slice) => {
                let is_list = self.name(&slice.object).is_some_and(|name| name.contains("messages"));
                is_list && (slice.step.is_some() || slice.stop.is_some())
            }
            ExprKind::Unary(UnaryOp::Not, operand) => self.looks_ahead(operand),
            _ => false,
        }
    }

    fn name(&self, expr: &Expr) -> Option<&str> {
        match &expr.kind {
            ExprKind::Name(name) => Some(self.template.tree().symbols.name(name.symbol)),
            _ => None,
        }
    }
}
