//! `x(…)` and `x.name(…)`.
//!
//! ```text
//! {{ 7() }}                 TypeError: 'int' object is not callable
//! {{ "a".nope() }}          UndefinedError: 'str object' has no attribute 'nope'
//! ```
//!
//! Macros, blocks and recursive loops are called by the evaluator, which gives them as [`Callable`](crate::value::Callable)s. The rule is
//! jinja2 3.1.6 `sandbox.py` `call` and `runtime.py` `Context.call`.

use super::access;
use super::methods::{self, Attribute};
use super::table::{SELF, python, required};
use crate::error::{Error, Result};
use crate::value::{Arguments, Function, Loop, Runtime, Str, Value};

/// What binds the arguments of calls that no table has a row for.
static LOOP: Function = python("loop", "LoopContext.__call__", &[SELF, required("iterable")], recurse);
static JOINER: Function = python("joiner", "Joiner.__call__", &[SELF], join);

/// `callee(…)`
pub fn call<'a>(runtime: &mut Runtime<'a>, callee: &Value<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>> {
    pass(arguments, callee)?;
    match callee {
        Value::Method(method) => method.call(runtime, arguments),
        Value::Function(function) => function.call(runtime, arguments),
        Value::Macro(code) => code.code.call(runtime, arguments),
        Value::Loop(context) if arguments.len() == 1 && arguments.keywords().is_empty() => {
            Loop::recurse(context)?.call(runtime, arguments)
        }
        Value::Loop(_) => call_with(runtime, &LOOP, callee, arguments),
        Value::Joiner(_) => call_with(runtime, &JOINER, callee, arguments),
        Value::Undefined(undefined) => Err(undefined.error()),
        other => Err(not_callable(other)),
    }
}

/// `receiver.name(…)`, the receiver being the first of the arguments: what [`access::attribute`] and [`call`] give together, without a
/// bound method between them. The caller has already refused a receiver that is undefined, as Python does before it evaluates the rest.
pub fn call_method<'a>(runtime: &mut Runtime<'a>, name: &Str<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>> {
    let Some(receiver) = arguments.get(0) else {
        return Err(Error::internal("a method is called on nothing"));
    };
    let callee = match access::find(runtime, receiver, name)? {
        Attribute::Method(function) => {
            let callee = Value::Function(function);
            pass(arguments, &callee)?;
            return function.call(runtime, arguments);
        }
        Attribute::Value(callee) => callee,
        Attribute::Unsafe => access::unsafe_attribute(receiver, name),
        Attribute::Missing => access::missing(receiver, name),
    };
    arguments.drop_first();
    call(runtime, &callee, arguments)
}

/// Calls a function on a receiver.
#[inline(never)]
fn call_with<'a>(
    runtime: &mut Runtime<'a>,
    function: &'static Function,
    receiver: &Value<'a>,
    arguments: &mut Arguments<'a>,
) -> Result<Value<'a>> {
    arguments.push_front(receiver.clone());
    function.call(runtime, arguments)
}

/// Jinja's own part in a call with keywords. Its two functions that calls go through have parameters, which a keyword may hit, the
/// first of them asks what is called whether that is safe, and variables of loops and blocks come under two keywords, which are taken
/// out again, whoever gave them.
pub fn pass(arguments: &mut Arguments<'_>, callee: &Value<'_>) -> Result<()> {
    if arguments.keywords().is_empty() {
        return Ok(());
    }
    let names = arguments.keywords().iter().map(|(name, _)| name.as_str());
    for (function, parameters) in [
        ("SandboxedEnvironment", &["self", "context", "obj"][..]),
        ("Context", &["self", "obj"]),
    ] {
        let hit = names.clone().find(|name| {
            let parameter = name
                .strip_prefix('_')
                .and_then(|name| name.strip_prefix(function)?.strip_prefix("__"));
            parameter.is_some_and(|parameter| parameters.contains(&parameter))
        });
        if let Some(name) = hit {
            let message = format!("{function}.call() got multiple values for argument '{name}'");
            return Err(Error::type_error(message));
        }
        if let Value::Undefined(undefined) = callee {
            return Err(undefined.error());
        }
    }
    arguments.take_keyword("_loop_vars");
    arguments.take_keyword("_block_vars");
    Ok(())
}

#[cold]
pub(super) fn not_callable(value: &Value<'_>) -> Error {
    Error::type_error(format!("'{}' object is not callable", value.ty().name()))
}

/// `loop(iterable)`
fn recurse<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let context: Option<Value<'a>> = arguments.take(0);
    let iterable = arguments.take(1).unwrap_or(Value::None);
    let code = match &context {
        Some(Value::Loop(context)) => Loop::recurse(context)?,
        _ => return Err(Error::internal("a loop was called that is none")),
    };
    code.call(runtime, &mut Arguments::one(iterable))
}

/// `joiner()`
fn join<'a>(_: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    match arguments.take(0) {
        Some(Value::Joiner(joiner)) => Ok(methods::call_joiner(&joiner)),
        _ => Err(Error::internal("a joiner was called that is none")),
    }
}
