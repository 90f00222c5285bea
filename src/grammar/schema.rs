//! The rules of the values that fulfil a JSON schema, in a notation.
//!
//! ```text
//! {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}   ->   "{" ws "\"a\":" ws integer ws "}"
//! ```
//!
//! All strings of a rule fulfil the schema, except for the keywords that are reported as lost. A rule does not have all valid strings:
//! properties are in the order of the schema, and other properties need `additionalProperties` or a schema that names none.

use std::collections::HashMap;

use indexmap::IndexSet;
use serde_json::Value;

use super::calls::refuse;
use super::merge::{Plain, list_types};
use super::rules::{Rule, Rules};
use super::strings::{Style, to_integer};
use crate::error::Result;
use crate::meter::Meter;

/// The largest number of schemas that enclose one another.
pub const MAX_DEPTH: u32 = 64;

/// The number of bytes that a schema and its rules take besides its strings.
const SCHEMA: usize = 256;

/// The keywords that rules cannot enforce.
const NOT_KEPT: [&str; 15] = [
    "not",
    "if",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "patternProperties",
    "propertyNames",
    "contains",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "multipleOf",
    "unevaluatedItems",
    "unevaluatedProperties",
    "$dynamicRef",
];

/// The keywords about values that are not compared with constants.
#[rustfmt::skip]
const ABOUT_VALUES: [&str; 14] = [
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern", "format",
    "properties", "required", "items", "prefixItems", "minItems", "maxItems",
];

/// The types of JSON.
const TYPES: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];

/// How values are written.
#[derive(Clone, Debug, PartialEq)]
pub struct Notation {
    /// Whether constants are those of Python.
    pub is_python: bool,
    pub has_bare_keys: bool,
    /// The delimiters of strings, if they are not quotes.
    pub delimiters: Option<[String; 2]>,
}

impl Notation {
    pub const JSON: Self = Self {
        is_python: false,
        has_bare_keys: false,
        delimiters: None,
    };
}

/// Makes the rules of schemas.
pub struct Schemas<'r, 'm, 'a> {
    pub notation: Notation,
    /// Whether the keys of objects are sorted. Otherwise they are in the order of the schema.
    pub sorts_keys: bool,
    pub rules: &'r mut Rules,
    pub lost: &'r mut IndexSet<(String, String)>,
    pub meter: &'m mut Meter<'a>,
    /// The schema in which references are resolved, and its JSON pointer.
    root: (Value, String),
    /// The rules of references, each by its pointer.
    references: HashMap<String, Rule>,
    shared: HashMap<&'static str, Rule>,
    depth: u32,
}

impl<'r, 'm, 'a> Schemas<'r, 'm, 'a> {
    pub fn new(rules: &'r mut Rules, lost: &'r mut IndexSet<(String, String)>, meter: &'m mut Meter<'a>) -> Self {
        Self {
            notation: Notation::JSON,
            sorts_keys: false,
            rules,
            lost,
            meter,
            root: (Value::Null, String::new()),
            references: HashMap::new(),
            shared: HashMap::new(),
            depth: 0,
        }
    }

    /// Sets the schema in which references are resolved.
    pub fn begin(&mut self, root: &Value, path: &str) -> Result<()> {
        self.claim(root)?;
        self.root = (root.clone(), path.to_owned());
        self.references.clear();
        Ok(())
    }

    pub fn enter(&mut self) -> Result<()> {
        self.meter.charge(1)?;
        self.meter.claim_for_render(SCHEMA)?;
        self.meter.check_time()?;
        self.depth = self.depth.saturating_add(1);
        if self.depth > MAX_DEPTH {
            return Err(refuse(format!("more than {MAX_DEPTH} schemas enclose one another")));
        }
        Ok(())
    }

    pub fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Counts the memory of a schema.
    pub fn claim(&mut self, schema: &Value) -> Result<()> {
        let mut left = vec![schema];
        while let Some(value) = left.pop() {
            self.meter.charge(1)?;
            let length = value.as_str().map_or(0, str::len);
            self.meter
                .claim_for_render(length.saturating_add(std::mem::size_of::<Value>()))?;
            match value {
                Value::Array(items) => left.extend(items),
                Value::Object(entries) => {
                    self.meter.claim_for_render(entries.keys().map(String::len).sum())?;
                    left.extend(entries.values());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Records a keyword that the rules do not enforce.
    pub fn lose(&mut self, path: &str, keyword: &str) {
        self.lost.insert((path.to_owned(), keyword.to_owned()));
    }

    /// Returns the schema that a reference points to, and its JSON pointer.
    pub fn find(&self, reference: &Value) -> Option<(Value, String)> {
        let pointer = reference
            .as_str()?
            .strip_prefix('#')?
            .replace("%25", "%")
            .replace("%22", "\"");
        Some((self.root.0.pointer(&pointer)?.clone(), format!("{}{pointer}", self.root.1)))
    }

    /// Returns the rule of the values that fulfil a schema.
    pub fn value(&mut self, schema: &Value, path: &str) -> Result<Rule> {
        if let Some(reference) = schema
            .as_object()
            .filter(|schema| schema.len() == 1)
            .and_then(|schema| schema.get("$ref"))
        {
            return self.reference(reference, path);
        }
        let mut choices = Vec::new();
        for plain in self.list_plain(schema, path)? {
            self.enter()?;
            choices.push(self.plain(&plain, path)?);
            self.leave();
        }
        Ok(Rule::choice(choices))
    }

    /// Returns the rule of a reference, which can be recursive.
    fn reference(&mut self, reference: &Value, path: &str) -> Result<Rule> {
        let Some((schema, pointer)) = self.find(reference) else {
            self.lose(path, "$ref");
            return self.any();
        };
        if let Some(known) = self.references.get(&pointer) {
            return Ok(known.clone());
        }
        let index = self.rules.reserve();
        self.references.insert(pointer.clone(), Rule::Named(index));
        self.enter()?;
        let rule = self.value(&schema, &pointer)?;
        self.leave();
        // No value fulfils a reference that only points to itself.
        if rule == Rule::Named(index) || rule == Rule::NEVER {
            self.references.insert(pointer, Rule::NEVER);
            self.rules.set(index, Rule::text("null"));
            return Ok(Rule::NEVER);
        }
        self.rules.set(index, rule);
        Ok(Rule::Named(index))
    }

    /// Records the keywords of a schema that rules cannot enforce.
    pub fn check(&mut self, schema: &Plain, path: &str) {
        for keyword in NOT_KEPT {
            let is_set = schema.get(keyword).is_some_and(|value| match keyword {
                "uniqueItems" => *value != Value::Bool(false),
                "minProperties" => {
                    let required = schema.get("required").and_then(Value::as_array).map_or(0, Vec::len);
                    let least = value.as_f64().and_then(to_integer).map(usize::try_from);
                    !matches!(least, Some(Ok(least)) if least <= required)
                }
                "multipleOf" => value.as_u64() != Some(1),
                "unevaluatedItems" | "unevaluatedProperties" => *value != Value::Bool(true),
                _ => true,
            });
            if is_set {
                self.lose(path, keyword);
            }
        }
    }

    fn plain(&mut self, schema: &Plain, path: &str) -> Result<Rule> {
        self.check(schema, path);
        let types = list_schema_types(schema);
        if let Some(values) = list_constants(schema) {
            for keyword in ABOUT_VALUES.into_iter().filter(|keyword| schema.contains_key(*keyword)) {
                self.lose(path, keyword);
            }
            let values = values
                .into_iter()
                .filter(|value| types.iter().any(|ty| is_of_type(value, ty)));
            let rules: Result<Vec<_>> = values.map(|value| self.constant(value)).collect();
            return Ok(Rule::choice(rules?));
        }
        if schema.is_empty() {
            return self.any();
        }
        let mut choices = Vec::new();
        for ty in types {
            choices.push(match ty {
                "object" => self.object(schema, path)?,
                "array" => self.array(schema, path)?,
                "string" => self.string(schema, path)?,
                "integer" | "number" => self.number(schema, ty, path)?,
                "boolean" => self.boolean(),
                "null" => self.word(&Value::Null),
                _ => Rule::NEVER,
            });
        }
        Ok(Rule::choice(choices))
    }

    /// Returns the rule with a name, which is made when it is first used.
    fn share(&mut self, name: &'static str, make: impl FnOnce(&mut Self) -> Result<Rule>) -> Result<Rule> {
        if let Some(known) = self.shared.get(name) {
            return Ok(known.clone());
        }
        let index = self.rules.reserve();
        self.shared.insert(name, Rule::Named(index));
        let rule = make(self)?;
        self.rules.set(index, rule);
        Ok(Rule::Named(index))
    }

    /// Returns the rule of the white space between the parts of a value.
    pub fn space(&mut self) -> Result<Rule> {
        self.share("space", |_| {
            let indent = Rule::class(&[(' ', ' '), ('\t', '\t')]).repeat(0, Some(20));
            Ok(Rule::choice([
                Rule::EMPTY,
                Rule::text(" "),
                Rule::sequence([Rule::text("\n"), indent]),
            ]))
        })
    }

    /// Returns the rule of any value.
    pub fn any(&mut self) -> Result<Rule> {
        self.share("value", |own| {
            let members = own.members(&[], Some(&Value::Bool(true)), "")?;
            let object = own.between("{", members, "}")?;
            let array = own.array(&Plain::new(), "")?;
            let string = own.any_string()?;
            let number = own.number(&Plain::new(), "number", "")?;
            Ok(Rule::choice([
                object,
                array,
                string,
                number,
                own.boolean(),
                own.word(&Value::Null),
            ]))
        })
    }

    pub fn any_string(&mut self) -> Result<Rule> {
        self.share("string", |own| {
            Ok(match &own.notation.delimiters {
                Some([open, close]) => Rule::sequence([Rule::text(open.clone()), Rule::Until(close.clone(), Vec::new())]),
                None => own.quoted(|style| style.any_char().repeat(0, None)),
            })
        })
    }

    /// Returns the rule of null, true, false or a number.
    fn word(&self, value: &Value) -> Rule {
        match value {
            Value::Null if self.notation.is_python => Rule::text("None"),
            Value::Bool(value) if self.notation.is_python => Rule::text(if *value { "True" } else { "False" }),
            value => Rule::text(value.to_string()),
        }
    }

    fn boolean(&self) -> Rule {
        Rule::choice([true, false].map(|value| self.word(&value.into())))
    }

    fn constant(&mut self, value: &Value) -> Result<Rule> {
        self.enter()?;
        let rule = match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => self.word(value),
            Value::String(text) => self.quote(text),
            Value::Array(items) => {
                let space = self.space()?;
                let items: Result<Vec<_>> = items.iter().map(|item| self.constant(item)).collect();
                self.between("[", join(items?, &space), "]")?
            }
            Value::Object(entries) => {
                let space = self.space()?;
                let entries: Result<Vec<_>> = entries
                    .iter()
                    .map(|(key, value)| {
                        Ok(Rule::sequence([
                            self.key(key),
                            Rule::text(":"),
                            space.clone(),
                            self.constant(value)?,
                        ]))
                    })
                    .collect();
                self.between("{", join(entries?, &space), "}")?
            }
        };
        self.leave();
        Ok(rule)
    }

    /// Returns the rule of a string that is known.
    fn quote(&self, text: &str) -> Rule {
        match &self.notation.delimiters {
            Some([_, close]) if text.contains(close.as_str()) => Rule::NEVER,
            Some([open, close]) => Rule::text(format!("{open}{text}{close}")),
            None => self.quoted(|style| style.write(text)),
        }
    }

    /// Returns the rule of a string between quotes. Python has two of them.
    pub fn quoted(&self, inner: impl Fn(Style) -> Rule) -> Rule {
        let quotes = self.quotes().iter();
        Rule::choice(quotes.map(|quote| Rule::sequence([Rule::text(*quote), inner(Style::Quoted(*quote)), Rule::text(*quote)])))
    }

    pub fn quotes(&self) -> &'static [char] {
        if self.notation.is_python { &['"', '\''] } else { &['"'] }
    }

    pub fn key(&self, key: &str) -> Rule {
        let is_word = !key.is_empty() && key.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
        if self.notation.has_bare_keys && is_word {
            Rule::text(key)
        } else {
            self.quoted(|style| style.write(key))
        }
    }
}

/// Returns the types that a value of a schema can have. A schema that says which members or items a value has is one of objects or arrays.
pub fn list_schema_types(schema: &Plain) -> Vec<&str> {
    let mut types = schema.get("type").map(list_types).unwrap_or_default();
    if types.is_empty() {
        let has = |keywords: &[&str]| keywords.iter().any(|keyword| schema.contains_key(*keyword));
        types = match () {
            () if has(&["properties", "additionalProperties", "required"]) => vec!["object"],
            () if has(&["items", "prefixItems", "minItems", "maxItems"]) => vec!["array"],
            () => TYPES.to_vec(),
        };
    }
    if schema.get("nullable") == Some(&Value::Bool(true)) && !types.contains(&"null") {
        types.push("null");
    }
    types
}

/// Returns the values that a schema lists.
pub fn list_constants(schema: &Plain) -> Option<Vec<&Value>> {
    let listed = schema.get("enum").and_then(Value::as_array);
    match (schema.get("const"), listed) {
        (Some(value), listed) => Some(
            std::iter::once(value)
                .filter(|value| listed.is_none_or(|listed| listed.contains(value)))
                .collect(),
        ),
        (None, Some(listed)) => Some(listed.iter().collect()),
        (None, None) => None,
    }
}

fn is_of_type(value: &Value, ty: &str) -> bool {
    match (value, ty) {
        (Value::Number(number), "integer") => number.as_f64().is_some_and(|number| number.fract() == 0.0),
        (Value::Number(_), "number") => true,
        (value, ty) => {
            let name = match value {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(_) => "number",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            name == ty
        }
    }
}

/// Returns rules with commas between them.
fn join(items: Vec<Rule>, space: &Rule) -> Rule {
    let comma = Rule::sequence([Rule::text(","), space.clone()]);
    let items = items.into_iter().enumerate();
    Rule::sequence(items.flat_map(|(index, item)| [if index > 0 { comma.clone() } else { Rule::EMPTY }, item]))
}
