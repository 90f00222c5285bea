//! What expressions are made of: names, literals, tuples, lists, dicts.
//!
//! `("a" "b", [1, 2], {"k": none})` is a tuple of a string, a list and a dict. The rules are jinja2 3.1.6 `parser.py`, `parse_primary`,
//! `parse_tuple`, `parse_list`, `parse_dict`. Which variable a name means is unknown here.

use std::mem::take;

use super::Parser;
use super::depth::{self, Height, fill};
use super::expression::Start;
use crate::ast::{Expr, ExprKind, Literal, Name};
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
    pub fn parse_primary(&mut self, place: &mut Expr) -> Result<Height> {
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
                    Ok(parser.leaf(place, kind, start))
                }
                TokenKind::String => parser.parse_string(place, start),
                TokenKind::Integer | TokenKind::Float => {
                    let literal = parser.stream.take_literal().unwrap_or(Literal::None);
                    parser.stream.bump()?;
                    Ok(parser.leaf(place, ExprKind::Literal(literal), start))
                }
                TokenKind::LeftParen => parser.parse_parentheses(place, start),
                TokenKind::LeftBracket => parser.nested(depth::CALL, |parser| parser.parse_list(place, start)),
                TokenKind::LeftBrace => parser.nested(depth::CALL, |parser| parser.parse_dict(place, start)),
                _ => Err(parser
                    .stream
                    .error(format!("unexpected '{}'", parser.stream.describe(parser.stream.current())))),
            }
        })
    }

    /// Parses adjacent string literals, which are one.
    fn parse_string(&mut self, place: &mut Expr, start: Start) -> Result<Height> {
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
        Ok(self.leaf(place, kind, start))
    }

    fn parse_parentheses(&mut self, place: &mut Expr, start: Start) -> Result<Height> {
        self.stream.bump()?;
        let height = self.parse_tuple(place, TupleKind::Parenthesised)?;
        self.stream.expect(TokenKind::RightParen)?;
        place.span = self.span_from(start.start);
        Ok(height)
    }

    /// One expression, or several between commas, into its place.
    pub fn parse_tuple(&mut self, place: &mut Expr, kind: TupleKind) -> Result<Height> {
        self.nested(depth::TUPLE, |parser| {
            let mut start = parser.start();
            let mut items = Vec::new();
            let mut height = 0;
            loop {
                if !items.is_empty() {
                    parser.stream.expect(TokenKind::Comma)?;
                }
                if parser.is_at_tuple_end() {
                    break;
                }
                let below = match kind {
                    TupleKind::Expressions | TupleKind::Parenthesised => parser.parse_expression(place)?,
                    TupleKind::Conditions => parser.parse_condition(place)?,
                };
                let is_last = !parser.stream.is_at(TokenKind::Comma);
                if is_last && items.is_empty() {
                    return Ok(below);
                }
                height = height.max(below);
                items.push(take(place));
                if is_last {
                    break;
                }
                start.at = parser.stream.current().at;
            }
            if items.is_empty() && kind != TupleKind::Parenthesised {
                return Err(parser.expected_expression());
            }
            Ok(parser.put(place, ExprKind::Tuple(items), parser.span_from(start.start), start.at, height))
        })
    }

    /// The same for an expression that has no place yet.
    pub fn new_tuple(&mut self, kind: TupleKind) -> Result<Expr> {
        let mut expr = Expr::default();
        self.parse_tuple(&mut expr, kind)?;
        Ok(expr)
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

    fn parse_list(&mut self, place: &mut Expr, start: Start) -> Result<Height> {
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
            height = height.max(self.parse_expression(place)?);
            items.push(take(place));
        }
        self.stream.expect(TokenKind::RightBracket)?;
        Ok(self.put(place, ExprKind::List(items), self.span_from(start.start), start.at, height))
    }

    fn parse_dict(&mut self, place: &mut Expr, start: Start) -> Result<Height> {
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
            let mut key = Expr::default();
            height = height.max(self.parse_expression(&mut key)?);
            self.stream.expect(TokenKind::Colon)?;
            height = height.max(self.parse_expression(place)?);
            pairs.push((key, take(place)));
        }
        self.stream.expect(TokenKind::RightBrace)?;
        Ok(self.put(place, ExprKind::Dict(pairs), self.span_from(start.start), start.at, height))
    }

    fn leaf(&self, place: &mut Expr, kind: ExprKind, start: Start) -> Height {
        fill(place, kind, self.span_from(start.start), start.at)
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
