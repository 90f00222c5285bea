//! The attributes of Jinja's own objects: `loop`, macros, cyclers, joiners and namespaces.
//!
//! ```text
//! {{ loop.cycle("odd", "even") }}
//! {% if loop.changed(message.role) %}
//! {{ cycler("a", "b").next() }}
//! ```
//!
//! The rules are those of jinja2 3.1.6 `runtime.py` (`LoopContext`, `Macro`) and `utils.py` (`Cycler`, `Joiner`). [`Loop`] keeps the state
//! of a loop.

use std::mem;

use crate::ast::LoopNumber;
use crate::builtins::table::built_ins;
use crate::error::{Error, Result};
use crate::value::{Cycler, Joiner, Loop, Macro, Runtime, Str, Value, ops};

/// Returns the attribute of a loop with the given name, which is not a method.
pub fn loop_attribute<'a>(runtime: &mut Runtime<'a>, context: &Loop<'a>, name: &str) -> Result<Option<Value<'a>>> {
    runtime.meter.charge(1)?;
    if let "length" | "revindex" | "revindex0" = name {
        // After this, the loop knows its length.
        context.length(runtime)?;
    }
    let number = LoopNumber::find(name).and_then(|number| context.peek_number(&runtime.heap, number));
    if number.is_some() {
        return Ok(number);
    }
    Ok(Some(match name {
        "last" => Value::Bool(context.is_last(runtime)?),
        "previtem" => context.previous_item(&mut runtime.heap)?,
        "nextitem" => context.next_item(runtime)?,
        "depth" => Value::Int(context.depth0.saturating_add(1)),
        "depth0" => Value::Int(context.depth0),
        _ => return Ok(None),
    }))
}

pub fn macro_attribute<'a>(runtime: &mut Runtime<'a>, macro_: &Macro<'a>, name: &str) -> Result<Option<Value<'a>>> {
    Ok(Some(match name {
        "name" => macro_.name.map_or(Value::None, Value::text),
        "arguments" => runtime.tuple(&macro_.parameter_names().map(Value::text).collect::<Vec<_>>())?,
        "catch_kwargs" => Value::Bool(macro_.catches_keywords),
        "catch_varargs" => Value::Bool(macro_.catches_positional),
        "caller" => Value::Bool(macro_.uses_caller),
        "explicit_caller" => Value::Bool(macro_.explicit_caller),
        _ => return Ok(None),
    }))
}

/// Returns the attribute of a cycler with the given name, which is not a method.
pub fn cycler_attribute<'a>(cycler: &Cycler<'a>, name: &str) -> Option<Value<'a>> {
    match name {
        "current" => cycler.items.get(cycler.position.get()),
        "items" => Some(Value::Tuple(cycler.items)),
        "pos" => Some(Value::from(cycler.position.get())),
        _ => None,
    }
}

pub fn joiner_attribute<'a>(joiner: &Joiner<'a>, name: &str) -> Option<Value<'a>> {
    match name {
        "sep" => Some(joiner.separator),
        "used" => Some(Value::Bool(joiner.used.get())),
        _ => None,
    }
}

built_ins! { LOOP:
    /// Returns whether the values differ from those of the previous call.
    Python "LoopContext.changed" fn changed(runtime, &context: &'a Loop<'a>, *value[Any, Any]) -> Bool {
        let values = runtime.tuple(&value)?;
        let Some(before) = context.last_changed(&mut runtime.heap).map(|last| mem::replace(last, values)) else {
            context.set_changed(&mut runtime.heap, values);
            return Ok(Value::Bool(true));
        };
        Ok(Value::Bool(!ops::equal(runtime, &before, &values)?))
    }

    /// Returns one of the values, the next one in each round.
    Python "LoopContext.cycle" fn cycle(_runtime, &context: &'a Loop<'a>, *args[Any, Any]) {
        let mut values = args;
        let count = i64::try_from(values.len()).unwrap_or(i64::MAX);
        let at = context.index0().checked_rem_euclid(count);
        let at = at.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < values.len());
        match at {
            Some(at) => Ok(values.swap_remove(at)),
            None => Err(Error::type_error("no items for cycling given")),
        }
    }
}

built_ins! { CYCLER:
    /// Returns the current item, and moves to the next one.
    Python "Cycler.next" fn next(_runtime, &cycler: &'a Cycler<'a>) {
        let at = cycler.position.get();
        let next = at + 1;
        cycler.position.set(if next < cycler.items.len() { next } else { 0 });
        Ok(cycler.items.get(at).unwrap_or(Value::None))
    }

    /// Moves to the first item.
    Python "Cycler.reset" fn reset(_runtime, &cycler: &'a Cycler<'a>) {
        cycler.position.set(0);
        Ok(Value::None)
    }
}

/// Returns the separator of a joiner. The first call returns an empty string.
pub fn next_separator<'a>(joiner: &Joiner<'a>) -> Value<'a> {
    if joiner.used.replace(true) {
        joiner.separator
    } else {
        Value::Str(Str::from(""))
    }
}
