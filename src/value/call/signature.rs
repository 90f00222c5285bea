//! The parameters of a function, and the style of its messages about arguments.

/// The parameters of a function.
#[derive(Debug)]
pub struct Signature {
    /// The style of messages about arguments.
    pub style: Style,
    /// The parameters in their order.
    pub parameters: &'static [Parameter],
    /// Whether the function takes further positional arguments (`*args`).
    pub star: bool,
    /// Whether the function takes any keyword (`**kwargs`).
    pub double_star: bool,
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name of the parameter.
    pub name: &'static str,
    /// Whether the argument may be absent.
    pub optional: bool,
    /// Whether the argument cannot be passed by name (before `/` in the signature).
    pub positional_only: bool,
    /// Whether the reference passes the argument itself, as Jinja passes its environment to some filters. Such a parameter counts in
    /// messages, but is not among the arguments.
    pub hidden: bool,
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

impl Parameter {
    /// Returns a required parameter.
    pub const fn required(name: &'static str) -> Self {
        Self {
            name,
            optional: false,
            positional_only: false,
            hidden: false,
        }
    }

    /// Returns a parameter with a default.
    pub const fn optional(name: &'static str) -> Self {
        Self {
            optional: true,
            ..Self::required(name)
        }
    }

    /// Returns a required parameter that cannot be passed by name.
    pub const fn positional(name: &'static str) -> Self {
        Self {
            positional_only: true,
            ..Self::required(name)
        }
    }

    /// Returns a parameter whose argument Jinja passes itself, such as its environment. Only the first parameter can be one.
    pub const fn hidden(name: &'static str) -> Self {
        Self {
            hidden: true,
            ..Self::required(name)
        }
    }
}

/// Returns the plural ending of a noun after a count.
pub(super) fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
