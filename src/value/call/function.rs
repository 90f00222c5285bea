//! What can be called, and what a call passes.

use std::fmt;

use super::arguments::Arguments;
use crate::error::{Error, Result};
use crate::limits::Claim;
use crate::value::{MeteredRc, Runtime, Signature, Str, Type, Value};

/// A filter, a test, a method or a global function: one row of a table.
pub struct Function {
    /// The name in templates.
    pub name: &'static str,
    /// The name in CPython's messages about arguments: `do_center`, `str.strip`, `find`.
    pub python: &'static str,
    /// The type of the function itself.
    pub ty: Type,
    /// How arguments become parameters. The first parameter of a filter or test is what it is applied to; of a method, its object.
    pub signature: Signature,
    /// What it does, given its parameters.
    pub code: Code,
    /// What it does in the most frequent calls.
    pub shortcuts: Shortcuts,
}

/// What a function does in the calls that templates are full of: the same as [`Function::call`], sooner.
#[derive(Clone, Copy)]
pub struct Shortcuts {
    /// Given its first parameter alone.
    pub alone: Option<Alone>,
    /// Another value with the items of what it gives for its first parameter alone, where there is one and only the items are wanted.
    pub iterated: Option<Iterated>,
    /// Given its parameters, where the result is written: appends it.
    pub write: Option<Write>,
    /// The same, given its first parameter alone.
    pub write_alone: Option<WriteAlone>,
    /// Given a plain string alone, of which it gives a part.
    pub piece: Option<Piece>,
    /// A method of `str`, given one string, both plain.
    pub with_text: Option<WithText>,
    /// The item at an index of what [`Shortcuts::with_text`] gives, without the others; None where there is none.
    pub item: Option<ItemWithText>,
}

/// See [`Shortcuts::alone`].
pub type Alone = for<'a> fn(&mut Runtime<'a>, &Value<'a>) -> Result<Value<'a>>;

/// See [`Shortcuts::iterated`].
pub type Iterated = for<'a> fn(&Value<'a>) -> Option<Value<'a>>;

/// See [`Shortcuts::write`].
pub type Write = for<'a> fn(&mut Runtime<'a>, Arguments<'a>, &mut String) -> Result<()>;

/// See [`Shortcuts::write_alone`].
pub type WriteAlone = for<'a> fn(&mut Runtime<'a>, &Value<'a>, &mut String) -> Result<()>;

/// See [`Shortcuts::piece`].
pub type Piece = fn(&str) -> &str;

/// See [`Shortcuts::with_text`].
pub type WithText = for<'a> fn(&mut Runtime<'a>, &Str<'a>, &str) -> Result<Value<'a>>;

/// See [`Shortcuts::item`].
pub type ItemWithText = for<'a> fn(&mut Runtime<'a>, &Str<'a>, &str, i64) -> Result<Option<Value<'a>>>;

/// What a function does, given its parameters.
#[derive(Clone, Copy)]
pub enum Code {
    /// It runs.
    Run(for<'a> fn(&mut Runtime<'a>, Arguments<'a>) -> Result<Value<'a>>),
    /// It only looks at its first parameter, as most tests do.
    Look(fn(&Value<'_>) -> bool),
    /// It compares its two parameters, as a test with an argument does.
    Compare(Comparison),
}

/// What is said of two values.
pub type Comparison = for<'a> fn(&mut Runtime<'a>, &Value<'a>, &Value<'a>) -> Result<bool>;

/// A method that was looked up and not called yet.
#[derive(Debug)]
pub struct BoundMethod<'a> {
    /// The object.
    pub receiver: Value<'a>,
    /// The method; the object is its first parameter.
    pub function: &'static Function,
}

/// What the evaluator calls: a macro, a call body, a recursive loop, a block.
pub trait Callable<'a>: fmt::Debug {
    /// Calls it. The arguments are lent, because a move of them costs stack at every level of a recursion.
    fn call(&self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>>;

    /// Calls it, and writes what it returns straight to `out`.
    fn write(&self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>, out: &mut String) -> Result<()>;
}

/// A macro as a value (jinja2 3.1.6 `runtime.py`, `Macro`).
#[derive(Debug)]
pub struct Macro<'a> {
    /// Its name; the body of a call block has none.
    pub name: Option<&'a str>,
    /// The names of its parameters.
    pub parameters: Box<[&'a str]>,
    /// Whether it takes any keyword, because it mentions `kwargs`.
    pub catches_keywords: bool,
    /// Whether it takes any number of arguments, because it mentions `varargs`.
    pub catches_positional: bool,
    /// Whether it mentions `caller`.
    pub uses_caller: bool,
    /// Whether `caller` is one of its parameters.
    pub explicit_caller: bool,
    /// The code.
    pub code: Box<dyn Callable<'a> + 'a>,
    /// The memory of all this.
    pub claim: Claim,
}

impl fmt::Debug for Function {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Function({})", self.python)
    }
}

impl Shortcuts {
    /// None.
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

/// Steps of binding the arguments of a call and making its result.
const CALL: u64 = 4;

impl Function {
    /// Its name behind that of its module, as Python tells it where it complains before the call.
    pub fn full_name(&self) -> String {
        // A filter that has a form for asynchronous templates bears that one's name here.
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

    /// Binds the arguments and runs the body, which takes them.
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
            Code::Look(asks) => Ok(Value::Bool(arguments.get(0).is_some_and(asks))),
            Code::Compare(holds) => match (arguments.get(0), arguments.get(1)) {
                (Some(value), Some(other)) => holds(runtime, value, other).map(Value::Bool),
                _ => Err(Error::internal("a test has too few parameters")),
            },
        }
    }

    /// What a test says of a value, given positional arguments behind it; None where [`Function::call`] has to be asked.
    #[inline]
    pub fn test<'a>(&self, runtime: &mut Runtime<'a>, value: &Value<'a>, others: &[Value<'a>]) -> Option<Result<bool>> {
        let told = match (self.code, others) {
            (Code::Look(asks), []) => runtime.meter.charge(1).map(|()| asks(value)),
            (Code::Compare(holds), [other]) => runtime.meter.charge(1).and_then(|()| holds(runtime, value, other)),
            _ => return None,
        };
        #[cfg(test)]
        called::note(self);
        Some(told)
    }

    /// Appends the result for one argument to a text, where it has a shortcut for that; gives whether it has one.
    pub fn write_alone<'a>(&self, runtime: &mut Runtime<'a>, value: &Value<'a>, out: &mut String) -> Result<bool> {
        let Some(write) = self.shortcuts.write_alone else {
            return Ok(false);
        };
        runtime.meter.charge(CALL)?;
        write(runtime, value, out)?;
        Ok(true)
    }

    /// Binds the arguments and appends the result to a text, where it has a shortcut for that.
    pub fn write<'a>(&self, write: Write, runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, out: &mut String) -> Result<()> {
        runtime.meter.charge(CALL)?;
        self.signature.bind(self.python, &mut arguments)?;
        write(runtime, arguments, out)
    }
}

impl<'a> BoundMethod<'a> {
    /// Calls the method on its object.
    pub fn call(&self, runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>> {
        arguments.push_front(self.receiver.clone());
        self.function.call(runtime, arguments)
    }
}

impl<'a> Value<'a> {
    /// A method of this value, bound to it.
    pub fn method(self, function: &'static Function) -> Self {
        Self::Method(MeteredRc::new(BoundMethod {
            receiver: self,
            function,
        }))
    }
}

/// Which functions were called in this thread: a test wants each row of a table to have a case.
#[cfg(test)]
pub mod called {
    use super::Function;
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    thread_local! {
        /// Their addresses.
        static CALLED: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
    }

    /// It was called.
    pub fn note(function: &Function) {
        CALLED.with_borrow_mut(|called| called.insert(std::ptr::from_ref(function).addr()));
    }

    /// Whether it was called; the tests of the cases ask.
    #[cfg(feature = "cli")]
    pub fn has(function: &Function) -> bool {
        CALLED.with_borrow(|called| called.contains(&std::ptr::from_ref(function).addr()))
    }
}
