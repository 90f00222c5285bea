//! What follows an operand: `.name`, `[index]`, `(arguments)`, `|filter`, `is test`.
//!
//! The rules are jinja2 3.1.6 `parser.py`, `parse_postfix` to `parse_test`. Subscripts and calls bind to the operand, filters and tests
//! to the operand with its signs, and a call may follow those too. Names of filters and tests are not looked up here.

use std::mem::take;
use std::sync::Arc;

use super::Parser;
use super::depth::{self, Height};
use crate::ast::{Args, Attribute, Call, Expr, ExprKind, Filter, Keyword, Literal, Slice, Test, UnaryOp};
use crate::error::{Error, Result};
use crate::lexer::TokenKind;
use crate::span::Span;

/// What stands between the brackets of a subscript, or between its commas.
enum Index {
    /// An expression.
    Expr(Expr, Height),
    /// A slice of nothing yet, with the height of its tallest bound.
    Slice(Box<Slice>, Height, Span),
}

impl<'s> Parser<'s> {
    /// Subscripts and calls of an operand.
    pub fn parse_postfix(&mut self, place: &mut Expr, mut height: Height) -> Result<Height> {
        loop {
            height = match self.stream.current().kind {
                TokenKind::Dot => self.parse_attribute(place, height)?,
                TokenKind::LeftBracket => self.nested(depth::POSTFIX, |parser| parser.parse_subscript(place, height))?,
                TokenKind::LeftParen => self.parse_call(place, height)?,
                _ => return Ok(height),
            }
        }
    }

    /// Filters, tests and calls. The operand begins at `start`, where its parentheses or signs do.
    pub fn parse_filtered(&mut self, place: &mut Expr, mut height: Height, start: u32) -> Result<Height> {
        loop {
            height = match self.stream.current().kind {
                TokenKind::Pipe => {
                    self.stream.bump()?;
                    self.parse_filter(place, Some(height), start)?
                }
                TokenKind::Name if self.stream.is_at_word("is") => self.parse_test(place, height, start)?,
                TokenKind::LeftParen => self.parse_call(place, height)?,
                _ => return Ok(height),
            }
        }
    }

    /// `.name` or `.0`
    fn parse_attribute(&mut self, place: &mut Expr, height: Height) -> Result<Height> {
        let start = place.span.start;
        let at = self.stream.take()?.at;
        let literal = self.stream.take_literal();
        let name = self.stream.take()?;
        let kind = match name.kind {
            TokenKind::Name => ExprKind::Attribute(Box::new(Attribute {
                name: self.spelling(self.stream.text(name)),
                object: take(place),
                is_key: false,
                text_method: None,
                is_get: false,
            })),
            TokenKind::Integer => {
                let index = Expr {
                    kind: ExprKind::Literal(literal.unwrap_or(Literal::None)),
                    span: name.span,
                    at: name.at,
                };
                ExprKind::Item(Box::new([take(place), index]))
            }
            _ => return Err(self.stream.error_at("expected name or number", name.span, name.at)),
        };
        Ok(self.put(place, kind, self.span_from(start), at, height))
    }

    /// `[a]`, `[a:b:c]`, `[a, b]`
    fn parse_subscript(&mut self, place: &mut Expr, height: Height) -> Result<Height> {
        let start = place.span.start;
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
                slice.object = take(place);
                (ExprKind::Slice(slice), below)
            }
            Some(Index::Expr(index, below)) if more.is_empty() => (ExprKind::Item(Box::new([take(place), index])), below),
            first => {
                let indices = first.into_iter().chain(more);
                let mut index = Expr::default();
                let below = self.put_tuple(&mut index, indices, Span::new(bracket.span.start, span.end));
                (ExprKind::Item(Box::new([take(place), index])), below)
            }
        };
        Ok(self.put(place, kind, span, bracket.at, height.max(below)))
    }

    /// Parses `[a, b]` as one index. A slice among several indices is an error that the reference finds after parsing.
    fn put_tuple(&mut self, place: &mut Expr, indices: impl Iterator<Item = Index>, span: Span) -> Height {
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
        self.put(place, ExprKind::Tuple(items), span, span.start, tallest)
    }

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

    /// A bound of a slice, which may be absent.
    fn parse_bound(&mut self, place: &mut Option<Expr>) -> Result<Height> {
        match self.stream.current().kind {
            TokenKind::RightBracket | TokenKind::Comma => Ok(0),
            _ => self.parse_expression(place.insert(Expr::default())),
        }
    }

    fn parse_call(&mut self, place: &mut Expr, height: Height) -> Result<Height> {
        let start = place.span.start;
        let at = self.stream.current().at;
        let mut call = Box::new(Call {
            callee: take(place),
            args: Args::default(),
        });
        let below = self.nested(depth::POSTFIX, |parser| parser.parse_arguments(&mut call.args))?;
        Ok(self.put(place, ExprKind::Call(call), self.span_from(start), at, height.max(below)))
    }

    /// `(a, b=1, *c, **d)`; gives the height of the tallest.
    fn parse_arguments(&mut self, args: &mut Args) -> Result<Height> {
        let paren = self.stream.expect(TokenKind::LeftParen)?;
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
            let is_keyword = kind == TokenKind::Name && self.stream.look()?.kind == TokenKind::Assign;
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
        Ok(height)
    }

    /// Adds one argument and gives its height.
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
            if args.positional.is_empty() {
                // Few calls have more than one.
                args.positional.reserve_exact(1);
            }
            args.positional.push(value);
            return Ok(height);
        }
        let others = args.others.get_or_insert_default();
        match name {
            Some(name) => others.keywords.push(Keyword {
                name: self.spelling(name),
                value,
            }),
            None if kind == TokenKind::Mul => others.star = Some(value),
            None => others.double_star = Some(value),
        }
        Ok(height)
    }

    /// The arguments, if a parenthesis follows.
    fn take_arguments(&mut self, args: &mut Args) -> Result<Option<Height>> {
        match self.stream.current().kind {
            TokenKind::LeftParen => self.nested(depth::POSTFIX, |parser| parser.parse_arguments(args)).map(Some),
            _ => Ok(None),
        }
    }

    /// `a.b`, the name of a filter or a test.
    fn parse_dotted_name(&mut self) -> Result<(Arc<str>, u32)> {
        let first = self.stream.expect(TokenKind::Name)?;
        if !self.stream.is_at(TokenKind::Dot) {
            return Ok((self.spelling(self.stream.text(first)), first.at));
        }
        let mut name = self.stream.text(first).to_owned();
        while self.stream.eat(TokenKind::Dot)? {
            name.push('.');
            name.push_str(self.expect_name()?);
        }
        Ok((name.into(), first.at))
    }

    /// A filter behind its `|`, and those that follow. The input is taken from the place; the first filter of a `filter` or `set` block
    /// has none.
    pub fn parse_filter(&mut self, place: &mut Expr, mut input: Option<Height>, start: u32) -> Result<Height> {
        loop {
            let (name, at) = self.parse_dotted_name()?;
            let mut filter = Box::new(Filter {
                input: input.map(|_| take(place)),
                name,
                args: Args::default(),
                builtin: None,
            });
            let below = self.take_arguments(&mut filter.args)?.max(input).unwrap_or_default();
            let height = self.put(place, ExprKind::Filter(filter), self.span_from(start), at, below);
            if !self.stream.eat(TokenKind::Pipe)? {
                return Ok(height);
            }
            input = Some(height);
        }
    }

    /// `is t`, `is not t(a)`, `is t a`
    fn parse_test(&mut self, place: &mut Expr, height: Height, start: u32) -> Result<Height> {
        let at = self.stream.expect_word("is")?.at;
        let is_negated = self.stream.eat_word("not")?;
        let (name, _) = self.parse_dotted_name()?;
        let mut test = Box::new(Test {
            input: take(place),
            name,
            args: Args::default(),
            builtin: None,
        });
        let below = match self.take_arguments(&mut test.args)? {
            Some(below) => below,
            None => self.parse_test_argument(&mut test.args)?,
        };
        let span = self.span_from(start);
        let height = self.put(place, ExprKind::Test(test), span, at, height.max(below));
        if !is_negated {
            return Ok(height);
        }
        let test = Box::new(take(place));
        Ok(self.put(place, ExprKind::Unary(UnaryOp::Not, test), span, at, height))
    }

    /// The argument of a test without parentheses, if one begins here: any name but three does.
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
        let height = self.nested(depth::TEST_ARGUMENT, |parser| {
            let height = parser.parse_primary(&mut argument)?;
            parser.parse_postfix(&mut argument, height)
        })?;
        args.positional = vec![argument];
        Ok(height)
    }
}

#[cfg(test)]
mod tests {
    use crate::parser::refusal;

    #[test]
    fn arguments_have_an_order() {
        let message = "invalid syntax for function call expression";
        for source in [
            "{{ f\n(a=1,\n2) }}",
            "{{ a|f\n(*a, 1) }}",
            "{{ a is f\n(**a, b=1) }}",
            "{{ f\n(**a, *b) }}",
        ] {
            assert_eq!(refusal(source), (message.into(), 2), "{source}");
        }
    }

    #[test]
    fn errors_are_the_references() {
        assert_eq!(refusal("{{ a.-1 }}").0, "expected name or number");
        assert_eq!(refusal("{{ a is b is c }}").0, "You cannot chain multiple tests with is");
        assert_eq!(refusal("{{ a|f[0] }}").0, "expected token 'end of print statement', got '['");
        assert_eq!(refusal("{{ l[1:,] }}").0, "unexpected ']'");
    }
}
