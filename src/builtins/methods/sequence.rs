//! The methods of lists and tuples that do not change the list.
//!
//! ```text
//! {{ [3, 1, 2].index(1) }}            1
//! {{ [1, true, 1.0].count(1) }}       3
//! ```
//!
//! The rules are those of CPython 3.13 `listobject.c` and `tupleobject.c`. Of the methods that change a list only the names are here,
//! because the sandbox refuses them.

use crate::builtins::arguments::read_bound_not_none;
use crate::builtins::table::built_ins;
use crate::error::{Error, Result};
use crate::text::slice::resolve_index;
use crate::value::{Runtime, Seq, Value, ops, print};

/// The methods of lists that change them (jinja2 3.1.6 `sandbox.py`, `_mutable_spec`).
pub(super) const MUTATING: &[&str] = &["append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"];

built_ins! { LIST:
    /// Returns a new list, so that `l.copy() is sameas l` is false.
    NoArguments "list.copy" fn copy(runtime, &items: Seq) -> Same {
        runtime.meter.charge_items(items.len() / 2)?;
        runtime.check_values(items.len())?;
        runtime.list(&items.iter().collect::<Vec<_>>())
    }

    /// Returns the number of items that are equal to a value.
    OneArgument "list.count" fn count(runtime, &items: Seq, value) -> Int { count_in(runtime, &items, &value) }

    /// Returns the index of the first item that is equal to a value.
    Positional "list.index" fn index(runtime, &items: Seq, value, start: Count = 0, stop: Count = i64::MAX) -> Int {
        match find_in(runtime, &items, &value, [start, stop])? {
            Some(index) => Ok(Value::from(index)),
            None => Err(Error::value(format!("{} is not in list", print::repr(runtime, &value)?))),
        }
    }
}

built_ins! { TUPLE:
    /// Returns the number of items that are equal to a value.
    OneArgument "tuple.count" fn count_of_tuple["count"](runtime, &items: Seq, value) -> Int { count_in(runtime, &items, &value) }

    /// Returns the index of the first item that is equal to a value.
    Positional "tuple.index"
    fn index_of_tuple["index"](runtime, &items: Seq, value, start: Count = 0, stop: Count = i64::MAX) -> Int {
        let index = find_in(runtime, &items, &value, [start, stop])?;
        index.map(Value::from).ok_or_else(|| Error::value("tuple.index(x): x not in tuple"))
    }
}

fn find_in<'a>(runtime: &mut Runtime<'a>, items: &Seq<'a>, value: &Value<'a>, bounds: [Value<'a>; 2]) -> Result<Option<usize>> {
    let [start, stop] = bounds;
    let start = resolve_index(read_bound_not_none(&start)?, items.len()).unwrap_or(0);
    let stop = resolve_index(read_bound_not_none(&stop)?, items.len()).unwrap_or(0);
    for at in start..stop.min(items.len()) {
        runtime.meter.charge(1)?;
        if let Some(item) = items.get(at) {
            if ops::identical_or_equal(runtime, &item, value)? {
                return Ok(Some(at));
            }
        }
    }
    Ok(None)
}

fn count_in<'a>(runtime: &mut Runtime<'a>, items: &Seq<'a>, value: &Value<'a>) -> Result<Value<'a>> {
    let mut count: i64 = 0;
    for item in items.iter() {
        runtime.meter.charge(1)?;
        if ops::identical_or_equal(runtime, &item, value)? {
            count = count.saturating_add(1);
        }
    }
    Ok(Value::Int(count))
}

/// Returns an attribute of a group of the filter `groupby`, which is a tuple with names (jinja2 3.1.6 `filters.py`, `_GroupTuple`).
pub fn group_attribute<'a>(items: &Seq<'a>, name: &str) -> Option<Value<'a>> {
    match name {
        "grouper" => items.get(0),
        "list" => items.get(1),
        _ => None,
    }
}
