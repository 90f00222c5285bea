//! Constructors for the rows of the tables of filters, Jinja tests, methods and global functions.
//!
//! ```text
//! positional("strip", "str.strip", &[SELF, optional("chars")], strip)    a method written in C
//! python("cycle", "LoopContext.cycle", &[SELF], cycle).with_star()       a method written in Python
//! ```
//!
//! The constructor decides how CPython binds the arguments and words its errors ([`Signature::bind`]). A method of CPython 3.13 uses the
//! constructor that its `METH_` flags name.

use std::ops::Deref;

use crate::value::{Code, Function, Parameter, Shortcut, Signature, Style, Type};

pub use crate::value::Body;

/// The parameter of a method for the object that it is called on.
pub const SELF: Parameter = Parameter::required("self");

const OBJ: &[Parameter] = &[required("obj")];
const ONE: &[Parameter] = &[SELF, required("object")];

/// The number of initials that names of rows can have: the ASCII characters.
const INITIALS: usize = 128;

/// A table of functions, sorted by name. It finds a row by the initial of its name, because the resolver looks up the name of each
/// attribute.
#[derive(Debug)]
pub struct Table {
    rows: &'static [Function],
    /// For each initial, the number of rows whose names begin with a smaller one.
    starts: [u8; INITIALS + 1],
}

impl Table {
    /// Creates a table from rows that are sorted by name.
    #[allow(
        clippy::indexing_slicing,
        clippy::cast_possible_truncation,
        clippy::arithmetic_side_effects,
        reason = "the tables are constants, so an index or a number that does not fit stops the compilation"
    )]
    pub const fn new(rows: &'static [Function]) -> Self {
        assert!(rows.len() <= u8::MAX as usize, "an index of a row has eight bits");
        let mut starts = [0; INITIALS + 1];
        let mut row = 0;
        let mut initial = 0;
        while initial <= INITIALS {
            while row < rows.len() && (rows[row].name.as_bytes()[0] as usize) < initial {
                row += 1;
            }
            starts[initial] = row as u8;
            initial += 1;
        }
        Self { rows, starts }
    }

    /// Returns the index of the row with the given name.
    pub fn find_index(&self, name: &str) -> Option<usize> {
        let initial = usize::from(*name.as_bytes().first()?);
        let start = usize::from(*self.starts.get(initial)?);
        let end = usize::from(*self.starts.get(initial.saturating_add(1))?);
        let index = self.rows.get(start..end)?.iter().position(|row| row.name == name)?;
        index.checked_add(start)
    }

    /// Returns the row with the given name.
    pub fn find_row(&self, name: &str) -> Option<&'static Function> {
        self.rows.get(self.find_index(name)?)
    }
}

/// The rows of a table.
impl Deref for Table {
    type Target = [Function];

    fn deref(&self) -> &Self::Target {
        self.rows
    }
}

/// Creates a parameter that a call must pass.
pub const fn required(name: &'static str) -> Parameter {
    Parameter::required(name)
}

/// Creates a parameter that a call may omit.
pub const fn optional(name: &'static str) -> Parameter {
    Parameter::optional(name)
}

/// Creates a positional-only parameter that a call must pass.
pub const fn unnamed(name: &'static str) -> Parameter {
    Parameter::positional(name)
}

/// Creates a positional-only parameter that a call may omit.
pub const fn optional_unnamed(name: &'static str) -> Parameter {
    Parameter {
        optional: true,
        ..Parameter::positional(name)
    }
}

/// Creates a row from all its parts, without a shortcut.
pub const fn row(
    name: &'static str,
    python: &'static str,
    ty: Type,
    style: Style,
    parameters: &'static [Parameter],
    code: Code,
) -> Function {
    Function {
        name,
        python,
        ty,
        signature: Signature {
            style,
            parameters,
            star: false,
            double_star: false,
        },
        code,
        shortcut: Shortcut::None,
    }
}

const fn c_function(
    name: &'static str,
    python: &'static str,
    style: Style,
    parameters: &'static [Parameter],
    body: Body,
) -> Function {
    row(name, python, Type::BuiltinFunction, style, parameters, Code::Run(body))
}

/// Creates a C function of one argument, as `len` is.
pub const fn builtin(name: &'static str, python: &'static str, body: Body) -> Function {
    c_function(name, python, Style::OneArgument, OBJ, body)
}

/// Creates a C method without arguments.
pub const fn no_arguments(name: &'static str, python: &'static str, body: Body) -> Function {
    c_function(name, python, Style::NoArguments, &[SELF], body)
}

/// Creates a C method with exactly one argument.
pub const fn one_argument(name: &'static str, python: &'static str, body: Body) -> Function {
    c_function(name, python, Style::OneArgument, ONE, body)
}

/// Creates a C method with positional arguments, which Argument Clinic counts.
pub const fn positional(name: &'static str, python: &'static str, parameters: &'static [Parameter], body: Body) -> Function {
    c_function(name, python, Style::Positional, parameters, body)
}

/// Creates a C method that takes keywords.
pub const fn clinic(name: &'static str, python: &'static str, parameters: &'static [Parameter], body: Body) -> Function {
    c_function(name, python, Style::Clinic, parameters, body)
}

/// Creates a function written in Python.
pub const fn python(name: &'static str, python: &'static str, parameters: &'static [Parameter], body: Body) -> Function {
    row(name, python, Type::Method, Style::Python, parameters, Code::Run(body))
}

impl Function {
    /// Adds `*args` after the parameters.
    pub const fn with_star(mut self) -> Self {
        self.signature.star = true;
        self
    }

    /// Adds `**kwargs` after the parameters.
    pub const fn with_double_star(mut self) -> Self {
        self.signature.double_star = true;
        self
    }

    /// Sets the shortcut for calls of a common form.
    pub const fn with_shortcut(mut self, shortcut: Shortcut) -> Self {
        self.shortcut = shortcut;
        self
    }
}
