//! Parses what follows an operand: `.name`, `[index]`, `(arguments)`, `|filter`, `is test`.
//!
//! The rules are those of jinja2 3.1.6 `parser.py`, `parse_postfix` to `parse_test`. Subscripts and calls apply to the operand without its
//! signs. Filters and tests apply to the operand with its signs, and so does a call after a filter or test. The resolver, not the parser,
//! checks that filters and tests exist.

use std::mem::take;
use std::sync::Arc;

use super::depth::{self, Height};
use super::{Parser, split_off};
use crate::ast::{Args, Attribute, Call, Expr, ExprKind, Filter, Form, Keyword, Literal, Slice, Test, UnaryOp};
use crate::error::{Error, Result};
use crate::lexer::TokenKind;
use crate::span::Span;

/// An index between the brackets of a subscript. There can be several, with commas between them.
enum Index {
    Expr(Expr, Height),
    /// A slice whose object is not set yet, with the height of its tallest bound.
    Slice(Box<Slice>, Height, Span),
}

impl<'s> Parser<'s> {
    /// Parses attributes, subscripts and calls of the operand in `out`.
    pub fn parse_postfix(&mut self, out: &mut Expr, mut height: Height) -> Result<Height> {
        loop {
            height = match self.stream.current().kind {
                TokenKind::Dot => self.parse_attribute(out, height)?,
                TokenKind::LeftBracket => self.descend(depth::POSTFIX, |parser| parser.parse_subscript(out, height))?,
                TokenKind::LeftParen => self.parse_call(out, height)?,
                _ => return Ok(height),
            }
        }
    }

    /// Parses filters, tests and calls of the operand in `out`. `start` is the offset of its first sign or parenthesis.
    pub fn parse_filtered(&mut self, out: &mut Expr, mut height: Height, start: u32) -> Result<Height> {
        loop {
            height = match self.stream.current().kind {
                TokenKind::Pipe => {
                    self.stream.bump()?;
                    self.parse_filter(out, Some(height), start)?
                }
                TokenKind::Name if self.stream.is_at_word("is") => self.parse_test(out, height, start)?,
                TokenKind::LeftParen => self.parse_call(out, height)?,
                _ => return Ok(height),
            }
        }
    }

    /// Parses `.name` or `.0`.
    fn parse_attribute(&mut self, out: &mut Expr, height: Height) -> Result<Height> {
        let start = out.span.start;
        let at = self.stream.take()?.at;
        let literal = self.stream.take_literal();
        let name = self.stream.take()?;
        let kind = match name.kind {
            TokenKind::Name => {
                let name = self.share_name(self.stream.text(name));
                ExprKind::Attribute(Box::new(Attribute::new(take(out), name)))
            }
            TokenKind::Integer => {
                let index = Expr {
                    kind: ExprKind::Literal(literal.unwrap_or(Literal::None)),
                    span: name.span,
                    at: name.at,
                    form: Form::General,
                };
                ExprKind::Item(Box::new([take(out), index]))
            }
            _ => return Err(self.stream.error_at("expected name or number", name.span, name.at)),
        };
        Ok(self.build_node(out, kind, self.span_from(start), at, height))
    }

    /// Parses a subscript: `[a]`, `[a:b:c]` or `[a, b]`.
    fn parse_subscript(&mut self, out: &mut Expr, height: Height) -> Result<Height> {
        let start = out.span.start;
        let bracket = self.stream.expect(TokenKind::LeftBracket)?;
        let first = match self.stream.current().kind {
            TokenKind::RightBracket => None,
            _ => Some(self.parse_slice()?),
        };
        let mut more = Vec::new();
        while !self.stream.is_at(TokenKind::RightBracket) {
            self.stream.expect(TokenKind::Comma)?;
            more.push(self.parse_slice()?);
        }
        self.stream.expect(TokenKind::RightBracket)?;
        let span = self.span_from(start);
        let (kind, below) = match first {
            Some(Index::Slice(mut slice, below, _)) if more.is_empty() => {
                slice.object = take(out);
                (ExprKind::Slice(slice), below)
            }
            Some(Index::Expr(index, below)) if more.is_empty() => (ExprKind::Item(Box::new([take(out), index])), below),
            first => {
                let indices = first.into_iter().chain(more);
                let mut index = Expr::default();
                let below = self.build_tuple(&mut index, indices, Span::new(bracket.span.start, span.end));
                (ExprKind::Item(Box::new([take(out), index])), below)
            }
        };
        Ok(self.build_node(out, kind, span, bracket.at, height.max(below)))
    }

    /// Stores several indices as one tuple in `out`: `[a, b]`. It is an error if one is a slice, which the reference finds after parsing.
    fn build_tuple(&mut self, out: &mut Expr, indices: impl Iterator<Item = Index>, span: Span) -> Height {
        let mut tallest = 0;
        let mut items = Vec::new();
        for index in indices {
            let (item, height) = match index {
                Index::Expr(expr, height) => (expr, height),
                Index::Slice(_, height, span) => {
                    self.fail_later(Error::syntax("invalid syntax", span).without_line());
                    (Expr::default(), height)
                }
            };
            tallest = tallest.max(height);
            items.push(item);
        }
        items.shrink_to_fit();
        self.build_node(out, ExprKind::Tuple(items), span, span.start, tallest)
    }

    /// Parses one index of a subscript: `a` or `a:b:c`.
    fn parse_slice(&mut self) -> Result<Index> {
        let from = self.stream.current().span.start;
        let mut start = None;
        let mut height = 0;
        if !self.stream.is_at(TokenKind::Colon) {
            let mut expr = Expr::default();
            height = self.parse_expression(&mut expr)?;
            if !self.stream.is_at(TokenKind::Colon) {
                return Ok(Index::Expr(expr, height));
            }
            start = Some(expr);
        }
        let mut slice = Box::new(Slice {
            object: Expr::default(),
            start,
            stop: None,
            step: None,
        });
        self.stream.expect(TokenKind::Colon)?;
        if !self.stream.is_at(TokenKind::Colon) {
            height = height.max(self.parse_bound(&mut slice.stop)?);
        }
        if self.stream.eat(TokenKind::Colon)? {
            height = height.max(self.parse_bound(&mut slice.step)?);
        }
        Ok(Index::Slice(slice, height, self.span_from(from)))
    }

    /// Parses a bound of a slice, if there is one. Returns its height, or 0.
    fn parse_bound(&mut self, out: &mut Option<Expr>) -> Result<Height> {
        match self.stream.current().kind {
            TokenKind::RightBracket | TokenKind::Comma => Ok(0),
            _ => self.parse_expression(out.insert(Expr::default())),
        }
    }

    /// Parses the arguments of a call of the operand in `out`.
    fn parse_call(&mut self, out: &mut Expr, height: Height) -> Result<Height> {
        let start = out.span.start;
        let at = self.stream.current().at;
        let mut call = Box::new(Call {
            callee: take(out),
            args: Args::default(),
        });
        let below = self.descend(depth::POSTFIX, |parser| parser.parse_arguments(&mut call.args))?;
        Ok(self.build_node(out, ExprKind::Call(call), self.span_from(start), at, height.max(below)))
    }

    /// Parses arguments in parentheses: `(a, b=1, *c, **d)`. Returns the height of the tallest.
    fn parse_arguments(&mut self, args: &mut Args) -> Result<Height> {
        let paren = self.stream.expect(TokenKind::LeftParen)?;
        let outer = (self.items.len(), self.keywords.len());
        let mut height = 0;
        let mut needs_comma = false;
        while !self.stream.is_at(TokenKind::RightParen) {
            if needs_comma {
                self.stream.expect(TokenKind::Comma)?;
                if self.stream.is_at(TokenKind::RightParen) {
                    break;
                }
            }
            needs_comma = true;
            let kind = self.stream.current().kind;
            let is_keyword = kind == TokenKind::Name && self.stream.peek()?.kind == TokenKind::Assign;
            let is_allowed = args.others.as_ref().is_none_or(|others| match kind {
                TokenKind::Mul => others.star.is_none() && others.double_star.is_none(),
                _ if kind == TokenKind::Pow || is_keyword => others.double_star.is_none(),
                _ => false,
            });
            if !is_allowed {
                let message = "invalid syntax for function call expression";
                return Err(self.stream.error_at(message, self.stream.current().span, paren.at));
            }
            height = height.max(self.take_argument(args, kind, is_keyword)?);
        }
        self.stream.expect(TokenKind::RightParen)?;
        let (items, keywords) = outer;
        args.positional = split_off(&mut self.items, items);
        if let Some(others) = &mut args.others {
            others.keywords = split_off(&mut self.keywords, keywords);
        }
        Ok(height)
    }

    /// Parses one argument, and returns its height. Positional arguments and keywords are collected until the end of the arguments.
    fn take_argument(&mut self, args: &mut Args, kind: TokenKind, is_keyword: bool) -> Result<Height> {
        let mut name = None;
        match kind {
            TokenKind::Mul | TokenKind::Pow => self.stream.bump()?,
            _ if is_keyword => {
                name = Some(self.take_word()?);
                self.stream.bump()?;
            }
            _ => {}
        }
        let mut value = Expr::default();
        let height = self.parse_expression(&mut value)?;
        if kind != TokenKind::Mul && kind != TokenKind::Pow && name.is_none() {
            self.items.push(value);
            return Ok(height);
        }
        let others = args.others.get_or_insert_default();
        match name {
            Some(name) => {
                let name = self.share_name(name);
                self.keywords.push(Keyword { name, value });
            }
            None if kind == TokenKind::Mul => others.star = Some(Box::new(value)),
            None => others.double_star = Some(Box::new(value)),
        }
        Ok(height)
    }

    /// Parses arguments if the current token is a parenthesis, and returns the height of the tallest.
    fn take_arguments(&mut self, args: &mut Args) -> Result<Option<Height>> {
        match self.stream.current().kind {
            TokenKind::LeftParen => self.descend(depth::POSTFIX, |parser| parser.parse_arguments(args)).map(Some),
            _ => Ok(None),
        }
    }

    /// Parses the name of a filter or a test, which can have dots: `a.b`. Returns the name, and the offset whose line the reference reports
    /// for it.
    fn parse_dotted_name(&mut self) -> Result<(Arc<str>, u32)> {
        let first = self.stream.expect(TokenKind::Name)?;
        if !self.stream.is_at(TokenKind::Dot) {
            return Ok((self.share_name(self.stream.text(first)), first.at));
        }
        let mut name = self.stream.text(first).to_owned();
        while self.stream.eat(TokenKind::Dot)? {
            name.push('.');
            name.push_str(self.expect_name()?);
        }
        Ok((name.into(), first.at))
    }

    /// Parses filters after their first `|`: `f(1)|g`. The input is in `out` and has the height `input`. The first filter of a `filter` or
    /// `set` block has no input.
    pub fn parse_filter(&mut self, out: &mut Expr, mut input: Option<Height>, start: u32) -> Result<Height> {
        loop {
            let (name, at) = self.parse_dotted_name()?;
            let mut filter = Box::new(Filter {
                input: input.map(|_| take(out)),
                name,
                args: Args::default(),
                builtin: None,
            });
            let below = self.take_arguments(&mut filter.args)?.max(input).unwrap_or_default();
            let height = self.build_node(out, ExprKind::Filter(filter), self.span_from(start), at, below);
            if !self.stream.eat(TokenKind::Pipe)? {
                return Ok(height);
            }
            input = Some(height);
        }
    }

    /// Parses a test of the operand in `out`: `is t`, `is not t(a)` or `is t a`.
    fn parse_test(&mut self, out: &mut Expr, height: Height, start: u32) -> Result<Height> {
        let at = self.stream.expect_word("is")?.at;
        let is_negated = self.stream.eat_word("not")?;
        let (name, _) = self.parse_dotted_name()?;
        let mut test = Box::new(Test {
            input: take(out),
            name,
            args: Args::default(),
            builtin: None,
        });
        let below = match self.take_arguments(&mut test.args)? {
            Some(below) => below,
            None => self.parse_test_argument(&mut test.args)?,
        };
        let span = self.span_from(start);
        let height = self.build_node(out, ExprKind::Test(test), span, at, height.max(below));
        if !is_negated {
            return Ok(height);
        }
        let test = Box::new(take(out));
        Ok(self.build_node(out, ExprKind::Unary(UnaryOp::Not, test), span, at, height))
    }

    /// Parses the argument of a test without parentheses, if the current token begins one. Every name but `else`, `or` and `and` does.
    fn parse_test_argument(&mut self, args: &mut Args) -> Result<Height> {
        let token = self.stream.current();
        let begins = match token.kind {
            TokenKind::Name => !self.stream.is_any_word(token, &["else", "or", "and"]),
            TokenKind::String | TokenKind::Integer | TokenKind::Float | TokenKind::LeftBracket | TokenKind::LeftBrace => true,
            _ => false,
        };
        if !begins {
            return Ok(0);
        }
        if self.stream.is_word(token, "is") {
            return Err(self.stream.error("You cannot chain multiple tests with is"));
        }
        let mut argument = Expr::default();
        let height = self.descend(depth::TEST_ARGUMENT, |parser| {
            let height = parser.parse_primary(&mut argument)?;
            parser.parse_postfix(&mut argument, height)
        })?;
        args.positional = vec![argument];
        Ok(height)
    }
}
