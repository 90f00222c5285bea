//! The nodes of statements.

use std::sync::Arc;

use super::expr::{Args, Expr};
use super::slot::{Frame, Scope, Slot};
use super::symbols::Symbol;
use crate::span::Span;

/// A sequence of statements: the whole template, or the body of a statement.
#[derive(Debug, Default)]
pub struct Body {
    pub stmts: Vec<Stmt>,
    /// The cost of the statements in steps, without the bodies inside them. Set by the resolver.
    pub steps: u32,
}

/// A statement.
#[derive(Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    /// The source of the opening tag, or of the whole output.
    pub span: Span,
    /// The offset of the token whose line the reference reports for the node: the name of the tag, or the beginning of an output.
    pub at: u32,
    /// The offset whose line the reference reports if the statement itself fails. Set by the resolver.
    pub line_at: u32,
}

/// The kinds of statements, each documented by an example of its source.
#[derive(Debug)]
#[repr(u64)]
pub enum StmtKind {
    /// An output: `text {{ a }} text`, `{% print a, b %}`.
    Output(Box<Output>),
    /// A loop: `{% for x in l if t recursive %}…{% else %}…{% endfor %}`.
    For(Box<For>),
    /// A choice: `{% if a %}…{% elif b %}…{% else %}…{% endif %}`.
    If(Box<If>),
    /// An assignment: `{% set x = 1 %}`.
    Set(Box<Set>),
    /// An assignment of the text of a block: `{% set x | f %}…{% endset %}`.
    SetBlock(Box<SetBlock>),
    /// A macro: `{% macro m(a, b=1) %}…{% endmacro %}`.
    Macro(Box<Macro>),
    /// A call block: `{% call(a) m() %}…{% endcall %}`.
    CallBlock(Box<CallBlock>),
    /// `{% generation %}…{% endgeneration %}`. As in the reference, the body is a function, like that of a call block.
    Generation(Box<Macro>),
    /// A filter block: `{% filter f %}…{% endfilter %}`.
    FilterBlock(Box<FilterBlock>),
    /// A scope with variables of its own: `{% with a = 1 %}…{% endwith %}`.
    With(Box<With>),
    /// `{% include a %}`: a statement of this name that this crate does not support. Executing it is an error, so the tree does not keep
    /// its parts.
    Unsupported(&'static str),
    Break,
    Continue,
}

/// An output: text and expressions that are printed.
#[derive(Debug, Default)]
pub struct Output {
    pub pieces: Vec<Piece>,
    /// The strings that the output consists of, in their order: text, literals, and the paths that sums and concatenations join. A render
    /// writes them if all of the values are plain strings. Empty if an expression does anything else. Set by the resolver.
    pub leaves: Vec<Leaf>,
    /// The steps that the string literals among the leaves cost. Set by the resolver.
    pub steps: u32,
}

/// A part of an output that is written without evaluating an expression.
#[derive(Debug)]
pub enum Leaf {
    /// Text of the template, joined with the string literals next to it: `<|im_start|>`.
    Text(Box<str>, TextLines),
    /// A variable or a key of it, whole or a part of it: `content`, `message.role`, `message.content|trim`.
    Path {
        slot: Slot,
        key: Option<Arc<str>>,
        kind: LeafKind,
    },
}

/// The part of the value of a path that is written.
#[derive(Clone, Copy, Debug)]
pub enum LeafKind {
    /// All of it.
    Whole,
    /// The part that a filter returns, by its index in the table of filters.
    Filter(usize),
    /// The part that a method returns, by its index in the table of string methods.
    Method(u16),
}

impl Leaf {
    pub fn slot_mut(&mut self) -> Option<&mut Slot> {
        match self {
            Self::Text(..) => None,
            Self::Path { slot, .. } => Some(slot),
        }
    }
}

/// The lines of the source from which the text of an output comes. Set by the resolver.
#[derive(Clone, Debug, Default)]
pub struct TextLines {
    /// The line on which the text begins.
    pub first: u32,
    /// The parts that were joined to the text and begin on another line than the part before: for each, the byte of the text at which it
    /// begins, and its line. Most outputs have none.
    pub joined: Vec<(u32, u32)>,
}

impl TextLines {
    /// Appends `next`, which comes from `lines`, to `text`, and adds the lines.
    pub fn join(&mut self, text: &mut String, next: &str, lines: &Self) {
        let start = u32::try_from(text.len()).unwrap_or(u32::MAX);
        if text.is_empty() {
            self.clone_from(lines);
        } else {
            let parts = lines.joined.iter().map(|(at, line)| (at.saturating_add(start), *line));
            for part in std::iter::once((start, lines.first)).chain(parts) {
                let last = self.joined.last().map_or(self.first, |(_, line)| *line);
                if part.1 != last {
                    self.joined.push(part);
                }
            }
        }
        text.push_str(next);
    }
}

/// A piece of an output.
#[derive(Debug)]
#[repr(u64)]
pub enum Piece {
    /// Text between tags.
    Text {
        text: Box<str>,
        /// The offset in the source at which it begins.
        at: u32,
        lines: TextLines,
    },
    Expr(Expr),
}

/// The target of an assignment or a loop: `x`, `ns.x` or `a, b`.
#[derive(Clone, Debug)]
pub struct Target {
    pub kind: TargetKind,
    /// The source of the whole target.
    pub span: Span,
    /// The offset of the token whose line the reference reports for the target.
    pub at: u32,
}

#[derive(Clone, Debug)]
pub enum TargetKind {
    /// A variable: `x`.
    Name {
        symbol: Symbol,
        /// The place of the variable. Set by the resolver.
        slot: Slot,
        /// Whether the variable also becomes part of the context, as one that is set at top level does. Set by the resolver.
        exported: bool,
    },
    /// An attribute of a namespace: `ns.x`.
    Attribute {
        /// The name of the namespace.
        object: Symbol,
        /// The place of the variable that holds the namespace. Set by the resolver.
        slot: Slot,
        /// The name of the attribute.
        name: Arc<str>,
        /// The index of the attribute in the namespace that the template assigns to the variable, or 0. It is where a render looks first.
        /// Set by the resolver.
        index: u32,
    },
    /// A tuple of targets: `a, (b, c)`.
    Tuple(Vec<Target>),
}

/// A loop: `{% for target in iter if test recursive %}body{% else %}otherwise{% endfor %}`.
#[derive(Debug)]
pub struct For {
    pub target: Target,
    pub iter: Expr,
    /// The condition that an item has to meet.
    pub test: Option<LoopTest>,
    /// Whether the loop is recursive, so that `loop(…)` renders the body again.
    pub recursive: bool,
    pub body: Body,
    /// The body of the `else`, which is rendered if no iteration reached the end of the body.
    pub otherwise: Body,
    /// The variable `loop`. The parser sets an unresolved slot if the body mentions the name. The resolver sets the place of the variable,
    /// or removes the slot if the body does not read it.
    pub loop_slot: Option<Slot>,
    /// The scope of the body. Set by the resolver.
    pub scope: Scope,
    /// The scope of the `else` body. Set by the resolver.
    pub otherwise_scope: Scope,
    /// The frame of a recursive loop. Set by the resolver.
    pub frame: Frame,
}

impl For {
    /// Returns whether the variables keep their values after the last round, so that macros in the body still see them. The reference
    /// clears those of a recursive loop only if the loop has an `else`.
    pub fn keeps_variables(&self) -> bool {
        self.recursive && self.otherwise.stmts.is_empty()
    }
}

/// The condition of a loop: `{% for x in l if condition %}`. As in the reference, it is evaluated in a frame of its own.
#[derive(Debug)]
pub struct LoopTest {
    pub condition: Expr,
    /// The target of the loop again. Its variables belong to the frame of the condition, so they have other places than those of the body.
    pub target: Target,
    /// The cost of the condition in steps. Set by the resolver.
    pub steps: u32,
    /// The scope of the condition. Set by the resolver.
    pub scope: Scope,
    /// The frame of the condition. Set by the resolver.
    pub frame: Frame,
}

/// A choice: `{% if a %}…{% elif b %}…{% else %}…{% endif %}`.
#[derive(Debug)]
pub struct If {
    pub arms: Vec<IfArm>,
    pub otherwise: Body,
    /// Whether a condition reads `add_generation_prompt`.
    pub asks_prompt: bool,
}

/// An `if` or an `elif` tag with its body.
#[derive(Debug)]
pub struct IfArm {
    pub test: Expr,
    pub body: Body,
    /// The offset of the token whose line the reference reports for the arm: the word `if`, or the first token of the condition of an
    /// `elif`.
    pub at: u32,
}

/// An assignment: `{% set target = value %}`.
#[derive(Debug)]
pub struct Set {
    pub target: Target,
    pub value: Expr,
    /// The offset whose line the reference reports if the target is an attribute of an object that is not a namespace. Set by the resolver.
    pub check_at: u32,
    /// How the assignment is executed. Set by the resolver.
    pub strategy: SetStrategy,
}

/// The way in which `set` assigns its value.
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

/// An assignment of the text of a block: `{% set target | filter %}body{% endset %}`.
#[derive(Debug)]
pub struct SetBlock {
    pub target: Target,
    /// The last of the filters that are applied to the text. The first one has no input.
    pub filter: Option<Expr>,
    pub body: Body,
    /// The scope of the body. Set by the resolver.
    pub scope: Scope,
}

/// A macro, the body of a call block, or a `generation` block. Only a macro has a name.
#[derive(Debug, Default)]
pub struct Macro {
    pub name: Option<Symbol>,
    /// The parameters. Those with a default come last.
    pub parameters: Vec<Parameter>,
    pub body: Body,
    /// The place of the variable that holds the macro. Set by the resolver.
    pub slot: Slot,
    /// Whether the macro also becomes part of the context, as one that is defined at top level does. Set by the resolver.
    pub exported: bool,
    /// The places of the variables `caller`, `kwargs` and `varargs`, for those that the body mentions. Set by the resolver.
    pub specials: [Option<Slot>; 3],
    /// Whether the body mentions `caller`. Set by the resolver.
    pub uses_caller: bool,
    /// Whether `caller` is one of the parameters. Set by the resolver.
    pub explicit_caller: bool,
    /// The scope of the defaults and the body. Set by the resolver.
    pub scope: Scope,
    /// The frame of a call. Set by the resolver.
    pub frame: Frame,
    /// The cost of the defaults in steps. Set by the resolver.
    pub steps: u32,
    /// The offset of the token whose line the reference reports if a default fails. Set by the resolver.
    pub at: u32,
}

/// A parameter of a macro or a call block.
#[derive(Debug)]
pub struct Parameter {
    pub symbol: Symbol,
    /// The place of its variable. Set by the resolver.
    pub slot: Slot,
    pub default: Option<Expr>,
}

/// A call block: `{% call(params) callee(args) %}body{% endcall %}`.
#[derive(Debug)]
pub struct CallBlock {
    pub callee: Expr,
    /// The arguments of the call, without the `caller` that is added to them.
    pub args: Args,
    pub body: Macro,
    /// The source of the whole call.
    pub span: Span,
}

/// A block whose text is filtered: `{% filter f|g %}body{% endfilter %}`.
#[derive(Debug)]
pub struct FilterBlock {
    /// The last of the filters. The first one has no input.
    pub filter: Expr,
    pub body: Body,
    /// The scope of the body. Set by the resolver.
    pub scope: Scope,
}

/// A scope with variables of its own: `{% with target = value %}body{% endwith %}`.
#[derive(Debug)]
pub struct With {
    pub bindings: Vec<(Target, Expr)>,
    pub body: Body,
    /// The scope of the body. Set by the resolver.
    pub scope: Scope,
}
