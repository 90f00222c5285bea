//! What the functions are called that the reference writes in Python for a template: some errors name them.
//!
//! ```text
//! {% macro outer() %}{% macro inner() %}     root.<locals>.macro.<locals>.macro
//! {% for x in l recursive %}{% macro m() %}  root.<locals>.loop.<locals>.macro
//! ```
//!
//! After jinja2 3.1.6 `compiler.py`: `CodeGenerator.func` and whoever calls it.

use super::stmt::{Body, Macro, Stmt, StmtKind};
use super::{Child, Template};

/// Between the name of a function and that of one inside it.
const INSIDE: &str = ".<locals>.";

impl Template {
    /// The name (`__qualname__`) of the function that holds the body of a macro.
    pub fn function_of(&self, node: &Macro) -> String {
        inside(&self.body, node).map_or_else(|| "macro".to_owned(), |function| format!("root{function}"))
    }
}

/// The functions on the way from a body to that of a macro, if it is in there.
fn inside(body: &Body, node: &Macro) -> Option<String> {
    body.stmts.iter().find_map(|stmt| {
        let function = function(stmt);
        let is_found = match &stmt.kind {
            StmtKind::Macro(own) | StmtKind::Generation(own) => std::ptr::eq(&**own, node),
            StmtKind::CallBlock(call) => std::ptr::eq(&call.body, node),
            _ => false,
        };
        let mut rest = is_found.then(String::new);
        stmt.children(&mut |child| {
            if let (None, Child::Body(body)) = (&rest, child) {
                rest = inside(body, node);
            }
        });
        let rest = rest?;
        Some(function.map_or_else(String::new, |function| format!("{INSIDE}{function}")) + &rest)
    })
}

/// The function that a statement becomes, if it becomes one.
fn function(stmt: &Stmt) -> Option<&'static str> {
    match &stmt.kind {
        StmtKind::Macro(_) | StmtKind::Generation(_) | StmtKind::CallBlock(_) => Some("macro"),
        StmtKind::For(node) if node.recursive => Some("loop"),
        _ => None,
    }
}
