//! The precedence of binary operators, which differs from that of Python.
//!
//! `~` binds tighter than `+`. `**` binds less tightly than a sign, and is left associative. The levels are those of the functions from
//! `parse_or` down to `parse_pow` in jinja2 3.1.6 `parser.py`; `grammar/precedence.md` explains them.

use crate::ast::{BinaryOp, CompareOp, LogicOp};
use crate::lexer::TokenKind;

/// The levels of precedence, from the loosest to the tightest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Binding {
    Or,
    And,
    Not,
    Comparison,
    /// Sums and differences: `a + b`.
    Sum,
    Concat,
    /// Products, quotients and remainders: `a * b`.
    Product,
    Power,
    /// `-a`: an operand with its signs, which has no binary operator.
    Unary,
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Logic(LogicOp),
    Compare(CompareOp),
    Binary(BinaryOp),
    Concat,
}

/// Returns the binary operator of a name, if the name is an operator. The caller handles `not in`, because it can see the next token.
pub fn named_operator(name: &str) -> Option<(Binding, Operator)> {
    match name {
        "or" => Some((Binding::Or, Operator::Logic(LogicOp::Or))),
        "and" => Some((Binding::And, Operator::Logic(LogicOp::And))),
        "in" => Some((Binding::Comparison, Operator::Compare(CompareOp::In))),
        _ => None,
    }
}

/// Returns the binary operator that a token other than a name is, if it is one.
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
    /// Returns the level of the right operand of an operator. It is the next tighter level, because all operators are left associative.
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
