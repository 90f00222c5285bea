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
        let (mut first, mut after) = (Rule::EMPTY, Rule::EMPTY);
        if let Some(additional) = additional.filter(|additional| **additional != Value::Bool(false)) {
            let value = self.value(additional, &format!("{path}/additionalProperties"))?;
            let key = self.other_key(members)?;
            let member = Rule::sequence([key, Rule::text(":"), space.clone(), value]);
            let member = self.rules.add(member);
            after = Rule::sequence([comma.clone(), member.clone()]).repeat(0, None);
            first = Rule::sequence([member, after.clone()]).optional();
        }
        for (name, schema, is_required) in members.iter().rev() {
            let pointer = crate::json::pointer::escape_key(name);
            let value = self.value(schema, &format!("{path}/properties/{pointer}"))?;
            let member = Rule::sequence([self.key(name), Rule::text(":"), space.clone(), value]);
            let member = if members.len() > 1 { self.rules.add(member) } else { member };
            let then = if members.len() > 2 && after != Rule::EMPTY {
                self.rules.add(after)
            } else {
                after
            };
            let begun = Rule::sequence([member.clone(), then.clone()]);
            let member = Rule::sequence([comma.clone(), member]);
            (first, after) = match is_required {
                true => (begun, Rule::sequence([member, then])),
                false => (Rule::choice([begun, first]), Rule::sequence([member.optional(), then])),
            };
        }
        Ok(first)
    }

    /// Returns the rule of a key that no member has.
    fn other_key(&mut self, members: &[(&str, &Value, bool)]) -> Result<Rule> {
        if self.notation.has_bare_keys {
            // A bare key that no member begins with.
            let firsts: Vec<char> = members.iter().filter_map(|(name, ..)| name.chars().next()).collect();
            let letters = ('a'..='z')
                .filter(|letter| !firsts.contains(letter))
                .map(|letter| (letter, letter));
            let letters: Vec<_> = letters.collect();
            let word = Rule::class(&[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]).repeat(0, None);
            return Ok(match letters.is_empty() {
                true => Rule::NEVER,
                false => Rule::sequence([Rule::class(&letters), word]),
            });
        }
        if members.is_empty() {
            let characters = Style::Quoted('"').any_char().repeat(0, None);
            return Ok(Rule::sequence([Rule::text("\""), characters, Rule::text("\"")]));
        }
        let names: Vec<String> = members.iter().map(|(name, ..)| Value::from(*name).to_string()).collect();
        let names: Vec<&str> = names.iter().map(|name| name.get(1..).unwrap_or_default()).collect();
        let rest = self.other_rest(&names)?;
        Ok(Rule::sequence([Rule::text("\""), rest]))
    }

    /// Returns the rule of the rest of a key, up to its quote, that is none of these.
    fn other_rest(&mut self, rests: &[&str]) -> Result<Rule> {
        self.enter()?;
        let mut firsts: Vec<char> = rests.iter().filter_map(|rest| rest.chars().next()).collect();
        firsts.sort_unstable();
        firsts.dedup();
        // Escapes are left out, because an escape is another way to write a name.
        let plain = Rule::except(&[('\0', '\u{1f}'), ('"', '"'), ('\\', '\\')]);
        let quote = Rule::text("\"");
        let mut except = vec![('\0', '\u{1f}'), ('"', '"'), ('\\', '\\')];
        except.extend(
            firsts
                .iter()
                .filter(|char| !matches!(char, '"' | '\\'))
                .map(|char| (*char, *char)),
        );
        let mut choices = vec![Rule::sequence([Rule::except(&except), plain.repeat(0, None), quote.clone()])];
        if !firsts.contains(&'"') {
            choices.push(quote);
        }
        for first in firsts.into_iter().filter(|char| !matches!(char, '"' | '\\')) {
            let rests: Vec<&str> = rests.iter().filter_map(|rest| rest.strip_prefix(first)).collect();
            choices.push(Rule::sequence([Rule::text(first), self.other_rest(&rests)?]));
        }
        self.leave();
        Ok(Rule::choice(choices))
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
