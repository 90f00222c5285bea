//! Gives arguments their types: a string that a model wrote without quotes gets the type that the schema of the tool declares.
//!
//! The rules are transformers 5.24.0 `response_parser.py`, `_schema_types`, `_coerce` and `_coerce_tool_calls`.

use std::collections::HashMap;

use serde_json::Value;

use super::content::integer;
use super::weight::claim;
use crate::error::{Error, Result};
use crate::json::{self, Data, JsonErrorKind, Object};
use crate::meter::Meter;
use crate::number::int_float::{is_integer, truncate};
use crate::number::parse::{read_float, read_int};
use crate::text::strip::strip;

/// The number of bytes that the types of a parameter take.
const PARAMETER: usize = 128;

/// The types that a string can be converted to.
const TYPES: [&str; 6] = ["integer", "number", "boolean", "null", "object", "array"];

/// The types that each tool declares for its parameters, by the name of the tool and the name of the parameter, each type once.
#[derive(Debug, Default)]
pub struct ToolSchemas<'t>(HashMap<&'t str, HashMap<&'t str, Vec<&'static str>>>);

impl<'t> ToolSchemas<'t> {
    /// Reads the tools as they are passed to a template: the function of each, or the function itself.
    pub fn read(tools: Option<&'t Value>, meter: &mut Meter<'_>) -> Result<Self> {
        let mut schemas = Self::default();
        for tool in tools.and_then(Value::as_array).into_iter().flatten() {
            meter.charge(1)?;
            let function = tool.get("function").unwrap_or(tool);
            let Some(name) = function.get("name").and_then(Value::as_str) else {
                continue;
            };
            let properties = function.get("parameters").and_then(|parameters| parameters.get("properties"));
            let properties = properties.and_then(Value::as_object).into_iter().flatten();
            let mut types = HashMap::new();
            for (name, schema) in properties {
                meter.charge(1)?;
                meter.claim_for_render(PARAMETER)?;
                let mut declared = Vec::new();
                add_types(schema, &mut declared, meter)?;
                types.insert(name.as_str(), declared);
            }
            schemas.0.insert(name, types);
        }
        Ok(schemas)
    }

    /// Gives the arguments of calls their types. A value is a call (an object with a function that has a name and arguments) or a list of
    /// such values.
    pub fn coerce(&self, value: &mut Data<'static>, meter: &mut Meter<'_>) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        match value {
            Data::List(items) => {
                meter.charge_items(items.len())?;
                items.iter_mut().try_for_each(|item| self.coerce(item, meter))
            }
            Data::Object(call) => self.coerce_call(call, meter),
            _ => Ok(()),
        }
    }

    fn coerce_call(&self, call: &mut Object<'static>, meter: &mut Meter<'_>) -> Result<()> {
        let Some(Data::Object(function)) = call.get_mut("function") else {
            return Ok(());
        };
        let Some(Data::Str(name)) = function.get("name") else {
            return Ok(());
        };
        let name = name.clone();
        let Some(Data::Object(arguments)) = function.get_mut("arguments") else {
            return Ok(());
        };
        for (key, argument) in arguments.values_mut() {
            self.coerce_argument(&name, key, argument, meter)?;
        }
        Ok(())
    }

    /// Gives an argument of a function its type.
    pub fn coerce_argument(&self, function: &str, key: &str, argument: &mut Data<'static>, meter: &mut Meter<'_>) -> Result<()> {
        meter.charge(1)?;
        let types = self.0.get(function).and_then(|types| types.get(key));
        let Some(types) = types.filter(|types| !types.is_empty()) else {
            return Ok(());
        };
        match argument {
            Data::Str(_) => coerce(argument, types, meter),
            // Equal tags that were merged.
            Data::List(items) if !types.contains(&"array") => {
                meter.charge_items(items.len())?;
                let strings = items.iter_mut().filter(|item| matches!(item, Data::Str(_)));
                strings.into_iter().try_for_each(|item| coerce(item, types, meter))
            }
            _ => Ok(()),
        }
    }
}

/// Adds the types that a schema declares and that are not known yet, in their order. The depth of a schema is that of JSON.
fn add_types(schema: &Value, types: &mut Vec<&'static str>, meter: &mut Meter<'_>) -> Result<()> {
    let Some(schema) = schema.as_object() else { return Ok(()) };
    meter.charge(1)?;
    let mut add = |name: &str| types.extend(TYPES.iter().find(|ty| **ty == name && !types.contains(ty)));
    match schema.get("type") {
        Some(Value::String(declared)) => add(declared),
        Some(Value::Array(declared)) => {
            meter.charge_items(declared.len())?;
            declared.iter().filter_map(Value::as_str).for_each(add);
        }
        _ => {}
    }
    for union in ["anyOf", "oneOf"] {
        for choice in schema.get(union).and_then(Value::as_array).into_iter().flatten() {
            add_types(choice, types, meter)?;
        }
    }
    let is_nullable = schema.get("nullable").is_some_and(|nullable| match nullable {
        serde_json::Value::Bool(bool) => *bool,
        other => json::to_data(other).is_ok_and(|other| other.is_true()),
    });
    if is_nullable && !types.contains(&"null") {
        types.push("null");
    }
    Ok(())
}

/// Converts a string to the first of these types whose form it has: `12` is an integer.
fn coerce(value: &mut Data<'static>, types: &[&str], meter: &mut Meter<'_>) -> Result<()> {
    let Data::Str(raw) = value else { return Ok(()) };
    for ty in types {
        if let Some(converted) = convert(raw, ty, meter)? {
            *value = converted;
            return Ok(());
        }
    }
    Ok(())
}

/// Returns the value of a type that a string is, if it has the form of one.
fn convert(raw: &str, ty: &str, meter: &mut Meter<'_>) -> Result<Option<Data<'static>>> {
    meter.charge_scan(raw.len())?;
    let word = strip(raw, None);
    Ok(match ty {
        "integer" => match read_int(raw, 10) {
            Ok(Some(int)) => Some(integer(int)),
            // A whole number can be written as a float, such as 3.0.
            _ => read_float(raw)
                .filter(|float| is_integer(*float))
                .and_then(|float| truncate(float).ok())
                .map(integer),
        },
        "number" => {
            let float = read_float(raw).filter(|float| float.is_finite());
            float.map(|float| match truncate(float) {
                Ok(int) if is_integer(float) && !raw.contains('.') => integer(int),
                _ => Data::Float(float),
            })
        }
        "boolean" if word == "1" || word.eq_ignore_ascii_case("true") => Some(Data::Bool(true)),
        "boolean" if word == "0" || word.eq_ignore_ascii_case("false") => Some(Data::Bool(false)),
        "null" if matches!(word, "null" | "None") => Some(Data::None),
        "object" | "array" => {
            let decoded = match json::read_until(raw, meter.watch()) {
                Ok(decoded) => decoded,
                Err(error) if error.kind() == JsonErrorKind::TimedOut => return Err(Error::from(error)),
                Err(_) => return Ok(None),
            };
            let is_wanted = matches!((&decoded, ty), (Data::Object(_), "object") | (Data::List(_), "array"));
            if !is_wanted {
                return Ok(None);
            }
            claim(&decoded, meter)?;
            Some(decoded.into_owned())
        }
        _ => None,
    })
}
