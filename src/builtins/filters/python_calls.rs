//! Python code that filters run on values: attributes, `items()`, unpacking, `" " * width`.
//!
//! ```text
//! {{ [1]|dictsort }}                  AttributeError: 'list' object has no attribute 'items'
//! {{ "a"|tojson(separators=1) }}      TypeError: cannot unpack non-iterable int object
//! ```
//!
//! The filters of the reference are written in Python, so a value of another type fails in the middle of them, with an error of
//! CPython 3.13.

use crate::builtins::access::{self, Attribute};
use crate::builtins::call;
use crate::error::{Error, ErrorKind, Result};
use crate::value::{Arguments, Runtime, Str, Type, Value, ops};

pub(super) fn call_items<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Value<'a>> {
    if let Value::Dict(dict) = value {
        return Ok(Value::Items(*dict));
    }
    let attribute = get_attribute(runtime, value, "items")?;
    call::call(runtime, &attribute, &mut Arguments::new())
}

/// Returns `value.name` as Python code reads it: a missing attribute is an AttributeError and not an undefined value.
pub(super) fn get_attribute<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &'static str) -> Result<Value<'a>> {
    if let Value::Undefined(undefined) = value {
        return Err(undefined.error());
    }
    match access::find_attribute(runtime, value, name)? {
        Attribute::Value(attribute) => Ok(attribute),
        Attribute::Method(function) => runtime.method(*value, function),
        Attribute::Unsafe | Attribute::Missing => Err(no_attribute(value, name)),
    }
}

fn no_attribute(value: &Value<'_>, name: &str) -> Error {
    let message = match (value, value.ty()) {
        // The class of a namespace reads its attributes from a dict.
        (Value::Namespace(_), _) => name.to_owned(),
        (Value::Function(class), Type::Class) => {
            let class = match class.name {
                "cycler" => "Cycler",
                "joiner" => "Joiner",
                _ => "TemplateNamespace",
            };
            format!("type object '{class}' has no attribute '{name}'")
        }
        // A method reads its attributes from its function.
        (_, Type::Method) => format!("'function' object has no attribute '{name}'"),
        (_, ty) => format!("'{}' object has no attribute '{name}'", ty.name()),
    };
    Error::new(ErrorKind::Attribute, message)
}

pub(super) fn repeat_blank<'a>(runtime: &mut Runtime<'a>, width: &Value<'a>) -> Result<Str<'a>> {
    match ops::multiply(runtime, &Value::text(" "), width)? {
        Value::Str(blanks) => Ok(blanks),
        other => Err(Error::internal(format!("' ' * width is a {}", other.ty().name()))),
    }
}
