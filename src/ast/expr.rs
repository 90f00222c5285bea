//! The nodes of expressions.

use std::sync::Arc;

use super::slot::Slot;
use super::symbols::Symbol;
use crate::json::Data;
use crate::span::Span;
use crate::unsupported::Unsupported;

/// A constant of the tree: one that the source has, or one that the resolver computed.
#[derive(Clone, Debug)]
#[repr(u64)]
pub enum Literal {
    /// The literal `none`.
    None,
    /// A boolean, such as `true`.
    Bool(bool),
    /// An integer of at most 64 bits, such as `7`.
    Int(i64),
    /// A float, such as `7.0`.
    Float(f64),
    /// A string, such as `"text"`.
    Str(Box<str>),
    /// An integer beyond 64 bits, or a container of constants. It is boxed because it is rare and would make every expression larger.
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
#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    /// The source of the whole expression.
    pub span: Span,
    /// The offset of the token whose line the reference reports for the node, such as the dot of an attribute or the name of a filter.
    pub at: u32,
    /// How a render evaluates the expression. Set by the resolver.
    pub form: Form,
}

/// How a render evaluates an expression, each form with an example. [`Form::General`] is right for any expression. Each other form is a
/// faster way to the same result, and falls back to [`Form::General`] for values that it does not cover. In the examples, `path` is an
/// expression of the form [`Form::Path`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// By the rules of its kind.
    #[default]
    General,
    /// A variable, a key of one, or a key of a key or of an item: `message`, `message.role`, `call.function.name`, `messages[0].role`.
    Path,
    /// `variable.key == "text"`, or `!=`, where the key and the string are too short to be charged.
    KeyIsText,
    /// `loop.index0 > ns.last`, `path == "text"`, `"text" in path`: another comparison of what peeks may find.
    Peeked,
    /// `(a == b) == (c is string)`, or `!=`: a comparison of two conditions.
    Agreement,
    /// `path is string`: a test without arguments that needs only the value.
    Inspection,
    /// `loop.index0 % 2`, `messages|length - 1`: arithmetic of what may be integers.
    Count,
    /// `"a" + path + "b"`: a sum that most likely is a string.
    TextSum,
    /// `path|trim`, `path.strip()`: a filter or a method without arguments that returns a part of a string.
    Part,
    /// `value|tojson`: a filter that can append its result to the output.
    Written,
    /// `items|selectattr("role", "equalto", "user")`: a filter that selects by literals. A loop or a list goes over the result.
    Selection,
    /// `dict|items`, which a loop goes over.
    Entries,
    /// Another filter, call or item, such as `messages|length`, `text.split(",")[0]`, `render(message)`.
    Applied,
}

/// The default is a placeholder for an expression that is parsed later.
impl Default for Expr {
    fn default() -> Self {
        Self {
            kind: ExprKind::Literal(Literal::None),
            span: Span::default(),
            at: 0,
            form: Form::General,
        }
    }
}

/// The kinds of expressions, each documented by an example of its source.
#[derive(Debug)]
#[repr(u64)]
pub enum ExprKind {
    /// A literal: `1`, `"a" "b"`, `none`.
    Literal(Literal),
    /// `"\N{DASH}"`: a string literal that this crate does not support. Evaluating it is an error.
    UnsupportedText(&'static Unsupported),
    /// `"<b>"|safe`: a constant Markup string. Made by the resolver.
    Markup(Box<str>),
    /// A variable: `messages`.
    Name(Name),
    /// A tuple: `1, 2` or `()`.
    Tuple(Vec<Expr>),
    /// A list: `[1, 2]`.
    List(Vec<Expr>),
    /// A dict: `{"a": 1}`.
    Dict(Vec<(Expr, Expr)>),
    /// A unary operation: `not a`, `-a`, `+a`.
    Unary(UnaryOp, Box<Expr>),
    /// An arithmetic operation: `a + b`.
    Binary(BinaryOp, Box<[Expr; 2]>),
    /// A logical operation: `a and b`, `a or b`.
    Logic(LogicOp, Box<[Expr; 2]>),
    /// A concatenation: `a ~ b ~ c`.
    Concat(Vec<Expr>),
    /// A chain of comparisons: `a < b <= c`.
    Compare(Box<Compare>),
    /// A conditional: `a if c else b`.
    Conditional(Box<Conditional>),
    /// An attribute: `a.b`.
    Attribute(Box<Attribute>),
    /// `a[b]`, `a.0`: the object and the index.
    Item(Box<[Expr; 2]>),
    /// A slice: `a[1:2:3]`.
    Slice(Box<Slice>),
    /// A filter: `a|f(1)`.
    Filter(Box<Filter>),
    /// `a is t(1)`. The form `a is not t(1)` is this test inside a [`UnaryOp::Not`].
    Test(Box<Test>),
    /// A call: `f(1, *a, b=2, **c)`.
    Call(Box<Call>),
}

/// A variable that an expression reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Name {
    pub symbol: Symbol,
    /// The place of the variable. Set by the resolver.
    pub slot: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Not,
    Neg,
    Pos,
}

/// The arithmetic operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    /// Division that rounds down: `a // b`.
    FloorDiv,
    /// The remainder of a division, or formatting of a string: `a % b`.
    Mod,
    Pow,
}

/// The operators `and` and `or`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogicOp {
    And,
    Or,
}

/// A chain of comparisons: `a < b <= c`.
#[derive(Debug)]
pub struct Compare {
    pub first: Expr,
    /// The first operator and its right operand.
    pub link: (CompareOp, Expr),
    /// The further operators and their right operands. Few chains have any.
    pub more: Box<[(CompareOp, Expr)]>,
}

impl Compare {
    /// Returns all operators with their right operands, from left to right.
    pub fn links(&self) -> impl Iterator<Item = &(CompareOp, Expr)> {
        std::iter::once(&self.link).chain(&*self.more)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    NotIn,
}

/// `then if test else otherwise`.
#[derive(Debug)]
pub struct Conditional {
    pub test: Expr,
    pub then: Expr,
    /// The value if the condition is false. Without an `else` the value is undefined.
    pub otherwise: Option<Expr>,
}

/// `object.name`.
#[derive(Debug)]
pub struct Attribute {
    pub object: Expr,
    /// The name of the attribute. All occurrences of a name in the template share one string.
    pub name: Arc<str>,
    /// Whether the name may be looked up as a key at once: it is short and does not begin with an underscore, dicts have no attribute of
    /// this name, and strings have no unsupported one. Set by the resolver.
    pub is_key: bool,
    /// The index in the table of string methods, if there is a method of this name. Set by the resolver.
    pub text_method: Option<u16>,
    /// Whether the name is `get`. Set by the resolver.
    pub is_get: bool,
    /// The attribute of `loop` of this name, if there is one. Set by the resolver.
    pub loop_number: Option<LoopNumber>,
    /// The index of the attribute in the namespace that the template assigns to the variable, or 0. It is where a render looks first. Set
    /// by the resolver.
    pub index: u32,
}

impl Attribute {
    /// Makes an attribute that is not resolved yet.
    pub fn new(object: Expr, name: Arc<str>) -> Self {
        Self {
            object,
            name,
            is_key: false,
            text_method: None,
            is_get: false,
            loop_number: None,
            index: 0,
        }
    }
}

/// The attributes of `loop` that are numbers or booleans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopNumber {
    /// The number of the round, from 1.
    Index,
    /// The number of the round, from 0.
    Index0,
    /// Whether this is the first round.
    First,
    /// Whether this is the last round.
    Last,
    /// The number of rounds.
    Length,
    /// The number of rounds from this one to the last.
    RevIndex,
    /// The number of rounds after this one.
    RevIndex0,
}

impl LoopNumber {
    /// Returns the attribute of a name.
    pub fn find(name: &str) -> Option<Self> {
        Some(match name {
            "index" => Self::Index,
            "index0" => Self::Index0,
            "first" => Self::First,
            "last" => Self::Last,
            "length" => Self::Length,
            "revindex" => Self::RevIndex,
            "revindex0" => Self::RevIndex0,
            _ => return None,
        })
    }
}

/// `object[start:stop:step]`.
#[derive(Debug)]
pub struct Slice {
    pub object: Expr,
    pub start: Option<Expr>,
    pub stop: Option<Expr>,
    pub step: Option<Expr>,
}

/// `input|name(args)`.
#[derive(Debug)]
pub struct Filter {
    /// The value that is filtered. The first filter of a `filter` or `set` block has none: its input is the text of the block.
    pub input: Option<Expr>,
    /// The name of the filter, with the dots in it.
    pub name: Arc<str>,
    pub args: Args,
    /// The index in the table of filters, if there is a filter of this name. Set by the resolver.
    pub builtin: Option<usize>,
}

/// `input is name(args)`.
#[derive(Debug)]
pub struct Test {
    pub input: Expr,
    /// The name of the test, with the dots in it.
    pub name: Arc<str>,
    pub args: Args,
    /// The index in the table of tests, if there is a test of this name. Set by the resolver.
    pub builtin: Option<usize>,
}

/// `callee(args)`.
#[derive(Debug)]
pub struct Call {
    pub callee: Expr,
    pub args: Args,
}

/// The arguments of a call, a filter or a test.
#[derive(Debug, Default)]
pub struct Args {
    /// The positional arguments: `f(a, b)`.
    pub positional: Vec<Expr>,
    /// The arguments of all other kinds, if there are any.
    pub others: Option<Box<OtherArgs>>,
}

/// The arguments of a call that are not positional.
#[derive(Debug, Default)]
pub struct OtherArgs {
    /// The keyword arguments: `f(a=b)`.
    pub keywords: Vec<Keyword>,
    /// The sequence of further positional arguments: `f(*a)`.
    pub star: Option<Box<Expr>>,
    /// The mapping of further keyword arguments: `f(**a)`.
    pub double_star: Option<Box<Expr>>,
    /// Whether a keyword is a reserved word of Python. The reference then passes the keywords as a dict, in which the last of two equal
    /// keys wins. Set by the resolver.
    pub are_packed: bool,
}

impl Args {
    pub fn is_empty(&self) -> bool {
        self.positional.is_empty() && self.are_positional()
    }

    pub fn are_positional(&self) -> bool {
        self.others.is_none()
    }
}

/// `name=value` in a call.
#[derive(Debug)]
pub struct Keyword {
    pub name: Arc<str>,
    pub value: Expr,
}
