//! The methods of dicts that change nothing, which are those of a `mappingproxy` too.
//!
//! ```text
//! {{ d.get("z", 0) }}              0
//! {{ {}.fromkeys("ab", 1) }}       {'a': 1, 'b': 1}
//! ```
//!
//! After CPython 3.11 `dictobject.c` and `descrobject.c` (`mappingproxy_methods`). Every `x.name` on a dict asks first whether `name` is
//! one of these: [`is_attribute`] answers by comparing, and builds nothing.

use super::argument::wrong_receiver;
use super::row::{SELF, no_arguments, optional, positional, required};
use crate::error::Result;
use crate::value::{Arguments, Dict, Entries, Function, Iter, Key, Runtime, Value};

/// The rows.
pub(super) static METHODS: [Function; 6] = [
    positional("get", "dict.get", &[SELF, required("key"), optional("default")], get),
    no_arguments("items", "dict.items", items),
    no_arguments("keys", "dict.keys", keys),
    no_arguments("values", "dict.values", values),
    no_arguments("copy", "dict.copy", copy),
    FROM_KEYS,
];

/// The rows of a proxy, which asks its dict.
pub(super) static PROXY: [Function; 5] = [
    positional("get", "mappingproxy.get", &[SELF, required("key"), optional("default")], get),
    no_arguments("items", "mappingproxy.items", items),
    no_arguments("keys", "mappingproxy.keys", keys),
    no_arguments("values", "mappingproxy.values", values),
    no_arguments("copy", "mappingproxy.copy", copy),
];

/// `dict.fromkeys`, which the global `dict` has too.
pub const FROM_KEYS: Function = positional(
    "fromkeys",
    "dict.fromkeys",
    &[SELF, required("iterable"), optional("value")],
    from_keys,
);

/// The methods that change a dict (jinja2 3.1.6 `sandbox.py`, `_mutable_spec`).
pub(super) const MUTATING: &[&str] = &["clear", "pop", "popitem", "setdefault", "update"];

/// Whether a dict has an attribute of that name, so that it hides a key. Bytes are matched, because that compares lengths first.
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

fn receiver<'a>(arguments: &mut Arguments<'a>) -> Result<Dict<'a>> {
    match arguments.take(0) {
        Some(Value::Dict(dict)) => Ok(dict),
        Some(Value::Proxy(dict)) => Ok((*dict).clone()),
        _ => Err(wrong_receiver("dict")),
    }
}

fn get<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let dict = receiver(&mut arguments)?;
    let found = match arguments.take(1) {
        Some(Value::Str(key)) => {
            runtime.meter.charge_bytes(key.as_str().len())?;
            dict.get_str(key.as_str())
        }
        key => {
            let key = Key::new(runtime, key.unwrap_or(Value::None))?;
            dict.get(&key)
        }
    };
    Ok(found.or_else(|| arguments.take(2)).unwrap_or(Value::None))
}

fn items<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(Value::Items(runtime.view(receiver(&mut arguments)?)))
}

fn keys<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(Value::Keys(runtime.view(receiver(&mut arguments)?)))
}

fn values<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    Ok(Value::Values(runtime.view(receiver(&mut arguments)?)))
}

/// A dict of its own, as `sameas` sees.
fn copy<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let dict = receiver(&mut arguments)?;
    runtime.check_entries(dict.len())?;
    let mut entries = Entries::default();
    for (key, value) in dict.iter() {
        entries.insert(Key::new(runtime, key)?, value);
    }
    Ok(Value::Dict(runtime.dict(entries)?))
}

/// A method of the class: which dict it was looked up on does not matter.
fn from_keys<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = arguments.take(2).unwrap_or(Value::None);
    let mut iter = Iter::new(&arguments.take(1).unwrap_or(Value::None))?;
    let mut entries = Entries::default();
    while let Some(key) = iter.next(runtime)? {
        runtime.check_entries(entries.len())?;
        entries.insert(Key::new(runtime, key)?, value.clone());
    }
    Ok(Value::Dict(runtime.dict(entries)?))
}
