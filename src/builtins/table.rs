//! The declarations of filters, methods and global functions, and the tables that are made of them.
//!
//! ```text
//! built_ins! { FILTERS:
//!     /// Returns the value, or a default if the value is undefined.
//!     ///
//!     /// `{{ nope|d("x") }} -> x`
//!     Python "do_default" fn default["default", "d"](runtime, value, default_value = "", boolean: Flag = false) { … }
//! }
//! ```
//!
//! A declaration has these parts:
//!
//! | | |
//! |---|---|
//! | `Python` | the [`Style`] of CPython's messages about arguments; for a method of CPython 3.13, that of its `METH_` flags |
//! | `"do_default"` | the name in these messages, and settings of [`Function`], such as `.with_unnamed(1)` |
//! | `\| "Markup.center"\[3\]` | for a method of `str`, the name of markupsafe's override, and the number of its parameters without a name |
//! | `default["default", "d"]` | the function, and its names in templates if that is not the only one |
//! | `@env` | a parameter whose argument Jinja passes itself |
//! | `&text: Str` | the object of a method, as the body uses it |
//! | `boolean: Flag = false` | a parameter, what its argument should be ([`Kind`]), and its default |
//! | `*args[Test, Any]`, `**kwargs` | further arguments, and what they should be |
//! | `-> List` | the type of the result, or `Same` or `Text` ([`Returns`]) |
//!
//! The body has each argument as a local variable: a [`Value`], or an `Option` if the default is [`Absent`].
//!
//! [`Kind`]: crate::value::Kind
//! [`Returns`]: crate::value::Returns
//! [`Style`]: crate::value::Style

use std::convert::Infallible;
use std::ops::Deref;
use std::sync::LazyLock;

use super::arguments::wrong_receiver;
use crate::error::Result;
use crate::value::{Cycler, Dict, Function, Joiner, Loop, Seq, Str, Value};

/// The number of initials that names of rows can have: the ASCII characters.
const INITIALS: usize = 128;

/// A table, which is made when it is first used.
pub type Table = LazyLock<Rows>;

/// Functions, sorted by name. A row is found by the initial of its name, because the resolver looks up the name of each attribute.
#[derive(Debug)]
pub struct Rows {
    rows: Vec<Function>,
    /// For each initial, the number of rows whose names begin with a smaller one.
    starts: [usize; INITIALS + 1],
}

impl Rows {
    /// Makes the rows of a table: one for each name in the lists.
    pub fn new(lists: &[&[BuiltIn]]) -> Self {
        let names = |built_in: &BuiltIn| {
            built_in
                .names
                .iter()
                .map(|name| built_in.function.with_name(name))
                .collect::<Vec<_>>()
        };
        let mut rows: Vec<_> = lists.iter().copied().flatten().flat_map(names).collect();
        rows.sort_by_key(|row| row.name);
        let initial = |row: &Function| row.name.bytes().next().map_or(0, usize::from);
        let starts = std::array::from_fn(|first| rows.partition_point(|row| initial(row) < first));
        Self { rows, starts }
    }

    pub fn find_index(&self, name: &str) -> Option<usize> {
        let initial = usize::from(*name.as_bytes().first()?);
        let start = *self.starts.get(initial)?;
        let rows = self.rows.get(start..*self.starts.get(initial + 1)?)?;
        Some(start + rows.iter().position(|row| row.name == name)?)
    }

    pub fn find_row(&self, name: &str) -> Option<&Function> {
        self.rows.get(self.find_index(name)?)
    }
}

impl Deref for Rows {
    type Target = [Function];

    fn deref(&self) -> &Self::Target {
        &self.rows
    }
}

/// A declared function, with its names in templates.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    pub names: &'static [&'static str],
    /// The function, without a name.
    pub function: Function,
    /// For a method of `str` that markupsafe overrides, the name of the override in messages, and the number of its parameters without a
    /// name.
    pub markup: &'static [(&'static str, usize)],
}

/// Declares functions: their bodies, and a list of [`BuiltIn`](crate::builtins::table::BuiltIn) with the given name.
macro_rules! built_ins {
    ($list:ident: $(
        $(#[$doc:meta])*
        $style:ident $python:literal $(| $markup:literal[$unnamed:literal])? $(.$with:ident($($setting:expr),*))*
        fn $name:ident $([$($template_name:literal),+])? (
            $runtime:ident
            $(, &$object:ident: $receiver:ty)?
            $(, @$hidden:ident)?
            $(, $parameter:ident $(: $kind:ident $([$($option:literal),+])?)? $(= $default:expr)?)*
            $(, *$star:ident $([$($item:ident),+])?)?
            $(, **$double_star:ident)?
        ) $(-> $returns:ident)? $body:block
    )*) => {
        $(
            $(#[$doc])*
            fn $name<'a>(
                $runtime: &mut $crate::value::Runtime<'a>,
                mut arguments: $crate::value::Arguments<'a>,
            ) -> $crate::error::Result<$crate::value::Value<'a>> {
                const COUNT: usize = <[&str]>::len(&[$(stringify!($object),)? $(stringify!($parameter)),*]);
                let [$($object,)? $($parameter),*] = arguments.take_first::<COUNT>();
                $(let $object: $receiver = $crate::builtins::table::Receiver::require($object, $python)?;)?
                $(let $parameter = $crate::builtins::table::argument!($parameter $(, $default)?);)*
                $(let $star = arguments.take_from(COUNT);)?
                $(let $double_star = arguments.take_keywords();)?
                $body
            }
        )*

        pub(super) const $list: &[$crate::builtins::table::BuiltIn] = &[$(
            $crate::builtins::table::BuiltIn {
                names: $crate::builtins::table::names!($name $($($template_name)+)?),
                function: $crate::value::Function::new(
                    "",
                    $python,
                    $crate::value::Style::$style,
                    &[
                        $($crate::builtins::table::parameter!(& $object),)?
                        $($crate::value::Parameter::hidden(stringify!($hidden)),)?
                        $($crate::builtins::table::parameter!($parameter [$($kind $($($option)*)?)?] $($default)?)),*
                    ],
                    $crate::value::Code::Run($name),
                )
                $(.with_star(stringify!($star), &[$($($crate::value::Kind::$item),+)?]))?
                .with_double_star(&[$(stringify!($double_star))?])
                $(.with_returns($crate::builtins::table::returns!($returns)))?
                $(.$with($($setting),*))*,
                markup: &[$(($markup, $unnamed))?],
            }
        ),*];
    };
}

/// Makes the names of a function in templates.
macro_rules! names {
    ($function:ident) => { &[stringify!($function)] };
    ($function:ident $($name:literal)+) => { &[$($name),+] };
}

/// Makes the local variable of a parameter from its argument and its default.
macro_rules! argument {
    ($argument:ident) => {
        $argument.unwrap_or($crate::value::Value::None)
    };
    ($argument:ident, $default:expr) => {
        $crate::builtins::table::ParameterDefault::replace($default, $argument)
    };
}

/// Makes a [`Parameter`](crate::value::Parameter) of a parameter in a declaration.
macro_rules! parameter {
    (& $object:ident) => {
        $crate::value::Parameter::required("self", $crate::value::Kind::Any)
    };
    ($name:ident $kind:tt) => {
        $crate::value::Parameter::required(stringify!($name), $crate::builtins::table::kind!($kind))
    };
    ($name:ident $kind:tt $default:expr) => {
        $crate::value::Parameter::optional(stringify!($name), $crate::builtins::table::kind!($kind))
    };
}

/// Makes a [`Kind`](crate::value::Kind) of the word after `:` in a declaration.
macro_rules! kind {
    ([]) => { $crate::value::Kind::Any };
    ([$kind:ident]) => { $crate::value::Kind::$kind };
    ([$kind:ident $($option:literal)+]) => { $crate::value::Kind::$kind(&[$($option),+]) };
}

/// Makes a [`Returns`](crate::value::Returns) of the type after `->` in a declaration.
macro_rules! returns {
    (Same) => {
        $crate::value::Returns::Same
    };
    (Text) => {
        $crate::value::Returns::Text
    };
    ($ty:ident) => {
        $crate::value::Returns::Of($crate::value::Type::$ty)
    };
}

pub(super) use {argument, built_ins, kind, names, parameter, returns};

/// The type of the object that a method is called on.
pub trait Receiver<'a>: Sized {
    /// Returns the object as this type, or `None` if it is of another type.
    fn read(object: Value<'a>) -> Option<Self>;

    /// Returns the object of a method of the given name. The lookup of the method excludes other types.
    fn require(object: Option<Value<'a>>, python: &str) -> Result<Self> {
        object.and_then(Self::read).ok_or_else(|| wrong_receiver(python))
    }
}

impl<'a> Receiver<'a> for Value<'a> {
    #[inline]
    fn read(object: Value<'a>) -> Option<Self> {
        Some(object)
    }
}

/// Implements [`Receiver`](crate::builtins::table::Receiver) for what variants of [`Value`](crate::value::Value) have in them.
macro_rules! receivers {
    ($($ty:ty: $($variant:ident)|+;)*) => {$(
        impl<'a> Receiver<'a> for $ty {
            #[inline]
            fn read(object: Value<'a>) -> Option<Self> {
                match object {
                    $(Value::$variant(object))|+ => Some(object),
                    _ => None,
                }
            }
        }
    )*};
}

receivers! {
    Str<'a>: Str;
    Dict<'a>: Dict;
    Seq<'a>: List | Tuple;
    &'a Loop<'a>: Loop;
    &'a Cycler<'a>: Cycler;
    &'a Joiner<'a>: Joiner;
}

/// The default of a parameter. `None` is Python's `None`.
pub trait ParameterDefault<'a> {
    /// The local variable of the parameter.
    type Argument;

    /// Returns the argument, or the default if there is none.
    fn replace(self, argument: Option<Value<'a>>) -> Self::Argument;
}

/// The default of a parameter whose body must know that no argument was passed.
#[derive(Debug)]
pub struct Absent;

impl<'a> ParameterDefault<'a> for Absent {
    type Argument = Option<Value<'a>>;

    #[inline]
    fn replace(self, argument: Option<Value<'a>>) -> Self::Argument {
        argument
    }
}

/// Implements [`ParameterDefault`](crate::builtins::table::ParameterDefault) for the types of literals.
macro_rules! defaults {
    ($($ty:ty: $default:ident => $value:expr;)*) => {$(
        impl<'a> ParameterDefault<'a> for $ty {
            type Argument = Value<'a>;

            #[inline]
            fn replace(self, argument: Option<Value<'a>>) -> Value<'a> {
                let $default = self;
                argument.unwrap_or($value)
            }
        }
    )*};
}

defaults! {
    bool: default => Value::Bool(default);
    i64: default => Value::Int(default);
    f64: default => Value::Float(default);
    &'static str: default => Value::text(default);
    Option<Infallible>: _default => Value::None;
}
