//! Finds the string literals of a template, for a render that tells where its output came from.

use super::{Body, Child, Expr, ExprKind, Literal, Template};
use crate::json::Data;
use crate::source::Source;
use crate::trace::Literals;

impl Template {
    /// Returns the string literals with the lines on which they begin.
    pub fn literals(&self, source: &Source<'_>) -> Literals {
        let mut literals = Literals::default();
        add_body(&self.body, source, &mut literals);
        literals.sort();
        literals
    }
}

fn add_body(body: &Body, source: &Source<'_>, literals: &mut Literals) {
    for stmt in &body.stmts {
        stmt.for_each_child(&mut |child| match child {
            Child::Expr(expr) => add_expr(expr, source, literals),
            Child::Body(body) => add_body(body, source, literals),
            Child::Target(_) | Child::Parameter(_) => {}
        });
    }
}

fn add_expr(expr: &Expr, source: &Source<'_>, literals: &mut Literals) {
    match &expr.kind {
        ExprKind::Literal(Literal::Str(text)) | ExprKind::Markup(text) => literals.push(text, source.line(expr.at)),
        ExprKind::Literal(Literal::Data(data)) => add_data(data, source.line(expr.at), literals),
        _ => expr.for_each_child(&mut |child| add_expr(child, source, literals)),
    }
}

fn add_data(data: &Data<'_>, line: u32, literals: &mut Literals) {
    match data {
        Data::Str(text) => literals.push(text, line),
        Data::List(items) | Data::Tuple(items) => items.iter().for_each(|item| add_data(item, line, literals)),
        Data::Object(object) => object.entries().iter().for_each(|(key, value)| {
            literals.push(key, line);
            add_data(value, line, literals);
        }),
        _ => {}
    }
}
