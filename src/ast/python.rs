//! What the functions are called that the reference writes in Python for a template: some errors name them.
//!
//! ```text
//! {% macro outer() %}{% macro inner() %}     root.<locals>.macro.<locals>.macro
//! {% block b %}{% macro m() %}               block_b.<locals>.macro
//! {% for x in l recursive %}{% macro m() %}  root.<locals>.loop.<locals>.macro
//! ```
//!
//! After jinja2 3.1.6 `compiler.py`: `CodeGenerator.func` and whoever calls it.

use super::stmt::{Body, Macro, Stmt, StmtKind};
use super::{Child, Symbol, Template};
use crate::unicode::nfkc;

/// Between the name of a function and that of one inside it.
const INSIDE: &str = ".<locals>.";

impl Template {
    /// The name (`__qualname__`) of the function that holds the body of a macro.
    pub fn function_of(&self, node: &Macro) -> String {
        let blocks = self.blocks.iter().map(|block| (self.block_function(block.name), &block.body));
        std::iter::once(("root".to_owned(), &self.body))
            .chain(blocks)
            .find_map(|(function, body)| Some(function + &inside(body, node)?))
            .unwrap_or_else(|| "macro".to_owned())
    }

    /// The name of the function that holds the body of a block.
    pub fn block_function(&self, name: Symbol) -> String {
        format!("block_{}", nfkc(self.symbols.name(name)))
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
