//! The features of the language: the productions and operators of the grammar, and the built-ins of the crate's tables.
//!
//! ```text
//! production for · operator comparison == · filter upper · test odd · global range · method str.upper
//! ```

use std::collections::BTreeMap;

use super::phrases::Phrases;
use crate::ebnf::{Grammar, Rule};
use chat_template::internal::{Function, Type};
use chat_template::internal::{Place, find_unsupported};
use chat_template::internal::{filters, globals, jinja_tests, methods};

/// The productions whose literal texts are operators.
pub const OPERATORS: [&str; 10] = [
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

/// The kinds of features, as reports name them.
pub const KINDS: [&str; 6] = ["production", "operator", "filter", "test", "global", "method"];

/// The phrases, and an index for each feature.
pub struct Vocabulary {
    pub phrases: Phrases,
    /// The kind and the name of each feature.
    features: Vec<(&'static str, String)>,
    indexes: BTreeMap<(&'static str, String), usize>,
}

impl Vocabulary {
    /// Reads the grammar and the tables.
    ///
    /// # Errors
    /// Returns a message if the grammar cannot be read. A test reads it.
    pub fn new() -> Result<Self, String> {
        let grammar = Grammar::load()?;
        let mut features = Vec::new();
        let is_unsupported = |name: &str| name == "unsupported" || find_unsupported(Place::Statement, name).is_some();
        let productions = grammar.productions().iter().map(|production| &production.name);
        features.extend(
            productions
                .filter(|name| !is_unsupported(name))
                .map(|name| ("production", name.clone())),
        );
        for production in grammar.productions() {
            if OPERATORS.contains(&production.name.as_str()) {
                let mut texts = Vec::new();
                texts_of(&production.rule, &mut texts);
                features.extend(
                    texts
                        .into_iter()
                        .map(|text| ("operator", format!("{} {text}", production.name))),
                );
            }
        }
        features.extend(filters::all().iter().map(|filter| ("filter", filter.name.to_owned())));
        features.extend(jinja_tests::all().iter().map(|test| ("test", test.name.to_owned())));
        features.extend(globals::all().iter().map(|global| ("global", global.name.to_owned())));
        for ty in methods::types() {
            for method in methods::all(ty) {
                let feature = ("method", method_name(ty, method));
                if !features.contains(&feature) {
                    features.push(feature);
                }
            }
        }
        let indexes = features
            .iter()
            .cloned()
            .enumerate()
            .map(|(index, feature)| (feature, index))
            .collect();
        let mut vocabulary = Self {
            features,
            indexes,
            phrases: Phrases::default(),
        };
        vocabulary.phrases = Phrases::new(&vocabulary);
        Ok(vocabulary)
    }

    /// Returns the index of a feature.
    pub fn index(&self, kind: &'static str, name: &str) -> Option<usize> {
        self.indexes.get(&(kind, name.to_owned())).copied()
    }

    /// Returns the kind and the name of each feature.
    pub fn features(&self) -> &[(&'static str, String)] {
        &self.features
    }
}

/// Returns the name of a method in reports.
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
    fn each_feature_has_an_index() {
        let vocabulary = Vocabulary::new().unwrap();
        let method = methods::find(Type::Str, "upper").unwrap();
        for (kind, name) in [
            ("production", "for"),
            ("operator", "power **"),
            ("filter", "tojson"),
            ("global", "range"),
        ] {
            assert!(vocabulary.index(kind, name).is_some(), "{name}");
        }
        assert!(vocabulary.index("method", &method_name(Type::Str, method)).is_some());
        assert!(vocabulary.features().iter().all(|(kind, _)| KINDS.contains(kind)));
    }
}
