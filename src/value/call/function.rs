//! Functions, methods and macros.

use std::fmt;

use super::arguments::Arguments;
use crate::error::{Error, Result};
use crate::meter::Claim;
use crate::value::{MeteredRc, Runtime, Signature, Str, Type, Value};

/// A filter, a test, a method or a global function: a row of a table.
pub struct Function {
    /// The name in templates.
    pub name: &'static str,
    /// The name in CPython's messages about arguments: `do_center`, `str.strip`, `find`.
    pub python: &'static str,
    /// The type of the function object.
    pub ty: Type,
    /// The parameters. The first parameter of a filter or test is the value that it is applied to, and that of a method is its object.
    pub signature: Signature,
    /// The body, which takes bound arguments.
    pub code: Code,
    /// Faster code for frequent calls.
    pub shortcuts: Shortcuts,
}

/// Fast paths for frequent calls. Each must agree with [`Function::call`].
#[derive(Clone, Copy)]
pub struct Shortcuts {
    /// Returns the result for the first parameter alone.
    pub alone: Option<Alone>,
    /// Returns another value with the items of the result for the first parameter alone, for a caller that only iterates over it.
    pub iterated: Option<Iterated>,
    /// Appends the result to the output.
    pub write: Option<Write>,
    /// Appends the result for the first parameter alone to the output.
    pub write_alone: Option<WriteAlone>,
    /// Returns the result for a plain string alone, if it is a part of that string.
    pub piece: Option<Piece>,
    /// Returns the result of a `str` method with one string argument, both plain strings.
    pub with_text: Option<WithText>,
    /// Returns the item at an index of the result of [`Shortcuts::with_text`] without making the others, or `None` if there is no such
    /// item.
    pub item: Option<ItemWithText>,
}

/// The type of [`Shortcuts::alone`].
pub type Alone = for<'a> fn(&mut Runtime<'a>, &Value<'a>) -> Result<Value<'a>>;

/// The type of [`Shortcuts::iterated`].
pub type Iterated = for<'a> fn(&Value<'a>) -> Option<Value<'a>>;

/// The type of [`Shortcuts::write`].
pub type Write = for<'a> fn(&mut Runtime<'a>, Arguments<'a>, &mut String) -> Result<()>;

/// The type of [`Shortcuts::write_alone`].
pub type WriteAlone = for<'a> fn(&mut Runtime<'a>, &Value<'a>, &mut String) -> Result<()>;

/// The type of [`Shortcuts::piece`].
pub type Piece = fn(&str) -> &str;

/// The type of [`Shortcuts::with_text`].
pub type WithText = for<'a> fn(&mut Runtime<'a>, &Str<'a>, &str) -> Result<Value<'a>>;

/// The type of [`Shortcuts::item`].
pub type ItemWithText = for<'a> fn(&mut Runtime<'a>, &Str<'a>, &str, i64) -> Result<Option<Value<'a>>>;

/// The body of a function, which takes bound arguments.
#[derive(Clone, Copy)]
pub enum Code {
    /// Runs any code.
    Run(for<'a> fn(&mut Runtime<'a>, Arguments<'a>) -> Result<Value<'a>>),
    /// Inspects the first parameter, as most tests do.
    Look(fn(&Value<'_>) -> bool),
    /// Compares two parameters, as a test with an argument does.
    Compare(Comparison),
}

/// Compares two values.
pub type Comparison = for<'a> fn(&mut Runtime<'a>, &Value<'a>, &Value<'a>) -> Result<bool>;

/// A method that was looked up and not called yet.
#[derive(Debug)]
pub struct BoundMethod<'a> {
    /// The object of the method.
    pub receiver: Value<'a>,
    /// The method, whose first parameter is the object.
    pub function: &'static Function,
}

/// Code that the evaluator runs: a macro, the body of a call block, a recursive loop.
pub trait Callable<'a>: fmt::Debug {
    /// Calls the code. The arguments are borrowed, because moving them costs stack at every level of a recursion.
    fn call(&self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>>;

    /// Calls the code and appends its result to `out`.
    fn write(&self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>, out: &mut String) -> Result<()>;
}

/// A macro as a value (jinja2 3.1.6 `runtime.py`, `Macro`).
#[derive(Debug)]
pub struct Macro<'a> {
    /// The name. The body of a call block has none.
    pub name: Option<&'a str>,
    /// The names of the parameters.
    pub parameters: Box<[&'a str]>,
    /// Whether the macro mentions `kwargs`, and so accepts any keyword.
    pub catches_keywords: bool,
    /// Whether the macro mentions `varargs`, and so accepts any number of arguments.
    pub catches_positional: bool,
    /// Whether the macro mentions `caller`.
    pub uses_caller: bool,
    /// Whether `caller` is one of the parameters.
    pub explicit_caller: bool,
    /// The body.
    pub code: Box<dyn Callable<'a> + 'a>,
    /// The claim to the memory of the macro.
    pub claim: Claim,
}

impl fmt::Debug for Function {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Function({})", self.python)
    }
}

impl Shortcuts {
    /// No shortcut.
    pub const NONE: Self = Self {
        alone: None,
        iterated: None,
        write: None,
        write_alone: None,
        piece: None,
        with_text: None,
        item: None,
    };
}

/// The steps of binding the arguments of a call and making its result.
const CALL: u64 = 4;

impl Function {
    /// Returns the name with its module, as Python prints it in errors before a call.
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
        #[cfg(test)]
        called::note(self);
        runtime.meter.charge(CALL)?;
        self.signature.bind(self.python, arguments)?;
        match self.code {
            Code::Run(run) => {
                let value = run(runtime, std::mem::take(arguments))?;
                runtime.claim_value(value)
            }
            Code::Look(inspect) => Ok(Value::Bool(arguments.get(0).is_some_and(inspect))),
            Code::Compare(compare) => match (arguments.get(0), arguments.get(1)) {
                (Some(value), Some(other)) => compare(runtime, value, other).map(Value::Bool),
                _ => Err(Error::internal("a test has too few parameters")),
            },
        }
    }

    /// Returns the result of a test of a value and further positional arguments, or `None` if only [`Function::call`] can run it.
    #[inline]
    pub fn test<'a>(&self, runtime: &mut Runtime<'a>, value: &Value<'a>, others: &[Value<'a>]) -> Option<Result<bool>> {
        let result = match (self.code, others) {
            (Code::Look(inspect), []) => runtime.meter.charge(1).map(|()| inspect(value)),
            (Code::Compare(compare), [other]) => runtime.meter.charge(1).and_then(|()| compare(runtime, value, other)),
            _ => return None,
        };
        #[cfg(test)]
        called::note(self);
        Some(result)
    }

    /// Appends the result for one argument to a text. Returns whether the function has a shortcut for that.
    pub fn write_alone<'a>(&self, runtime: &mut Runtime<'a>, value: &Value<'a>, out: &mut String) -> Result<bool> {
        let Some(write) = self.shortcuts.write_alone else {
            return Ok(false);
        };
        runtime.meter.charge(CALL)?;
        write(runtime, value, out)?;
        Ok(true)
    }

    /// Binds the arguments and appends the result of a shortcut to a text.
    pub fn write<'a>(&self, write: Write, runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, out: &mut String) -> Result<()> {
        runtime.meter.charge(CALL)?;
        self.signature.bind(self.python, &mut arguments)?;
        write(runtime, arguments, out)
    }
}

impl<'a> BoundMethod<'a> {
    /// Calls the method.
    pub fn call(&self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>> {
        arguments.push_front(self.receiver.clone());
        self.function.call(runtime, arguments)
    }
}

impl<'a> Value<'a> {
    /// Binds a method to the value.
    pub fn method(self, function: &'static Function) -> Self {
        Self::Method(MeteredRc::new(BoundMethod {
            receiver: self,
            function,
        }))
    }
}

/// Returns the TypeError of calling a value that is not callable.
#[cold]
pub fn not_callable(value: &Value<'_>) -> Error {
    Error::type_error(format!("'{}' object is not callable", value.ty().name()))
}

/// Records the functions that were called in this thread, for the test that every row of a table has a case.
#[cfg(test)]
pub mod called {
    use super::Function;
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    thread_local! {
        /// The addresses of the functions.
        static CALLED: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
    }

    /// Records a call of a function.
    pub fn note(function: &Function) {
        CALLED.with_borrow_mut(|called| called.insert(std::ptr::from_ref(function).addr()));
    }

    /// Returns whether a function was called.
    #[cfg(feature = "cli")]
    pub fn has(function: &Function) -> bool {
        CALLED.with_borrow(|called| called.contains(&std::ptr::from_ref(function).addr()))
    }
}
