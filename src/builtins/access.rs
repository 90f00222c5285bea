//! The lookups `x.name` and `x[key]`.
//!
//! ```text
//! x.name       the attribute first, then the item
//! x["name"]    the item first, then the attribute
//! l.append     an undefined value that is a SecurityError once it is used
//! ```
//!
//! The rules are those of jinja2 3.1.6 `sandbox.py`, `getattr` and `getitem`. Most lookups of a render are of a string key in a dict
//! or of an index in a list, so these two come first and allocate nothing.

use super::methods::{self, dict, dunder, jinja_objects, sequence};
use crate::error::{Error, ErrorKind, Result};
use crate::text::message::MAX_MESSAGE;
use crate::text::quote;
use crate::text::slice::resolve_index;
use crate::unsupported::{self, Site};
use crate::value::{Function, OtherUndefined, Runtime, Str, Type, Undefined, Value, ops, print};

pub use super::methods::dict::is_attribute as is_dict_attribute;

/// The number of steps that it costs to search the tables of methods and of unsupported attributes for a name.
const LOOKUP_STEPS: u64 = 2;

/// The number of steps that it costs to search for a name that begins with an underscore among those that objects have in Python.
const UNDERSCORE_STEPS: u64 = 32;

/// The number of steps that it costs to make the message of an undefined value.
const MESSAGE: u64 = 8;

/// The result of looking up an attribute.
#[derive(Debug)]
pub enum Attribute<'a> {
    /// A value that the object has, such as `loop.index`.
    Value(Value<'a>),
    /// A method, not bound to the object yet.
    Method(&'static Function),
    /// An attribute that the sandbox refuses.
    Unsafe,
    /// No attribute.
    Missing,
}

#[inline]
pub fn get_attribute<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &Str<'a>) -> Result<Value<'a>> {
    match value {
        Value::Dict(entries) if !dict::is_attribute(name.as_str()) => match runtime.find_str(entries, name.as_str())? {
            Some(item) => Ok(item),
            None => missing(runtime, value, name),
        },
        Value::Loop(context) => match jinja_objects::loop_attribute(runtime, context, name.as_str())? {
            Some(part) => Ok(part),
            None => get_attribute_of_any(runtime, value, name),
        },
        _ => get_attribute_of_any(runtime, value, name),
    }
}

fn get_attribute_of_any<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &Str<'a>) -> Result<Value<'a>> {
    let attribute = find_attribute_or_item(runtime, value, name)?;
    to_value(runtime, attribute, value, name)
}

/// Returns what a template gets for an attribute: its value, a bound method, or an undefined value if the attribute is unsafe or missing.
pub(super) fn to_value<'a>(
    runtime: &mut Runtime<'a>,
    attribute: Attribute<'a>,
    value: &Value<'a>,
    name: &Str<'a>,
) -> Result<Value<'a>> {
    match attribute {
        Attribute::Value(part) => Ok(part),
        Attribute::Method(function) => runtime.method(*value, function),
        Attribute::Unsafe => unsafe_attribute(runtime, value, name),
        Attribute::Missing => missing(runtime, value, name),
    }
}

/// Finds an attribute of a value, or else its item of that name.
pub(super) fn find_attribute_or_item<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &Str<'a>) -> Result<Attribute<'a>> {
    let attribute = find_attribute(runtime, value, name.as_str())?;
    if !matches!(attribute, Attribute::Missing) {
        return Ok(attribute);
    }
    let item = match value {
        Value::Undefined(undefined) => return Err(undefined.error()),
        // Only dicts have items with names.
        Value::Dict(dict) => runtime.find_str(dict, name.as_str())?,
        _ => None,
    };
    Ok(item.map_or(Attribute::Missing, Attribute::Value))
}

/// Finds an attribute of a value. An attribute that Python has and this crate does not support is an error.
pub fn find_attribute<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &str) -> Result<Attribute<'a>> {
    let ty = value.ty();
    let steps = if name.starts_with('_') {
        UNDERSCORE_STEPS
    } else {
        LOOKUP_STEPS
    };
    runtime.meter.charge(steps.saturating_add(name.len() as u64 >> 6))?;
    if name.starts_with('_') {
        let exists = match value {
            Value::Function(class) if ty == Type::Class && dunder::exists_in_class(class.name, name) => true,
            _ => dunder::exists(ty, name),
        };
        return Ok(if exists { Attribute::Unsafe } else { Attribute::Missing });
    }
    let part = match value {
        Value::Namespace(id) => runtime.namespace_value(*id, name)?,
        Value::Loop(context) => jinja_objects::loop_attribute(runtime, context, name)?,
        Value::Macro(code) => jinja_objects::macro_attribute(runtime, code, name)?,
        Value::Cycler(cycler) => jinja_objects::cycler_attribute(cycler, name),
        Value::Joiner(joiner) => jinja_objects::joiner_attribute(joiner, name),
        Value::Tuple(items) if ty == Type::Group => sequence::group_attribute(items, name),
        _ => None,
    };
    if let Some(part) = part {
        return Ok(Attribute::Value(part));
    }
    if let Some(method) = methods::find(ty, name) {
        return Ok(Attribute::Method(method));
    }
    if methods::is_refused(ty, name) {
        return Ok(Attribute::Unsafe);
    }
    match unsupported_attribute(value, name) {
        Some(error) => Err(error),
        None => Ok(Attribute::Missing),
    }
}

/// Returns the error of reaching an attribute that Python has and this crate does not support.
#[cold]
fn unsupported_attribute(value: &Value<'_>, name: &str) -> Option<Error> {
    let owners: &[&str] = match value.ty() {
        Type::Str => &["str"],
        Type::Markup => &["Markup", "str"],
        Type::Int | Type::Bool => &["int"],
        Type::Float => &["float"],
        Type::Range => &["range"],
        Type::Dict | Type::TemplateDict => &["dict"],
        Type::Keys | Type::Items => &["view"],
        Type::Values if name == "mapping" => &["view"],
        Type::Generator => &["generator"],
        Type::Class if matches!(value, Value::Function(class) if class.name == "cycler") => &["cycler"],
        _ => &[],
    };
    owners
        .iter()
        .find_map(|owner| unsupported::find(Site::Attribute(owner), name))
}

#[inline]
pub fn get_item<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, key: &Value<'a>) -> Result<Value<'a>> {
    match (value, key) {
        (Value::Dict(entries), Value::Str(name)) => match runtime.find_str(entries, name.as_str())? {
            Some(item) => Ok(item),
            None if dict::is_attribute(name.as_str()) => get_item_of_any(runtime, value, key),
            None => missing(runtime, value, name),
        },
        (Value::List(items) | Value::Tuple(items), Value::Int(index)) => {
            match resolve_index(*index, items.len()).and_then(|position| items.get(position)) {
                Some(item) => Ok(item),
                None => missing_element(runtime, value, key),
            }
        }
        _ => get_item_of_any(runtime, value, key),
    }
}

fn get_item_of_any<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, key: &Value<'a>) -> Result<Value<'a>> {
    match (value, key) {
        (Value::Undefined(undefined), Value::Str(_)) => Err(undefined.error()),
        // `get_item` has looked in a dict already, and nothing else has items with names.
        (_, Value::Str(name)) => {
            let attribute = find_attribute(runtime, value, name.as_str())?;
            to_value(runtime, attribute, value, name)
        }
        _ => match ops::get_item(runtime, value, key) {
            Err(error) if is_caught(error.kind()) => missing_element(runtime, value, key),
            result => result,
        },
    }
}

/// Returns whether Jinja's environment catches errors of a kind: it catches TypeError and LookupError.
fn is_caught(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Type | ErrorKind::Key | ErrorKind::Index)
}

fn quote_name(name: &Str<'_>) -> String {
    let quoted = quote::repr(name.as_str());
    if name.is_markup() {
        format!("Markup({quoted})")
    } else {
        quoted
    }
}

/// Returns the undefined value of a name that is neither an attribute nor an item.
fn missing<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &Str<'a>) -> Result<Value<'a>> {
    if name.is_markup() {
        charge_message(runtime, name)?;
        let owner = quote::repr(&value.ty().object_name());
        runtime.undefined_message(
            &format!("{owner} has no attribute {}", quote_name(name)),
            OtherUndefined::Message,
        )
    } else {
        Ok(Value::Undefined(Undefined::Attribute(value.ty(), name.as_str())))
    }
}

/// Charges for a message with a name, of which a long one is cut.
fn charge_message(runtime: &mut Runtime<'_>, name: &Str<'_>) -> Result<()> {
    runtime.meter.charge(MESSAGE)?;
    runtime.meter.charge_scan(name.as_str().len().min(MAX_MESSAGE))
}

/// Returns the undefined value of an attribute that the sandbox refuses.
#[cold]
fn unsafe_attribute<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &Str<'a>) -> Result<Value<'a>> {
    charge_message(runtime, name)?;
    let ty = value.ty().name();
    let name = quote_name(name);
    let message = format!("access to attribute {name} of '{ty}' object is unsafe.");
    runtime.undefined_message(&message, OtherUndefined::Unsafe)
}

/// Returns the undefined value of an index, or of another key that is not a string.
#[cold]
fn missing_element<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, key: &Value<'a>) -> Result<Value<'a>> {
    runtime.meter.charge(MESSAGE)?;
    let key = print::repr(runtime, key)?;
    let key = runtime.text(key)?;
    runtime.undefined(OtherUndefined::Element(value.ty(), key))
}
