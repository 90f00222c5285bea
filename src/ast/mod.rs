//! The syntax tree of a template. The nodes have the names of jinja2 3.1.6 `nodes.py`.
//!
//! The parser builds the tree. The resolver then sets the fields that are documented as "set by the resolver": slots, scopes, line numbers
//! of errors, indices of built-ins. Until then these fields have their default values. The resolver also replaces constant expressions by
//! literals. The tree owns its literals and has no run-time values.
//!
//! The enums of nodes are `repr(u64)`, so that the discriminant fills a machine word. This is faster than the default layout: a
//! discriminant inside a field takes longer to read, and a discriminant of one byte takes longer to move, which the parser does often.

mod expr;
mod literals;
#[cfg(feature = "internal")]
mod print;
mod slot;
mod stmt;
mod symbols;
mod visit;

pub use expr::{
    Args, Attribute, BinaryOp, Call, Compare, CompareOp, Conditional, Expr, ExprKind, Filter, Form, Keyword, Literal, LogicOp,
    LoopNumber, Name, OtherArgs, Slice, Test, UnaryOp,
};
#[cfg(feature = "internal")]
pub use print::{Parentheses, print};
pub use slot::{Frame, Load, Scope, Slot};
pub use stmt::{
    Body, CallBlock, FilterBlock, For, If, IfArm, Leaf, LeafKind, LoopTest, Macro, Output, Parameter, Piece, Set, SetBlock,
    SetStrategy, Stmt, StmtKind, Target, TargetKind, TextLines, With,
};
pub use symbols::{Symbol, SymbolSet, Symbols};
pub use visit::{Child, ChildMut};

/// A parsed template.
#[derive(Debug, Default)]
pub struct Template {
    pub body: Body,
    /// The number of bytes of the source that are outside of tags.
    pub text_bytes: usize,
    pub symbols: Symbols,
    /// Whether the template assigns the name `loop`.
    pub sets_loop: bool,
    /// Whether the template has a `block` statement. The tree does not keep the parts of the statement.
    pub has_blocks: bool,
    /// Whether the template has a `generation` block.
    pub has_generation: bool,
    /// Whether the template mentions `add_generation_prompt`.
    pub asks_prompt: bool,
    /// The scope of the whole template. Set by the resolver.
    pub scope: Scope,
    /// The frame of the whole template. Set by the resolver.
    pub frame: Frame,
    /// The names that scopes inside the template look up in the context. Set by the resolver.
    pub looked_up: SymbolSet,
    /// The names of global functions that the template mentions, each with its index in the table of globals. Set by the resolver.
    pub globals: Vec<(Symbol, usize)>,
    /// The names of unsupported variables that the template mentions, such as `lipsum`. Set by the resolver.
    pub unsupported: Vec<Symbol>,
    /// Whether an assignment has the strategy [`SetStrategy::Append`]. Set by the resolver.
    pub accumulates: bool,
}
