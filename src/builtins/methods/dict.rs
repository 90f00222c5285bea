//! The methods of dicts that do not change the dict.
//!
//! ```text
//! {{ d.get("z", 0) }}              0
//! {{ d.fromkeys("ab") }}           an error: not supported
//! ```
//!
//! The rules are those of CPython 3.13 `dictobject.c`.

use crate::builtins::arguments::wrong_receiver;
use crate::builtins::table::{SELF, Table, no_arguments, optional, positional, required};
use crate::error::Result;
use crate::value::{Arguments, Dict, Entries, Runtime, Value};

pub(super) static METHODS: Table = Table::new(&[
    no_arguments("copy", "dict.copy", copy),
    positional("get", "dict.get", &[SELF, required("key"), optional("default")], get),
    no_arguments("items", "dict.items", items),
    no_arguments("keys", "dict.keys", keys),
    no_arguments("values", "dict.values", values),
]);

/// The methods that change a dict (jinja2 3.1.6 `sandbox.py`, `_mutable_spec`).
pub(super) const MUTATING: &[&str] = &["clear", "pop", "popitem", "setdefault", "update"];

/// Returns whether dicts may have an attribute of the given name, which hides a key: a method, or a name with two underscores in front.
/// Bytes are matched, because that compares lengths first.
#[inline]
pub fn is_attribute(name: &str) -> bool {
    matches!(
        name.as_bytes(),
        b"get"
            | b"items"
            | b"keys"
            | b"values"
            | b"copy"
            | b"fromkeys"
            | b"pop"
            | b"clear"
            | b"update"
            | b"popitem"
            | b"setdefault"
            | [b'_', b'_', ..]
    )
}

fn take_receiver<'a>(arguments: &mut Arguments<'a>) -> Result<Dict<'a>> {
    match arguments.take(0) {
        Some(Value::Dict(dict)) => Ok(dict),
        _ => Err(wrong_receiver("dict")),
    }
}

fn get<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let dict = take_receiver(&mut arguments)?;
    let found = runtime.find_key(&dict, &arguments.take(1).unwrap_or(Value::None))?;
    Ok(found.or_else(|| arguments.take(2)).unwrap_or(Value::None))
}

fn items<'a>(_runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(Value::Items(take_receiver(&mut arguments)?))
}

fn keys<'a>(_runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(Value::Keys(take_receiver(&mut arguments)?))
}

fn values<'a>(_runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(Value::Values(take_receiver(&mut arguments)?))
}

/// Returns a new dict, so that `d.copy() is sameas d` is false.
fn copy<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let dict = take_receiver(&mut arguments)?;
    runtime.check_entries(dict.len())?;
    let (mut entries, mut claim) = (Entries::default(), None);
    for (key, value) in dict.iter() {
        runtime.insert(&mut entries, &mut claim, key, value)?;
    }
    drop(claim);
    Ok(Value::Dict(runtime.dict(entries)?))
}
