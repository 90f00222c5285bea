//! What expressions are made of: names, literals, tuples, lists, dicts.
//!
//! `("a" "b", [1, 2], {"k": none})` is a tuple of a string, a list and a dict. The rules are jinja2 3.1.6 `parser.py`, `parse_primary`,
//! `parse_tuple`, `parse_list`, `parse_dict`. Which variable a name means is unknown here.

use std::borrow::Cow;

use super::Parser;
use super::depth::{self, Node};
use super::expression::Start;
use crate::ast::{ExprKind, Literal, Name};
use crate::error::{Error, Result};
use crate::lexer::TokenKind;

/// Where a tuple without parentheses stands, which says what its items are and what ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TupleKind {
    /// `{{ a, b }}`, `{% set x = a, b %}`
    Expressions,
    /// `{% if a, b %}`, `{% for x in a, b %}`: an `if` is none of the items'.
    Conditions,
    /// `(a, b)`, which may be empty.
    Parenthesised,
}

impl<'s> Parser<'s> {
    /// A name, a literal or something in brackets.
    pub fn parse_primary(&mut self) -> Result<Node> {
        self.nested(depth::CALL, |parser| {
            let start = parser.start();
            match parser.stream.current().kind {
                TokenKind::Name => {
                    let name = parser.take_word()?;
                    let kind = match constant(name) {
                        Some(literal) => ExprKind::Literal(literal),
                        None => ExprKind::Name(Name {
                            symbol: parser.intern(name),
                            ..Name::default()
                        }),
                    };
                    Ok(parser.leaf(kind, start))
                }
                TokenKind::String => parser.parse_string(start),
                TokenKind::Integer | TokenKind::Float => {
                    let literal = parser.stream.take_literal().unwrap_or(Literal::None);
                    parser.stream.bump()?;
                    Ok(parser.leaf(ExprKind::Literal(literal), start))
                }
                TokenKind::LeftParen => parser.parse_parentheses(start),
                TokenKind::LeftBracket => parser.nested(depth::CALL, |parser| parser.parse_list(start)),
                TokenKind::LeftBrace => parser.nested(depth::CALL, |parser| parser.parse_dict(start)),
                _ => Err(parser
                    .stream
                    .error(format!("unexpected '{}'", parser.stream.describe(parser.stream.current())))),
            }
        })
    }

    /// Adjacent literals are one.
    fn parse_string(&mut self, start: Start) -> Result<Node> {
        let mut text = String::new();
        while self.stream.is_at(TokenKind::String) {
            match self.stream.take_literal() {
                Some(Literal::Str(piece)) if text.is_empty() => text = piece.into_owned(),
                Some(Literal::Str(piece)) => text.push_str(&piece),
                _ => {}
            }
            self.stream.bump()?;
        }
        Ok(self.leaf(ExprKind::Literal(Literal::Str(Cow::Owned(text))), start))
    }

    fn parse_parentheses(&mut self, start: Start) -> Result<Node> {
        self.stream.bump()?;
        let mut node = self.parse_tuple(TupleKind::Parenthesised)?;
        self.stream.expect(TokenKind::RightParen)?;
        node.expr.span = self.span_from(start.start);
        Ok(node)
    }

    /// One expression, or several between commas.
    pub fn parse_tuple(&mut self, kind: TupleKind) -> Result<Node> {
        self.nested(depth::TUPLE, |parser| {
            let mut start = parser.start();
            let mut items = Vec::new();
            let mut height = 0;
            let mut is_tuple = false;
            loop {
                if !items.is_empty() {
                    parser.stream.expect(TokenKind::Comma)?;
                }
                if parser.is_at_tuple_end() {
                    break;
                }
                let item = match kind {
                    TupleKind::Expressions | TupleKind::Parenthesised => parser.parse_expression(),
                    TupleKind::Conditions => parser.parse_condition(),
                };
                let is_last = !parser.stream.is_at(TokenKind::Comma);
                if is_last && !is_tuple {
                    return item;
                }
                let item = item?;
                if is_last {
                    height = height.max(item.height);
                    items.push(item.expr);
                    break;
                }
                height = height.max(item.height);
                items.push(item.expr);
                is_tuple = true;
                start.at = parser.stream.current().at;
            }
            if !is_tuple && kind != TupleKind::Parenthesised {
                return Err(parser.expected_expression());
            }
            Ok(parser.node(ExprKind::Tuple(items), parser.span_from(start.start), start.at, height))
        })
    }

    /// Whether nothing may follow a trailing comma. The words `in` and `recursive` should count behind a `for`, but jinja2 3.1.6
    /// `parser.py`, `is_tuple_end`, passes them on as one tuple, which no token equals: `{% for a, in l %}` is an error.
    pub fn is_at_tuple_end(&self) -> bool {
        matches!(
            self.stream.current().kind,
            TokenKind::VariableEnd | TokenKind::BlockEnd | TokenKind::RightParen
        )
    }

    /// The error where an expression should begin.
    #[cold]
    pub fn expected_expression(&self) -> Error {
        let found = self.stream.describe(self.stream.current());
        self.stream.error(format!("Expected an expression, got '{found}'"))
    }

    fn parse_list(&mut self, start: Start) -> Result<Node> {
        self.stream.expect(TokenKind::LeftBracket)?;
        let mut items = Vec::new();
        let mut height = 0;
        while !self.stream.is_at(TokenKind::RightBracket) {
            if !items.is_empty() {
                self.stream.expect(TokenKind::Comma)?;
                if self.stream.is_at(TokenKind::RightBracket) {
                    break;
                }
            }
            let item = self.parse_expression()?;
            height = height.max(item.height);
            items.push(item.expr);
        }
        self.stream.expect(TokenKind::RightBracket)?;
        Ok(self.node(ExprKind::List(items), self.span_from(start.start), start.at, height))
    }

    fn parse_dict(&mut self, start: Start) -> Result<Node> {
        self.stream.expect(TokenKind::LeftBrace)?;
        let mut pairs = Vec::new();
        let mut height = 0;
        while !self.stream.is_at(TokenKind::RightBrace) {
            if !pairs.is_empty() {
                self.stream.expect(TokenKind::Comma)?;
                if self.stream.is_at(TokenKind::RightBrace) {
                    break;
                }
            }
            let key = self.parse_expression()?;
            self.stream.expect(TokenKind::Colon)?;
            let value = self.parse_expression()?;
            height = height.max(key.height).max(value.height);
            pairs.push((key.expr, value.expr));
        }
        self.stream.expect(TokenKind::RightBrace)?;
        Ok(self.node(ExprKind::Dict(pairs), self.span_from(start.start), start.at, height))
    }

    fn leaf(&self, kind: ExprKind, start: Start) -> Node {
        Node::leaf(kind, self.span_from(start.start), start.at)
    }
}

/// The value of the only names that are literals.
pub fn constant(name: &str) -> Option<Literal> {
    match name {
        "true" | "True" => Some(Literal::Bool(true)),
        "false" | "False" => Some(Literal::Bool(false)),
        "none" | "None" => Some(Literal::None),
        _ => None,
    }
}
