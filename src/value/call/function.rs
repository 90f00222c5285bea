//! What can be called, and what a call passes.

use std::fmt;

use super::positional::Positional;
use crate::error::{Error, Result};
use crate::limits::Claim;
use crate::value::{MeteredRc, Runtime, Signature, Str, Type, Value};

/// The arguments of a call. Behind [`Signature::bind`] they stand in the order of the parameters, absent ones as None.
#[derive(Clone, Debug, Default)]
pub struct Arguments<'a> {
    positional: Positional<'a>,
    /// Boxed, because most calls have none and all of them move this.
    #[allow(clippy::box_collection, reason = "one word instead of three in what every call moves")]
    keywords: Option<Box<Vec<(Str<'a>, Value<'a>)>>>,
}

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
    /// A quick way to evaluate its most frequent calls.
    pub shortcut: Shortcut,
}

/// A quick way to evaluate calls of one common form: it does what [`Function::call`] does with those arguments.
///
/// The fast lane of the evaluator uses it; see `eval/fast/builtins.rs`.
#[derive(Clone, Copy)]
pub enum Shortcut {
    /// All calls are evaluated in full.
    None,
    /// `value|f` and `text.f()`.
    Unary(Unary),
    /// `text|f`, `text.f()` and `text.f("…")`, which return a part of a plain string.
    Part(Part),
    /// `text.f("…")`, which returns whether a plain string has a property.
    Predicate(fn(&str, &str) -> bool),
    /// `text.f("…")[i]`, which returns one item of the list of a method of plain strings.
    Item(Item),
    /// `{{ value|f(…) }}`, which appends the result to the output.
    Write(Write),
}

/// Returns the result for a single argument.
pub type Unary = for<'a> fn(&mut Runtime<'a>, &Value<'a>) -> Result<Value<'a>>;

/// Returns a part of a text. The second argument is that of the call, if it has one.
pub type Part = for<'t> fn(&'t str, Option<&str>) -> &'t str;

/// Returns the item at an index of the list that the method returns for a text and its argument, or None if it must be called.
pub type Item = for<'a> fn(&mut Runtime<'a>, &Str<'a>, &str, i64) -> Result<Option<Value<'a>>>;

/// Appends the result for bound arguments to a text.
pub type Write = for<'a> fn(&mut Runtime<'a>, Arguments<'a>, &mut String) -> Result<()>;

/// What a function does, given its parameters.
#[derive(Clone, Copy)]
pub enum Code {
    /// It runs.
    Run(for<'a> fn(&mut Runtime<'a>, Arguments<'a>) -> Result<Value<'a>>),
    /// It only looks at its first parameter, as most tests do.
    Look(fn(&Value<'_>) -> bool),
    /// It compares its two parameters, as a test with an argument does.
    Compare(Comparison),
    /// It compares the identities of its two parameters, as the test `sameas` does: a variable is identical to itself.
    Identify(Comparison),
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
            Code::Compare(holds) | Code::Identify(holds) => match (arguments.get(0), arguments.get(1)) {
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
            (Code::Compare(holds) | Code::Identify(holds), [other]) => {
                runtime.meter.charge(1).and_then(|()| holds(runtime, value, other))
            }
            _ => return None,
        };
        #[cfg(test)]
        called::note(self);
        Some(told)
    }

    /// Binds the arguments, and appends the result to a text with the function's shortcut.
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

impl<'a> Arguments<'a> {
    /// No arguments.
    pub fn new() -> Self {
        Self::default()
    }

    /// One argument.
    pub fn one(value: Value<'a>) -> Self {
        Self {
            positional: Positional::one(value),
            keywords: None,
        }
    }

    /// Adds a positional argument behind the others.
    pub fn push(&mut self, value: Value<'a>) {
        self.positional.push(Some(value));
    }

    /// Adds a positional argument before the others.
    pub fn push_front(&mut self, value: Value<'a>) {
        self.positional.push_front(value);
    }

    /// Drops the first positional argument.
    pub fn drop_first(&mut self) {
        self.positional.drop_first();
    }

    /// Adds `name=value`.
    pub fn push_keyword(&mut self, name: Str<'a>, value: Value<'a>) {
        self.keywords.get_or_insert_default().push((name, value));
    }

    /// Adds `name=value`, or gives the one of that name another value, as a dict does.
    pub fn put_keyword(&mut self, name: Str<'a>, value: Value<'a>) {
        let keywords = self.keywords.get_or_insert_default();
        match keywords.iter_mut().find(|(other, _)| other.as_str() == name.as_str()) {
            Some((_, old)) => *old = value,
            None => keywords.push((name, value)),
        }
    }

    /// How many positional arguments there are, or parameters once bound.
    pub fn len(&self) -> usize {
        self.positional.as_slice().len()
    }

    /// Whether there is no positional argument.
    pub fn is_empty(&self) -> bool {
        self.positional.as_slice().is_empty()
    }

    /// The argument at an index, if it was given.
    pub fn get(&self, index: usize) -> Option<&Value<'a>> {
        self.positional.as_slice().get(index)?.as_ref()
    }

    /// The positional arguments, to take them.
    pub fn places(&mut self) -> &mut [Option<Value<'a>>] {
        self.positional.as_mut_slice()
    }

    /// Takes the argument at an index, if it was given.
    pub fn take(&mut self, index: usize) -> Option<Value<'a>> {
        self.positional.as_mut_slice().get_mut(index)?.take()
    }

    /// Takes all arguments from an index on.
    pub fn take_from(&mut self, index: usize) -> Vec<Value<'a>> {
        self.positional.take_from(index)
    }

    /// The keywords that no parameter took.
    pub fn keywords(&self) -> &[(Str<'a>, Value<'a>)] {
        self.keywords.as_ref().map_or(&[], |keywords| keywords)
    }

    /// Takes the keywords that no parameter took.
    pub fn take_keywords(&mut self) -> Vec<(Str<'a>, Value<'a>)> {
        self.keywords.take().map_or_else(Vec::new, |keywords| *keywords)
    }

    /// Takes the keyword of that name.
    pub fn take_keyword(&mut self, name: &str) -> Option<Value<'a>> {
        let keywords = self.keywords.as_mut()?;
        let at = keywords.iter().position(|(keyword, _)| keyword.as_str() == name)?;
        Some(keywords.remove(at).1)
    }

    /// Makes room for so many parameters; the new ones are absent.
    pub(super) fn resize(&mut self, parameters: usize) {
        self.positional.resize(parameters);
    }

    /// Gives a parameter its value; those before it that are not there yet are absent.
    pub(super) fn set(&mut self, index: usize, value: Value<'a>) {
        self.resize(index.saturating_add(1));
        if let Some(place) = self.positional.as_mut_slice().get_mut(index) {
            *place = Some(value);
        }
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
