//! The tree of a template, in Jinja's own node words (jinja2 3.1.6 `nodes.py`).
//!
//! The parser builds it; the resolver fills in what only it knows (slots, scopes, reference lines, built-ins, folded constants) in
//! fields that begin as their default. The tree owns literals and no run-time values.
//!
//! The tag of a node is a word of its own (`repr(u64)`). One that hides in a part takes longer to read, and one of a byte is slow to
//! move, as the parser does often: a word that is read right after a part of it was written has to wait.

mod expr;
#[cfg(any(test, fuzzing))]
mod print;
mod slot;
mod stmt;
mod storage;
mod symbols;
mod visit;

pub use expr::{
    Args, Attribute, BinaryOp, Call, Compare, CompareOp, Conditional, Expr, ExprKind, Filter, Keyword, Literal, LogicOp, Name,
    OtherArgs, Slice, Test, UnaryOp,
};
#[cfg(any(test, fuzzing))]
pub use print::{Parentheses, print};
pub use slot::{Frame, Load, Scope, Slot};
pub use stmt::{
    Body, CallBlock, FilterBlock, For, If, IfArm, LoopTest, Macro, Parameter, Piece, Set, SetBlock, SetStrategy, Stmt, StmtKind,
    Target, TargetKind, With,
};
pub use storage::Stored;
pub use symbols::{Symbol, Symbols};
pub use visit::Child;

/// A parsed template.
#[derive(Clone, Debug, Default)]
pub struct Template {
    /// The statements of the root.
    pub body: Body,
    /// Every name that occurs, by its number.
    pub symbols: Symbols,
    /// Whether some target is named `loop`.
    pub sets_loop: bool,
    /// Whether there is a `block` statement, whose parts are not kept.
    pub has_blocks: bool,
    /// The root's scope; the resolver's.
    pub scope: Scope,
    /// The root's frame; the resolver's.
    pub frame: Frame,
    /// Of each symbol, as far as it goes, whether some scope inside the root looks it up in the context; the resolver's.
    pub looked_up: Vec<bool>,
    /// The names of global functions, and the numbers of those; the resolver's.
    pub globals: Vec<(Symbol, usize)>,
    /// The names of variables that the reference has and this crate does not support; the resolver's.
    pub unsupported: Vec<Symbol>,
    /// Whether some assignment lets its variable grow in place; the resolver's.
    pub accumulates: bool,
}
