//! The tokens and literals that the walk writes, and what it writes for the descriptions between question marks.
//!
//! ```text
//! a primary that should be a small integer     3
//! a primary that should be a range             range(3)
//! ```

use super::callee::{Callee, Wish};
use super::sentence::NO_ARGUMENT;
use super::types::{EXPRESSION_TYPES, expressions_of};
use super::walk::{Known, Walker};
use crate::ebnf::Rule;
use chat_template::internal::Type;
use chat_template::internal::{filters, jinja_tests};

/// Pieces of template text.
const PIECES: [&str; 20] = [
    "a",
    "text",
    "\n",
    "\n  ",
    "  ",
    " \n",
    "x\n",
    "\n\n",
    "é",
    "<b>&",
    "{",
    "}",
    " }} ",
    "%}",
    "#}",
    "\t",
    "\r\n",
    "\u{a0}\n",
    "a\n  b\n    ",
    "😀",
];

/// String literals.
const LITERALS: [&str; 28] = [
    "''",
    "'a'",
    "'b'",
    "\"ab\"",
    "', '",
    "' '",
    "'\\n'",
    "'%s'",
    "'%d'",
    "'%5.2f|%x'",
    "'%(a)s'",
    "'{}'",
    "'{0:>5}{1}'",
    "'{a}'",
    "'<b>'",
    "\"it's\"",
    "'é'",
    "'A b'",
    "'1'",
    "'-2.5'",
    "'a b c'",
    "'abc abc'",
    "'&amp;'",
    "'\\u00e9\\x41\\101'",
    "'x\\\\y\\d'",
    "'user'",
    "'{{'",
    "'{:d}'",
];

const ATTRIBUTES: [&str; 12] = [
    "'a'",
    "'b'",
    "'x'",
    "'role'",
    "'content'",
    "'name'",
    "0",
    "'a.b'",
    "'0'",
    "'upper'",
    "'nope'",
    "'items'",
];
const COUNTS: [&str; 14] = ["0", "1", "2", "3", "4", "5", "8", "12", "20", "-1", "-2", "2", "3", "1"];
const EXPONENTS: [&str; 9] = ["0", "1", "2", "3", "10", "-1", "0.5", "'a'", "2.0"];
const PAIRS: [&str; 6] = [
    "{'a': 1, 'b': 'x'}",
    "{'a': 1}.items()",
    "[('a', 1), ('b', [2])]",
    "{}",
    "[(1, 2)]",
    "{'x': none, 'y': '<'}.items()",
];

impl<'w> Walker<'w> {
    /// Writes a token. Names and literals are usually chosen to fit their place, and are otherwise spelled by the grammar.
    pub(super) fn token(&mut self, name: &str, rule: &'w Rule) {
        match name {
            "NAME" => return self.name(rule),
            "STRING" if self.random.happens(75) => {
                let text = self.random.text(&LITERALS);
                return self.push_token(text);
            }
            "TEXT" => {
                let text = self.random.text(&PIECES);
                return self.sentence.push(text, "");
            }
            "INTEGER" => self.last = Known::of(Type::Int),
            "FLOAT" => self.last = Known::of(Type::Float),
            _ => {}
        }
        let first = self.sentence.tokens.len();
        self.rule(rule);
        // The characters that the grammar spells form one token.
        let pieces: Vec<String> = self
            .sentence
            .tokens
            .drain(first.min(self.sentence.tokens.len())..)
            .map(|token| token.text)
            .collect();
        self.sentence.stretches.retain(|stretch| stretch.end <= first);
        for part in self.sentence.uses.iter_mut().filter(|part| part.end > first) {
            (part.start, part.end) = (first, first + 1);
        }
        let within = self.within(1);
        if matches!(
            name,
            "DIGITS" | "DIGIT" | "NONZERO" | "HEX" | "OCTAL" | "BINARY" | "EXPONENT" | "CHARACTER" | "ESCAPE" | "BLANKS"
        ) || within.starts_with(|char: char| char.is_ascii_uppercase())
        {
            self.sentence.push(&pieces.concat(), "");
            return;
        }
        let text = pieces.concat();
        match name {
            "VARIABLE_BEGIN" | "BLOCK_BEGIN" | "COMMENT" | "RAW" => self.sentence.push(&text, ""),
            _ => self.push_token(&text),
        }
    }

    /// Returns the space before a token of a tag.
    pub(super) fn space(&mut self, text: &str) -> &'static str {
        let after = self
            .sentence
            .tokens
            .last()
            .map(|token| token.text.as_str())
            .unwrap_or_default();
        if matches!(text, "." | "," | ")" | "]" | "(" | "[" | ":") || matches!(after, "." | "(" | "[" | "|") {
            return "";
        }
        match self.random.below(60) {
            0 => "\n",
            1 => "\n  ",
            2 => "",
            3 => "\t",
            _ => " ",
        }
    }

    pub(super) fn push_token(&mut self, text: &str) {
        let space = self.space(text);
        self.sentence.push(text, space);
    }

    pub(super) fn special(&mut self, text: &str) {
        const SAMPLES: [(&str, &[&str]); 8] = [
            ("text without the end of a comment", &["c", " {{ a }} ", "", "\n"]),
            (
                "text without the end of a raw block",
                &["", "{{ a }}", "{% if %}", "\n", "\n  x\n", "-%}"],
            ),
            ("a blank: Python's \\s", &["\n", "\t", "\u{85}", "\u{3000}"]),
            (
                "word characters, and those of jinja2 _identifier.py, that are a Python identifier",
                &["a", "b2", "message", "e\u{301}"],
            ),
            (
                "any character but a backslash and quotes",
                &["a", "b", " ", "<", "%}", "😀", "\n", "%s", "{}"],
            ),
            ("a line feed", &["\n"]),
            ("four hexadecimal digits, no surrogate", &["00e9", "FFFD", "0041"]),
            (
                "eight hexadecimal digits, no surrogate, at most 0010ffff",
                &["0001f600", "0010FFFF"],
            ),
        ];
        if text.starts_with("no name but else") {
            return self.sentence.push(NO_ARGUMENT, "");
        }
        // The other descriptions are conditions on the next token, which a template may break.
        if let Some((_, samples)) = SAMPLES.iter().find(|(name, _)| *name == text) {
            let sample = self.random.text(samples);
            self.sentence.push(sample, "");
        }
    }

    /// Writes a primary. It usually has the wanted value; sometimes it has a type that no literal has.
    pub(super) fn primary(&mut self, rule: &'w Rule) {
        let wish = std::mem::take(&mut self.wish);
        let text = match wish {
            _ if self.random.happens(8) => None,
            Wish::Count => Some(self.random.text(&COUNTS)),
            Wish::Exponent => Some(self.random.text(&EXPONENTS)),
            Wish::Attribute if self.random.happens(80) => Some(self.random.text(&ATTRIBUTES)),
            Wish::Pairs if self.random.happens(75) => Some(self.random.text(&PAIRS)),
            _ => None,
        };
        if let Some(text) = text {
            self.last = Known::default();
            return self.push_tokens(text);
        }
        let name = match wish {
            Wish::OneOf(texts) if self.random.happens(90) => Some(self.random.text(texts)),
            Wish::Filter if self.random.happens(90) => self.random.pick(filters::all()).map(|filter| filter.name),
            Wish::Test if self.random.happens(90) => self.random.pick(jinja_tests::all()).map(|test| test.name),
            _ => None,
        };
        if let Some(name) = name {
            self.last = Known::of(Type::Str);
            match wish {
                Wish::Filter => self.note("filter", name),
                Wish::Test => self.note("test", name),
                _ => {}
            }
            return self.push_token(&format!("'{name}'"));
        }
        let special = match wish {
            Wish::Of(ty) if !expressions_of(ty).is_empty() && self.random.happens(60) => Some(ty),
            _ if self.random.happens(7) => self.random.pick(&EXPRESSION_TYPES).copied(),
            _ => None,
        };
        if let Some(ty) = special {
            let text = self.random.text(expressions_of(ty));
            self.push_tokens(text);
            self.last = Known::of(ty);
            if ty == Type::Method {
                self.last.callee = Some(Callee::default());
            }
            return;
        }
        self.wish = wish;
        self.last = Known::default();
        self.rule(rule);
        self.wish = Wish::Any;
    }

    /// Writes the tokens of an expression. Its only spaces are between tokens and in strings.
    fn push_tokens(&mut self, text: &str) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = match first {
                ' ' => {
                    rest = rest.get(1..).unwrap_or_default();
                    continue;
                }
                '\'' => rest
                    .get(1..)
                    .and_then(|inner| inner.find('\''))
                    .map_or(rest.len(), |end| end + 2),
                '0'..='9' => rest
                    .find(|char: char| !char.is_ascii_digit() && char != '.')
                    .unwrap_or(rest.len()),
                first if first.is_alphanumeric() => rest
                    .find(|char: char| !char.is_alphanumeric() && char != '_')
                    .unwrap_or(rest.len()),
                '*' => rest.find(|char| char != '*').unwrap_or(rest.len()),
                first => first.len_utf8(),
            };
            let (token, left) = rest.split_at_checked(length).unwrap_or((rest, ""));
            self.push_token(token);
            rest = left;
        }
    }
}
