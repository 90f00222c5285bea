//! The parameters of a function, and the style of its messages about arguments.

use crate::value::Type;

/// The parameters of a function.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The style of messages about arguments.
    pub style: Style,
    /// The parameters in their order.
    pub parameters: &'static [Parameter],
    /// The number of parameters, from the first, whose arguments cannot be passed by name (before `/` in the signature).
    pub unnamed: usize,
    /// What further positional arguments are for (`*args`), or `None` if the function takes no others.
    pub star: Option<&'static [Kind]>,
    /// Whether the function takes any keyword (`**kwargs`).
    pub double_star: bool,
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    /// What its argument should be.
    pub kind: Kind,
    /// Whether the argument may be absent.
    pub optional: bool,
    /// Whether the reference passes the argument itself, as Jinja passes its environment to some filters. Such a parameter counts in
    /// messages, but is not among the arguments.
    pub hidden: bool,
}

/// What an argument should be. No call checks it: a function has errors of its own for arguments of other types. The fuzzer makes sensible
/// arguments by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "internal"),
    allow(dead_code, reason = "the fuzzer of the command line reads it")
)]
pub enum Kind {
    /// Any value.
    Any,
    /// A string or a Markup.
    Text,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// A number.
    Number,
    /// A small integer: a larger one would make a large result.
    Count,
    /// True or false.
    Flag,
    /// A value with items: a list, a string, a dict and others.
    Items,
    /// A list of dicts, or a generator.
    Records,
    /// A dict.
    Dict,
    /// A list of pairs.
    Pairs,
    /// The name of an attribute.
    Attribute,
    /// The name of a filter.
    Filter,
    /// The name of a test.
    Test,
}

/// What a function returns, as far as its declaration says.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(feature = "internal"),
    allow(dead_code, reason = "the fuzzer of the command line reads it")
)]
pub enum Returns {
    /// A value of any type.
    Any,
    /// A value of one type.
    Of(Type),
    /// A value of the type that the function is applied to.
    Same,
    /// A Markup if the function is applied to a Markup, and otherwise a string.
    Text,
}

/// The style of a function's messages about its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Functions written in Python: `do_center() takes from 1 to 2 positional arguments but 3 were given`.
    Python,
    /// `METH_NOARGS`: `str.upper() takes no arguments (1 given)`.
    NoArguments,
    /// `METH_O`: `str.join() takes exactly one argument (0 given)`.
    OneArgument,
    /// `_PyArg_CheckPositional`, without keywords: `strip expected at most 1 argument, got 2`.
    Positional,
    /// Argument Clinic with keywords: `split() takes at most 2 arguments (3 given)`, `split() got an unexpected keyword argument 'x'`.
    Clinic,
}

impl Signature {
    /// Returns the parameters whose arguments can be passed by name.
    pub fn named(&self) -> &'static [Parameter] {
        self.parameters.get(self.unnamed..).unwrap_or_default()
    }
}

impl Parameter {
    pub const fn required(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            optional: false,
            hidden: false,
        }
    }

    /// Returns a parameter with a default.
    pub const fn optional(name: &'static str, kind: Kind) -> Self {
        Self {
            optional: true,
            ..Self::required(name, kind)
        }
    }

    /// Returns a parameter whose argument Jinja passes itself, such as its environment. Only the first parameter can be one.
    pub const fn hidden(name: &'static str) -> Self {
        Self {
            hidden: true,
            ..Self::required(name, Kind::Any)
        }
    }
}

/// Returns the plural ending of a noun after a count.
pub(super) fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
