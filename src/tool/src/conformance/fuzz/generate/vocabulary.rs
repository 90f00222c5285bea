//! The features of the language: the productions that phrases use, the operators, and the built-ins of the crate's tables.
//!
//! ```text
//! production for · operator comparison == · filter upper · test odd · global range · method str.upper
//! ```

use std::collections::BTreeMap;

use super::phrases::Phrases;
use chat_template::internal::{Function, Type};
use chat_template::internal::{filters, globals, jinja_tests, methods};

/// The operators of each production that has some.
pub const OPERATORS: [(&str, &[&str]); 10] = [
    ("conditional", &["if", "else"]),
    ("or", &["or"]),
    ("and", &["and"]),
    ("not", &["not"]),
    ("comparison", &["==", "!=", "<", "<=", ">", ">=", "in", "not"]),
    ("sum", &["+", "-"]),
    ("concat", &["~"]),
    ("product", &["*", "/", "//", "%"]),
    ("power", &["**"]),
    ("unary", &["-", "+"]),
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
    /// Reads the tables and the phrases.
    pub fn new() -> Self {
        let mut features = Vec::new();
        for (production, operators) in OPERATORS {
            features.extend(
                operators
                    .iter()
                    .map(|operator| ("operator", format!("{production} {operator}"))),
            );
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
        vocabulary.phrases = Phrases::new(&mut vocabulary);
        vocabulary
    }

    /// Returns the index of a feature.
    pub fn index(&self, kind: &'static str, name: &str) -> Option<usize> {
        self.indexes.get(&(kind, name.to_owned())).copied()
    }

    /// Returns the index of a production, which is added if it is new.
    pub fn add_production(&mut self, name: &str) -> usize {
        let feature = ("production", name.to_owned());
        let next = self.features.len();
        let index = *self.indexes.entry(feature.clone()).or_insert(next);
        if index == next {
            self.features.push(feature);
        }
        index
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feature_has_an_index() {
        let vocabulary = Vocabulary::new();
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
