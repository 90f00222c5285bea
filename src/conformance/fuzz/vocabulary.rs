//! All that a round can hit: the productions of the grammar, and the built-ins by the names that the crate's own tables have.
//!
//! ```text
//! production for · operator comparison == · filter upper · test odd · global range · method str.upper
//! ```

use std::collections::BTreeMap;

use crate::builtins::{filters, globals, jinja_tests, methods};
use crate::ebnf::{Grammar, Production, Rule};
use crate::unsupported::{self, Place};
use crate::value::{Function, Type};

/// The productions whose texts are operators.
const OPERATORS: [&str; 10] = [
    "conditional",
    "or",
    "and",
    "not",
    "comparison",
    "sum",
    "concat",
    "product",
    "power",
    "unary",
];

/// What kind of thing can be hit, as reports call it.
pub const KINDS: [&str; 6] = ["production", "operator", "filter", "test", "global", "method"];

/// The grammar and the tables, and a number for each thing that can be hit.
pub struct Vocabulary {
    /// The grammar.
    pub grammar: Grammar,
    places: BTreeMap<String, usize>,
    /// The kind and the name of each thing.
    things: Vec<(&'static str, String)>,
    numbers: BTreeMap<(&'static str, String), usize>,
}

impl Vocabulary {
    /// Reads grammar and tables.
    ///
    /// # Errors
    /// When the grammar has a fault; a test checks that it has none.
    pub fn new() -> Result<Self, String> {
        let grammar = Grammar::load()?;
        let mut things = Vec::new();
        let is_unsupported = |name: &str| name == "unsupported" || unsupported::find(Place::Statement, name).is_some();
        let productions = grammar.productions().iter().map(|production| &production.name);
        things.extend(
            productions
                .filter(|name| !is_unsupported(name))
                .map(|name| ("production", name.clone())),
        );
        for production in grammar.productions() {
            if OPERATORS.contains(&production.name.as_str()) {
                let mut texts = Vec::new();
                texts_of(&production.rule, &mut texts);
                things.extend(
                    texts
                        .into_iter()
                        .map(|text| ("operator", format!("{} {text}", production.name))),
                );
            }
        }
        things.extend(filters::all().iter().map(|filter| ("filter", filter.name.to_owned())));
        things.extend(jinja_tests::all().iter().map(|test| ("test", test.name.to_owned())));
        things.extend(globals::all().iter().map(|global| ("global", global.name.to_owned())));
        for ty in methods::types() {
            for method in methods::all(ty) {
                let thing = ("method", method_name(ty, method));
                if !things.contains(&thing) {
                    things.push(thing);
                }
            }
        }
        let numbers = things
            .iter()
            .cloned()
            .enumerate()
            .map(|(number, thing)| (thing, number))
            .collect();
        let places = grammar.productions().iter().enumerate();
        Ok(Self {
            places: places.map(|(place, production)| (production.name.clone(), place)).collect(),
            grammar,
            things,
            numbers,
        })
    }

    /// The production of that name.
    pub fn production(&self, name: &str) -> Option<&Production> {
        self.grammar.productions().get(*self.places.get(name)?)
    }

    /// The number of a thing, if it is one.
    pub fn number(&self, kind: &'static str, name: &str) -> Option<usize> {
        self.numbers.get(&(kind, name.to_owned())).copied()
    }

    /// Whether the production has this operator.
    pub fn is_operator(&self, production: &str, text: &str) -> bool {
        self.number("operator", &format!("{production} {text}")).is_some()
    }

    /// All things, by their numbers.
    pub fn things(&self) -> &[(&'static str, String)] {
        &self.things
    }
}

/// A method as reports name it.
pub fn method_name(ty: Type, method: &Function) -> String {
    let ty = match ty {
        Type::Bool => Type::Int,
        Type::Group => Type::Tuple,
        Type::Items => Type::Keys,
        ty => ty,
    };
    format!("{}.{}", ty.name(), method.name)
}

fn texts_of(rule: &Rule, texts: &mut Vec<String>) {
    match rule {
        Rule::Text(text) if !texts.contains(text) => texts.push(text.clone()),
        Rule::Sequence(rules) | Rule::Choice(rules) => rules.iter().for_each(|rule| texts_of(rule, texts)),
        Rule::Optional(rule) | Rule::Repeated(rule) => texts_of(rule, texts),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_has_a_number() {
        let vocabulary = Vocabulary::new().unwrap();
        let method = methods::find(Type::Str, "upper").unwrap();
        for (kind, name) in [
            ("production", "for"),
            ("operator", "power **"),
            ("filter", "tojson"),
            ("global", "range"),
        ] {
            assert!(vocabulary.number(kind, name).is_some(), "{name}");
        }
        assert!(vocabulary.number("method", &method_name(Type::Str, method)).is_some());
        assert!(OPERATORS.iter().all(|name| vocabulary.production(name).is_some()));
        assert!(vocabulary.things().iter().all(|(kind, _)| KINDS.contains(kind)));
    }
}
