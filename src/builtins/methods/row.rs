//! The rows of the method tables, one line each.
//!
//! ```text
//! positional("strip", "str.strip", &[SELF, optional("chars")], strip)    a method in C, by the words of its complaints
//! python("cycle", "LoopContext.cycle", &[SELF], cycle).with_star()       a method in Python
//! ```
//!
//! What the words are is [`Signature::bind`]'s business; which of them a method of CPython 3.11 uses was read off its `METH_` flags.

use crate::error::Result;
use crate::value::{Arguments, Code, Function, Parameter, Runtime, Shortcut, Signature, Style, Type, Value};

/// What a method does, given its parameters.
pub type Body = for<'a> fn(&mut Runtime<'a>, Arguments<'a>) -> Result<Value<'a>>;

/// The parameter for the object itself.
pub const SELF: Parameter = Parameter::required("self");

const ONE: &[Parameter] = &[SELF, required("object")];

/// A parameter that must be given.
pub const fn required(name: &'static str) -> Parameter {
    Parameter::required(name)
}

/// A parameter that may be left out.
pub const fn optional(name: &'static str) -> Parameter {
    Parameter::optional(name)
}

/// A parameter that must be given, and not by name.
pub const fn unnamed(name: &'static str) -> Parameter {
    Parameter::positional(name)
}

/// A parameter that may be left out, and cannot be given by name.
pub const fn optional_unnamed(name: &'static str) -> Parameter {
    Parameter {
        optional: true,
        ..Parameter::positional(name)
    }
}

/// Any function without a shortcut.
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

const fn builtin(name: &'static str, python: &'static str, style: Style, parameters: &'static [Parameter], body: Body) -> Function {
    row(name, python, Type::BuiltinFunction, style, parameters, Code::Run(body))
}

/// A method in C without arguments.
pub const fn no_arguments(name: &'static str, python: &'static str, body: Body) -> Function {
    builtin(name, python, Style::NoArguments, &[SELF], body)
}

/// A method in C with exactly one argument.
pub const fn one_argument(name: &'static str, python: &'static str, body: Body) -> Function {
    builtin(name, python, Style::OneArgument, ONE, body)
}

/// A method in C with positional arguments, which Argument Clinic counts.
pub const fn positional(name: &'static str, python: &'static str, parameters: &'static [Parameter], body: Body) -> Function {
    builtin(name, python, Style::Positional, parameters, body)
}

/// A method in C that parses its tuple of arguments.
pub const fn tuple(name: &'static str, python: &'static str, parameters: &'static [Parameter], body: Body) -> Function {
    builtin(name, python, Style::Tuple, parameters, body)
}

/// A method in C that takes keywords.
pub const fn clinic(name: &'static str, python: &'static str, parameters: &'static [Parameter], body: Body) -> Function {
    builtin(name, python, Style::Clinic, parameters, body)
}

/// A method in Python.
pub const fn python(name: &'static str, python: &'static str, parameters: &'static [Parameter], body: Body) -> Function {
    row(name, python, Type::Method, Style::Python, parameters, Code::Run(body))
}

impl Function {
    /// The same with `*args` behind its parameters.
    pub const fn with_star(mut self) -> Self {
        self.signature.star = true;
        self
    }

    /// The same with `**kwargs`.
    pub const fn with_double_star(mut self) -> Self {
        self.signature.double_star = true;
        self
    }

    /// Returns the function with a shortcut.
    pub const fn with_shortcut(mut self, shortcut: Shortcut) -> Self {
        self.shortcut = shortcut;
        self
    }
}
