//! What can be assigned to: names, namespaces' attributes, tuples of those.
//!
//! The rule is jinja2 3.1.6 `parser.py`, `parse_assign_target`: it parses a tuple of primaries and then asks each node `can_assign`
//! (`nodes.py`), so that `{% set 'a' = 1 %}` says `can't assign to 'const'`. Whether an attribute's object is a namespace is unknown here.

use super::Parser;
use super::depth;
use super::primary::constant;
use crate::ast::{BinaryOp, Expr, ExprKind, LogicOp, Slot, Symbol, Target, TargetKind, UnaryOp};
use crate::error::Result;
use crate::lexer::TokenKind;
use crate::span::Span;

/// An expression that nothing can be assigned to, by the reference's class of nodes.
struct Unassignable {
    class: &'static str,
    span: Span,
    at: u32,
}

impl<'s> Parser<'s> {
    /// A target that is a single name, and its spelling.
    pub fn parse_name_target(&mut self) -> Result<(&'s str, Target)> {
        let token = self.stream.expect(TokenKind::Name)?;
        let name = self.stream.text(token);
        if constant(name).is_some() {
            return Err(self.stream.error_at("can't assign to 'name'", token.span, token.at));
        }
        let symbol = self.intern(name);
        self.symbols.note_scoped(symbol);
        Ok((name, variable(symbol, token.span, token.at)))
    }

    /// A name or a tuple of targets; namespaces' attributes only where `with_namespace` allows.
    pub fn parse_target(&mut self, with_namespace: bool) -> Result<Target> {
        let mentions = self.loop_mentions;
        let parsed = self.nested(depth::CALL + depth::TUPLE, |parser| parser.target_parts(with_namespace))?;
        self.sets_loop |= self.loop_mentions > mentions;
        let target = parsed
            .map_err(|Unassignable { class, span, at }| self.stream.error_at(format!("can't assign to '{class}'"), span, at))?;
        self.note_targets(&target);
        Ok(target)
    }

    /// Notes which names a target gives values.
    fn note_targets(&mut self, target: &Target) {
        match &target.kind {
            TargetKind::Name { symbol, .. } => self.symbols.note_scoped(*symbol),
            TargetKind::Attribute { .. } => {}
            TargetKind::Tuple(targets) => targets.iter().for_each(|target| self.note_targets(target)),
        }
    }

    fn target_parts(&mut self, with_namespace: bool) -> Result<Result<Target, Unassignable>> {
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
        Ok(tuple(parts.into_iter(), self.span_from(start.start), at))
    }

    /// One part of a target: a namespace's attribute or a primary.
    fn parse_target_part(&mut self, with_namespace: bool) -> Result<Result<Target, Unassignable>> {
        let token = self.stream.current();
        let is_variable = token.kind == TokenKind::Name && constant(self.stream.text(token)).is_none();
        if !is_variable {
            let mut expr = Expr::default();
            self.parse_primary(&mut expr)?;
            return Ok(assignable(expr));
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
                name: self.spelling(self.stream.text(attribute)),
            },
            span: self.span_from(name.span.start),
            at: name.at,
        }))
    }
}

/// The expression as a target. The calls inside are as deep as those that parsed it.
fn assignable(expr: Expr) -> Result<Target, Unassignable> {
    let Expr { kind, span, at } = expr;
    match kind {
        ExprKind::Name(name) => Ok(variable(name.symbol, span, at)),
        ExprKind::Tuple(items) => tuple(items.into_iter().map(assignable), span, at),
        kind => Err(Unassignable {
            class: class_name(&kind),
            span,
            at,
        }),
    }
}

fn tuple(parts: impl Iterator<Item = Result<Target, Unassignable>>, span: Span, at: u32) -> Result<Target, Unassignable> {
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

/// The name of the reference's class of nodes, in lower case.
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

#[cfg(test)]
mod tests {
    use crate::parser::refusal;

    #[test]
    fn nodes_that_are_no_targets_are_named() {
        assert_eq!(refusal("{% set 'a' = 1 %}").0, "can't assign to 'const'");
        assert_eq!(refusal("{% set (a.b) = 1 %}").0, "can't assign to 'getattr'");
        assert_eq!(refusal("{% set (a,\n1) = 1 %}"), ("can't assign to 'tuple'".into(), 1));
        assert_eq!(refusal("{% macro true() %}{% endmacro %}").0, "can't assign to 'name'");
    }

    #[test]
    fn attributes_are_targets_of_set_only_and_have_one_dot() {
        assert_eq!(refusal("{% for x.y in l %}{% endfor %}").0, "expected token 'in', got '.'");
        assert_eq!(
            refusal("{% set a.b.c = 1 %}").0,
            "expected token 'end of statement block', got '.'"
        );
        assert_eq!(refusal("{% for a, in l %}{% endfor %}").0, "expected token 'in', got 'l'");
    }
}
