//! The methods of lists and tuples that do not change the list.
//!
//! ```text
//! {{ [3, 1, 2].index(1) }}            1
//! {{ [1, true, 1.0].count(1) }}       3
//! ```
//!
//! The rules are those of CPython 3.13 `listobject.c` and `tupleobject.c`. Of the methods that change a list only the names are here,
//! because the sandbox refuses them.

use crate::builtins::arguments::{read_bound_not_none, wrong_receiver};
use crate::builtins::table::{SELF, Table, no_arguments, one_argument, optional, positional, required};
use crate::error::{Error, Result};
use crate::text::slice::resolve_index;
use crate::value::{Arguments, Parameter, Runtime, Seq, Value, ops, print};

const INDEX: &[Parameter] = &[SELF, required("value"), optional("start"), optional("stop")];

/// The methods of lists.
pub(super) static LIST: Table = Table::new(&[
    no_arguments("copy", "list.copy", copy),
    one_argument("count", "list.count", count),
    positional("index", "list.index", INDEX, index),
]);

/// The methods of tuples.
pub(super) static TUPLE: Table = Table::new(&[
    one_argument("count", "tuple.count", count),
    positional("index", "tuple.index", INDEX, index),
]);

/// The methods of lists that change them (jinja2 3.1.6 `sandbox.py`, `_mutable_spec`).
pub(super) const MUTATING: &[&str] = &["append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"];

/// Takes the items of the receiver, and whether it is a list.
fn take_receiver<'a>(arguments: &mut Arguments<'a>) -> Result<(Seq<'a>, bool)> {
    match arguments.take(0) {
        Some(Value::List(items)) => Ok((items, true)),
        Some(Value::Tuple(items)) => Ok((items, false)),
        _ => Err(wrong_receiver("list")),
    }
}

fn index<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let (items, is_list) = take_receiver(&mut arguments)?;
    let start = resolve_index(read_bound_not_none(arguments.get(2), 0)?, items.len()).unwrap_or(0);
    let stop = resolve_index(read_bound_not_none(arguments.get(3), i64::MAX)?, items.len()).unwrap_or(0);
    let wanted = arguments.take(1).unwrap_or(Value::None);
    for at in start..stop.min(items.len()) {
        runtime.meter.charge(1)?;
        if let Some(item) = items.get(at) {
            if ops::identical_or_equal(runtime, &item, &wanted)? {
                return Ok(Value::from(at));
            }
        }
    }
    if !is_list {
        return Err(Error::value("tuple.index(x): x not in tuple"));
    }
    let wanted = print::repr(runtime, &wanted)?;
    Err(Error::value(format!("{wanted} is not in list")))
}

fn count<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let (items, _) = take_receiver(&mut arguments)?;
    let wanted = arguments.take(1).unwrap_or(Value::None);
    let mut count: i64 = 0;
    for item in items.iter() {
        runtime.meter.charge(1)?;
        if ops::identical_or_equal(runtime, &item, &wanted)? {
            count = count.saturating_add(1);
        }
    }
    Ok(Value::Int(count))
}

/// Returns a new list, so that `l.copy() is sameas l` is false.
fn copy<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let (items, _) = take_receiver(&mut arguments)?;
    runtime.meter.charge_items(items.len() / 2)?;
    runtime.check_values(items.len())?;
    runtime.list(items.iter().collect())
}

/// Returns an attribute of a group of the filter `groupby`, which is a tuple with names (jinja2 3.1.6 `filters.py`, `_GroupTuple`).
pub fn group_attribute<'a>(items: &Seq<'a>, name: &str) -> Option<Value<'a>> {
    match name {
        "grouper" => items.get(0),
        "list" => items.get(1),
        _ => None,
    }
}
