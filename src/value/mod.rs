//! Python's values, and the operations on them.
//!
//! A value borrows from the caller's JSON or from the template's literals, or from the [`Arena`] that holds what the render made, so it is copied freely. The types are in the files
//! of this folder, the operators in [`ops`], conversions to text in [`mod@print`] and [`to_json`], formatting in [`mod@format`], and calls
//! in `call`. This floor does not evaluate the syntax tree. Macros and generators, which call the evaluator, are trait objects.

pub mod format;
pub mod markup;
pub mod ops;
pub mod print;
pub mod to_json;

mod arena;
mod call;
mod dict;
mod frames;
mod from_json;
mod generator;
mod given;
mod growing;
mod identity;
mod iter;
mod key;
mod list;
mod loop_context;
mod namespace;
mod number;
mod peek;
mod range;
mod runtime;
mod str;
pub mod trace;
mod types;
mod undefined;

use crate::number::IntRef;

pub use arena::Arena;
pub use call::{
    Arguments, BoundMethod, Callable, Code, Comparison, Function, Kind, Lookups, Macro, Parameter, Part, Returns, Shortcut,
    Signature, Style, Write, not_callable,
};
pub use dict::{Dict, DictIter, Entries, Found};
pub use frames::{Environment, EnvironmentId};
pub use generator::{GAIN, Generator};
pub use given::Given;
pub use iter::Iter;
pub use key::Key;
pub use list::Seq;
pub use loop_context::Loop;
pub use namespace::{Content, Cycler, Joiner, NamespaceId};
pub use number::not_an_index;
pub use peek::absent;
pub use range::Range;
pub use runtime::{CAPTURE, Heap, Runtime, next_object_index};
pub use str::Str;
pub use trace::{Escapes, Passage, Tape, Traced};
pub use types::Type;
pub use undefined::{OtherUndefined, Undefined};

/// A Python value. Its tag has the size of a word, so that a value moves in whole words.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub enum Value<'a> {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An `int` that fits in 64 bits.
    Int(i64),
    /// An `int` that does not fit in 64 bits.
    Big(IntRef<'a>),
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
    /// The view `dict.keys()`.
    Keys(Dict<'a>),
    /// The view `dict.values()`.
    Values(Dict<'a>),
    /// The view `dict.items()`.
    Items(Dict<'a>),
    /// A `range`.
    Range(&'a Range),
    /// Jinja's `Undefined`.
    Undefined(Undefined<'a>),
    /// A one-pass iterator: the generator of a filter, or a Python iterator.
    Iterator(&'a Generator),
    /// A `namespace(…)`.
    Namespace(NamespaceId),
    /// The variable `loop`.
    Loop(&'a Loop<'a>),
    /// A macro, or the `caller` of a call block.
    Macro(&'a Macro<'a>),
    /// A `cycler(…)`.
    Cycler(&'a Cycler<'a>),
    /// A `joiner(…)`.
    Joiner(&'a Joiner<'a>),
    /// A global function.
    Function(&'static Function),
    /// A method that was looked up and not called yet.
    Method(&'a BoundMethod<'a>),
}

impl<'a> Value<'a> {
    /// Returns a `str` that borrows its text.
    pub fn text(text: &'a str) -> Self {
        Self::Str(Str::from(text))
    }

    /// Returns whether this is the object that Jinja uses for a variable without a value.
    #[inline]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Function(function) if function.ty == Type::Missing)
    }

    pub fn is_undefined(&self) -> bool {
        matches!(self, Self::Undefined(_))
    }

    pub fn as_str(&self) -> Option<&'a str> {
        match self {
            Self::Str(text) => Some(text.as_str()),
            _ => None,
        }
    }

    pub fn as_mapping(&self) -> Option<&Dict<'a>> {
        match self {
            Self::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    /// Returns the integer, if the value is an `int` that fits in 64 bits or a `bool`.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(int) => Some(*int),
            Self::Bool(bool) => Some(i64::from(*bool)),
            _ => None,
        }
    }

    /// Returns the height of a value: the number of levels of values that it holds. A value is printed and compared level by level, so the height bounds the stack that this takes.
    ///
    /// A container or iterator is one higher than anything it can hold during its life. Data of the caller has one level, because it is
    /// borrowed, and a namespace or a macro has none, because the heap holds their values.
    pub fn height(&self) -> u32 {
        match self {
            Self::List(items) | Self::Tuple(items) => items.height(),
            Self::Dict(dict) => dict.height(),
            Self::Keys(view) | Self::Values(view) | Self::Items(view) => view.height(),
            Self::Iterator(iterator) => iterator.height(),
            Self::Cycler(cycler) => cycler.height(),
            Self::Joiner(joiner) => joiner.height(),
            Self::Method(method) => method.receiver.height().saturating_add(1),
            Self::Loop(context) => context.height(),
            Self::None
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Big(_)
            | Self::Float(_)
            | Self::Str(_)
            | Self::Range(_)
            | Self::Undefined(_)
            | Self::Namespace(_)
            | Self::Macro(_)
            | Self::Function(_) => 0,
        }
    }
}
