//! The methods of dict views, and of the sets that their operators make.
//!
//! ```text
//! {{ d.keys().isdisjoint(["a"]) }}                   False
//! {{ (d.keys() - e.keys()).union([1]) }}             {1, 'b'}
//! ```
//!
//! After CPython 3.11 `dictobject.c` (`dictviews_isdisjoint`) and `setobject.c`.

use super::argument::wrong_receiver;
use super::row::{any_number, no_arguments, one_argument};
use crate::error::Result;
use crate::value::{Arguments, Dict, Entries, Function, Iter, Key, Runtime, Set, Shared, Value};

/// The rows of the views that are like sets.
pub(super) static VIEW: [Function; 1] = [one_argument("isdisjoint", "dict_keys.isdisjoint", is_disjoint_view)];

/// The rows of sets.
pub(super) static SET: [Function; 8] = [
    no_arguments("copy", "set.copy", copy),
    any_number("union", "set.union", union),
    any_number("intersection", "set.intersection", intersection),
    any_number("difference", "set.difference", difference),
    one_argument("symmetric_difference", "set.symmetric_difference", symmetric_difference),
    one_argument("isdisjoint", "set.isdisjoint", is_disjoint),
    one_argument("issubset", "set.issubset", is_subset),
    one_argument("issuperset", "set.issuperset", is_superset),
];

/// The methods that change a set (jinja2 3.1.6 `sandbox.py`, `_mutable_spec`), and `intersection_update`, which the sandbox forgets:
/// a set that cannot change has to refuse it too.
pub(super) const MUTATING: &[&str] = &[
    "add",
    "clear",
    "difference_update",
    "discard",
    "intersection_update",
    "pop",
    "remove",
    "symmetric_difference_update",
    "update",
];

/// The dict behind a view, in a proxy.
pub(super) fn attribute<'a>(dict: &Dict<'a>, name: &str) -> Option<Value<'a>> {
    (name == "mapping").then(|| Value::Proxy(Shared::new(dict.clone())))
}

fn receiver<'a>(arguments: &mut Arguments<'a>) -> Result<Shared<Set<'a>>> {
    match arguments.take(0) {
        Some(Value::Set(set)) => Ok(set),
        _ => Err(wrong_receiver("set")),
    }
}

/// What an argument holds, as the items of a set.
fn items_of<'a>(runtime: &mut Runtime<'a>, argument: Option<Value<'a>>) -> Result<Entries<'a>> {
    let mut iter = Iter::new(&argument.unwrap_or(Value::None))?;
    let mut entries = Entries::default();
    while let Some(item) = iter.next(runtime)? {
        runtime.check_entries(entries.len())?;
        entries.entry(Key::new(runtime, item)?).or_insert(Value::None);
    }
    Ok(entries)
}

fn entries_of<'a>(runtime: &mut Runtime<'a>, set: &Shared<Set<'a>>) -> Result<Entries<'a>> {
    items_of(runtime, Some(Value::Set(set.clone())))
}

fn copy<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let set = receiver(&mut arguments)?;
    let table = runtime.set_of(&Value::Set(set))?;
    runtime.set(table)
}

fn union<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let set = receiver(&mut arguments)?;
    let mut table = runtime.set_of(&Value::Set(set.clone()))?;
    for other in arguments.take_from(1) {
        match &other {
            Value::Set(other) if other.is_same(&set) => {}
            other => runtime.set_update(&mut table, other)?,
        }
    }
    runtime.set(table)
}

fn intersection<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let set = receiver(&mut arguments)?;
    let mut table = None;
    for other in arguments.take_from(1) {
        let own = table.as_ref().unwrap_or_else(|| set.table());
        table = Some(match &other {
            Value::Set(other) if table.is_none() && other.is_same(&set) => runtime.set_of(&Value::Set(set.clone()))?,
            other => runtime.set_and(own, other)?,
        });
    }
    let table = match table {
        Some(table) => table,
        None => runtime.set_of(&Value::Set(set))?,
    };
    runtime.set(table)
}

fn difference<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let set = receiver(&mut arguments)?;
    let mut others = arguments.take_from(1).into_iter();
    let mut table = match others.next() {
        Some(other) => runtime.set_minus(&set, &other)?,
        None => runtime.set_of(&Value::Set(set))?,
    };
    for other in others {
        runtime.set_remove(&mut table, &other)?;
    }
    runtime.set(table)
}

fn symmetric_difference<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let set = receiver(&mut arguments)?;
    let other = arguments.take(1).unwrap_or(Value::None);
    let table = runtime.set_either(set.table(), &other)?;
    runtime.set(table)
}

fn is_disjoint<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let set = receiver(&mut arguments)?;
    let mut iter = Iter::new(&arguments.take(1).unwrap_or(Value::None))?;
    while let Some(item) = iter.next(runtime)? {
        if set.contains(&Key::new(runtime, item)?) {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn is_subset<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let set = receiver(&mut arguments)?;
    let other = items_of(runtime, arguments.take(1))?;
    let entries = entries_of(runtime, &set)?;
    Ok(Value::Bool(entries.keys().all(|key| other.contains_key(key))))
}

fn is_superset<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let set = receiver(&mut arguments)?;
    let mut iter = Iter::new(&arguments.take(1).unwrap_or(Value::None))?;
    while let Some(item) = iter.next(runtime)? {
        if !set.contains(&Key::new(runtime, item)?) {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

/// Asks the larger of the two whether it holds an item of the other, where the other can say how large it is.
fn is_disjoint_view<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let view = arguments.take(0).unwrap_or(Value::None);
    let other = arguments.take(1).unwrap_or(Value::None);
    let is_sized = matches!(other, Value::Keys(_) | Value::Items(_) | Value::Set(_));
    let is_larger = is_sized && runtime.length(&other)? > runtime.length(&view)?;
    let (asked, iterated) = if is_larger { (&other, &view) } else { (&view, &other) };
    let mut iter = Iter::new(iterated)?;
    while let Some(item) = iter.next(runtime)? {
        if runtime.contains(asked, &item)? {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}
