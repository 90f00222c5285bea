//! Prints a tree as source: the tree of `{{a|f~1}}` is printed as `{%+ print a|f() ~ 1 +%}`.
//!
//! Tests and fuzzing use it to check that the printed source parses to the same tree. Text is printed in `raw` blocks, in which nothing is
//! code, and every tag has marks that prevent it from stripping whitespace. Comments are not in the tree and are not printed.

mod expr;
mod printer;

pub use self::printer::Parentheses;

use self::expr::Level;
use self::printer::Printer;
use super::{Body, If, Macro, Piece, Stmt, StmtKind, Target, TargetKind, Template};

/// Returns a source for the tree of a template that the resolver has not changed.
pub fn print(template: &Template, parentheses: Parentheses) -> String {
    let mut printer = Printer::new(&template.symbols, parentheses);
    printer.write_body(&template.body);
    printer.out
}

impl Printer<'_> {
    /// Writes a tag: its name, and then the code that `inside` writes.
    fn write_tag(&mut self, word: &str, inside: impl FnOnce(&mut Self)) {
        self.push("{%+ ");
        self.push(word);
        self.push(" ");
        inside(self);
        self.push(" +%}");
    }

    /// Writes a body and the tag that ends it.
    fn write_closed_body(&mut self, body: &Body, end: &str) {
        self.write_body(body);
        self.write_tag(end, |_| {});
    }

    fn write_body(&mut self, body: &Body) {
        body.stmts.iter().for_each(|stmt| self.write_stmt(stmt));
    }

    /// Writes the tags and the bodies of a statement.
    fn write_stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Output(node) => self.write_output(&node.pieces),
            StmtKind::For(node) => {
                self.write_tag("for", |printer| {
                    printer.write_target(&node.target);
                    printer.push(" in ");
                    printer.write_expr(&node.iter, Level::Or);
                    if let Some(test) = &node.test {
                        printer.push(" if ");
                        printer.write_expr(&test.condition, Level::Conditional);
                    }
                    printer.push(if node.recursive { " recursive" } else { "" });
                });
                self.write_body(&node.body);
                self.write_else(&node.otherwise);
                self.write_tag("endfor", |_| {});
            }
            StmtKind::If(node) => self.write_if(node),
            StmtKind::Set(node) => self.write_tag("set", |printer| {
                printer.write_target(&node.target);
                printer.push(" = ");
                printer.write_expr(&node.value, Level::Conditional);
            }),
            StmtKind::SetBlock(node) => {
                self.write_tag("set", |printer| {
                    printer.write_target(&node.target);
                    if let Some(filter) = &node.filter {
                        printer.push(" | ");
                        printer.write_block_filter(filter);
                    }
                });
                self.write_closed_body(&node.body, "endset");
            }
            StmtKind::Macro(node) => {
                self.write_tag("macro", |printer| {
                    printer.write_name(node.name.unwrap_or_default());
                    printer.write_signature(node);
                });
                self.write_closed_body(&node.body, "endmacro");
            }
            StmtKind::CallBlock(node) => {
                self.write_tag("call", |printer| {
                    printer.write_signature(&node.body);
                    printer.push(" ");
                    printer.write_expr(&node.callee, Level::Primary);
                    printer.write_args(&node.args);
                });
                self.write_closed_body(&node.body.body, "endcall");
            }
            StmtKind::Generation(node) => {
                self.write_tag("generation", |_| {});
                self.write_closed_body(&node.body, "endgeneration");
            }
            StmtKind::FilterBlock(node) => {
                self.write_tag("filter", |printer| printer.write_block_filter(&node.filter));
                self.write_closed_body(&node.body, "endfilter");
            }
            StmtKind::With(node) => {
                self.write_tag("with", |printer| {
                    printer.write_list(&node.bindings, |printer, (target, value)| {
                        printer.write_target(target);
                        printer.push(" = ");
                        printer.write_expr(value, Level::Conditional);
                    });
                });
                self.write_closed_body(&node.body, "endwith");
            }
            StmtKind::Unsupported(name) => self.write_unsupported(name),
            StmtKind::Break => self.write_tag("break", |_| {}),
            StmtKind::Continue => self.write_tag("continue", |_| {}),
        }
    }

    /// Writes an output. One without text becomes a `print` tag, because `{{ … }}` would become part of the outputs around it.
    fn write_output(&mut self, pieces: &[Piece]) {
        let has_text = pieces.iter().any(|piece| matches!(piece, Piece::Text { .. }));
        if !has_text {
            return self.write_tag("print", |printer| {
                printer.write_list(pieces, |printer, piece| {
                    if let Piece::Expr(expr) = piece {
                        printer.write_expr(expr, Level::Conditional);
                    }
                });
            });
        }
        for piece in pieces {
            match piece {
                Piece::Text { text, .. } => self.out.extend(["{%+ raw %}", text, "{%+ endraw +%}"]),
                Piece::Expr(expr) => {
                    self.push("{{ ");
                    self.write_expr(expr, Level::Conditional);
                    self.push(" }}");
                }
            }
        }
    }

    fn write_if(&mut self, node: &If) {
        for (index, arm) in node.arms.iter().enumerate() {
            let word = if index == 0 { "if" } else { "elif" };
            self.write_tag(word, |printer| printer.write_expr(&arm.test, Level::Or));
            self.write_body(&arm.body);
        }
        self.write_else(&node.otherwise);
        self.write_tag("endif", |_| {});
    }

    /// Writes an `else` and its body, unless the body is empty.
    fn write_else(&mut self, body: &Body) {
        if !body.stmts.is_empty() {
            self.write_tag("else", |_| {});
            self.write_body(body);
        }
    }

    /// Writes the shortest unsupported statement of this name, because the tree does not have its parts.
    fn write_unsupported(&mut self, name: &str) {
        self.write_tag(name, |printer| {
            printer.push(match name {
                "import" => "0 as a",
                "from" => "0 import a",
                "block" => "a",
                _ => "0",
            });
        });
        if let "block" | "autoescape" = name {
            self.write_tag(&format!("end{name}"), |_| {});
        }
    }

    fn write_signature(&mut self, node: &Macro) {
        self.push("(");
        self.write_list(&node.parameters, |printer, parameter| {
            printer.write_name(parameter.symbol);
            if let Some(default) = &parameter.default {
                printer.push("=");
                printer.write_expr(default, Level::Conditional);
            }
        });
        self.push(")");
    }

    /// Writes a target. A tuple with attributes is written without parentheses, because an attribute in parentheses is not a target.
    fn write_target(&mut self, target: &Target) {
        let is_attribute = |target: &Target| matches!(target.kind, TargetKind::Attribute { .. });
        match &target.kind {
            TargetKind::Tuple(targets) if targets.iter().any(is_attribute) => self.write_list(targets, Self::write_enclosed_target),
            _ => self.write_enclosed_target(target),
        }
    }

    fn write_enclosed_target(&mut self, target: &Target) {
        match &target.kind {
            TargetKind::Name { symbol, .. } => self.write_name(*symbol),
            TargetKind::Attribute { object, name, .. } => {
                self.write_name(*object);
                self.push(".");
                self.push(name);
            }
            TargetKind::Tuple(targets) => {
                self.push("(");
                self.write_list(targets, Self::write_enclosed_target);
                self.push(if targets.len() == 1 { ",)" } else { ")" });
            }
        }
    }
}
