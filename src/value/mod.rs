//! Python's values as templates meet them, and what Python does with them.
//!
//! A value borrows from the caller's JSON or from the template's literals, or it is owned because the template made it. This floor
//! knows no tree and no places in a source; what has to call back up (a macro, a generator) comes as a trait object.

mod bind;
mod bind_c;
mod call;
mod compare;
mod contains;
mod dict;
mod display;
mod dump;
mod escape;
mod format;
mod format_field;
mod found;
mod hash;
mod identity;
mod idle;
mod index;
mod iterate;
mod json;
mod length;
mod loop_context;
mod namespace;
mod numeric;
mod object;
mod one_pass;
mod operators;
mod ordering;
mod parse;
mod percent;
mod positional;
mod range;
mod runtime;
mod seq;
mod sequence;
mod shared;
mod slice;
mod sort;
mod subscript;
mod text;
mod truth;
mod types;
mod undefined;
mod views;

use std::rc::Rc;

use num_bigint::BigInt;

pub use bind::{Parameter, Signature, Style};
#[cfg(test)]
pub use call::called;
pub use call::{
    Alone, Arguments, BoundMethod, Callable, Code, Comparison, Function, ItemWithText, Iterated, Macro, Piece, Shortcuts, WithText,
    Write, WriteAlone,
};
pub use dict::{Dict, DictIter, Entries, Key};
pub use dump::Dump;
pub use format::Fields;
pub use found::{Found, Lookup};
pub use idle::Idle;
pub use index::not_an_index;
pub use iterate::Iter;
pub use loop_context::Loop;
pub use namespace::{Cycler, Joiner, Namespace, NamespaceId};
pub use one_pass::{OnePass, Pull};
pub use parse::CHARACTERS;
pub use range::Range;
pub use runtime::{Environment, EnvironmentId, Heap, Runtime, object_number};
pub use seq::Seq;
pub use shared::{Big, Shared};
pub use sort::sorted;
pub use text::Str;
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
    Range(Shared<Range>),
    /// Jinja's Undefined.
    Undefined(Undefined<'a>),
    /// A one-pass iterator: a generator of a filter, or one of Python's own.
    Iterator(Rc<OnePass<'a>>),
    /// A namespace.
    Namespace(NamespaceId),
    /// The variable `loop`.
    Loop(Rc<Loop<'a>>),
    /// A macro, or the `caller` of a call block.
    Macro(Rc<Macro<'a>>),
    /// What `cycler(…)` made.
    Cycler(Shared<Cycler<'a>>),
    /// What `joiner(…)` made.
    Joiner(Shared<Joiner<'a>>),
    /// A global function.
    Function(&'static Function),
    /// A method, still bound to its value.
    Method(Shared<BoundMethod<'a>>),
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
