//! The rules of a message: reasoning, calls of the tools that it may call, and an answer.

use serde_json::{Value, json};

use super::merge::{Plain, list_required};
use super::rules::Rule;
use super::schema::{Notation, Schemas, list_constants, list_schema_types};
use super::strings::Style;
use super::written::{Arguments, COUNT, Calls, IDS, NAME, Pairs};
use crate::chat::{common_prefix, control_tokens};
use crate::error::{Error, ErrorClass, ErrorKind, Result};

/// A tool that the model may call.
pub struct Tool<'o> {
    pub name: &'o str,
    pub parameters: Option<&'o Value>,
    /// The JSON pointer of the parameters in the list of tools.
    pub path: String,
}

/// Reads the tools as they are passed to a template: the function of each, or the function itself.
pub fn read_tools(tools: &Value) -> Result<Vec<Tool<'_>>> {
    let Some(items) = tools.as_array() else {
        return Err(refuse("/tools: tools are a list"));
    };
    let tools = items.iter().enumerate().map(|(index, tool)| {
        let (function, inner) = tool.get("function").map_or((tool, ""), |function| (function, "/function"));
        let Some(name) = function.get("name").and_then(Value::as_str) else {
            return Err(refuse(format!("/tools/{index}{inner}: a tool has a name, which is a string")));
        };
        Tool::new(name, function.get("parameters"), format!("/tools/{index}{inner}/parameters"))
    });
    tools.collect()
}

impl<'o> Tool<'o> {
    pub fn new(name: &'o str, parameters: Option<&'o Value>, path: String) -> Result<Self> {
        let is_word = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.');
        if name.is_empty() || !name.chars().all(is_word) {
            let (tool, _) = path.rsplit_once('/').unwrap_or_default();
            let message = format!("{tool}/name: a name consists of ASCII letters, digits, `_`, `-` and `.`");
            return Err(refuse(message));
        }
        Ok(Self { name, parameters, path })
    }
}

/// Returns an error of the class `Request`.
pub fn refuse(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Value, message.into()).with_class(ErrorClass::Request)
}

/// Returns the rule of calls. `first` is the string before the arguments of the first one.
pub fn write_calls(
    calls: &Calls,
    first: &str,
    tools: &[Tool<'_>],
    is_parallel: bool,
    schemas: &mut Schemas<'_, '_, '_>,
) -> Result<Rule> {
    let mut arguments = Vec::new();
    for tool in tools {
        schemas.sorts_keys = calls.sorts_keys;
        schemas.begin(tool.parameters.unwrap_or(&Value::Null), &tool.path)?;
        let rule = match &calls.arguments {
            Arguments::Value(notation) => {
                schemas.notation = notation.clone();
                write_object(tool, schemas)?
            }
            Arguments::Pairs(pairs) => write_pairs(pairs, tool, &calls.end, schemas)?,
        };
        arguments.push((tool.name, schemas.rules.add(rule)));
    }
    let one = |before: &str| {
        Rule::choice(
            arguments
                .iter()
                .map(|(name, rule)| Rule::sequence([fill(before, name), rule.clone()])),
        )
    };
    let more = match &calls.next {
        Some(next) if is_parallel => one(next).repeat(0, None),
        _ => Rule::EMPTY,
    };
    Ok(Rule::sequence([one(first), more, fill(&calls.end, "")]))
}

/// Returns the rule of a string before arguments, with the name of a tool.
fn fill(text: &str, name: &str) -> Rule {
    let id = Rule::class(&[('a', 'z'), ('A', 'Z'), ('0', '9')]).repeat(9, Some(9));
    let count = Rule::class(&[('0', '9')]).repeat(1, Some(3));
    let text = text.replace(NAME, name);
    let ids = text.split(IDS[0]).enumerate().flat_map(|(index, part)| {
        let before = if index > 0 { id.clone() } else { Rule::EMPTY };
        let counts = part.split(COUNT).enumerate().flat_map(|(index, part)| {
            let before = if index > 0 { count.clone() } else { Rule::EMPTY };
            [before, Rule::text(part)]
        });
        std::iter::once(before).chain(counts).collect::<Vec<_>>()
    });
    Rule::sequence(ids)
}

/// Returns the schemas of a tool's parameters, which are objects.
fn list_parameters(tool: &Tool<'_>, schemas: &mut Schemas<'_, '_, '_>) -> Result<Vec<Plain>> {
    let none = json!({"properties": {}});
    let parameters = tool.parameters.filter(|parameters| !parameters.is_null()).unwrap_or(&none);
    let mut plain = schemas.list_plain(parameters, &tool.path)?;
    plain.retain(|schema| list_schema_types(schema).contains(&"object"));
    for schema in &mut plain {
        schema.insert("type".to_owned(), "object".into());
    }
    Ok(plain)
}

fn write_object(tool: &Tool<'_>, schemas: &mut Schemas<'_, '_, '_>) -> Result<Rule> {
    let mut choices = Vec::new();
    for plain in list_parameters(tool, schemas)? {
        choices.push(schemas.value(&Value::Object(plain), &tool.path)?);
    }
    Ok(Rule::choice(choices))
}

/// Returns the rule of arguments that are written each with its key.
fn write_pairs(pairs: &Pairs, tool: &Tool<'_>, end: &str, schemas: &mut Schemas<'_, '_, '_>) -> Result<Rule> {
    // `stop` follows every value. After it comes `next` and another key, or `last`.
    let shared = pairs.next.get(..common_prefix(&pairs.next, &pairs.last)).unwrap_or_default();
    let stop = match &pairs.notation {
        Some(_) => "",
        None => control_tokens(shared)
            .next()
            .and_then(|token| shared.get(..token.end))
            .unwrap_or(shared),
    };
    let after = |text: &str| text.get(stop.len()..).unwrap_or_default().to_owned();
    let (next, last) = (after(&pairs.next), after(&pairs.last));
    // What is in an argument is in the order of the model.
    let sorts_keys = std::mem::take(&mut schemas.sorts_keys);
    let mut choices = Vec::new();
    for plain in list_parameters(tool, schemas)? {
        let required = list_required(&plain);
        schemas.check(&plain, &tool.path);
        let mut properties: Vec<_> = plain
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .collect();
        if sorts_keys {
            properties.sort_by_key(|(name, _)| name.to_lowercase());
        }
        let mut members = Vec::new();
        for (name, schema) in properties.into_iter().rev() {
            let path = format!("{}/properties/{}", tool.path, crate::json::pointer::escape_key(name));
            schemas.notation = pairs.notation.clone().unwrap_or(Notation::JSON);
            let value = match &pairs.notation {
                Some(_) => Rule::sequence([Rule::text(pairs.middle.as_str()), schemas.value(schema, &path)?]),
                None => write_raw(schema, &path, [stop, next.trim(), end.trim()], pairs, schemas)?,
            };
            let value = schemas.rules.add(value);
            let member = |before: &str| Rule::sequence([Rule::text(format!("{before}{name}")), value.clone()]);
            members.push((member(&pairs.first), member(&next), required.contains(name.as_str())));
        }
        choices.push(schemas.rules.add_members(members, (Rule::EMPTY, Rule::text(last.as_str()))));
    }
    Ok(Rule::choice(choices))
}

/// Returns the rule of a value with the strings around it: a string as it is, or JSON. The first of `ends` follows the value; the others begin
/// the next key, and end the call.
fn write_raw(schema: &Value, path: &str, ends: [&str; 3], pairs: &Pairs, schemas: &mut Schemas<'_, '_, '_>) -> Result<Rule> {
    let [stop, ..] = ends;
    let shared = common_prefix(&pairs.middle, &pairs.other_middle);
    let (shared, middle) = pairs.middle.split_at_checked(shared).unwrap_or_default();
    let other_middle = pairs.other_middle.strip_prefix(shared).unwrap_or_default();
    let other = |rule: Rule| Rule::sequence([Rule::text(other_middle), rule, Rule::text(stop)]);
    let mut choices = Vec::new();
    for plain in schemas.list_plain(schema, path)? {
        let mut types: Vec<&str> = list_schema_types(&plain);
        if types.contains(&"string") {
            let except = stop.trim().chars().next().into_iter().chain(['\n', '\r']).collect();
            let known = match list_constants(&plain) {
                Some(values) => Some(Rule::choice(values.iter().filter_map(|value| value.as_str()).map(Rule::text))),
                None => schemas.characters(&plain, &Style::Raw(except), path)?,
            };
            let ends = ends.map(|end| end.trim().trim_start_matches(['>', '/']).to_owned());
            let string = match known {
                Some(known) => Rule::sequence([known, Rule::text(stop)]),
                None => Rule::Until(stop.to_owned(), ends.into_iter().filter(|end| !end.is_empty()).collect()),
            };
            choices.push(Rule::sequence([Rule::text(middle), string]));
            types.retain(|ty| *ty != "string");
        }
        // A value between tags gets a type only if the schema declares one.
        let is_typed = plain.contains_key("type") || plain.contains_key("nullable");
        if !is_typed && list_constants(&plain).is_some_and(|values| values.iter().any(|value| !value.is_string())) {
            schemas.lose(path, if plain.contains_key("const") { "const" } else { "enum" });
        }
        if list_constants(&plain).is_none() {
            // Templates print these as Python does too.
            let words = [("boolean", &["True", "False"][..]), ("null", &["None"][..])];
            let words = words
                .iter()
                .filter(|(ty, _)| types.contains(ty))
                .flat_map(|(_, words)| *words);
            choices.extend(words.map(|word| other(Rule::text(*word))));
        }
        if !types.is_empty() {
            let mut others = plain.clone();
            others.insert("type".to_owned(), types.iter().map(|ty| Value::from(*ty)).collect());
            choices.push(other(schemas.value(&Value::Object(others), path)?));
        }
    }
    Ok(Rule::sequence([Rule::text(shared), Rule::choice(choices)]))
}
