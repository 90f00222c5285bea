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
use super::table::{Rows, Table, built_ins};
use crate::error::{Error, Result};
use crate::value::{Arguments, Joiner, Loop, Runtime, Str, Value, not_callable};

built_ins! { CALLS:
    /// Calls a recursive loop with other items.
    Python "LoopContext.__call__" fn call_loop["loop"](runtime, &context: &'a Loop<'a>, iterable: Items) {
        Loop::recurse(context)?.call(runtime, &mut Arguments::one(iterable))
    }

    /// Returns the separator of a joiner, or an empty string the first time.
    Python "Joiner.__call__" fn call_joiner["joiner"](_runtime, &joiner: &'a Joiner<'a>) {
        Ok(jinja_objects::next_separator(joiner))
    }
}

static OBJECTS: Table = Table::new(|| Rows::new(&[CALLS]));

pub fn call<'a>(runtime: &mut Runtime<'a>, callee: &Value<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>> {
    check_keywords(arguments, callee)?;
    match callee {
        Value::Method(method) => method.call(runtime, arguments),
        Value::Function(function) => function.call(runtime, arguments),
        Value::Macro(code) => code.code.call(runtime, arguments),
        Value::Loop(context) if arguments.len() == 1 && arguments.keywords().is_empty() => {
            Loop::recurse(context)?.call(runtime, arguments)
        }
        Value::Loop(_) => call_object(runtime, "loop", callee, arguments),
        Value::Joiner(_) => call_object(runtime, "joiner", callee, arguments),
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
fn call_object<'a>(runtime: &mut Runtime<'a>, name: &str, object: &Value<'a>, arguments: &mut Arguments<'a>) -> Result<Value<'a>> {
    arguments.push_front(*object);
    match OBJECTS.find_row(name) {
        Some(function) => function.call(runtime, arguments),
        None => Err(not_callable(object)),
    }
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
