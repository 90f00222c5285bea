//! Functions, methods and macros.

use std::fmt;

use super::arguments::Arguments;
use super::signature::{Kind, Parameter, Returns, Signature, Style};
use crate::ast::{self, Symbols};
use crate::error::{Error, Result};
use crate::value::{Runtime, Str, Type, Value};

/// A filter, a test, a method or a global function: a row of a table.
#[derive(Clone, Copy)]
pub struct Function {
    /// The name in templates.
    pub name: &'static str,
    /// The name in CPython's messages about arguments: `do_center`, `str.strip`, `find`.
    pub python: &'static str,
    /// The type of the function object.
    pub ty: Type,
    /// The parameters. The first parameter of a filter or test is the value that it is applied to, and that of a method is its object.
    pub signature: Signature,
    /// The type of the result.
    #[cfg_attr(
        not(feature = "internal"),
        allow(dead_code, reason = "the fuzzer of the command line reads it")
    )]
    pub returns: Returns,
    /// The body, which takes bound arguments.
    pub code: Code,
    /// A quick way to evaluate its most frequent calls.
    pub shortcut: Shortcut,
}

/// A quick way to evaluate calls of one common form: it does what [`Function::call`] does with those arguments.
///
/// `eval/applied.rs` uses it.
#[derive(Clone, Copy)]
pub enum Shortcut {
    /// There is no quick way: all calls run the body.
    None,
    /// `value|length`.
    Length,
    /// `text|f`, `text.f()` and `text.f("…")` that return a part of a plain string, such as `text|trim`.
    Part(Part),
    /// `text.f("…")` that returns whether a plain string has a property, such as `text.startswith("a")`.
    Predicate(fn(&str, &str) -> bool),
    /// `text.f("…")[i]` that returns one item of a method's list, such as `text.split(",")[0]`.
    Item(Item),
    /// `items|f("key", "test")`, which keeps the items whose attribute passes the test, or fails it.
    SelectAttribute(bool),
    /// `dict|items`, which a loop goes over.
    Items,
    /// `items|list`.
    List,
    /// `namespace(name=value)`.
    Namespace,
    /// `{{ value|f(…) }}`, which appends the result to the output.
    Write(Write),
}

/// Returns a part of a string. The second argument is that of the call, if it has one.
pub type Part = for<'t> fn(&'t str, Option<&str>) -> &'t str;

/// Returns the item at an index of the list that a method returns for a string and its argument, or `None` if the method must be called.
pub type Item = for<'a> fn(&mut Runtime<'a>, &Str<'a>, &str, i64) -> Result<Option<Value<'a>>>;

/// Appends the result for bound arguments to a string.
pub type Write = for<'a> fn(&mut Runtime<'a>, Arguments<'a>, &mut String) -> Result<()>;

/// A body that takes bound arguments and returns any value.
pub type Body = for<'a> fn(&mut Runtime<'a>, Arguments<'a>) -> Result<Value<'a>>;

/// The body of a function, which takes bound arguments.
#[derive(Clone, Copy)]
pub enum Code {
    /// A body without a common form.
    Run(Body),
    /// A test of the first parameter alone, as most tests are.
    Inspect(fn(&Value<'_>) -> bool),
    /// A comparison of two parameters, as a test with an argument is.
    Compare(Comparison),
    /// A comparison of the identities of two parameters, as the test `sameas` is. A variable is identical to itself.
    Identify(Comparison),
}

/// Returns whether a comparison of two values holds.
pub type Comparison = for<'a> fn(&mut Runtime<'a>, &Value<'a>, &Value<'a>) -> Result<bool>;

/// The lookups by name that code below the built-ins needs during a render. The built-ins provide them in [`Runtime::lookups`].
#[derive(Debug)]
pub struct Lookups {
    /// Returns `value.name`.
    pub attribute: for<'a> fn(&mut Runtime<'a>, &Value<'a>, &Str<'a>) -> Result<Value<'a>>,
    /// Returns `value[key]`.
    pub item: for<'a> fn(&mut Runtime<'a>, &Value<'a>, &Value<'a>) -> Result<Value<'a>>,
    /// Returns the filter with the given name.
    pub filter: fn(&str) -> Option<&'static Function>,
    /// Returns the Jinja test with the given name.
    pub test: fn(&str) -> Option<&'static Function>,
}

/// A method that was looked up and not called yet.
#[derive(Debug)]
pub struct BoundMethod<'a> {
    pub receiver: Value<'a>,
    /// The method, whose first parameter is the object.
    pub function: &'static Function,
}

/// Code that the evaluator runs: a macro, the body of a call block, a recursive loop.
pub trait Callable: fmt::Debug {
    /// Calls the code. The arguments are borrowed, because moving them costs stack at every level of a recursion.
    fn call<'a>(&'a self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>>;

    /// Calls the code and appends its result to `out`.
    fn write<'a>(&'a self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>, out: &mut String) -> Result<()>;

    /// Does what [`Callable::write`] does. The positional arguments are the last `count` local variables.
    fn write_with_locals<'a>(&'a self, runtime: &mut Runtime<'a>, count: usize, out: &mut String) -> Result<()>;
}

/// A macro as a value (jinja2 3.1.6 `runtime.py`, `Macro`).
#[derive(Debug)]
pub struct Macro<'a, C: ?Sized = dyn Callable + 'a> {
    /// The name. The body of a call block has none.
    pub name: Option<&'a str>,
    pub parameters: &'a [ast::Parameter],
    /// The names of the template.
    pub symbols: &'a Symbols,
    /// Whether the macro mentions `kwargs`, and so accepts any keyword.
    pub catches_keywords: bool,
    /// Whether the macro mentions `varargs`, and so accepts any number of arguments.
    pub catches_positional: bool,
    /// Whether the macro mentions `caller`.
    pub uses_caller: bool,
    /// Whether `caller` is one of the parameters.
    pub explicit_caller: bool,
    /// Whether [`Callable::write_with_locals`] can call the macro.
    pub takes_locals: bool,
    /// The body.
    pub code: C,
}

impl<'a> Macro<'a> {
    pub fn parameter_names(&self) -> impl Iterator<Item = &'a str> {
        let symbols = self.symbols;
        self.parameters.iter().map(|parameter| symbols.name(parameter.symbol))
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Function({})", self.python)
    }
}

/// The number of steps that a call costs for binding its arguments and making its result.
const CALL: u64 = 4;

impl Function {
    /// Creates a function. Its style decides how CPython binds the arguments and words its errors.
    pub const fn new(name: &'static str, python: &'static str, style: Style, parameters: &'static [Parameter], code: Code) -> Self {
        Self {
            name,
            python,
            ty: match style {
                Style::Python => Type::Method,
                _ => Type::BuiltinFunction,
            },
            signature: Signature {
                style,
                parameters,
                unnamed: 0,
                star: None,
                double_star: false,
            },
            returns: Returns::Any,
            code,
            shortcut: Shortcut::None,
        }
    }

    pub(crate) const fn with_name(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    pub(crate) const fn with_type(mut self, ty: Type) -> Self {
        self.ty = ty;
        self
    }

    /// Sets the number of parameters, from the first, whose arguments cannot be passed by name.
    pub const fn with_unnamed(mut self, unnamed: usize) -> Self {
        self.signature.unnamed = unnamed;
        self
    }

    /// Adds `*args` after the parameters. The name `args` is not known outside the function.
    pub const fn with_star(mut self, _name: &str, kinds: &'static [Kind]) -> Self {
        self.signature.star = Some(kinds);
        self
    }

    /// Adds `**kwargs` after the parameters, if they have a name.
    pub const fn with_double_star(mut self, names: &[&str]) -> Self {
        self.signature.double_star = !names.is_empty();
        self
    }

    pub(crate) const fn with_returns(mut self, returns: Returns) -> Self {
        self.returns = returns;
        self
    }

    /// Sets the shortcut for calls of a common form.
    pub const fn with_shortcut(mut self, shortcut: Shortcut) -> Self {
        self.shortcut = shortcut;
        self
    }

    /// Returns the name with its module, as Python prints it in errors that are raised before the call.
    pub fn full_name(&self) -> String {
        // For a filter with an asynchronous variant, Python prints the name of that variant.
        let name = self.python.strip_prefix("sync_").unwrap_or(self.python);
        let module = match name {
            name if name.starts_with("do_") => "jinja2.filters.",
            name if name.starts_with("test_") => "jinja2.tests.",
            name if name.starts_with("_cached_compile_jinja_template") => "transformers.utils.chat_template_utils.",
            "escape" | "soft_str" => "markupsafe.",
            _ => "",
        };
        format!("{module}{name}")
    }

    /// Binds the arguments and runs the body.
    #[inline(never)]
    pub fn call<'a>(&self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>> {
        let count = arguments.len() + arguments.keywords().len();
        runtime.meter.charge(CALL.saturating_add(count as u64 >> 1))?;
        self.signature.bind(self.python, arguments)?;
        match self.code {
            Code::Run(run) => runtime.run_traced(arguments, run),
            Code::Inspect(inspect) => Ok(Value::Bool(arguments.get(0).is_some_and(inspect))),
            Code::Compare(compare) | Code::Identify(compare) => match (arguments.get(0), arguments.get(1)) {
                (Some(value), Some(other)) => compare(runtime, value, other).map(Value::Bool),
                _ => Err(Error::internal("a test has too few parameters")),
            },
        }
    }

    /// Returns the result of a test of a value and further positional arguments, or `None` if only [`Function::call`] can run it.
    #[inline]
    pub fn test<'a>(&self, runtime: &mut Runtime<'a>, value: &Value<'a>, others: &[Value<'a>]) -> Option<Result<bool>> {
        let result = match (self.code, others) {
            (Code::Inspect(inspect), []) => runtime.meter.charge(1).map(|()| inspect(value)),
            (Code::Compare(compare) | Code::Identify(compare), [other]) => {
                runtime.meter.charge(1).and_then(|()| compare(runtime, value, other))
            }
            _ => return None,
        };
        Some(result)
    }

    /// Evaluates `{{ value|f(…) }}` by a shortcut: binds the arguments and appends the result to a string. A single positional argument
    /// needs no binding.
    pub fn write<'a>(&self, write: Write, runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, out: &mut String) -> Result<()> {
        runtime.meter.charge(CALL)?;
        if !arguments.is_alone() {
            self.signature.bind(self.python, &mut arguments)?;
        }
        write(runtime, arguments, out)
    }
}

impl<'a> BoundMethod<'a> {
    pub fn call(&self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>> {
        arguments.push_front(self.receiver);
        self.function.call(runtime, arguments)
    }
}

impl<'a> Runtime<'a> {
    pub fn method(&mut self, receiver: Value<'a>, function: &'static Function) -> Result<Value<'a>> {
        self.store(BoundMethod { receiver, function }).map(Value::Method)
    }
}

/// Returns the TypeError of calling a value that is not callable.
#[cold]
pub fn not_callable(value: &Value<'_>) -> Error {
    Error::type_error(format!("'{}' object is not callable", value.ty().name()))
}
