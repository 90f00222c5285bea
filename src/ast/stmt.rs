//! Statements.

use std::sync::Arc;

use super::expr::{Args, Expr};
use super::slot::{Frame, Scope, Slot};
use super::symbols::Symbol;
use crate::span::Span;

/// A sequence of statements.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The statements, in the order of the source.
    pub stmts: Vec<Stmt>,
    /// The work of their own expressions and texts, without the bodies inside them, in steps; the resolver's.
    pub steps: u32,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Which, with its parts.
    pub kind: StmtKind,
    /// The tag, or all of an output.
    pub span: Span,
    /// Offset of the token that carries the node's line in the reference: the tag's name, or where an output begins.
    pub at: u32,
    /// The line that the reference names for a failure of the statement itself; the resolver's.
    pub line: u32,
}

/// The kinds of statements, each with the source it stands for.
#[derive(Clone, Debug)]
#[repr(u64)]
pub enum StmtKind {
    /// `text {{ a }} text`, `{% print a, b %}`.
    Output(Vec<Piece>),
    /// `{% for x in l if t recursive %}…{% else %}…{% endfor %}`.
    For(Box<For>),
    /// `{% if a %}…{% elif b %}…{% else %}…{% endif %}`.
    If(Box<If>),
    /// `{% set x = 1 %}`.
    Set(Box<Set>),
    /// `{% set x | f %}…{% endset %}`.
    SetBlock(Box<SetBlock>),
    /// `{% macro m(a, b=1) %}…{% endmacro %}`.
    Macro(Box<Macro>),
    /// `{% call(a) m() %}…{% endcall %}`.
    CallBlock(Box<CallBlock>),
    /// `{% generation %}…{% endgeneration %}`: to the reference a call block on a function of its own.
    Generation(Box<Macro>),
    /// `{% filter f %}…{% endfilter %}`.
    FilterBlock(Box<FilterBlock>),
    /// `{% with a = 1 %}…{% endwith %}`.
    With(Box<With>),
    /// `{% include a %}`, `{% block b %}…{% endblock %}`: an unsupported statement of this name. Running it is an error, so the tree
    /// does not keep its parts.
    Unsupported(&'static str),
    /// `{% break %}`.
    Break,
    /// `{% continue %}`.
    Continue,
}

/// One piece of an output.
#[derive(Clone, Debug)]
#[repr(u64)]
pub enum Piece {
    /// Text between tags.
    Text(Box<str>),
    /// An expression, and the line that the reference names where it fails (the resolver's).
    Expr(Expr, u32),
}

/// What is assigned to.
#[derive(Clone, Debug)]
pub struct Target {
    /// Which.
    pub kind: TargetKind,
    /// Its source.
    pub span: Span,
    /// Offset of the token that carries the line.
    pub at: u32,
}

/// The kinds of targets.
#[derive(Clone, Debug)]
pub enum TargetKind {
    /// `x`
    Name {
        /// The name.
        symbol: Symbol,
        /// Its variable; the resolver's.
        slot: Slot,
        /// Whether the context gets it too, because it is set at top level; the resolver's.
        exported: bool,
    },
    /// `ns.x`
    Attribute {
        /// The namespace's name.
        object: Symbol,
        /// Its variable; the resolver's.
        slot: Slot,
        /// The attribute.
        name: Arc<str>,
    },
    /// `a, (b, c)`
    Tuple(Vec<Target>),
}

/// A loop.
#[derive(Clone, Debug)]
pub struct For {
    /// The loop variables.
    pub target: Target,
    /// What is iterated.
    pub iter: Expr,
    /// Which items are left out.
    pub test: Option<LoopTest>,
    /// Whether `loop(…)` renders the body again.
    pub recursive: bool,
    /// The body.
    pub body: Body,
    /// What is rendered where no round reached the end of the body.
    pub otherwise: Body,
    /// The variable `loop`: unresolved where the body mentions the name, and then, where it reads it, the resolver's.
    pub loop_slot: Option<Slot>,
    /// The scope of the body; the resolver's.
    pub scope: Scope,
    /// The scope of the else body; the resolver's.
    pub otherwise_scope: Scope,
    /// The frame of a recursive loop; the resolver's.
    pub frame: Frame,
}

/// `if test` in a loop: a generator function of its own in the reference.
#[derive(Clone, Debug)]
pub struct LoopTest {
    /// The condition.
    pub condition: Expr,
    /// The loop's target once more, as variables of the generator.
    pub target: Target,
    /// The line that the reference names where the condition fails; the resolver's.
    pub line: u32,
    /// The work of the condition, in steps; the resolver's.
    pub steps: u32,
    /// The scope around the condition; the resolver's.
    pub scope: Scope,
    /// The generator's frame; the resolver's.
    pub frame: Frame,
}

/// A choice.
#[derive(Clone, Debug)]
pub struct If {
    /// `if` and `elif`.
    pub arms: Vec<IfArm>,
    /// `else`.
    pub otherwise: Body,
}

/// `if test` with its body, or `elif test` with its body.
#[derive(Clone, Debug)]
pub struct IfArm {
    /// The condition.
    pub test: Expr,
    /// The body.
    pub body: Body,
    /// Offset of the token that carries the arm's line: the word `if`, or the first token of an `elif`'s condition.
    pub at: u32,
    /// The line that the reference names where the condition fails; the resolver's.
    pub line: u32,
}

/// `target = value`.
#[derive(Clone, Debug)]
pub struct Set {
    /// What is assigned to.
    pub target: Target,
    /// What it becomes.
    pub value: Expr,
    /// The line that the reference names where the target is no namespace; the resolver's.
    pub check_line: u32,
    /// How the value is assigned; the resolver's.
    pub strategy: SetStrategy,
}

/// How `set` assigns its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SetStrategy {
    /// Evaluate the value, and assign it.
    #[default]
    Plain,
    /// Append to the target in place, as in `ns.text = ns.text + x`, where `x` cannot read the target.
    Append,
    /// Copy a variable of another frame. If it is missing, the target becomes missing too.
    Alias,
}

/// A captured text.
#[derive(Clone, Debug)]
pub struct SetBlock {
    /// What is assigned to.
    pub target: Target,
    /// The filters that the text goes through: the outermost; the innermost has no input.
    pub filter: Option<Expr>,
    /// The body.
    pub body: Body,
    /// The body's scope; the resolver's.
    pub scope: Scope,
}

/// A macro, or the body of a call block, which is one without a name.
#[derive(Clone, Debug, Default)]
pub struct Macro {
    /// The name.
    pub name: Option<Symbol>,
    /// The parameters; those with a default come last.
    pub parameters: Vec<Parameter>,
    /// The body.
    pub body: Body,
    /// The variable that holds the macro; the resolver's.
    pub slot: Slot,
    /// Whether the context gets it too; the resolver's.
    pub exported: bool,
    /// The variables `caller`, `kwargs`, `varargs`, where the body mentions them; the resolver's.
    pub specials: [Option<Slot>; 3],
    /// Whether the body mentions `caller`; the resolver's.
    pub uses_caller: bool,
    /// Whether `caller` is one of the parameters; the resolver's.
    pub explicit_caller: bool,
    /// The scope of defaults and body; the resolver's.
    pub scope: Scope,
    /// The frame; the resolver's.
    pub frame: Frame,
    /// The work of the defaults, in steps; the resolver's.
    pub steps: u32,
}

/// One parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub symbol: Symbol,
    /// Its variable; the resolver's.
    pub slot: Slot,
    /// Its default.
    pub default: Option<Expr>,
    /// The line that the reference names where the default fails; the resolver's.
    pub line: u32,
}

/// `{% call(params) callee(args) %}body{% endcall %}`.
#[derive(Clone, Debug)]
pub struct CallBlock {
    /// What is called.
    pub callee: Expr,
    /// With which arguments; `caller` comes on top.
    pub args: Args,
    /// The body as a macro.
    pub body: Macro,
    /// The whole call's source.
    pub span: Span,
}

/// Text that goes through filters.
#[derive(Clone, Debug)]
pub struct FilterBlock {
    /// The outermost filter; the innermost has no input.
    pub filter: Expr,
    /// The body.
    pub body: Body,
    /// The body's scope; the resolver's.
    pub scope: Scope,
}

/// A scope with variables of its own.
#[derive(Clone, Debug)]
pub struct With {
    /// `target = value`, with the line that the reference names where the value fails (the resolver's).
    pub bindings: Vec<(Target, Expr, u32)>,
    /// The body.
    pub body: Body,
    /// The body's scope; the resolver's.
    pub scope: Scope,
}
