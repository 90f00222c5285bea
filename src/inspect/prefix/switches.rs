//! The values that the variables of the caller have during the search.

use serde_json::{Map, Value};

use crate::ast::{Body, Child, CompareOp, Expr, ExprKind, Literal, Symbol};
use crate::chat::ChatTemplate;
use crate::json::Data;

/// The most sets of variables that a search tries.
const MOST: usize = 8;

/// The variables that are not switches.
const STANDARD: [&str; 4] = ["messages", "tools", "documents", "add_generation_prompt"];

/// Returns the sets of variables to try: none at all, and each variable with each value that the template compares it with. A variable that
/// is compared with nothing is true or false.
pub fn list_settings(template: &ChatTemplate) -> Vec<Map<String, Value>> {
    let mut settings = vec![Map::new()];
    for compiled in template.compiled() {
        let variables = compiled.variables().into_iter();
        let is_switch = |name: &&str| !STANDARD.contains(name) && !name.ends_with("_token");
        for name in variables.filter(is_switch) {
            let Some(symbol) = compiled.tree().symbols.find(name) else {
                continue;
            };
            let mut values = Vec::new();
            collect_body(&compiled.tree().body, symbol, &mut values);
            values.extend([Value::Bool(true), Value::Bool(false)]);
            for value in values {
                let setting = Map::from_iter([(name.to_owned(), value)]);
                if !settings.contains(&setting) {
                    settings.push(setting);
                }
            }
        }
    }
    settings.truncate(MOST);
    settings
}

fn collect_body(body: &Body, name: Symbol, values: &mut Vec<Value>) {
    for stmt in &body.stmts {
        stmt.for_each_child(&mut |child| match child {
            Child::Expr(expr) => collect_expr(expr, name, values),
            Child::Body(body) => collect_body(body, name, values),
            Child::Target(_) | Child::Parameter(_) => {}
        });
    }
}

fn collect_expr(expr: &Expr, name: Symbol, values: &mut Vec<Value>) {
    if let ExprKind::Compare(compare) = &expr.kind {
        let (op, right) = &compare.link;
        let is_name = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(read) if read.symbol == name);
        match op {
            CompareOp::Eq | CompareOp::Ne if is_name(&compare.first) => add_literal(right, values),
            CompareOp::Eq | CompareOp::Ne if is_name(right) => add_literal(&compare.first, values),
            CompareOp::In | CompareOp::NotIn if is_name(&compare.first) => add_items(right, values),
            _ => {}
        }
    }
    expr.for_each_child(&mut |child| collect_expr(child, name, values));
}

fn add_literal(expr: &Expr, values: &mut Vec<Value>) {
    match &expr.kind {
        ExprKind::Literal(Literal::Str(text)) => values.push(Value::from(&**text)),
        ExprKind::Literal(Literal::Int(int)) => values.push(Value::from(*int)),
        _ => {}
    }
}

fn add_items(expr: &Expr, values: &mut Vec<Value>) {
    match &expr.kind {
        ExprKind::List(items) | ExprKind::Tuple(items) => items.iter().for_each(|item| add_literal(item, values)),
        ExprKind::Literal(Literal::Data(data)) => {
            if let Data::List(items) | Data::Tuple(items) = &**data {
                let texts = items.iter().filter_map(|item| match item {
                    Data::Str(text) => Some(Value::from(&**text)),
                    _ => None,
                });
                values.extend(texts);
            }
        }
        _ => {}
    }
}
