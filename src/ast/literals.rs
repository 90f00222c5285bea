//! Finds the literals of a template by their addresses: strings for traced renders, lists and dicts for `is sameas`.

use super::{Body, Child, ExprKind, Literal, StmtKind, Template};
use crate::json::Data;
use crate::source::Source;
use crate::trace::Literals;

impl Template {
    /// Returns the string literals with the lines on which they begin.
    pub fn literals(&self, source: &Source<'_>) -> Literals {
        let mut literals = Literals::default();
        self.body.walk(&mut |child| {
            if let Child::Expr(expr) = child {
                match &expr.kind {
                    ExprKind::Literal(Literal::Str(text)) | ExprKind::Markup(text) => literals.push(text, source.line(expr.at)),
                    ExprKind::Literal(Literal::Data(data)) => add_data(data, source.line(expr.at), &mut literals),
                    _ => {}
                }
            }
            true
        });
        literals.sort();
        literals
    }

    /// Searches the loops, macros and call blocks for a literal list or dict at an address, or a literal tuple that contains one. Python
    /// makes another object each time such a literal is evaluated. Returns whether there is one, and the number of nodes visited.
    pub fn find_repeated_literal(&self, address: usize) -> (bool, u64) {
        let mut search = Search {
            address,
            is_found: false,
            nodes: 0,
        };
        search.body(&self.body);
        (search.is_found, search.nodes)
    }
}

struct Search {
    address: usize,
    is_found: bool,
    nodes: u64,
}

impl Search {
    fn body(&mut self, body: &Body) {
        for stmt in &body.stmts {
            self.nodes = self.nodes.saturating_add(1);
            if let StmtKind::For(_) | StmtKind::Macro(_) | StmtKind::CallBlock(_) = stmt.kind {
                stmt.walk(&mut |child| {
                    self.nodes = self.nodes.saturating_add(1);
                    if let Child::Expr(expr) = child {
                        if let ExprKind::Literal(Literal::Data(data)) = &expr.kind {
                            self.data(data);
                        }
                    }
                    true
                });
            } else {
                stmt.for_each_child(&mut |child| match child {
                    Child::Body(body) => self.body(body),
                    _ => self.nodes = self.nodes.saturating_add(1),
                });
            }
        }
    }

    fn data(&mut self, data: &Data<'_>) {
        self.nodes = self.nodes.saturating_add(1);
        match data {
            Data::List(items) | Data::Tuple(items) => {
                let range = items.as_ptr_range();
                let is_within = (range.start.addr()..range.end.addr()).contains(&self.address);
                self.is_found |= is_within && is_new(data);
                items.iter().for_each(|item| self.data(item));
            }
            Data::Object(object) => {
                self.is_found |= std::ptr::from_ref(object).addr() == self.address;
                object.entries().iter().for_each(|(_, value)| self.data(value));
            }
            _ => {}
        }
    }
}

/// Returns whether Python makes an object each time a literal is evaluated. A tuple of constants is itself a constant.
fn is_new(data: &Data<'_>) -> bool {
    match data {
        Data::List(_) | Data::Object(_) => true,
        Data::Tuple(items) => items.iter().any(is_new),
        _ => false,
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
