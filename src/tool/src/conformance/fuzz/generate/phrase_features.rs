//! The features that a phrase uses, found in its tokens.
//!
//! ```text
//! TEXT|center(WIDTH)     filter center, production filter, production arguments
//! TEXT.upper()           method str.upper, production attribute, production call
//! ```

use super::phrases::{Piece, TypeName};
use super::vocabulary::{OPERATORS, Vocabulary, method_name};
use chat_template::internal::Type;
use chat_template::internal::{globals, methods};

/// The productions of a tag that begins with a word.
const TAGS: [(&str, &[&str]); 11] = [
    (
        "for",
        &[
            "for",
            "target",
            "target_part",
            "conditions",
            "condition",
            "statements",
            "body",
        ],
    ),
    ("if", &["if", "conditions", "condition", "statements", "body"]),
    ("set", &["set", "namespace_target", "namespace_part", "target_part"]),
    ("print", &["print"]),
    ("break", &["break"]),
    ("continue", &["continue"]),
    (
        "macro",
        &["macro", "name_target", "signature", "parameters", "statements", "body"],
    ),
    ("call", &["call_block", "statements", "body", "postfix"]),
    ("generation", &["generation", "statements", "body"]),
    ("filter", &["filter_block", "filter", "dotted_name", "statements", "body"]),
    ("with", &["with", "body"]),
];

/// Filters whose first argument names a filter or a test, and the index of that argument.
const NAMING: [(&str, &str, usize); 5] = [
    ("map", "filter", 0),
    ("select", "test", 0),
    ("reject", "test", 0),
    ("selectattr", "test", 1),
    ("rejectattr", "test", 1),
];

/// Returns the indices of the features that a phrase uses.
pub fn features<'p>(pieces: &[Piece], name: impl Fn(TypeName) -> &'p str, vocabulary: &mut Vocabulary) -> Vec<usize> {
    let texts: Vec<&str> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Token(text, _) => text.as_str(),
            Piece::Hole { of, .. } => name(*of),
            Piece::Text(text) if text.starts_with("{#") => "{#",
            Piece::Text(text) if text.starts_with("{%") => "raw",
            Piece::Text(_) => "",
        })
        .collect();
    let finder = Finder { texts };
    let found = (0..pieces.len()).flat_map(|index| finder.at(index));
    let index = |(kind, name): (&'static str, String)| match kind {
        "production" => Some(vocabulary.add_production(&name)),
        _ => vocabulary.index(kind, &name),
    };
    let mut found: Vec<usize> = found.filter_map(index).collect();
    found.sort_unstable();
    found.dedup();
    found
}

struct Finder<'f> {
    texts: Vec<&'f str>,
}

impl Finder<'_> {
    fn text(&self, index: usize, offset: isize) -> &str {
        let index = index.checked_add_signed(offset);
        index.and_then(|index| self.texts.get(index)).copied().unwrap_or_default()
    }

    fn at(&self, index: usize) -> Vec<(&'static str, String)> {
        let text = self.text(index, 0);
        let before = self.text(index, -1);
        let after = self.text(index, 1);
        let ends_value =
            |text: &str| text.ends_with(|char: char| char.is_alphanumeric() || matches!(char, ')' | ']' | '}' | '\'' | '"'));
        let is_tag = before.starts_with("{%");
        let mut found: Vec<(&'static str, String)> = Vec::new();
        let mut note = |kind: &'static str, name: &str| found.push((kind, name.to_owned()));
        if is_tag {
            if let Some((_, productions)) = TAGS.iter().find(|(word, _)| *word == text) {
                productions
                    .iter()
                    .chain(&["statement", "tag"])
                    .for_each(|production| note("production", production));
            }
        }
        Self::literal(text)
            .iter()
            .for_each(|production| note("production", production));
        match text {
            "{#" => note("production", "COMMENT"),
            "raw" => note("production", "RAW"),
            "|" => {
                note("production", "filter");
                note("filter", after);
            }
            "is" => {
                note("production", "test");
                let name = if after == "not" { 2 } else { 1 };
                note("test", self.text(index, name));
                let argument = self.text(index, name.saturating_add(1));
                if !matches!(argument, "" | "(" | "%}" | "}}" | "and" | "or" | "else") {
                    note("production", "test_argument");
                }
            }
            "." => {
                note("production", "attribute");
                if let Some(method) = self.method(index) {
                    note("method", &method);
                }
            }
            "[" if ends_value(before) => {
                let is_slice = self
                    .texts
                    .iter()
                    .skip(index)
                    .take_while(|text| **text != "]")
                    .any(|text| *text == ":");
                note("production", "subscript");
                if is_slice {
                    note("production", "slice");
                    note("production", "bound");
                }
            }
            "[" => note("production", "list"),
            "{" => {
                note("production", "dict");
                note("production", "pair");
            }
            "=" if self.texts.contains(&"macro") => note("production", "defaults"),
            "=" if self.texts.contains(&"with") => note("production", "binding"),
            "=" if !self.texts.contains(&"set") => {
                note("production", "named");
                note("production", "keyword");
            }
            "*" | "**" if matches!(before, "(" | ",") => {
                note("production", "named");
                note("production", if text == "**" { "named_after_star" } else { "named" });
            }
            "(" if matches!(before, "set" | "for") => note("production", "parenthesised_target"),
            "(" if ends_value(before) => {
                note("production", "call");
                note("production", "arguments");
            }
            "(" => note("production", "parentheses"),
            "filter" if is_tag => note("filter", after),
            "if" | "else" if is_tag => {}
            "in" if self.texts.iter().take(index).any(|text| *text == "for") => {}
            "not" if before == "is" => {}
            "-" | "+" if !ends_value(before) => {
                note("production", "unary");
                note("operator", &format!("unary {text}"));
            }
            "not" if after == "in" => note("operator", "comparison not"),
            "not" => {
                note("production", "not");
                note("operator", "not not");
            }
            _ => {
                for (production, operators) in OPERATORS {
                    if !matches!(production, "unary" | "not") && operators.contains(&text) {
                        note("production", production);
                        note("operator", &format!("{production} {text}"));
                    }
                }
            }
        }
        if before != "." && before != "|" && globals::find(text).is_some() {
            note("global", text);
        }
        if let Some((_, kind, argument)) = NAMING.iter().find(|(name, _, _)| before == "|" && *name == text) {
            // The arguments are tokens and holes with a comma between.
            let offset = argument.saturating_mul(2) + 2;
            let named = self.text(index, isize::try_from(offset).unwrap_or_default());
            note(kind, named.trim_matches('\''));
        }
        found
    }

    /// Returns the productions of a literal.
    fn literal(text: &str) -> &'static [&'static str] {
        match text.as_bytes() {
            [b'\'' | b'"', ..] if text.contains('\\') => &["string", "STRING", "CHARACTER", "ESCAPE"],
            [b'\'' | b'"', ..] => &["string", "STRING", "CHARACTER"],
            [b'0', b'x', ..] => &["INTEGER", "HEX"],
            [b'0', b'o', ..] => &["INTEGER", "OCTAL"],
            [b'0', b'b', ..] => &["INTEGER", "BINARY"],
            [b'0'..=b'9', ..] if text.contains('e') => &["FLOAT", "EXPONENT", "DIGITS"],
            [b'0'..=b'9', ..] if text.contains('.') => &["FLOAT", "DIGITS"],
            [b'0'..=b'9', ..] => &["INTEGER", "DIGIT"],
            _ => &[],
        }
    }

    /// Returns the name of the method after a dot.
    fn method(&self, index: usize) -> Option<String> {
        let name = self.text(index, 1);
        let before = self.texts.get(..index).unwrap_or_default();
        let is_markup = ["safe", "escape", "e"].iter().any(|filter| before.contains(filter));
        let types: &[Type] = match self.text(index, -1) {
            "MARKUP" | "TAGGED" => &[Type::Markup],
            ")" if is_markup => &[Type::Markup],
            ")" if before.contains(&",") => &[Type::Tuple],
            "DICT" | "MEMBERS" | "OBJECT" | "MESSAGE" | "NESTED" | "FLAT" => &[Type::Dict],
            "TEXTS" | "INTS" | "LIST" | "OBJECTS" | "MESSAGES" => &[Type::List],
            "TUPLE" => &[Type::Tuple],
            "CYCLER" => &[Type::Cycler],
            "loop" => &[Type::Loop],
            _ => &[Type::Str, Type::Tuple],
        };
        let find = |ty: &Type| methods::find(*ty, name).map(|method| method_name(*ty, method));
        types.iter().find_map(find)
    }
}
