//! Constructors for the rows of the tables of filters, Jinja tests, methods and global functions.
//!
//! ```text
//! positional("strip", "str.strip", &[SELF, optional("chars")], strip)    a method written in C
//! python("cycle", "LoopContext.cycle", &[SELF], cycle).with_star()       a method written in Python
//! ```
//!
//! The constructor decides how CPython binds the arguments and words its errors ([`Signature::bind`]). A method of CPython 3.11 uses the
//! constructor that its `METH_` flags name.

use crate::value::{Code, Function, Parameter, Shortcut, Signature, Style, Type};

pub use crate::value::Body;

/// The parameter of a method for the object that it is called on.
pub const SELF: Parameter = Parameter::required("self");

const OBJ: &[Parameter] = &[required("obj")];
const ONE: &[Parameter] = &[SELF, required("object")];

/// Returns the index of the row with the given name. The rows are sorted by name.
///
/// The resolver looks up the name of each attribute, so this first compares initials, which is cheaper than comparing names.
pub fn find_index(table: &[Function], name: &str) -> Option<usize> {
    let initial = read_initial(name);
    let start = table.partition_point(|row| read_initial(row.name) < initial);
    let rows = table.get(start..)?.iter();
    let mut same_initial = rows.take_while(|row| read_initial(row.name) == initial);
    same_initial.position(|row| row.name == name)?.checked_add(start)
}

fn read_initial(name: &str) -> u8 {
    name.as_bytes().first().copied().unwrap_or(0)
}

/// Returns the row with the given name. The rows are sorted by name.
pub fn find<'t>(table: &'t [Function], name: &str) -> Option<&'t Function> {
    table.get(find_index(table, name)?)
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

/// Creates a C method that parses its tuple of arguments itself.
pub const fn tuple(name: &'static str, python: &'static str, parameters: &'static [Parameter], body: Body) -> Function {
    c_function(name, python, Style::Tuple, parameters, body)
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
