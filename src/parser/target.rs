//! Parses the targets of assignments and loops: names, attributes of namespaces, and tuples of targets.
//!
//! As in jinja2 3.1.6 `parser.py`, `parse_assign_target`, a target is parsed as a tuple of primaries, and then each node is checked by
//! `can_assign` (`nodes.py`). So the error of `{% set 'a' = 1 %}` is `can't assign to 'const'`. Whether the object of an attribute is a
//! namespace is checked when the template is rendered.

use super::Parser;
use super::depth;
use super::primary::constant;
use crate::ast::{BinaryOp, Expr, ExprKind, LogicOp, Slot, Symbol, Target, TargetKind, UnaryOp};
use crate::error::Result;
use crate::lexer::TokenKind;
use crate::span::Span;

/// An expression that is not a target, with the name of its class in the reference.
struct Unassignable {
    class: &'static str,
    span: Span,
    at: u32,
}

impl<'s> Parser<'s> {
    /// Parses a target that is a single name. Returns the name and the target.
    pub fn parse_name_target(&mut self) -> Result<(&'s str, Target)> {
        let token = self.stream.expect(TokenKind::Name)?;
        let name = self.stream.text(token);
        if constant(name).is_some() {
            return Err(self.stream.error_at("can't assign to 'name'", token.span, token.at));
        }
        let symbol = self.intern(name);
        self.template.symbols.mark_scoped(symbol);
        Ok((name, variable(symbol, token.span, token.at)))
    }

    /// Parses a target. Attributes of namespaces are allowed only if `with_namespace` is true.
    pub fn parse_target(&mut self, with_namespace: bool) -> Result<Target> {
        let mentions = self.loop_mentions;
        let parsed = self.descend(depth::CALL + depth::TUPLE, |parser| parser.read_target(with_namespace))?;
        self.template.sets_loop |= self.loop_mentions > mentions;
        let target = parsed
            .map_err(|Unassignable { class, span, at }| self.stream.error_at(format!("can't assign to '{class}'"), span, at))?;
        target.for_each_name(&mut |_, symbol| self.template.symbols.mark_scoped(symbol));
        Ok(target)
    }

    fn read_target(&mut self, with_namespace: bool) -> Result<Result<Target, Unassignable>> {
        let start = self.start();
        if self.is_at_tuple_end() {
            return Err(self.expected_expression());
        }
        let first = self.parse_target_part(with_namespace)?;
        if !self.stream.is_at(TokenKind::Comma) {
            return Ok(first);
        }
        let mut parts = vec![first];
        let mut at = start.at;
        while self.stream.is_at(TokenKind::Comma) {
            at = self.stream.take()?.at;
            if self.is_at_tuple_end() {
                break;
            }
            parts.push(self.parse_target_part(with_namespace)?);
        }
        Ok(tuple_target(parts.into_iter(), self.span_from(start.start), at))
    }

    /// Parses one part of a target: an attribute of a namespace, or a primary.
    fn parse_target_part(&mut self, with_namespace: bool) -> Result<Result<Target, Unassignable>> {
        let token = self.stream.current();
        let is_variable = token.kind == TokenKind::Name && constant(self.stream.text(token)).is_none();
        if !is_variable {
            let mut expr = Expr::default();
            self.parse_primary(&mut expr)?;
            return Ok(to_target(expr));
        }
        let name = self.stream.take()?;
        let symbol = self.intern(self.stream.text(name));
        if !with_namespace || !self.stream.eat(TokenKind::Dot)? {
            return Ok(Ok(variable(symbol, name.span, name.at)));
        }
        let attribute = self.stream.expect(TokenKind::Name)?;
        Ok(Ok(Target {
            kind: TargetKind::Attribute {
                object: symbol,
                slot: Slot::default(),
                name: self.share_name(self.stream.text(attribute)),
                index: 0,
            },
            span: self.span_from(name.span.start),
            at: name.at,
        }))
    }
}

/// Converts an expression to a target. The recursion is bounded, because the parser bounds the height of the expression.
fn to_target(expr: Expr) -> Result<Target, Unassignable> {
    let Expr { kind, span, at, .. } = expr;
    match kind {
        ExprKind::Name(name) => Ok(variable(name.symbol, span, at)),
        ExprKind::Tuple(items) => tuple_target(items.into_iter().map(to_target), span, at),
        kind => Err(Unassignable {
            class: class_name(&kind),
            span,
            at,
        }),
    }
}

fn tuple_target(parts: impl Iterator<Item = Result<Target, Unassignable>>, span: Span, at: u32) -> Result<Target, Unassignable> {
    match parts.collect() {
        Ok(targets) => Ok(Target {
            kind: TargetKind::Tuple(targets),
            span,
            at,
        }),
        Err(Unassignable { .. }) => Err(Unassignable {
            class: "tuple",
            span,
            at,
        }),
    }
}

fn variable(symbol: Symbol, span: Span, at: u32) -> Target {
    Target {
        kind: TargetKind::Name {
            symbol,
            slot: Slot::default(),
            exported: false,
        },
        span,
        at,
    }
}

/// Returns the name of the reference's class for a kind of node, in lower case.
fn class_name(kind: &ExprKind) -> &'static str {
    match kind {
        ExprKind::Literal(_) | ExprKind::UnsupportedText(_) | ExprKind::Markup(_) => "const",
        ExprKind::Name(_) => "name",
        ExprKind::Tuple(_) => "tuple",
        ExprKind::List(_) => "list",
        ExprKind::Dict(_) => "dict",
        ExprKind::Unary(UnaryOp::Not, _) => "not",
        ExprKind::Unary(UnaryOp::Neg, _) => "neg",
        ExprKind::Unary(UnaryOp::Pos, _) => "pos",
        ExprKind::Binary(BinaryOp::Add, _) => "add",
        ExprKind::Binary(BinaryOp::Sub, _) => "sub",
        ExprKind::Binary(BinaryOp::Mul, _) => "mul",
        ExprKind::Binary(BinaryOp::Div, _) => "div",
        ExprKind::Binary(BinaryOp::FloorDiv, _) => "floordiv",
        ExprKind::Binary(BinaryOp::Mod, _) => "mod",
        ExprKind::Binary(BinaryOp::Pow, _) => "pow",
        ExprKind::Logic(LogicOp::And, _) => "and",
        ExprKind::Logic(LogicOp::Or, _) => "or",
        ExprKind::Concat(_) => "concat",
        ExprKind::Compare(_) => "compare",
        ExprKind::Conditional(_) => "condexpr",
        ExprKind::Attribute(_) => "getattr",
        ExprKind::Item(_) | ExprKind::Slice(_) => "getitem",
        ExprKind::Filter(_) => "filter",
        ExprKind::Test(_) => "test",
        ExprKind::Call(..) => "call",
    }
}
