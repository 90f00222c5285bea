//! The variables that a template is rendered with.

use super::Value;
use super::dict::Dict;
use super::str::Str;
use crate::text::short_eq::is_equal;

/// The variables that a template is rendered with, borrowed from where they are. The first of these places that has a name decides.
#[derive(Clone, Debug, Default)]
pub struct Given<'a> {
    /// Arguments, which nothing replaces.
    pub arguments: Option<[(&'static str, Value<'a>); 4]>,
    /// The variables of the caller.
    pub variables: Option<Dict<'a>>,
    /// The names and strings of special tokens. They are few.
    pub tokens: &'a [(String, String)],
}

impl<'a> Given<'a> {
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        if let Some(arguments) = &self.arguments {
            if let Some((_, value)) = arguments.iter().find(|(argument, _)| is_equal(argument, name)) {
                return Some(*value);
            }
        }
        let variable = self.variables.as_ref().and_then(|variables| variables.get_str(name));
        variable.or_else(|| {
            // The last of equal names replaces the others, as in a Python dict.
            let token = self.tokens.iter().rev().find(|(token, _)| is_equal(token, name));
            token.map(|(_, text)| Value::text(text))
        })
    }

    pub fn set(&mut self, name: &str, value: Value<'a>) {
        let mut arguments = self.arguments.iter_mut().flatten();
        if let Some((_, old)) = arguments.find(|(argument, _)| *argument == name) {
            *old = value;
        }
    }

    /// Returns the names and values, also of variables that another one replaces.
    pub fn iter(&self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> {
        let arguments = self.arguments.iter().flatten();
        let arguments = arguments.map(|(name, value)| (Value::Str(Str::from(*name)), *value));
        let tokens = self.tokens.iter().map(|(name, text)| (Value::text(name), Value::text(text)));
        let variables = self.variables.iter().flat_map(Dict::iter);
        arguments.chain(tokens).chain(variables)
    }
}
