//! Expressions, from the conditional down to signs: `a if b + 1 else not c`.
//!
//! The rules are jinja2 3.1.6 `parser.py`, `parse_expression` to `parse_unary`. Binary operators are a Pratt loop over the ladder in
//! `precedence.rs`; chains of prefixes and of `else` are loops too, so that only brackets nest calls. What operands are made of is in
//! `primary.rs` and `postfix.rs`.

use super::Parser;
use super::depth::{self, Node};
use super::precedence::{self, Binding, Operator};
use crate::ast::{Compare, CompareOp, Conditional, Expr, ExprKind, UnaryOp};
use crate::error::Result;
use crate::lexer::TokenKind;
use crate::span::Span;

/// Where a production begins: its first byte, and the token that carries the line.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset that stands for the line.
    pub at: u32,
}

impl<'s> Parser<'s> {
    /// `a if b else c`, or anything tighter.
    pub fn parse_expression(&mut self) -> Result<Node> {
        self.nested(depth::EXPRESSION, Self::parse_conditional)
    }

    /// An expression where an `if` would belong to the statement around it.
    pub fn parse_condition(&mut self) -> Result<Node> {
        self.nested(depth::CONDITION, |parser| parser.parse_binary(Binding::Or))
    }

    fn parse_conditional(&mut self) -> Result<Node> {
        let outer = self.waiting.len();
        let mut node = 'branch: loop {
            let mut start = self.start();
            let first = self.parse_binary(Binding::Or);
            if !self.stream.is_at_word("if") && self.waiting.len() == outer {
                // Most expressions are no conditionals, and are passed on as they are.
                return first;
            }
            let mut node = first?;
            while self.stream.eat_word("if")? {
                let test = self.parse_binary(Binding::Or)?;
                if self.stream.eat_word("else")? {
                    // The reference calls itself here; what follows is the last branch of all that wait.
                    self.deepen(depth::CALL)?;
                    self.waiting.push((start, node, test));
                    continue 'branch;
                }
                node = self.conditional(start, node, test, None);
                start.at = self.stream.current().at;
            }
            break node;
        };
        self.leave_calls(self.waiting.len().saturating_sub(outer));
        while self.waiting.len() > outer {
            let Some((start, then, test)) = self.waiting.pop() else {
                break;
            };
            node = self.conditional(start, then, test, Some(node));
        }
        Ok(node)
    }

    fn conditional(&mut self, start: Start, then: Node, test: Node, otherwise: Option<Node>) -> Node {
        let height = otherwise
            .as_ref()
            .map_or(0, |node| node.height)
            .max(then.height)
            .max(test.height);
        let conditional = Conditional {
            test: test.expr,
            then: then.expr,
            otherwise: otherwise.map(|node| node.expr),
            line: 0,
        };
        let span = self.span_from(start.start);
        self.node(ExprKind::Conditional(Box::new(conditional)), span, start.at, height)
    }

    /// Operands and operators that bind at least as tightly as `least`.
    fn parse_binary(&mut self, least: Binding) -> Result<Node> {
        let start = self.start();
        let first = if least <= Binding::Not && self.stream.is_at_word("not") {
            self.parse_not()
        } else {
            self.parse_unary()
        };
        let mut next = match first {
            Ok(_) => self.operator(least)?,
            Err(_) => None,
        };
        if next.is_none() {
            // Most operands are none of an operator that is as loose as this.
            return first;
        }
        let mut left = first?;
        let mut previous = Binding::Unary;
        while let Some((binding, operator)) = next {
            // The first operation of a chain has the line of the chain's first token, a later one that of the token after the
            // operation before it, which is the operator.
            let at = if binding == previous {
                self.stream.current().at
            } else {
                start.at
            };
            left = match operator {
                Operator::Logic(op) => {
                    let (operands, height) = self.take_operands(left, binding)?;
                    self.node(ExprKind::Logic(op, operands), self.span_from(start.start), at, height)
                }
                Operator::Binary(op) => {
                    let (operands, height) = self.take_operands(left, binding)?;
                    self.node(ExprKind::Binary(op, operands), self.span_from(start.start), at, height)
                }
                Operator::Concat => self.parse_concat(left, start)?,
                Operator::Compare(op) => self.parse_comparison(left, op, start)?,
            };
            previous = binding;
            next = self.operator(least)?;
        }
        Ok(left)
    }

    /// The binary operator that stands here, if it binds at least as tightly as `least`; of two words it stands at the first.
    fn operator(&mut self, least: Binding) -> Result<Option<(Binding, Operator)>> {
        let token = self.stream.current();
        let operator = match token.kind {
            TokenKind::Name => match self.stream.text(token) {
                "not" if self.stream.is_ahead("in")? => Some((Binding::Comparison, Operator::Compare(CompareOp::NotIn))),
                name => precedence::named_operator(name),
            },
            kind => precedence::operator(kind),
        };
        Ok(operator.filter(|(binding, _)| *binding >= least))
    }

    /// Takes the operator and parses what stands right of it.
    fn take_operands(&mut self, left: Node, binding: Binding) -> Result<(Box<[Expr; 2]>, u32)> {
        self.stream.bump()?;
        let right = self.parse_binary(binding.operand())?;
        let height = left.height.max(right.height);
        Ok((Box::new([left.expr, right.expr]), height))
    }

    fn parse_concat(&mut self, first: Node, start: Start) -> Result<Node> {
        let mut height = first.height;
        let mut pieces = vec![first.expr];
        while self.stream.eat(TokenKind::Tilde)? {
            let piece = self.parse_binary(Binding::Concat.operand())?;
            height = height.max(piece.height);
            pieces.push(piece.expr);
        }
        Ok(self.node(ExprKind::Concat(pieces), self.span_from(start.start), start.at, height))
    }

    fn parse_comparison(&mut self, first: Node, op: CompareOp, start: Start) -> Result<Node> {
        let link = self.take_link(op)?;
        let mut height = first.height.max(link.height);
        let mut more = Vec::new();
        while let Some((Binding::Comparison, Operator::Compare(op))) = self.operator(Binding::Comparison)? {
            let link = self.take_link(op)?;
            height = height.max(link.height);
            more.push((op, link.expr));
        }
        let compare = Compare {
            first: first.expr,
            link: (op, link.expr),
            more: more.into_boxed_slice(),
        };
        // The line is that of the token after the last operand.
        let at = self.stream.current().at;
        Ok(self.node(ExprKind::Compare(Box::new(compare)), self.span_from(start.start), at, height))
    }

    /// Takes the operator of a comparison, which may be two words, and what stands right of it.
    fn take_link(&mut self, op: CompareOp) -> Result<Node> {
        self.stream.bump()?;
        if op == CompareOp::NotIn {
            self.stream.bump()?;
        }
        self.parse_binary(Binding::Comparison.operand())
    }

    fn parse_not(&mut self) -> Result<Node> {
        let outer = self.prefixes.len();
        while self.stream.is_at_word("not") {
            self.deepen(depth::CALL)?;
            let start = self.stream.take()?.span.start;
            self.prefixes.push((UnaryOp::Not, start));
        }
        let mut operand = self.parse_binary(Binding::Not.operand())?;
        self.prefix(outer, &mut operand);
        Ok(operand)
    }

    /// Signs and an operand, and then filters and tests, which apply to both.
    fn parse_unary(&mut self) -> Result<Node> {
        let start = self.stream.current().span.start;
        let outer = self.prefixes.len();
        loop {
            let op = match self.stream.current().kind {
                TokenKind::Sub => UnaryOp::Neg,
                TokenKind::Add => UnaryOp::Pos,
                _ => break,
            };
            self.deepen(depth::CALL)?;
            let start = self.stream.take()?.span.start;
            self.prefixes.push((op, start));
        }
        let mut operand = self.parse_primary();
        if let Ok(node) = &mut operand {
            self.parse_postfix(node)?;
            if self.prefixes.len() > outer {
                self.prefix(outer, node);
            }
            self.parse_filtered(node, start)?;
        }
        operand
    }

    /// Puts the prefixes behind the first `outer` before an operand, the innermost last, and leaves the calls that they stand for.
    fn prefix(&mut self, outer: usize, operand: &mut Node) {
        let end = self.stream.end();
        while self.prefixes.len() > outer {
            let Some((op, start)) = self.prefixes.pop() else { break };
            self.leave_calls(1);
            let Node { expr, height } = operand.take();
            operand.put(self.node(ExprKind::Unary(op, Box::new(expr)), Span::new(start, end), start, height));
        }
    }

    /// Where the current token stands.
    pub fn start(&self) -> Start {
        let token = self.stream.current();
        Start {
            start: token.span.start,
            at: token.at,
        }
    }

    /// The span up to the last token that was taken.
    pub fn span_from(&self, start: u32) -> Span {
        Span::new(start, self.stream.end())
    }
}

#[cfg(test)]
mod tests {
    use crate::ast::{Expr, ExprKind, Piece, StmtKind};
    use crate::parser::parse;
    use crate::source::Source;

    /// The expression of an output, with parentheses around operations.
    fn shape(text: &str) -> String {
        let text = format!("{{{{ {text} }}}}");
        let source = Source::new(&text);
        let template = parse(&source).unwrap();
        let StmtKind::Output(pieces) = &template.body[0].kind else {
            panic!("an output")
        };
        let Piece::Expr(expr, _) = &pieces[0] else {
            panic!("an expression")
        };
        parenthesised(expr, &source)
    }

    fn parenthesised(expr: &Expr, source: &Source) -> String {
        let shown = |expr| parenthesised(expr, source);
        match &expr.kind {
            ExprKind::Binary(op, operands) => format!("({} {op:?} {})", shown(&operands[0]), shown(&operands[1])),
            ExprKind::Logic(op, operands) => format!("({} {op:?} {})", shown(&operands[0]), shown(&operands[1])),
            ExprKind::Unary(op, operand) => format!("({op:?} {})", shown(operand)),
            ExprKind::Concat(pieces) => format!("({})", pieces.iter().map(shown).collect::<Vec<_>>().join(" ~ ")),
            ExprKind::Compare(compare) => {
                let rest: String = compare.links().map(|(op, expr)| format!(" {op:?} {}", shown(expr))).collect();
                format!("({}{rest})", shown(&compare.first))
            }
            ExprKind::Filter(filter) => format!("({}|{})", filter.input.as_ref().map(shown).unwrap_or_default(), filter.name),
            ExprKind::Test(test) => format!("({} is {})", shown(&test.input), test.name),
            ExprKind::Conditional(choice) => {
                let otherwise = choice.otherwise.as_ref().map(shown).unwrap_or_default();
                format!("({} if {} else {otherwise})", shown(&choice.then), shown(&choice.test))
            }
            _ => source.slice(expr.span).to_owned(),
        }
    }

    #[test]
    fn the_ladder_is_jinjas() {
        assert_eq!(shape("a + b ~ c * d ** e"), "(a Add (b ~ (c Mul (d Pow e))))");
        assert_eq!(shape("-a ** b ** -c.d"), "(((Neg a) Pow b) Pow (Neg c.d))");
        assert_eq!(shape("-a|f + b is t"), "(((Neg a)|f) Add (b is t))");
        assert_eq!(
            shape("not a == b and c or not not d"),
            "(((Not (a Eq b)) And c) Or (Not (Not d)))"
        );
        assert_eq!(shape("a < b + c not in d == e"), "(a Lt (b Add c) NotIn d Eq e)");
        assert_eq!(shape("a - b - c ~ d ~ e"), "((a Sub b) Sub (c ~ d ~ e))");
    }

    #[test]
    fn conditionals_reach_to_the_right() {
        assert_eq!(shape("a if b else c if d else e"), "(a if b else (c if d else e))");
        assert_eq!(shape("a if b if c"), "((a if b else ) if c else )");
    }
}
