//! Parses expressions with operators, from the conditional down to signs: `a if b + 1 else not c`.
//!
//! The rules are those of jinja2 3.1.6 `parser.py`, `parse_expression` to `parse_unary`. A Pratt loop parses binary operators by the
//! precedence in `precedence.rs`. Chains of prefixes and of `else` are loops as well, so that only brackets recurse. Operands are parsed by
//! `primary.rs` and `postfix.rs`.

use std::mem::take;

use super::depth::{self, Height};
use super::precedence::{self, Binding, Operator};
use super::{Parser, split_off};
use crate::ast::{Compare, CompareOp, Conditional, Expr, ExprKind, UnaryOp};
use crate::error::Result;
use crate::lexer::TokenKind;
use crate::span::Span;

/// The beginning of an expression.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset whose line the reference reports for the expression.
    pub at: u32,
}

impl<'s> Parser<'s> {
    /// Parses an expression into `out`: `a if b else c`, or an operation that binds tighter.
    pub fn parse_expression(&mut self, out: &mut Expr) -> Result<Height> {
        self.descend(depth::EXPRESSION, |parser| parser.parse_conditional(out))
    }

    /// Parses an expression and returns it, for callers that have no place in the tree yet.
    pub fn read_expression(&mut self) -> Result<Expr> {
        let mut expr = Expr::default();
        self.parse_expression(&mut expr)?;
        Ok(expr)
    }

    /// Parses an expression that is not a conditional, because an `if` after it belongs to the statement around it.
    pub fn parse_condition(&mut self, out: &mut Expr) -> Result<Height> {
        self.descend(depth::CONDITION, |parser| parser.parse_binary(out, Binding::Or))
    }

    fn parse_conditional(&mut self, out: &mut Expr) -> Result<Height> {
        let outer = self.open_conditionals.len();
        let mut height = 'branch: loop {
            let mut start = self.start();
            let mut height = self.parse_binary(out, Binding::Or)?;
            while self.stream.eat_word("if")? {
                let mut choice = Box::new(Conditional {
                    test: Expr::default(),
                    then: take(out),
                    otherwise: None,
                });
                height = height.max(self.parse_binary(&mut choice.test, Binding::Or)?);
                if self.stream.eat_word("else")? {
                    // The reference recurses here. The next expression is the last branch of all open conditionals.
                    self.enter_calls(depth::CALL)?;
                    self.open_conditionals.push((start, choice, height));
                    continue 'branch;
                }
                let span = self.span_from(start.start);
                height = self.build_node(out, ExprKind::Conditional(choice), span, start.at, height);
                start.at = self.stream.current().at;
            }
            break height;
        };
        self.leave_calls(self.open_conditionals.len().saturating_sub(outer));
        while self.open_conditionals.len() > outer {
            let Some((start, mut choice, below)) = self.open_conditionals.pop() else {
                break;
            };
            choice.otherwise = Some(take(out));
            let span = self.span_from(start.start);
            height = self.build_node(out, ExprKind::Conditional(choice), span, start.at, height.max(below));
        }
        Ok(height)
    }

    /// Parses operands and the operators between them that bind at least as tightly as `least`.
    fn parse_binary(&mut self, out: &mut Expr, least: Binding) -> Result<Height> {
        let start = self.start();
        let mut height = if least <= Binding::Not && self.stream.is_at_word("not") {
            self.parse_not(out)?
        } else {
            self.parse_unary(out)?
        };
        let mut previous = Binding::Unary;
        while let Some((binding, operator)) = self.binary_operator(least)? {
            // The first operation of a chain has the line of the first token of the chain. A later operation has the line of its operator.
            let at = if binding == previous {
                self.stream.current().at
            } else {
                start.at
            };
            height = match operator {
                Operator::Logic(op) => {
                    let (operands, below) = self.take_operands(out, height, binding)?;
                    self.build_node(out, ExprKind::Logic(op, operands), self.span_from(start.start), at, below)
                }
                Operator::Binary(op) => {
                    let (operands, below) = self.take_operands(out, height, binding)?;
                    self.build_node(out, ExprKind::Binary(op, operands), self.span_from(start.start), at, below)
                }
                Operator::Concat => self.parse_concat(out, height, start)?,
                Operator::Compare(op) => self.parse_comparison(out, height, op, start)?,
            };
            previous = binding;
        }
        Ok(height)
    }

    /// Returns the binary operator at the current token, if it binds at least as tightly as `least`. The current token stays the same.
    fn binary_operator(&mut self, least: Binding) -> Result<Option<(Binding, Operator)>> {
        let token = self.stream.current();
        let operator = match token.kind {
            TokenKind::Name => match self.stream.text(token) {
                "not" if self.stream.is_next_word("in")? => Some((Binding::Comparison, Operator::Compare(CompareOp::NotIn))),
                name => precedence::named_operator(name),
            },
            kind => precedence::operator(kind),
        };
        Ok(operator.filter(|(binding, _)| *binding >= least))
    }

    /// Takes the operator and parses its right operand. The left operand is taken from `out`. Returns both, and the height of the taller.
    fn take_operands(&mut self, out: &mut Expr, height: Height, binding: Binding) -> Result<(Box<[Expr; 2]>, Height)> {
        self.stream.bump()?;
        let mut operands = Box::new([take(out), Expr::default()]);
        let [_, right] = &mut *operands;
        let below = self.parse_binary(right, binding.operand())?;
        Ok((operands, height.max(below)))
    }

    /// Parses the rest of a concatenation `a ~ b ~ c`, whose first operand is in `out`.
    fn parse_concat(&mut self, out: &mut Expr, mut height: Height, start: Start) -> Result<Height> {
        let outer = self.items.len();
        self.items.push(take(out));
        while self.stream.eat(TokenKind::Tilde)? {
            height = height.max(self.parse_binary(out, Binding::Concat.operand())?);
            self.items.push(take(out));
        }
        let pieces = split_off(&mut self.items, outer);
        Ok(self.build_node(out, ExprKind::Concat(pieces), self.span_from(start.start), start.at, height))
    }

    /// Parses the rest of a chain of comparisons, whose first operand is in `out` and whose first operator is `op`.
    fn parse_comparison(&mut self, out: &mut Expr, mut height: Height, op: CompareOp, start: Start) -> Result<Height> {
        let mut compare = Box::new(Compare {
            first: take(out),
            link: (op, Expr::default()),
            more: Box::default(),
        });
        let (_, right) = &mut compare.link;
        height = height.max(self.take_link(right, op)?);
        let mut more = Vec::new();
        while let Some((Binding::Comparison, Operator::Compare(op))) = self.binary_operator(Binding::Comparison)? {
            height = height.max(self.take_link(out, op)?);
            more.push((op, take(out)));
        }
        compare.more = more.into_boxed_slice();
        // The reference reports for the chain the line of the token after the last operand.
        let at = self.stream.current().at;
        Ok(self.build_node(out, ExprKind::Compare(compare), self.span_from(start.start), at, height))
    }

    /// Takes the operator of a comparison, which can be two words, and parses its right operand.
    fn take_link(&mut self, out: &mut Expr, op: CompareOp) -> Result<Height> {
        self.stream.bump()?;
        if op == CompareOp::NotIn {
            self.stream.bump()?;
        }
        self.parse_binary(out, Binding::Comparison.operand())
    }

    fn parse_not(&mut self, out: &mut Expr) -> Result<Height> {
        let outer = self.prefixes.len();
        while self.stream.is_at_word("not") {
            self.enter_calls(depth::CALL)?;
            let start = self.stream.take()?.span.start;
            self.prefixes.push((UnaryOp::Not, start));
        }
        let height = self.parse_binary(out, Binding::Not.operand())?;
        Ok(self.build_prefixes(outer, out, height))
    }

    /// Parses an operand with its signs, and then the filters and tests, which apply to the operand with its signs.
    fn parse_unary(&mut self, out: &mut Expr) -> Result<Height> {
        let start = self.stream.current().span.start;
        let outer = self.prefixes.len();
        loop {
            let op = match self.stream.current().kind {
                TokenKind::Sub => UnaryOp::Neg,
                TokenKind::Add => UnaryOp::Pos,
                _ => break,
            };
            self.enter_calls(depth::CALL)?;
            let start = self.stream.take()?.span.start;
            self.prefixes.push((op, start));
        }
        let mut height = self.parse_primary(out)?;
        height = self.parse_postfix(out, height)?;
        if self.prefixes.len() > outer {
            height = self.build_prefixes(outer, out, height);
        }
        self.parse_filtered(out, height, start)
    }

    /// Applies prefix operators to the operand in `out`: all that the parser has read but the first `outer` ones, beginning with the last.
    /// The calls that were counted for them end.
    fn build_prefixes(&mut self, outer: usize, out: &mut Expr, mut height: Height) -> Height {
        let end = self.stream.end();
        while self.prefixes.len() > outer {
            let Some((op, start)) = self.prefixes.pop() else { break };
            self.leave_calls(1);
            let operand = Box::new(take(out));
            height = self.build_node(out, ExprKind::Unary(op, operand), Span::new(start, end), start, height);
        }
        height
    }

    /// Returns the beginning of an expression whose first token is the current one.
    pub fn start(&self) -> Start {
        let token = self.stream.current();
        Start {
            start: token.span.start,
            at: token.at,
        }
    }

    /// Returns the span from `start` to the end of the last token that was taken.
    pub fn span_from(&self, start: u32) -> Span {
        Span::new(start, self.stream.end())
    }
}
