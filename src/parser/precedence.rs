//! Which binary operator binds how tightly: Jinja's own ladder, which is not Python's.
//!
//! `~` binds tighter than `+`, `**` looser than a sign and to the left. The ladder is the chain of calls from `parse_or` down to
//! `parse_pow` in jinja2 3.1.6 `parser.py`; `grammar/precedence.md` shows it to people. How operands are parsed is unknown here.

use crate::ast::{BinaryOp, CompareOp, LogicOp};
use crate::lexer::TokenKind;

/// The levels of binary operators and of `not`, the loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Binding {
    /// `a or b`
    Or,
    /// `a and b`
    And,
    /// `not a`
    Not,
    /// `a < b`
    Comparison,
    /// `a + b`
    Sum,
    /// `a ~ b`
    Concat,
    /// `a * b`
    Product,
    /// `a ** b`
    Power,
    /// `-a`, which is no binary operator: the operands of all others.
    Unary,
}

/// What a binary operator makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `a and b`
    Logic(LogicOp),
    /// `a < b`
    Compare(CompareOp),
    /// `a + b`
    Binary(BinaryOp),
    /// `a ~ b`
    Concat,
}

/// The binary operator that a name is. The first half of `not in` is for the parser to see, which can look further.
pub fn named_operator(name: &str) -> Option<(Binding, Operator)> {
    match name {
        "or" => Some((Binding::Or, Operator::Logic(LogicOp::Or))),
        "and" => Some((Binding::And, Operator::Logic(LogicOp::And))),
        "in" => Some((Binding::Comparison, Operator::Compare(CompareOp::In))),
        _ => None,
    }
}

/// The binary operator that a token of a kind is.
#[inline]
pub fn operator(kind: TokenKind) -> Option<(Binding, Operator)> {
    let binary = |op, binding| Some((binding, Operator::Binary(op)));
    let compare = |op| Some((Binding::Comparison, Operator::Compare(op)));
    match kind {
        TokenKind::Eq => compare(CompareOp::Eq),
        TokenKind::Ne => compare(CompareOp::Ne),
        TokenKind::Lt => compare(CompareOp::Lt),
        TokenKind::Le => compare(CompareOp::Le),
        TokenKind::Gt => compare(CompareOp::Gt),
        TokenKind::Ge => compare(CompareOp::Ge),
        TokenKind::Add => binary(BinaryOp::Add, Binding::Sum),
        TokenKind::Sub => binary(BinaryOp::Sub, Binding::Sum),
        TokenKind::Tilde => Some((Binding::Concat, Operator::Concat)),
        TokenKind::Mul => binary(BinaryOp::Mul, Binding::Product),
        TokenKind::Div => binary(BinaryOp::Div, Binding::Product),
        TokenKind::FloorDiv => binary(BinaryOp::FloorDiv, Binding::Product),
        TokenKind::Mod => binary(BinaryOp::Mod, Binding::Product),
        TokenKind::Pow => binary(BinaryOp::Pow, Binding::Power),
        _ => None,
    }
}

impl Binding {
    /// The level of the operands: the next tighter one, as every level is left associative.
    pub fn operand(self) -> Self {
        match self {
            Self::Or => Self::And,
            Self::And => Self::Not,
            Self::Not => Self::Comparison,
            Self::Comparison => Self::Sum,
            Self::Sum => Self::Concat,
            Self::Concat => Self::Product,
            Self::Product => Self::Power,
            Self::Power | Self::Unary => Self::Unary,
        }
    }
}
