//! Parses names, literals, tuples, lists and dicts.
//!
//! `("a" "b", [1, 2], {"k": none})` is a tuple of a string, a list and a dict. The rules are those of jinja2 3.1.6 `parser.py`,
//! `parse_primary`, `parse_tuple`, `parse_list` and `parse_dict`.

use std::mem::take;

use super::depth::{self, Height, build_leaf};
use super::expression::Start;
use super::{Parser, split_off};
use crate::ast::{Expr, ExprKind, Literal, Name};
use crate::error::{Error, Result};
use crate::lexer::TokenKind;

/// The place of a tuple, which determines its items and whether it can be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TupleKind {
    /// A tuple without parentheses: `{{ a, b }}`, `{% set x = a, b %}`.
    Expressions,
    /// A tuple without parentheses whose items cannot be conditionals: `{% if a, b %}`, `{% for x in a, b %}`.
    Conditions,
    /// A tuple in parentheses, which can be empty: `(a, b)`.
    Parenthesised,
}

impl<'s> Parser<'s> {
    /// Parses a name, a literal, or an expression in brackets into `out`.
    pub fn parse_primary(&mut self, out: &mut Expr) -> Result<Height> {
        self.descend(depth::CALL, |parser| {
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
                    Ok(parser.build_leaf_from(out, kind, start))
                }
                TokenKind::String => parser.parse_string(out, start),
                TokenKind::Integer | TokenKind::Float => {
                    let literal = parser.stream.take_literal().unwrap_or(Literal::None);
                    parser.stream.bump()?;
                    Ok(parser.build_leaf_from(out, ExprKind::Literal(literal), start))
                }
                TokenKind::LeftParen => parser.parse_parentheses(out, start),
                TokenKind::LeftBracket => parser.descend(depth::CALL, |parser| parser.parse_list(out, start)),
                TokenKind::LeftBrace => parser.descend(depth::CALL, |parser| parser.parse_dict(out, start)),
                _ => Err(parser
                    .stream
                    .error(format!("unexpected '{}'", parser.stream.describe(parser.stream.current())))),
            }
        })
    }

    /// Parses a string literal. Adjacent string literals are joined.
    fn parse_string(&mut self, out: &mut Expr, start: Start) -> Result<Height> {
        let mut unsupported = self.stream.take_unsupported();
        let mut text = self.stream.take_string()?;
        while self.stream.is_at(TokenKind::String) {
            unsupported = unsupported.or(self.stream.take_unsupported());
            let piece = self.stream.take_string()?;
            text.to_mut().push_str(&piece);
        }
        let kind = match unsupported {
            Some(row) => ExprKind::UnsupportedText(row),
            None => ExprKind::Literal(Literal::Str(text.into())),
        };
        Ok(self.build_leaf_from(out, kind, start))
    }

    /// Parses an expression or a tuple in parentheses.
    fn parse_parentheses(&mut self, out: &mut Expr, start: Start) -> Result<Height> {
        self.stream.bump()?;
        let height = self.parse_tuple(out, TupleKind::Parenthesised)?;
        self.stream.expect(TokenKind::RightParen)?;
        out.span = self.span_from(start.start);
        Ok(height)
    }

    /// Parses one expression, or a tuple of several with commas between them, into `out`.
    pub fn parse_tuple(&mut self, out: &mut Expr, kind: TupleKind) -> Result<Height> {
        self.descend(depth::TUPLE, |parser| {
            let mut start = parser.start();
            let outer = parser.items.len();
            let mut height = 0;
            loop {
                let is_first = parser.items.len() == outer;
                if !is_first {
                    parser.stream.expect(TokenKind::Comma)?;
                }
                if parser.is_at_tuple_end() {
                    break;
                }
                let below = match kind {
                    TupleKind::Expressions | TupleKind::Parenthesised => parser.parse_expression(out)?,
                    TupleKind::Conditions => parser.parse_condition(out)?,
                };
                let is_last = !parser.stream.is_at(TokenKind::Comma);
                if is_last && is_first {
                    return Ok(below);
                }
                height = height.max(below);
                parser.items.push(take(out));
                if is_last {
                    break;
                }
                start.at = parser.stream.current().at;
            }
            let items = split_off(&mut parser.items, outer);
            if items.is_empty() && kind != TupleKind::Parenthesised {
                return Err(parser.expected_expression());
            }
            Ok(parser.build_node(out, ExprKind::Tuple(items), parser.span_from(start.start), start.at, height))
        })
    }

    /// Parses one expression or a tuple and returns it, for callers that have no place in the tree yet.
    pub fn read_tuple(&mut self, kind: TupleKind) -> Result<Expr> {
        let mut expr = Expr::default();
        self.parse_tuple(&mut expr, kind)?;
        Ok(expr)
    }

    /// Returns whether the current token ends a tuple, so that a comma before it is a trailing comma.
    ///
    /// In a `for`, the words `in` and `recursive` should end a tuple as well. But jinja2 3.1.6 `parser.py`, `is_tuple_end`, compares tokens
    /// with the tuple of both words, which no token equals. So `{% for a, in l %}` is an error.
    pub fn is_at_tuple_end(&self) -> bool {
        matches!(
            self.stream.current().kind,
            TokenKind::VariableEnd | TokenKind::BlockEnd | TokenKind::RightParen
        )
    }

    /// Returns the error for a token that is not the beginning of an expression.
    #[cold]
    pub fn expected_expression(&self) -> Error {
        let found = self.stream.describe(self.stream.current());
        self.stream.error(format!("Expected an expression, got '{found}'"))
    }

    fn parse_list(&mut self, out: &mut Expr, start: Start) -> Result<Height> {
        self.stream.expect(TokenKind::LeftBracket)?;
        let outer = self.items.len();
        let mut height = 0;
        while self.eat_to_item(self.items.len() == outer, TokenKind::RightBracket)? {
            height = height.max(self.parse_expression(out)?);
            self.items.push(take(out));
        }
        self.stream.expect(TokenKind::RightBracket)?;
        let items = split_off(&mut self.items, outer);
        Ok(self.build_node(out, ExprKind::List(items), self.span_from(start.start), start.at, height))
    }

    fn parse_dict(&mut self, out: &mut Expr, start: Start) -> Result<Height> {
        self.stream.expect(TokenKind::LeftBrace)?;
        let mut pairs = Vec::new();
        let mut height = 0;
        while self.eat_to_item(pairs.is_empty(), TokenKind::RightBrace)? {
            let mut key = Expr::default();
            height = height.max(self.parse_expression(&mut key)?);
            self.stream.expect(TokenKind::Colon)?;
            height = height.max(self.parse_expression(out)?);
            pairs.push((key, take(out)));
        }
        self.stream.expect(TokenKind::RightBrace)?;
        pairs.shrink_to_fit();
        Ok(self.build_node(out, ExprKind::Dict(pairs), self.span_from(start.start), start.at, height))
    }

    /// Takes the comma before an item, unless the item is the first. Returns whether there is an item before the bracket `end`.
    fn eat_to_item(&mut self, is_first: bool, end: TokenKind) -> Result<bool> {
        if !is_first && !self.stream.is_at(end) {
            self.stream.expect(TokenKind::Comma)?;
        }
        Ok(!self.stream.is_at(end))
    }

    fn build_leaf_from(&self, out: &mut Expr, kind: ExprKind, start: Start) -> Height {
        build_leaf(out, kind, self.span_from(start.start), start.at)
    }
}

/// Returns the value of a name that is a literal, such as `true`.
pub fn constant(name: &str) -> Option<Literal> {
    match name {
        "true" | "True" => Some(Literal::Bool(true)),
        "false" | "False" => Some(Literal::Bool(false)),
        "none" | "None" => Some(Literal::None),
        _ => None,
    }
}
