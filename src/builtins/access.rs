//! `x.name` and `x[key]`: what a template gets, and when that is an undefined value.
//!
//! ```text
//! x.name       the attribute first, then the item
//! x["name"]    the item first, then the attribute
//! l.append     an undefined value that is a SecurityError once it is used
//! ```
//!
//! The rule is jinja2 3.1.6 `sandbox.py`, `getattr` and `getitem`. The two functions are the busiest of every render, so a dict with a
//! string key and a list with an index are decided first, without a table and without making anything.

use super::methods::{self, Attribute};
use crate::error::{ErrorKind, Result};
use crate::text::quote;
use crate::text::slice::resolve_index;
use crate::value::{Runtime, Str, Undefined, Value, ops, print};

/// `value.name`
#[inline]
pub fn attribute<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &Str<'a>) -> Result<Value<'a>> {
    runtime.meter.charge(name.as_str().len() as u64 >> 6)?;
    match value {
        Value::Dict(dict) if !methods::is_dict_attribute(name.as_str()) => {
            Ok(dict.get_str(name.as_str()).unwrap_or_else(|| missing(value, name)))
        }
        Value::Loop(context) => match methods::loop_attribute(runtime, context, name.as_str())? {
            Some(part) => Ok(part),
            None => attribute_of_any(runtime, value, name),
        },
        _ => attribute_of_any(runtime, value, name),
    }
}

fn attribute_of_any<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &Str<'a>) -> Result<Value<'a>> {
    let found = find(runtime, value, name)?;
    value_of(runtime, found, value, name)
}

/// What a template gets of what was found.
fn value_of<'a>(runtime: &mut Runtime<'a>, found: Attribute<'a>, value: &Value<'a>, name: &Str<'a>) -> Result<Value<'a>> {
    runtime.claim_value(match found {
        Attribute::Value(value) => value,
        Attribute::Method(function) => value.clone().method(function),
        Attribute::Unsafe => unsafe_attribute(value, name),
        Attribute::Missing => missing(value, name),
    })
}

/// Whether a dict has a method of that name, which hides the key.
pub fn is_dict_attribute(name: &str) -> bool {
    methods::is_dict_attribute(name)
}

/// What `value.name` finds: the attribute, or else the item as if it were one.
pub(super) fn find<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &Str<'a>) -> Result<Attribute<'a>> {
    let found = methods::attribute(runtime, value, name.as_str())?;
    if !matches!(found, Attribute::Missing) {
        return Ok(found);
    }
    let item = match value {
        Value::Undefined(undefined) => return Err(undefined.error()),
        Value::Dict(dict) => dict.get_str(name.as_str()),
        // Nothing else has items with names.
        _ => None,
    };
    Ok(item.map_or(Attribute::Missing, Attribute::Value))
}

/// `value[key]`
#[inline]
pub fn item<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, key: &Value<'a>) -> Result<Value<'a>> {
    runtime.meter.charge(key.as_str().map_or(0, str::len) as u64 >> 6)?;
    match (value, key) {
        (Value::Dict(dict), Value::Str(name)) => match dict.get_str(name.as_str()) {
            Some(item) => Ok(item),
            None if methods::is_dict_attribute(name.as_str()) => item_or_attribute(runtime, value, key),
            None => runtime.claim_value(missing(value, name)),
        },
        (Value::List(items) | Value::Tuple(items), Value::Int(index)) => {
            match resolve_index(*index, items.len()).and_then(|position| items.get(position)) {
                Some(item) => Ok(item),
                None => missing_element(runtime, value, key),
            }
        }
        _ => item_or_attribute(runtime, value, key),
    }
}

/// An item that [`item`] has not found: of a value that is no dict, or the attribute of that name.
fn item_or_attribute<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, key: &Value<'a>) -> Result<Value<'a>> {
    let Value::Str(name) = key else {
        return match ops::get_item(runtime, value, key) {
            Ok(item) => Ok(item),
            Err(error) if is_caught(error.kind()) => missing_element(runtime, value, key),
            Err(error) => Err(error),
        };
    };
    let item = match value {
        Value::Undefined(undefined) => return Err(undefined.error()),
        _ => None,
    };
    if let Some(item) = item {
        return Ok(item);
    }
    let found = methods::attribute(runtime, value, name.as_str())?;
    value_of(runtime, found, value, name)
}

/// What Jinja's environment catches: TypeError and LookupError.
fn is_caught(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Type | ErrorKind::Key | ErrorKind::Index)
}

fn quoted(name: &Str<'_>) -> String {
    let quoted = quote::repr(name.as_str());
    if name.is_markup() {
        format!("Markup({quoted})")
    } else {
        quoted
    }
}

/// The undefined value for a name that nothing answers to.
pub(super) fn missing<'a>(value: &Value<'a>, name: &Str<'a>) -> Value<'a> {
    if name.is_markup() {
        let owner = quote::repr(value.ty().described());
        return Value::Undefined(Undefined::message(format!("{owner} has no attribute {}", quoted(name))));
    }
    Value::Undefined(Undefined::attribute(value.ty(), name))
}

/// The undefined value for an attribute that the sandbox refuses.
#[cold]
pub(super) fn unsafe_attribute<'a>(value: &Value<'a>, name: &Str<'a>) -> Value<'a> {
    let ty = value.ty().name();
    let name = quoted(name);
    Value::Undefined(Undefined::unsafe_attribute(format!(
        "access to attribute {name} of '{ty}' object is unsafe."
    )))
}

/// The undefined value for an index or another key that is no string.
#[cold]
fn missing_element<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, key: &Value<'a>) -> Result<Value<'a>> {
    let key = print::repr(runtime, key)?;
    let key = runtime.text(key)?;
    runtime.claim_value(Value::Undefined(Undefined::element(value.ty(), key)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use crate::limits::Limits;

    fn shown<'a>(value: Result<Value<'a>>) -> String {
        match value.unwrap() {
            Value::Undefined(undefined) => undefined.error().message().to_owned(),
            Value::Method(method) => method.function.python.to_owned(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn attributes_and_items_come_in_their_order() {
        let json = serde_json::json!({"items": 1, "_x": 2});
        let mut runtime = Runtime::new(Limits::default(), &SystemClock);
        let dict = Value::from(&json);
        let by_dot = [
            ("items", "dict.items"),
            ("_x", "Int(2)"),
            ("nope", "'dict object' has no attribute 'nope'"),
            ("update", "access to attribute 'update' of 'dict' object is unsafe."),
        ];
        for (name, want) in by_dot {
            assert_eq!(shown(attribute(&mut runtime, &dict, &Str::from(name))), want);
        }
        for (name, want) in [("items", "Int(1)"), ("keys", "dict.keys")] {
            assert_eq!(shown(item(&mut runtime, &dict, &Value::text(name))), want);
        }
        let list = runtime.list(vec![Value::Int(1)]).unwrap();
        for (index, want) in [(-1, "Int(1)"), (9, "list object has no element 9")] {
            assert_eq!(shown(item(&mut runtime, &list, &Value::Int(index))), want);
        }
    }
}
