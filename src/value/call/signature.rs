//! The parameters of a function.

/// The parameters of a function.
#[derive(Debug)]
pub struct Signature {
    /// Whose words its complaints have.
    pub style: Style,
    /// The parameters in their order.
    pub parameters: &'static [Parameter],
    /// Whether it takes any number of positional arguments behind them (`*args`).
    pub star: bool,
    /// Whether it takes any keyword (`**kwargs`).
    pub double_star: bool,
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Whether it may be absent.
    pub optional: bool,
    /// Whether it can only be given by name (behind `*` in the signature).
    pub keyword_only: bool,
    /// Whether it cannot be given by name (before `/` in the signature).
    pub positional_only: bool,
    /// Whether the reference gives it and no template can, as Jinja gives some filters their environment: it only counts in complaints,
    /// and is not among the arguments.
    pub hidden: bool,
}

/// Whose words a function's complaints about its arguments have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A function in Python: `do_center() takes from 1 to 2 positional arguments but 3 were given`.
    Python,
    /// `METH_NOARGS`: `str.upper() takes no arguments (1 given)`.
    NoArguments,
    /// `METH_O`: `str.join() takes exactly one argument (0 given)`.
    OneArgument,
    /// `_PyArg_CheckPositional`: `strip expected at most 1 argument, got 2`; no keywords.
    Positional,
    /// `PyArg_ParseTuple` with a name: `find() takes at least 1 argument (0 given)`; no keywords.
    Tuple,
    /// Argument Clinic with keywords: `split() takes at most 2 arguments (3 given)`, `'x' is an invalid keyword argument for split()`.
    Clinic,
}

impl Parameter {
    /// One that must be given.
    pub const fn required(name: &'static str) -> Self {
        Self {
            name,
            optional: false,
            keyword_only: false,
            positional_only: false,
            hidden: false,
        }
    }

    /// One that has a default.
    pub const fn optional(name: &'static str) -> Self {
        Self {
            optional: true,
            ..Self::required(name)
        }
    }

    /// One that must be given, and not by name.
    pub const fn positional(name: &'static str) -> Self {
        Self {
            positional_only: true,
            ..Self::required(name)
        }
    }

    /// One that the engine gives; only the first can be that.
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
