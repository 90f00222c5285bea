//! The rules of strings and numbers.

use serde_json::Value;

use super::merge::Plain;
use super::rules::Rule;
use super::schema::Schemas;
use super::strings::{MAX_COUNT, Style, find_format, to_integer, write_integer, write_number};
use crate::error::Result;

impl Schemas<'_, '_, '_> {
    /// Returns a count that a schema has, unless it is too large for the notations.
    pub fn count(&mut self, schema: &Plain, keyword: &str, path: &str) -> Option<u32> {
        let count = to_integer(schema.get(keyword)?.as_f64()?).and_then(|count| u32::try_from(count).ok());
        if count.is_some_and(|count| count <= MAX_COUNT) {
            return count;
        }
        self.lose(path, keyword);
        None
    }

    pub fn string(&mut self, schema: &Plain, path: &str) -> Result<Rule> {
        let keywords = ["pattern", "format", "minLength", "maxLength"];
        if !keywords.iter().any(|keyword| schema.contains_key(*keyword)) {
            return self.any_string();
        }
        if let Some([open, close]) = self.notation.delimiters.clone() {
            let except = close.chars().next().into_iter().collect();
            return match self.characters(schema, &Style::Raw(except), path)? {
                Some(inner) => Ok(Rule::sequence([Rule::text(open), inner, Rule::text(close)])),
                None => self.any_string(),
            };
        }
        let mut choices = Vec::new();
        for quote in self.quotes() {
            let style = Style::Quoted(*quote);
            let inner = self.characters(schema, &style, path)?;
            let inner = inner.unwrap_or_else(|| style.any_char().repeat(0, None));
            choices.push(Rule::sequence([Rule::text(*quote), inner, Rule::text(*quote)]));
        }
        Ok(Rule::choice(choices))
    }

    /// Returns the rule of the characters of a string, if the schema says more of them than any.
    pub fn characters(&mut self, schema: &Plain, style: &Style, path: &str) -> Result<Option<Rule>> {
        let pattern = schema.get("pattern").and_then(Value::as_str);
        self.meter.charge_scan(pattern.map_or(0, str::len))?;
        let known = pattern.and_then(|pattern| style.write_pattern(pattern));
        if pattern.is_some() && known.is_none() {
            self.lose(path, "pattern");
        }
        let format = schema.get("format").and_then(Value::as_str);
        let found = match known {
            None => format.and_then(find_format).and_then(|format| style.write_pattern(&format)),
            known => known,
        };
        if format.is_some() && (found.is_none() || pattern.is_some()) {
            self.lose(path, "format");
        }
        let mut lengths = ["minLength", "maxLength"]
            .into_iter()
            .filter(|keyword| schema.contains_key(*keyword));
        if found.is_some() {
            lengths.for_each(|keyword| self.lose(path, keyword));
            return Ok(found);
        }
        if lengths.next().is_none() {
            return Ok(None);
        }
        let min = self.count(schema, "minLength", path).unwrap_or(0);
        let max = self.count(schema, "maxLength", path);
        Ok(Some(style.any_char().repeat(min, max)))
    }

    pub fn number(&mut self, schema: &Plain, ty: &str, path: &str) -> Result<Rule> {
        let is_integer = ty == "integer" || schema.get("multipleOf") == Some(&Value::from(1));
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
        let step = |bound: f64, up: bool| match (is_integer, up) {
            (true, true) => (bound + 1.0).floor(),
            (true, false) => (bound - 1.0).ceil(),
            (false, _) => bound,
        };
        let above = bound("exclusiveMinimum").map(|bound| step(bound, true));
        let below = bound("exclusiveMaximum").map(|bound| step(bound, false));
        let min = [bound("minimum"), above].into_iter().flatten().reduce(f64::max);
        let max = [bound("maximum"), below].into_iter().flatten().reduce(f64::min);
        if !is_integer {
            for keyword in ["exclusiveMinimum", "exclusiveMaximum"]
                .into_iter()
                .filter(|keyword| bound(keyword).is_some())
            {
                self.lose(path, keyword);
            }
        }
        let integers = [min.map(f64::ceil), max.map(f64::floor)].map(|bound| bound.map(to_integer));
        let rule = match integers {
            [min, max] if is_integer && min != Some(None) && max != Some(None) => Some(write_integer(min.flatten(), max.flatten())),
            _ => write_number(min, max),
        };
        if let Some(rule) = rule {
            return Ok(rule);
        }
        for keyword in ["minimum", "maximum"]
            .into_iter()
            .filter(|keyword| schema.contains_key(*keyword))
        {
            self.lose(path, keyword);
        }
        Ok(write_number(None, None).unwrap_or(Rule::NEVER))
    }
}
