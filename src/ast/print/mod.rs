//! A tree as source again: `{{a|f~1}}` was parsed, and `{%+ print a|f() ~ 1 +%}` is written.
//!
//! Tests and fuzzing ask for it, to see that what is written and parsed once more is the same tree. It writes what the parser makes;
//! what the resolver adds, spans and lines are unknown here, and comments and the blanks that tags strip are gone. Texts stand between
//! `raw` tags, where nothing in them means anything, and every tag says that it strips nothing.

mod expr;

use self::expr::Level;
use super::{Body, If, Macro, Piece, Stmt, StmtKind, Symbol, Symbols, Target, TargetKind, Template};

/// Where parentheses stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parentheses {
    /// Where the tree would be another without them: a template may nest only so deep.
    Needed,
    /// Around every expression, so that two trees are written alike only where they are alike.
    All,
}

/// The template's source, written anew.
pub fn print(template: &Template, parentheses: Parentheses) -> String {
    let mut printer = Printer {
        symbols: &template.symbols,
        parentheses,
        out: String::new(),
    };
    printer.body(&template.body);
    printer.out
}

struct Printer<'t> {
    symbols: &'t Symbols,
    parentheses: Parentheses,
    out: String,
}

impl Printer<'_> {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// A tag: the word that it begins with, and what `inside` writes behind it.
    fn tag(&mut self, word: &str, inside: impl FnOnce(&mut Self)) {
        self.put("{%+ ");
        self.put(word);
        self.put(" ");
        inside(self);
        self.put(" +%}");
    }

    /// A body and the tag that ends it.
    fn closed(&mut self, body: &Body, end: &str) {
        self.body(body);
        self.tag(end, |_| {});
    }

    fn body(&mut self, body: &Body) {
        body.stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Output(pieces) => self.output(pieces),
            StmtKind::For(node) => {
                self.tag("for", |printer| {
                    printer.target(&node.target);
                    printer.put(" in ");
                    printer.expr(&node.iter, Level::Or);
                    if let Some(test) = &node.test {
                        printer.put(" if ");
                        printer.expr(&test.condition, Level::Conditional);
                    }
                    printer.put(if node.recursive { " recursive" } else { "" });
                });
                self.body(&node.body);
                self.otherwise(&node.otherwise);
                self.tag("endfor", |_| {});
            }
            StmtKind::If(node) => self.choice(node),
            StmtKind::Set(node) => self.tag("set", |printer| {
                printer.target(&node.target);
                printer.put(" = ");
                printer.expr(&node.value, Level::Conditional);
            }),
            StmtKind::SetBlock(node) => {
                self.tag("set", |printer| {
                    printer.target(&node.target);
                    if let Some(filter) = &node.filter {
                        printer.put(" | ");
                        printer.block_filter(filter);
                    }
                });
                self.closed(&node.body, "endset");
            }
            StmtKind::Macro(node) => {
                self.tag("macro", |printer| {
                    printer.name(node.name.unwrap_or_default());
                    printer.signature(node);
                });
                self.closed(&node.body, "endmacro");
            }
            StmtKind::CallBlock(node) => {
                self.tag("call", |printer| {
                    printer.signature(&node.body);
                    printer.put(" ");
                    printer.expr(&node.callee, Level::Primary);
                    printer.args(&node.args);
                });
                self.closed(&node.body.body, "endcall");
            }
            StmtKind::Generation(node) => {
                self.tag("generation", |_| {});
                self.closed(&node.body, "endgeneration");
            }
            StmtKind::FilterBlock(node) => {
                self.tag("filter", |printer| printer.block_filter(&node.filter));
                self.closed(&node.body, "endfilter");
            }
            StmtKind::With(node) => {
                self.tag("with", |printer| {
                    printer.list(&node.bindings, |printer, (target, value, _)| {
                        printer.target(target);
                        printer.put(" = ");
                        printer.expr(value, Level::Conditional);
                    });
                });
                self.closed(&node.body, "endwith");
            }
            StmtKind::Unsupported(name) => self.unsupported(name),
            StmtKind::Break => self.tag("break", |_| {}),
            StmtKind::Continue => self.tag("continue", |_| {}),
        }
    }

    /// What has no text is printed by a tag, which stays apart from the outputs beside it.
    fn output(&mut self, pieces: &[Piece]) {
        let has_text = pieces.iter().any(|piece| matches!(piece, Piece::Text(..)));
        if !has_text {
            return self.tag("print", |printer| {
                printer.list(pieces, |printer, piece| {
                    if let Piece::Expr(expr, _) = piece {
                        printer.expr(expr, Level::Conditional);
                    }
                });
            });
        }
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.out.extend(["{%+ raw %}", text, "{%+ endraw +%}"]),
                Piece::Expr(expr, _) => {
                    self.put("{{ ");
                    self.expr(expr, Level::Conditional);
                    self.put(" }}");
                }
            }
        }
    }

    fn choice(&mut self, node: &If) {
        for (index, arm) in node.arms.iter().enumerate() {
            let word = if index == 0 { "if" } else { "elif" };
            self.tag(word, |printer| printer.expr(&arm.test, Level::Or));
            self.body(&arm.body);
        }
        self.otherwise(&node.otherwise);
        self.tag("endif", |_| {});
    }

    /// An `else` without a body is none.
    fn otherwise(&mut self, body: &Body) {
        if !body.stmts.is_empty() {
            self.tag("else", |_| {});
            self.body(body);
        }
    }

    /// The shortest statement of this name: the tree does not keep what it was made of.
    fn unsupported(&mut self, name: &str) {
        self.tag(name, |printer| {
            printer.put(match name {
                "import" => "0 as a",
                "from" => "0 import a",
                "block" => "a",
                _ => "0",
            });
        });
        if let "block" | "autoescape" = name {
            self.tag(&format!("end{name}"), |_| {});
        }
    }

    fn signature(&mut self, node: &Macro) {
        self.put("(");
        self.list(&node.parameters, |printer, parameter| {
            printer.name(parameter.symbol);
            if let Some(default) = &parameter.default {
                printer.put("=");
                printer.expr(default, Level::Conditional);
            }
        });
        self.put(")");
    }

    /// A target as a statement has it: attributes are targets only outside parentheses.
    fn target(&mut self, target: &Target) {
        let is_attribute = |target: &Target| matches!(target.kind, TargetKind::Attribute { .. });
        match &target.kind {
            TargetKind::Tuple(targets) if targets.iter().any(is_attribute) => self.list(targets, Self::enclosed_target),
            _ => self.enclosed_target(target),
        }
    }

    fn enclosed_target(&mut self, target: &Target) {
        match &target.kind {
            TargetKind::Name { symbol, .. } => self.name(*symbol),
            TargetKind::Attribute { object, name, .. } => {
                self.name(*object);
                self.put(".");
                self.put(name);
            }
            TargetKind::Tuple(targets) => {
                self.put("(");
                self.list(targets, Self::enclosed_target);
                self.put(if targets.len() == 1 { ",)" } else { ")" });
            }
        }
    }

    /// The items, with commas between them.
    fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        for (index, each) in items.iter().enumerate() {
            self.put(if index == 0 { "" } else { ", " });
            item(self, each);
        }
    }

    fn name(&mut self, symbol: Symbol) {
        self.out.push_str(self.symbols.name(symbol));
    }
}
