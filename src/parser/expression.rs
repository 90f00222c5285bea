//! Expressions, from the conditional down to signs: `a if b + 1 else not c`.
//!
//! The rules are jinja2 3.1.6 `parser.py`, `parse_expression` to `parse_unary`. Binary operators are a Pratt loop over the ladder in
//! `precedence.rs`; chains of prefixes and of `else` are loops too, so that only brackets nest calls. What operands are made of is in
//! `primary.rs` and `postfix.rs`.

use std::mem::take;

use super::Parser;
use super::depth::{self, Height};
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
    /// `a if b else c`, or anything tighter, into its place.
    pub fn parse_expression(&mut self, place: &mut Expr) -> Result<Height> {
        self.nested(depth::EXPRESSION, |parser| parser.parse_conditional(place))
    }

    /// The same for an expression that has no place yet.
    pub fn new_expression(&mut self) -> Result<Expr> {
        let mut expr = Expr::default();
        self.parse_expression(&mut expr)?;
        Ok(expr)
    }

    /// An expression where an `if` would belong to the statement around it.
    pub fn parse_condition(&mut self, place: &mut Expr) -> Result<Height> {
        self.nested(depth::CONDITION, |parser| parser.parse_binary(place, Binding::Or))
    }

    fn parse_conditional(&mut self, place: &mut Expr) -> Result<Height> {
        let outer = self.waiting.len();
        let mut height = 'branch: loop {
            let mut start = self.start();
            let mut height = self.parse_binary(place, Binding::Or)?;
            while self.stream.eat_word("if")? {
                let mut choice = Box::new(Conditional {
                    test: Expr::default(),
                    then: take(place),
                    otherwise: None,
                    line: 0,
                });
                height = height.max(self.parse_binary(&mut choice.test, Binding::Or)?);
                if self.stream.eat_word("else")? {
                    // The reference calls itself here; what follows is the last branch of all that wait.
                    self.deepen(depth::CALL)?;
                    self.waiting.push((start, choice, height));
                    continue 'branch;
                }
                let span = self.span_from(start.start);
                height = self.put(place, ExprKind::Conditional(choice), span, start.at, height);
                start.at = self.stream.current().at;
            }
            break height;
        };
        self.leave_calls(self.waiting.len().saturating_sub(outer));
        while self.waiting.len() > outer {
            let Some((start, mut choice, below)) = self.waiting.pop() else {
                break;
            };
            choice.otherwise = Some(take(place));
            let span = self.span_from(start.start);
            height = self.put(place, ExprKind::Conditional(choice), span, start.at, height.max(below));
        }
        Ok(height)
    }

    /// Operands and operators that bind at least as tightly as `least`.
    fn parse_binary(&mut self, place: &mut Expr, least: Binding) -> Result<Height> {
        let start = self.start();
        let mut height = if least <= Binding::Not && self.stream.is_at_word("not") {
            self.parse_not(place)?
        } else {
            self.parse_unary(place)?
        };
        let mut previous = Binding::Unary;
        while let Some((binding, operator)) = self.operator(least)? {
            // The first operation of a chain has the line of the chain's first token, a later one that of the token after the
            // operation before it, which is the operator.
            let at = if binding == previous {
                self.stream.current().at
            } else {
                start.at
            };
            height = match operator {
                Operator::Logic(op) => {
                    let (operands, below) = self.take_operands(place, height, binding)?;
                    self.put(place, ExprKind::Logic(op, operands), self.span_from(start.start), at, below)
                }
                Operator::Binary(op) => {
                    let (operands, below) = self.take_operands(place, height, binding)?;
                    self.put(place, ExprKind::Binary(op, operands), self.span_from(start.start), at, below)
                }
                Operator::Concat => self.parse_concat(place, height, start)?,
                Operator::Compare(op) => self.parse_comparison(place, height, op, start)?,
            };
            previous = binding;
        }
        Ok(height)
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

    /// Takes the operator, and the operand before it from its place, and parses what stands right of it.
    fn take_operands(&mut self, place: &mut Expr, height: Height, binding: Binding) -> Result<(Box<[Expr; 2]>, Height)> {
        self.stream.bump()?;
        let mut operands = Box::new([take(place), Expr::default()]);
        let [_, right] = &mut *operands;
        let below = self.parse_binary(right, binding.operand())?;
        Ok((operands, height.max(below)))
    }

    fn parse_concat(&mut self, place: &mut Expr, mut height: Height, start: Start) -> Result<Height> {
        let mut pieces = vec![take(place)];
        while self.stream.eat(TokenKind::Tilde)? {
            height = height.max(self.parse_binary(place, Binding::Concat.operand())?);
            pieces.push(take(place));
        }
        Ok(self.put(place, ExprKind::Concat(pieces), self.span_from(start.start), start.at, height))
    }

    fn parse_comparison(&mut self, place: &mut Expr, mut height: Height, op: CompareOp, start: Start) -> Result<Height> {
        let mut compare = Box::new(Compare {
            first: take(place),
            link: (op, Expr::default()),
            more: Box::default(),
        });
        let (_, right) = &mut compare.link;
        height = height.max(self.take_link(right, op)?);
        let mut more = Vec::new();
        while let Some((Binding::Comparison, Operator::Compare(op))) = self.operator(Binding::Comparison)? {
            height = height.max(self.take_link(place, op)?);
            more.push((op, take(place)));
        }
        compare.more = more.into_boxed_slice();
        // The line is that of the token after the last operand.
        let at = self.stream.current().at;
        Ok(self.put(place, ExprKind::Compare(compare), self.span_from(start.start), at, height))
    }

    /// Takes the operator of a comparison, which may be two words, and parses what stands right of it.
    fn take_link(&mut self, place: &mut Expr, op: CompareOp) -> Result<Height> {
        self.stream.bump()?;
        if op == CompareOp::NotIn {
            self.stream.bump()?;
        }
        self.parse_binary(place, Binding::Comparison.operand())
    }

    fn parse_not(&mut self, place: &mut Expr) -> Result<Height> {
        let outer = self.prefixes.len();
        while self.stream.is_at_word("not") {
            self.deepen(depth::CALL)?;
            let start = self.stream.take()?.span.start;
            self.prefixes.push((UnaryOp::Not, start));
        }
        let height = self.parse_binary(place, Binding::Not.operand())?;
        Ok(self.put_prefixes(outer, place, height))
    }

    /// Signs and an operand, and then filters and tests, which apply to both.
    fn parse_unary(&mut self, place: &mut Expr) -> Result<Height> {
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
        let mut height = self.parse_primary(place)?;
        height = self.parse_postfix(place, height)?;
        if self.prefixes.len() > outer {
            height = self.put_prefixes(outer, place, height);
        }
        self.parse_filtered(place, height, start)
    }

    /// Puts the prefixes behind the first `outer` before an operand, the innermost last, and leaves the calls that they stand for.
    fn put_prefixes(&mut self, outer: usize, place: &mut Expr, mut height: Height) -> Height {
        let end = self.stream.end();
        while self.prefixes.len() > outer {
            let Some((op, start)) = self.prefixes.pop() else { break };
            self.leave_calls(1);
            let operand = Box::new(take(place));
            height = self.put(place, ExprKind::Unary(op, operand), Span::new(start, end), start, height);
        }
        height
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
        let StmtKind::Output(pieces) = &template.body.stmts[0].kind else {
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
