//! The calls `x(…)` and `x.name(…)`.
//!
//! ```text
//! {{ 7() }}                 TypeError: 'int' object is not callable
//! {{ "a".nope() }}          UndefinedError: 'str object' has no attribute 'nope'
//! ```
//!
//! Macros and recursive loops are [`Callable`](crate::value::Callable)s, which the evaluator implements. The rules are those of jinja2
//! 3.1.6 `sandbox.py` `call` and `runtime.py` `Context.call`.

use super::access::{self, Attribute};
use super::methods::jinja_objects;
use crate::error::{Error, Result};
use crate::value::{Arguments, Body, Code, Function, Kind, Loop, Parameter, Runtime, Str, Style, Value, not_callable};

/// The signatures of `loop(…)` and of calls of a joiner, which are not rows of a table.
static LOOP: Function = call_of(
    "LoopContext.__call__",
    &[SELF, Parameter::required("iterable", Kind::Items)],
    call_loop,
);
static JOINER: Function = call_of("Joiner.__call__", &[SELF], call_joiner);

const SELF: Parameter = Parameter::required("self", Kind::Any);

const fn call_of(python: &'static str, parameters: &'static [Parameter], body: Body) -> Function {
    Function::new("__call__", python, Style::Python, parameters, Code::Run(body))
}

/// Calls `callee(…)`.
pub fn call<'a>(runtime: &mut Runtime<'a>, callee: &Value<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>> {
    check_keywords(arguments, callee)?;
    match callee {
        Value::Method(method) => method.call(runtime, arguments),
        Value::Function(function) => function.call(runtime, arguments),
        Value::Macro(code) => code.code.call(runtime, arguments),
        Value::Loop(context) if arguments.len() == 1 && arguments.keywords().is_empty() => {
            Loop::recurse(context)?.call(runtime, arguments)
        }
        Value::Loop(_) => call_with_receiver(runtime, &LOOP, callee, arguments),
        Value::Joiner(_) => call_with_receiver(runtime, &JOINER, callee, arguments),
        Value::Undefined(undefined) => Err(undefined.error()),
        other => Err(not_callable(other)),
    }
}

/// Calls `receiver.name(…)`. The receiver is the first of the arguments.
///
/// The result is that of [`access::get_attribute`] and [`call`], without a bound method between them. The caller refuses an undefined
/// receiver before it evaluates the other arguments, as Python does.
pub fn call_method<'a>(runtime: &mut Runtime<'a>, name: &Str<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>> {
    let Some(receiver) = arguments.get(0) else {
        return Err(Error::internal("a method is called without an object"));
    };
    let callee = match access::find_attribute_or_item(runtime, receiver, name)? {
        Attribute::Method(function) => {
            check_keywords(arguments, &Value::Function(function))?;
            return function.call(runtime, arguments);
        }
        attribute => access::to_value(runtime, attribute, receiver, name)?,
    };
    arguments.drop_first();
    call(runtime, &callee, arguments)
}

#[inline(never)]
fn call_with_receiver<'a>(
    runtime: &mut Runtime<'a>,
    function: &'static Function,
    receiver: &Value<'a>,
    arguments: &mut Arguments<'a>,
) -> Result<Value<'a>> {
    arguments.push_front(receiver.clone());
    function.call(runtime, arguments)
}

/// Checks the keywords of a call, and removes those that only Jinja itself reads.
///
/// Jinja calls every function through two functions of its own: `SandboxedEnvironment.call`, and then `Context.call`. A keyword with the
/// name of one of their parameters (`_Context__self`) is an error. The keywords `_loop_vars` and `_block_vars`, in which Jinja passes the
/// variables of loops and blocks, are not passed to the function.
pub fn check_keywords(arguments: &mut Arguments<'_>, callee: &Value<'_>) -> Result<()> {
    if arguments.keywords().is_empty() {
        return Ok(());
    }
    let names = arguments.keywords().iter().map(|(name, _)| name.as_str());
    for (class, parameters) in [
        ("SandboxedEnvironment", &["self", "context", "obj"][..]),
        ("Context", &["self", "obj"]),
    ] {
        let hit = names.clone().find(|name| {
            let parameter = name
                .strip_prefix('_')
                .and_then(|name| name.strip_prefix(class)?.strip_prefix("__"));
            parameter.is_some_and(|parameter| parameters.contains(&parameter))
        });
        if let Some(name) = hit {
            let message = format!("{class}.call() got multiple values for argument '{name}'");
            return Err(Error::type_error(message));
        }
        // `SandboxedEnvironment.call` reads an attribute of the callee, which is an error for an undefined value.
        if let Value::Undefined(undefined) = callee {
            return Err(undefined.error());
        }
    }
    arguments.take_keyword("_loop_vars");
    arguments.take_keyword("_block_vars");
    Ok(())
}

/// The signature of `loop(iterable)`.
fn call_loop<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let context: Option<Value<'a>> = arguments.take(0);
    let iterable = arguments.take(1).unwrap_or(Value::None);
    let code = match &context {
        Some(Value::Loop(context)) => Loop::recurse(context)?,
        _ => return Err(Error::internal("the callee is not a loop")),
    };
    code.call(runtime, &mut Arguments::one(iterable))
}

/// The signature of a joiner's call, which takes no arguments.
fn call_joiner<'a>(_: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    match arguments.take(0) {
        Some(Value::Joiner(joiner)) => Ok(jinja_objects::next_separator(&joiner)),
        _ => Err(Error::internal("the callee is not a joiner")),
    }
}
