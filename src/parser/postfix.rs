//! What follows an operand: `.name`, `[index]`, `(arguments)`, `|filter`, `is test`.
//!
//! The rules are jinja2 3.1.6 `parser.py`, `parse_postfix` to `parse_test`. Subscripts and calls bind to the operand, filters and tests
//! to the operand with its signs, and a call may follow those too. Names of filters and tests are not looked up here.

use std::sync::Arc;

use super::Parser;
use super::depth::{self, Node};
use crate::ast::{Args, Attribute, Call, Expr, ExprKind, Filter, Keyword, Literal, Slice, Test, UnaryOp};
use crate::error::{Error, ErrorKind, Result};
use crate::lexer::TokenKind;
use crate::span::Span;

/// Arguments, with the height of the tallest.
type ArgsNode = (Args, u32);

/// What stands between the brackets of a subscript, or between its commas.
enum Index {
    Expr(Node),
    Slice([Option<Node>; 3], Span),
}

impl<'s> Parser<'s> {
    /// Subscripts and calls of an operand.
    pub fn parse_postfix(&mut self, node: &mut Node) -> Result<()> {
        loop {
            match self.stream.current().kind {
                TokenKind::Dot => self.parse_attribute(node)?,
                TokenKind::LeftBracket => {
                    let object = node.take();
                    node.put(self.nested(depth::POSTFIX, |parser| parser.parse_subscript(object))?);
                }
                TokenKind::LeftParen => self.parse_call(node)?,
                _ => return Ok(()),
            }
        }
    }

    /// Filters, tests and calls. The operand begins at `start`, where its parentheses or signs do.
    pub fn parse_filtered(&mut self, node: &mut Node, start: u32) -> Result<()> {
        loop {
            match self.stream.current().kind {
                TokenKind::Pipe => {
                    self.stream.bump()?;
                    let input = node.take();
                    node.put(self.parse_filter(Some(input), start)?);
                }
                TokenKind::Name if self.stream.is_at_word("is") => {
                    let input = node.take();
                    node.put(self.parse_test(input, start)?);
                }
                TokenKind::LeftParen => self.parse_call(node)?,
                _ => return Ok(()),
            }
        }
    }

    /// `.name` or `.0`
    fn parse_attribute(&mut self, node: &mut Node) -> Result<()> {
        let start = node.expr.span.start;
        let at = self.stream.take()?.at;
        let literal = self.stream.take_literal();
        let name = self.stream.take()?;
        let Node { expr: object, height } = node.take();
        let kind = match name.kind {
            TokenKind::Name => ExprKind::Attribute(Box::new(Attribute {
                object,
                is_key: false,
                text_method: None,
                name: self.spelling(self.stream.text(name)),
            })),
            TokenKind::Integer => {
                let index = Expr {
                    kind: ExprKind::Literal(literal.unwrap_or(Literal::None)),
                    span: name.span,
                    at: name.at,
                };
                ExprKind::Item(Box::new([object, index]))
            }
            _ => return Err(self.stream.error_at("expected name or number", name.span, name.at)),
        };
        node.put(self.node(kind, self.span_from(start), at, height));
        Ok(())
    }

    /// `[a]`, `[a:b:c]`, `[a, b]`
    fn parse_subscript(&mut self, object: Node) -> Result<Node> {
        let start = object.expr.span.start;
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
        let (kind, height) = match first {
            Some(Index::Slice(bounds, _)) if more.is_empty() => {
                let heights = bounds.iter().flatten().map(|node| node.height);
                let height = heights.fold(object.height, u32::max);
                let [start, stop, step] = bounds.map(|bound| bound.map(|node| node.expr));
                let slice = Slice {
                    object: object.expr,
                    start,
                    stop,
                    step,
                };
                (ExprKind::Slice(Box::new(slice)), height)
            }
            Some(Index::Expr(index)) if more.is_empty() => {
                let height = object.height.max(index.height);
                (ExprKind::Item(Box::new([object.expr, index.expr])), height)
            }
            first => {
                let indices = first.into_iter().chain(more);
                let index = self.tuple_index(indices, Span::new(bracket.span.start, span.end));
                let height = object.height.max(index.height);
                (ExprKind::Item(Box::new([object.expr, index.expr])), height)
            }
        };
        Ok(self.node(kind, span, bracket.at, height))
    }

    /// `[a, b]` as one index. A slice inside is an error that CPython finds in the generated code, after everything has been parsed.
    fn tuple_index(&mut self, indices: impl Iterator<Item = Index>, span: Span) -> Node {
        let mut height = 0;
        let mut items = Vec::new();
        for index in indices {
            match index {
                Index::Expr(node) => {
                    height = height.max(node.height);
                    items.push(node.expr);
                }
                Index::Slice(_, span) => {
                    let error = Error::new(ErrorKind::Syntax, "invalid syntax");
                    self.fail_later(error.at(span).without_line());
                }
            }
        }
        self.node(ExprKind::Tuple(items), span, span.start, height)
    }

    fn parse_slice(&mut self) -> Result<Index> {
        let start = self.stream.current().span.start;
        let first = if self.stream.is_at(TokenKind::Colon) {
            None
        } else {
            Some(self.parse_expression()?)
        };
        let first = match first {
            Some(node) if !self.stream.is_at(TokenKind::Colon) => return Ok(Index::Expr(node)),
            bound => bound,
        };
        self.stream.expect(TokenKind::Colon)?;
        let second = if self.stream.is_at(TokenKind::Colon) {
            None
        } else {
            self.parse_bound()?
        };
        let third = if self.stream.eat(TokenKind::Colon)? {
            self.parse_bound()?
        } else {
            None
        };
        Ok(Index::Slice([first, second, third], self.span_from(start)))
    }

    /// A bound of a slice, which may be absent.
    fn parse_bound(&mut self) -> Result<Option<Node>> {
        match self.stream.current().kind {
            TokenKind::RightBracket | TokenKind::Comma => Ok(None),
            _ => self.parse_expression().map(Some),
        }
    }

    fn parse_call(&mut self, node: &mut Node) -> Result<()> {
        let start = node.expr.span.start;
        let at = self.stream.current().at;
        let (args, height) = self.nested(depth::POSTFIX, Self::parse_arguments)?;
        let callee = node.take();
        let height = height.max(callee.height);
        let kind = ExprKind::Call(Box::new(Call {
            callee: callee.expr,
            args,
        }));
        node.put(self.node(kind, self.span_from(start), at, height));
        Ok(())
    }

    /// `(a, b=1, *c, **d)`
    fn parse_arguments(&mut self) -> Result<ArgsNode> {
        let paren = self.stream.expect(TokenKind::LeftParen)?;
        let mut args = Args::default();
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
            height = height.max(self.take_argument(&mut args, kind, is_keyword)?);
        }
        self.stream.expect(TokenKind::RightParen)?;
        Ok((args, height))
    }

    /// Adds one argument and gives its height.
    fn take_argument(&mut self, args: &mut Args, kind: TokenKind, is_keyword: bool) -> Result<u32> {
        let mut name = None;
        match kind {
            TokenKind::Mul | TokenKind::Pow => self.stream.bump()?,
            _ if is_keyword => {
                name = Some(self.take_word()?);
                self.stream.bump()?;
            }
            _ => {}
        }
        let Node { expr: value, height } = self.parse_expression()?;
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
    fn take_arguments(&mut self) -> Result<Option<ArgsNode>> {
        match self.stream.current().kind {
            TokenKind::LeftParen => self.nested(depth::POSTFIX, Self::parse_arguments).map(Some),
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

    /// A filter behind its `|`, and those that follow. The first of a `filter` or `set` block has no input.
    pub fn parse_filter(&mut self, mut input: Option<Node>, start: u32) -> Result<Node> {
        loop {
            let (name, at) = self.parse_dotted_name()?;
            let (args, height) = self.take_arguments()?.unwrap_or_default();
            let height = input.as_ref().map_or(0, |node| node.height).max(height);
            let filter = Filter {
                input: input.map(|node| node.expr),
                name,
                args,
                builtin: None,
            };
            let node = self.node(ExprKind::Filter(Box::new(filter)), self.span_from(start), at, height);
            if !self.stream.eat(TokenKind::Pipe)? {
                return Ok(node);
            }
            input = Some(node);
        }
    }

    /// `is t`, `is not t(a)`, `is t a`
    fn parse_test(&mut self, input: Node, start: u32) -> Result<Node> {
        let at = self.stream.expect_word("is")?.at;
        let is_negated = self.stream.eat_word("not")?;
        let (name, _) = self.parse_dotted_name()?;
        let (args, height) = match self.take_arguments()? {
            Some(args) => args,
            None => self.parse_test_argument()?,
        };
        let height = input.height.max(height);
        let test = Test {
            input: input.expr,
            name,
            args,
            builtin: None,
        };
        let span = self.span_from(start);
        let node = self.node(ExprKind::Test(Box::new(test)), span, at, height);
        if !is_negated {
            return Ok(node);
        }
        let kind = ExprKind::Unary(UnaryOp::Not, Box::new(node.expr));
        Ok(self.node(kind, span, at, node.height))
    }

    /// The argument of a test without parentheses, if one begins here: any name but three does.
    fn parse_test_argument(&mut self) -> Result<ArgsNode> {
        let token = self.stream.current();
        let begins = match token.kind {
            TokenKind::Name => !self.stream.is_any_word(token, &["else", "or", "and"]),
            TokenKind::String | TokenKind::Integer | TokenKind::Float | TokenKind::LeftBracket | TokenKind::LeftBrace => true,
            _ => false,
        };
        if !begins {
            return Ok(ArgsNode::default());
        }
        if self.stream.is_word(token, "is") {
            return Err(self.stream.error("You cannot chain multiple tests with is"));
        }
        let node = self.nested(depth::TEST_ARGUMENT, |parser| {
            let mut argument = parser.parse_primary()?;
            parser.parse_postfix(&mut argument)?;
            Ok(argument)
        })?;
        let args = Args {
            positional: vec![node.expr],
            ..Args::default()
        };
        Ok((args, node.height))
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

    #[test]
    fn a_slice_in_a_tuple_is_found_last() {
        assert_eq!(refusal("{{ l[1:2, 3] }}"), ("invalid syntax".into(), 0));
        assert_eq!(refusal("{{ l[1:2, 3] }}{{ $ }}"), ("unexpected char '$' at 18".into(), 1));
    }
}
