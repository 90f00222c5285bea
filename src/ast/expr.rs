//! Expressions.

use std::sync::Arc;

use super::slot::Slot;
use super::symbols::Symbol;
use crate::data::Data;
use crate::span::Span;
use crate::unsupported::Unsupported;

/// A constant that the tree owns: written in the source, or folded by the resolver.
#[derive(Clone, Debug)]
#[repr(u64)]
pub enum Literal {
    /// `none`
    None,
    /// `true`
    Bool(bool),
    /// `7`
    Int(i64),
    /// `7.0`
    Float(f64),
    /// `"text"`
    Str(Box<str>),
    /// A long integer, or a container of constants: few templates have one, and expressions are smaller without.
    Data(Box<Data<'static>>),
}

impl From<Data<'static>> for Literal {
    fn from(data: Data<'static>) -> Self {
        match data {
            Data::None => Self::None,
            Data::Bool(bool) => Self::Bool(bool),
            Data::Int(int) => Self::Int(int),
            Data::Float(float) => Self::Float(float),
            Data::Str(text) => Self::Str(text.into()),
            data => Self::Data(Box::new(data)),
        }
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Which, with its parts.
    pub kind: ExprKind,
    /// All of its source.
    pub span: Span,
    /// Offset of the token that carries the node's line in the reference: the dot of an attribute, the name of a filter, …
    pub at: u32,
}

/// The place of an expression that is still to come.
impl Default for Expr {
    fn default() -> Self {
        Self {
            kind: ExprKind::Literal(Literal::None),
            span: Span::default(),
            at: 0,
        }
    }
}

/// The kinds of expressions, each with the source it stands for.
#[derive(Clone, Debug)]
#[repr(u64)]
pub enum ExprKind {
    /// `1`, `"a" "b"`, `none`.
    Literal(Literal),
    /// `"\N{DASH}"`: a string literal that is not supported, which fails when it is reached.
    UnsupportedText(&'static Unsupported),
    /// `"<b>"|safe`: the text of a constant Markup; the resolver's.
    Markup(Box<str>),
    /// `messages`.
    Name(Name),
    /// `1, 2` or `()`.
    Tuple(Vec<Expr>),
    /// `[1, 2]`.
    List(Vec<Expr>),
    /// `{"a": 1}`.
    Dict(Vec<(Expr, Expr)>),
    /// `not a`, `-a`, `+a`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`.
    Binary(BinaryOp, Box<[Expr; 2]>),
    /// `a and b`, `a or b`.
    Logic(LogicOp, Box<[Expr; 2]>),
    /// `a ~ b ~ c`.
    Concat(Vec<Expr>),
    /// `a < b <= c`.
    Compare(Box<Compare>),
    /// `a if c else b`.
    Conditional(Box<Conditional>),
    /// `a.b`.
    Attribute(Box<Attribute>),
    /// `a[b]`, `a.0`: the object and the index.
    Item(Box<[Expr; 2]>),
    /// `a[1:2:3]`.
    Slice(Box<Slice>),
    /// `a|f(1)`.
    Filter(Box<Filter>),
    /// `a is t(1)`; `is not` is a [`UnaryOp::Not`] around it.
    Test(Box<Test>),
    /// `f(1, *a, b=2, **c)`.
    Call(Box<Call>),
}

/// A name that is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Name {
    /// The name as it is spelled.
    pub symbol: Symbol,
    /// Its variable; the resolver's.
    pub slot: Slot,
}

/// `not`, `-`, `+`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `not a`
    Not,
    /// `-a`
    Neg,
    /// `+a`
    Pos,
}

/// The arithmetic operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`
    Div,
    /// `a // b`
    FloorDiv,
    /// `a % b`
    Mod,
    /// `a ** b`
    Pow,
}

/// `and`, `or`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogicOp {
    /// `a and b`
    And,
    /// `a or b`
    Or,
}

/// A chain of comparisons.
#[derive(Clone, Debug)]
pub struct Compare {
    /// The leftmost operand.
    pub first: Expr,
    /// The first operator with what stands right of it.
    pub link: (CompareOp, Expr),
    /// The others; few chains have some.
    pub more: Box<[(CompareOp, Expr)]>,
}

impl Compare {
    /// The operators with what stands right of them.
    pub fn links(&self) -> impl Iterator<Item = &(CompareOp, Expr)> {
        std::iter::once(&self.link).chain(&*self.more)
    }
}

/// The operators of comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `in`
    In,
    /// `not in`
    NotIn,
}

/// `then if test else otherwise`.
#[derive(Clone, Debug)]
pub struct Conditional {
    /// The condition.
    pub test: Expr,
    /// The value where it is true.
    pub then: Expr,
    /// The value where it is false; absent, it is undefined.
    pub otherwise: Option<Expr>,
    /// The line that the undefined value names; the resolver's.
    pub line: u32,
}

/// `object.name`.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// What is asked.
    pub object: Expr,
    /// The attribute; one text for all places of the template that spell it.
    pub name: Arc<str>,
    /// Whether it is a dict's key: no method of a dict has that name, and no string has anything hidden or unsupported under it; the resolver's.
    pub is_key: bool,
    /// Its number among the methods of `str`; the resolver's. None for a name that no such method has.
    pub text_method: Option<u16>,
    /// Whether its name is `get`; the resolver's.
    pub is_get: bool,
}

/// `object[start:stop:step]`.
#[derive(Clone, Debug)]
pub struct Slice {
    /// What is sliced.
    pub object: Expr,
    /// The first bound.
    pub start: Option<Expr>,
    /// The second bound.
    pub stop: Option<Expr>,
    /// The step.
    pub step: Option<Expr>,
}

/// `input|name(args)`.
#[derive(Clone, Debug)]
pub struct Filter {
    /// What is filtered; absent for the first filter of a `filter` or `set` block, whose input is the block's text.
    pub input: Option<Expr>,
    /// The name, dots included.
    pub name: Arc<str>,
    /// The arguments after the input.
    pub args: Args,
    /// Its number in the table of filters; the resolver's. None for a name that no filter has.
    pub builtin: Option<usize>,
}

/// `input is name(args)`.
#[derive(Clone, Debug)]
pub struct Test {
    /// What is tested.
    pub input: Expr,
    /// The name, dots included.
    pub name: Arc<str>,
    /// The arguments after the input.
    pub args: Args,
    /// Its number in the table of tests; the resolver's. None for a name that no test has.
    pub builtin: Option<usize>,
}

/// `callee(args)`.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is called.
    pub callee: Expr,
    /// With which arguments.
    pub args: Args,
}

/// The arguments of a call, a filter or a test.
#[derive(Clone, Debug, Default)]
pub struct Args {
    /// `f(a, b)`
    pub positional: Vec<Expr>,
    /// The others; most have none.
    pub others: Option<Box<OtherArgs>>,
}

/// Arguments that are not positional.
#[derive(Clone, Debug, Default)]
pub struct OtherArgs {
    /// `f(a=b)`
    pub keywords: Vec<Keyword>,
    /// `f(*a)`
    pub star: Option<Expr>,
    /// `f(**a)`
    pub double_star: Option<Expr>,
    /// Whether one of the keywords is a word of Python, so that the reference makes a dict of them, in which the last of two equal ones
    /// counts; the resolver's.
    pub are_packed: bool,
}

impl Args {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.positional.is_empty() && self.are_positional()
    }

    /// Whether they are nothing but `f(a, b)`.
    pub fn are_positional(&self) -> bool {
        self.others.is_none()
    }
}

/// `name=value` in a call.
#[derive(Clone, Debug)]
pub struct Keyword {
    /// The name.
    pub name: Arc<str>,
    /// The value.
    pub value: Expr,
}
