//! Gives arguments their types: a string that a model wrote without quotes gets the type that the schema of the tool declares.
//!
//! The rules are transformers 5.24.0 `response_parser.py`, `_schema_types`, `_coerce` and `_coerce_tool_calls`.

use std::collections::HashMap;

use super::content::integer;
use crate::error::Result;
use crate::json::{self, Data, Object};
use crate::meter::Meter;
use crate::number::int_float::{is_integer, truncate};
use crate::number::parse::{read_float, read_int};
use crate::text::strip::strip;

/// The types of the parameters of each tool.
#[derive(Debug, Default)]
pub struct ToolSchemas(HashMap<String, HashMap<String, Vec<String>>>);

impl ToolSchemas {
    /// Reads the tools as they are passed to a template: the function of each, or the function itself.
    pub fn read(tools: Option<&serde_json::Value>, meter: &mut Meter<'_>) -> Result<Self> {
        let mut schemas = Self::default();
        for tool in tools.and_then(serde_json::Value::as_array).into_iter().flatten() {
            let function = tool.get("function").unwrap_or(tool);
            let Some(name) = function.get("name").and_then(serde_json::Value::as_str) else {
                continue;
            };
            let properties = function.get("parameters").and_then(|parameters| parameters.get("properties"));
            let properties = properties.and_then(serde_json::Value::as_object).into_iter().flatten();
            let mut types = HashMap::new();
            for (name, schema) in properties {
                let mut declared = Vec::new();
                add_types(schema, &mut declared);
                meter.charge_items(declared.len().saturating_add(1))?;
                types.insert(name.clone(), declared);
            }
            schemas.0.insert(name.to_owned(), types);
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
            Data::List(items) => items.iter_mut().try_for_each(|item| self.coerce(item, meter)),
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
        let Some(types) = self.0.get(&**name) else { return Ok(()) };
        let Some(Data::Object(arguments)) = function.get_mut("arguments") else {
            return Ok(());
        };
        for (key, argument) in arguments.values_mut() {
            let Some(types) = types.get(key).filter(|types| !types.is_empty()) else {
                continue;
            };
            match argument {
                Data::Str(_) => coerce(argument, types, meter)?,
                // Equal tags that were merged.
                Data::List(items) if !types.iter().any(|ty| ty == "array") => {
                    let strings = items.iter_mut().filter(|item| matches!(item, Data::Str(_)));
                    strings.into_iter().try_for_each(|item| coerce(item, types, meter))?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Adds the types that a schema declares, in their order. The depth of a schema is that of JSON.
fn add_types(schema: &serde_json::Value, types: &mut Vec<String>) {
    let Some(schema) = schema.as_object() else { return };
    match schema.get("type") {
        Some(serde_json::Value::String(declared)) => types.push(declared.clone()),
        Some(serde_json::Value::Array(declared)) => types.extend(declared.iter().filter_map(|ty| ty.as_str().map(str::to_owned))),
        _ => {}
    }
    for union in ["anyOf", "oneOf"] {
        for choice in schema.get(union).and_then(serde_json::Value::as_array).into_iter().flatten() {
            add_types(choice, types);
        }
    }
    let is_nullable = schema.get("nullable").is_some_and(|nullable| match nullable {
        serde_json::Value::Bool(bool) => *bool,
        other => json::to_data(other).is_ok_and(|other| other.is_true()),
    });
    if is_nullable && !types.iter().any(|ty| ty == "null") {
        types.push("null".to_owned());
    }
}

/// Converts a string to the first of these types whose form it has: `12` is an integer.
fn coerce(value: &mut Data<'static>, types: &[String], meter: &mut Meter<'_>) -> Result<()> {
    let Data::Str(raw) = value else { return Ok(()) };
    meter.charge_bytes(raw.len())?;
    let word = strip(raw, None);
    let lower = word.to_ascii_lowercase();
    let converted = types.iter().find_map(|ty| match ty.as_str() {
        "integer" => match read_int(raw, 10) {
            Ok(Some(int)) => Some(integer(int)),
            // A whole number can be written as a float, such as 3.0.
            _ => read_float(raw)
                .filter(|float| is_integer(*float))
                .and_then(|float| truncate(float).ok())
                .map(integer),
        },
        "number" => {
            let float = read_float(raw).filter(|float| float.is_finite())?;
            match truncate(float) {
                Ok(int) if is_integer(float) && !raw.contains('.') => Some(integer(int)),
                _ => Some(Data::Float(float)),
            }
        }
        "boolean" => match lower.as_str() {
            "true" | "1" => Some(Data::Bool(true)),
            "false" | "0" => Some(Data::Bool(false)),
            _ => None,
        },
        "null" if matches!(word, "null" | "None") => Some(Data::None),
        "object" | "array" => {
            let decoded = json::read_within(raw.as_bytes(), meter.limits()).ok()?;
            let is_wanted = matches!(
                (&decoded, ty.as_str()),
                (Data::Object(_), "object") | (Data::List(_), "array")
            );
            is_wanted.then(|| decoded.into_owned())
        }
        _ => None,
    });
    if let Some(converted) = converted {
        *value = converted;
    }
    Ok(())
}
