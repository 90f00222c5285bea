//! Expands a JSON schema into plain schemas, which have no `$ref`, `allOf`, `anyOf` or `oneOf`.
//!
//! ```text
//! {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
//!     ->   {"type": "object", "required": ["a"]} or {"type": "object", "required": ["b"]}
//! ```

use indexmap::IndexSet;
use serde_json::{Map, Value, json};

use super::schema::Schemas;
use crate::error::Result;

/// A schema that is an object.
pub type Plain = Map<String, Value>;

/// The keywords that are expanded.
const COMBINED: [&str; 4] = ["$ref", "allOf", "anyOf", "oneOf"];

/// The keywords that do not affect which values are valid.
const NOTES: [&str; 13] = [
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "contentEncoding",
    "contentMediaType",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
];

impl Schemas<'_, '_, '_> {
    /// Returns plain schemas. A value is valid if it fulfils at least one of them.
    pub fn list_plain(&mut self, schema: &Value, path: &str) -> Result<Vec<Plain>> {
        self.enter()?;
        let found = match schema {
            Value::Object(schema) => self.combine(schema, path),
            Value::Bool(false) => Ok(Vec::new()),
            _ => Ok(vec![Plain::new()]),
        };
        self.leave();
        found
    }

    fn combine(&mut self, schema: &Plain, path: &str) -> Result<Vec<Plain>> {
        let is_own = |(key, _): &(&String, &Value)| !COMBINED.contains(&key.as_str()) && !NOTES.contains(&key.as_str());
        let own: Plain = schema
            .iter()
            .filter(is_own)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        self.claim(&Value::Object(own.clone()))?;
        let mut found = vec![own];
        if let Some(reference) = schema.get("$ref") {
            let others = match self.find(reference) {
                Some((target, pointer)) => self.list_plain(&target, &pointer)?,
                None => {
                    self.lose(path, "$ref");
                    vec![Plain::new()]
                }
            };
            found = self.cross(&found, &others, path)?;
        }
        let list = |key: &str| schema.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        for (index, part) in list("allOf").iter().enumerate() {
            let others = self.list_plain(part, &format!("{path}/allOf/{index}"))?;
            found = self.cross(&found, &others, path)?;
        }
        for key in ["anyOf", "oneOf"] {
            if !schema.contains_key(key) {
                continue;
            }
            let mut others = Vec::new();
            for (index, part) in list(key).iter().enumerate() {
                others.extend(self.list_plain(part, &format!("{path}/{key}/{index}"))?);
            }
            if key == "oneOf" && !are_apart(&others) {
                self.lose(path, key);
            }
            found = self.cross(&found, &others, path)?;
        }
        Ok(found)
    }

    /// Merges each schema of one list with each schema of another.
    fn cross(&mut self, some: &[Plain], others: &[Plain], path: &str) -> Result<Vec<Plain>> {
        let mut found = Vec::new();
        for one in some {
            for other in others {
                let merged = Value::Object(one.clone());
                self.claim(&merged)?;
                // Lists of constants are compared with each other.
                let count = |schema: &Plain| schema.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
                self.meter.charge_items(count(one).saturating_mul(count(other)))?;
                self.claim(&Value::Object(other.clone()))?;
                found.extend(self.merge(one.clone(), other, path));
            }
        }
        Ok(found)
    }

    /// Merges two schemas into one that requires both. Returns `None` if no value can fulfil both.
    fn merge(&mut self, mut one: Plain, other: &Plain, path: &str) -> Option<Plain> {
        close_properties(&mut one, other);
        let mut other = other.clone();
        close_properties(&mut other, &one);
        // In a schema without `prefixItems`, `items` applies to the first items too.
        let has = |schema: &Plain, key: &str| schema.contains_key(key);
        if has(&one, "prefixItems") != has(&other, "prefixItems") && (has(&one, "items") || has(&other, "items")) {
            self.lose(path, "items");
        }
        for (key, value) in other {
            let Some(own) = one.get(&key).filter(|own| **own != value) else {
                one.insert(key, value);
                continue;
            };
            let both = match key.as_str() {
                "properties" => {
                    let mut properties = own.as_object().cloned().unwrap_or_default();
                    for (name, schema) in value.as_object().into_iter().flatten() {
                        let schema = match properties.get(name) {
                            Some(own) => json!({"allOf": [own, schema]}),
                            None => schema.clone(),
                        };
                        properties.insert(name.clone(), schema);
                    }
                    Value::Object(properties)
                }
                "required" => {
                    let names = own.as_array().into_iter().chain(value.as_array()).flatten();
                    Value::Array(names.cloned().collect())
                }
                "type" => Value::Array(
                    intersect_types(&list_types(own), &list_types(&value))?
                        .into_iter()
                        .map(Value::from)
                        .collect(),
                ),
                "enum" => {
                    let both = own
                        .as_array()?
                        .iter()
                        .filter(|own| value.as_array().is_some_and(|value| value.contains(own)));
                    Value::Array(both.cloned().collect())
                }
                "const" => return None,
                "items" | "additionalProperties" => json!({"allOf": [own, value]}),
                "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" if own.as_f64() < value.as_f64() => {
                    value
                }
                "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" if own.as_f64() > value.as_f64() => {
                    value
                }
                key if key.starts_with("min") || key.starts_with("max") || key.starts_with("exclusive") => continue,
                key => {
                    self.lose(path, key);
                    continue;
                }
            };
            one.insert(key, both);
        }
        Some(one)
    }
}

/// Applies `additionalProperties` of a schema to the properties that only another schema names.
fn close_properties(schema: &mut Plain, other: &Plain) {
    let Some(additional) = schema.get("additionalProperties").cloned() else {
        return;
    };
    let names = other.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    for (name, _) in names {
        properties.entry(name.clone()).or_insert_with(|| additional.clone());
    }
    schema.insert("properties".to_owned(), Value::Object(properties));
}

/// Returns the types that a schema declares.
pub fn list_types(declared: &Value) -> Vec<&str> {
    match declared {
        Value::String(one) => vec![one],
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn intersect_types<'t>(some: &[&'t str], others: &[&'t str]) -> Option<Vec<&'t str>> {
    let has = |types: &[&str], ty: &str| types.contains(&ty) || ty == "integer" && types.contains(&"number");
    let mut both: Vec<&str> = some
        .iter()
        .chain(others)
        .copied()
        .filter(|ty| has(some, ty) && has(others, ty))
        .collect();
    both.sort_unstable();
    both.dedup();
    (!both.is_empty()).then_some(both)
}

/// Returns whether the types and constants show that no value fulfils two of the schemas.
fn are_apart(schemas: &[Plain]) -> bool {
    let pairs = (0..schemas.len()).flat_map(|first| (0..first).map(move |second| (first, second)));
    pairs
        .filter_map(|(first, second)| Some((schemas.get(first)?, schemas.get(second)?)))
        .all(|(one, other)| {
            let types = |schema: &Plain| schema.get("type").cloned().unwrap_or_default();
            let (own, others) = (types(one), types(other));
            let (own, others) = (list_types(&own), list_types(&others));
            !own.is_empty() && !others.is_empty() && intersect_types(&own, &others).is_none()
                || matches!((one.get("const"), other.get("const")), (Some(one), Some(other)) if one != other)
                || has_other_constant(one, other)
        })
}

/// Returns whether a property that both require has another constant in each.
fn has_other_constant(one: &Plain, other: &Plain) -> bool {
    let constant = |schema: &Plain, name: &str| {
        let is_required = schema.get("required")?.as_array()?.iter().any(|required| required == name);
        is_required.then(|| schema.get("properties")?.get(name)?.get("const").cloned())?
    };
    let names = one.get("properties").and_then(Value::as_object).into_iter().flatten();
    names
        .into_iter()
        .any(|(name, _)| match (constant(one, name), constant(other, name)) {
            (Some(one), Some(other)) => one != other,
            _ => false,
        })
}

/// Returns the names of the members that a schema requires.
pub fn list_required(schema: &Plain) -> IndexSet<&str> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}
