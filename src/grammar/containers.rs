//! The rules of objects and arrays.

use serde_json::{Map, Value};

use super::calls::refuse;
use super::merge::{Plain, list_required};
use super::rules::Rule;
use super::schema::{MAX_DEPTH, Schemas};
use super::strings::Style;
use crate::error::Result;

impl Schemas<'_, '_, '_> {
    pub fn between(&mut self, open: &str, inner: Rule, close: &str) -> Result<Rule> {
        let space = self.space()?;
        Ok(Rule::sequence([
            Rule::text(open),
            space.clone(),
            inner,
            space,
            Rule::text(close),
        ]))
    }

    pub fn object(&mut self, schema: &Plain, path: &str) -> Result<Rule> {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = list_required(schema);
        let any = Value::Bool(true);
        let additional = schema
            .get("additionalProperties")
            .or_else(|| properties.is_none().then_some(&any));
        let mut members: Vec<(&str, Option<&Value>, bool)> = properties
            .unwrap_or(&empty)
            .iter()
            .map(|(name, schema)| (name.as_str(), Some(schema), required.contains(name.as_str())))
            .collect();
        let others = required
            .iter()
            .filter(|name| properties.is_none_or(|properties| !properties.contains_key(**name)));
        members.extend(others.map(|name| (*name, schema.get("additionalProperties"), true)));
        self.meter.charge_items(members.len())?;
        let mut members: Vec<_> = members
            .into_iter()
            .map(|(name, schema, required)| (name, schema.unwrap_or(&any), required))
            .collect();
        if self.sorts_keys {
            members.sort_by_key(|(name, ..)| name.to_lowercase());
        }
        let members = self.members(&members, additional, path)?;
        self.between("{", members, "}")
    }

    /// Returns the rule of the members of an object: each with its name, its schema and whether it is required, and the schema of others.
    pub fn members(&mut self, members: &[(&str, &Value, bool)], additional: Option<&Value>, path: &str) -> Result<Rule> {
        let space = self.space()?;
        let comma = Rule::sequence([Rule::text(","), space.clone()]);
        let member = |key: Rule, value: Rule| Rule::sequence([key, Rule::text(":"), space.clone(), value]);
        let mut others = (Rule::EMPTY, Rule::EMPTY);
        if let Some(additional) = additional.filter(|additional| **additional != Value::Bool(false)) {
            let value = self.value(additional, &format!("{path}/additionalProperties"))?;
            let other = member(self.other_key(members), value);
            let other = self.rules.add(other);
            let more = Rule::sequence([comma.clone(), other.clone()]).repeat(0, None);
            others = (Rule::sequence([other, more.clone()]).optional(), more);
        }
        let mut written = Vec::new();
        for (name, schema, is_required) in members.iter().rev() {
            let pointer = crate::json::pointer::escape_key(name);
            let value = self.value(schema, &format!("{path}/properties/{pointer}"))?;
            let member = self.rules.add(member(self.key(name), value));
            written.push((member.clone(), Rule::sequence([comma.clone(), member]), *is_required));
        }
        Ok(self.rules.add_members(written, others))
    }

    /// Returns the rule of a key that begins with another character than each member. An escape would be another way to write a name.
    fn other_key(&self, members: &[(&str, &Value, bool)]) -> Rule {
        let firsts = members.iter().filter_map(|(name, ..)| name.chars().next());
        let firsts: Vec<(char, char)> = firsts.map(|first| (first, first)).collect();
        if self.notation.has_bare_keys {
            let letters = ('a'..='z')
                .map(|letter| (letter, letter))
                .filter(|letter| !firsts.contains(letter));
            let word = Rule::class(&[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]).repeat(0, None);
            return match letters.collect::<Vec<_>>().as_slice() {
                [] => Rule::NEVER,
                letters => Rule::sequence([Rule::class(letters), word]),
            };
        }
        let any = Style::Quoted('"').any_char().repeat(0, None);
        let key = match firsts.is_empty() {
            true => any,
            false => Rule::sequence([
                Rule::except(&[&[('\0', '\u{1f}'), ('"', '"'), ('\\', '\\')], &*firsts].concat()),
                any,
            ]),
        };
        Rule::sequence([Rule::text("\""), key, Rule::text("\"")])
    }

    pub fn array(&mut self, schema: &Plain, path: &str) -> Result<Rule> {
        let any = Value::Bool(true);
        let space = self.space()?;
        let comma = Rule::sequence([Rule::text(","), space]);
        // Before the draft of 2020, a list of items was what `prefixItems` is now.
        let (fixed, rest) = match (schema.get("prefixItems"), schema.get("items")) {
            (Some(Value::Array(fixed)), rest) => (fixed.as_slice(), rest.unwrap_or(&any)),
            (_, Some(Value::Array(fixed))) => (fixed.as_slice(), schema.get("additionalItems").unwrap_or(&any)),
            (_, rest) => (&[][..], rest.unwrap_or(&any)),
        };
        let min = self.count(schema, "minItems", path).unwrap_or(0);
        let max = self.count(schema, "maxItems", path);
        let item = match rest {
            Value::Bool(false) => Rule::NEVER,
            rest if schema.is_empty() && *rest == any => self.any()?,
            rest => self.value(rest, &format!("{path}/items"))?,
        };
        let fixed: Result<Vec<_>> = (0..)
            .zip(fixed)
            .map(|(index, item)| self.value(item, &format!("{path}/prefixItems/{index}")))
            .collect();
        let fixed = fixed?;
        let length = u32::try_from(fixed.len()).unwrap_or(u32::MAX);
        if length > MAX_DEPTH {
            return Err(refuse(format!("{path}: prefixItems has more than {MAX_DEPTH} items")));
        }
        // The items after the fixed ones.
        let more = |taken: u32| (min.saturating_sub(taken), max.map(|max| max.saturating_sub(taken)));
        let item = match &item {
            Rule::Named(_) | Rule::Choice(_) if item == Rule::NEVER => Rule::NEVER,
            Rule::Text(_) | Rule::Named(_) => item,
            _ => self.rules.add(item),
        };
        let tail = |taken: u32| {
            let (min, max) = more(taken);
            Rule::sequence([comma.clone(), item.clone()]).repeat(min, max)
        };
        let mut inner = match length {
            0 => {
                let full = match max {
                    Some(0) => Rule::NEVER,
                    _ => Rule::sequence([item.clone(), tail(1)]),
                };
                if min == 0 { full.optional() } else { full }
            }
            _ => tail(length),
        };
        let mut index = length;
        for fixed in fixed.iter().rev() {
            index = index.saturating_sub(1);
            let allowed = max.is_none_or(|max| max > index);
            let this = if allowed {
                Rule::sequence([fixed.clone(), inner])
            } else {
                Rule::NEVER
            };
            let this = if index > 0 {
                Rule::sequence([comma.clone(), this])
            } else {
                this
            };
            inner = if min <= index { this.optional() } else { this };
        }
        self.between("[", inner, "]")
    }
}
