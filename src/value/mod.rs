//! Python's values as templates meet them, and what Python does with them.
//!
//! A value borrows from the caller's JSON or from the template's literals, or it is owned because the template made it. This floor
//! knows no tree and no places in a source; what has to call back up (a macro, a generator) comes as a trait object.

pub mod format;
pub mod markup;
pub mod ops;
pub mod print;

mod call;
mod dict;
mod from_json;
mod generator;
mod index;
mod iter;
mod key;
mod list;
mod loop_context;
mod metered_rc;
mod namespace;
mod number;
mod peek;
mod range;
mod recycle;
mod runtime;
mod str;
mod types;
mod undefined;

use std::rc::Rc;

use num_bigint::BigInt;

#[cfg(test)]
pub use call::called;
pub use call::{
    Arguments, BoundMethod, Callable, Code, Comparison, Function, Macro, Parameter, Part, Shortcut, Signature, Style, Write,
};
pub use dict::{Dict, DictIter, Entries, Key};
pub use generator::{Generator, ItemSource};
pub use index::not_an_index;
pub use iter::Iter;
pub use list::Seq;
pub use loop_context::Loop;
pub use metered_rc::{Big, MeteredRc};
pub use namespace::{Cycler, Joiner, Namespace, NamespaceId};
pub use number::CHARACTERS;
pub use peek::{Peek, ValueRef};
pub use range::Range;
pub use recycle::Idle;
pub use runtime::{Environment, EnvironmentId, Heap, Runtime, object_number};
pub use str::Str;
pub use types::Type;
pub use undefined::Undefined;

/// A Python value. The tag fills a word, so that a value moves in whole words.
#[derive(Clone, Debug)]
#[repr(u64)]
pub enum Value<'a> {
    /// `None`
    None,
    /// `True`, `False`
    Bool(bool),
    /// An `int` that fits.
    Int(i64),
    /// An `int` that does not fit [`Value::Int`].
    Big(Big<'a>),
    /// A `float`.
    Float(f64),
    /// A `str`, or a `markupsafe.Markup`.
    Str(Str<'a>),
    /// A `list`.
    List(Seq<'a>),
    /// A `tuple`.
    Tuple(Seq<'a>),
    /// A `dict`.
    Dict(Dict<'a>),
    /// `dict_keys`
    Keys(Dict<'a>),
    /// `dict_values`
    Values(Dict<'a>),
    /// `dict_items`
    Items(Dict<'a>),
    /// A `range`.
    Range(MeteredRc<Range>),
    /// Jinja's Undefined.
    Undefined(Undefined<'a>),
    /// A one-pass iterator: a generator of a filter, or one of Python's own.
    Iterator(Rc<Generator<'a>>),
    /// A namespace.
    Namespace(NamespaceId),
    /// The variable `loop`.
    Loop(Rc<Loop<'a>>),
    /// A macro, or the `caller` of a call block.
    Macro(Rc<Macro<'a>>),
    /// What `cycler(…)` made.
    Cycler(MeteredRc<Cycler<'a>>),
    /// What `joiner(…)` made.
    Joiner(MeteredRc<Joiner<'a>>),
    /// A global function.
    Function(&'static Function),
    /// A method, still bound to its value.
    Method(MeteredRc<BoundMethod<'a>>),
}

impl<'a> Value<'a> {
    /// A plain `str` that is borrowed.
    pub fn text(text: &'a str) -> Self {
        Self::Str(Str::from(text))
    }

    /// Whether this is the object that stands for a variable without a value.
    #[inline]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Function(function) if function.ty == Type::Missing)
    }

    /// Whether this is Jinja's Undefined.
    pub fn is_undefined(&self) -> bool {
        matches!(self, Self::Undefined(_))
    }

    /// Whether memory of the render stands behind this, which is freed with it.
    #[inline]
    pub fn holds_memory(&self) -> bool {
        match self {
            Self::None | Self::Bool(_) | Self::Int(_) | Self::Float(_) | Self::Namespace(_) | Self::Function(_) => false,
            Self::Str(text) => text.is_made(),
            Self::Dict(dict) => matches!(dict, Dict::Owned(_)),
            Self::Undefined(undefined) => matches!(undefined, Undefined::Other(_)),
            _ => true,
        }
    }

    /// The text of a `str` or markup.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// Returns the dict, if this is one.
    pub fn as_mapping(&self) -> Option<&Dict<'a>> {
        match self {
            Self::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    /// An `int` that fits, where this is one; a `bool` is one to Python.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(int) => Some(*int),
            Self::Bool(bool) => Some(i64::from(*bool)),
            _ => None,
        }
    }

    /// How many containers and iterators stand inside each other here; data of the caller counts as one.
    pub fn height(&self) -> u32 {
        match self {
            Self::List(items) | Self::Tuple(items) => items.height(),
            Self::Dict(dict) => dict.height(),
            Self::Keys(view) | Self::Values(view) | Self::Items(view) => view.height(),
            Self::Iterator(iterator) => iterator.height(),
            Self::Cycler(cycler) => cycler.height(),
            Self::Joiner(joiner) => joiner.height(),
            Self::Method(method) => method.receiver.height(),
            Self::Loop(context) => context.height(),
            _ => 0,
        }
    }
}

/// Normalised: what fits becomes [`Value::Int`].
impl From<BigInt> for Value<'_> {
    fn from(big: BigInt) -> Self {
        match i64::try_from(&big) {
            Ok(int) => Self::Int(int),
            Err(_) => Self::Big(Big::from(big)),
        }
    }
}
