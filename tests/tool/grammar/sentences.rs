//! Tests that the parser accepts sentences made from `grammar/template.ebnf`, and that each function of the parser has a production.
//!
//! Text between question marks in the grammar describes either a token that the notation cannot express, for which there are samples, or
//! a condition on the text that follows. Productions in upper case are tokens, whose parts have no blanks between them.

use super::ebnf::{Grammar, Rule};
use chat_template::internal::fuzzing::check_syntax;

const SOURCES: [&str; 9] = [
    include_str!("../../../src/parser/expression.rs"),
    include_str!("../../../src/parser/mod.rs"),
    include_str!("../../../src/parser/postfix.rs"),
    include_str!("../../../src/parser/primary.rs"),
    include_str!("../../../src/parser/scope_tag.rs"),
    include_str!("../../../src/parser/statement.rs"),
    include_str!("../../../src/parser/target.rs"),
    include_str!("../../../src/parser/tag.rs"),
    include_str!("../../../src/parser/unsupported_tag.rs"),
];

/// The samples for each text between question marks.
const SAMPLES: [(&str, &[&str]); 12] = [
    ("the same name", &[""]),
    ("no name but else, or, and; no literal; no opening bracket", &[NO_ARGUMENT]),
    ("directly before a closing delimiter or parenthesis", &[CLOSING]),
    (
        "text without an opening delimiter",
        &["text", "a }} b %} c #}", "{", "\n\n", "é"],
    ),
    ("text without the end of a comment", &["c", " {{ a }} {# ", "", "\n-"]),
    ("text without the end of a raw block", &["", "{{ a }}", "{% endraw", "\n"]),
    ("a blank: Python's \\s", &["\n", "\t", "\u{85}", "\u{3000}"]),
    (
        "word characters, and those of jinja2 _identifier.py, that are a Python identifier",
        &["a", "b2", "message", "e\u{301}"],
    ),
    ("any character but a backslash and quotes", &["a", "%}", "😀", "\n"]),
    ("a line feed", &["\n"]),
    ("four hexadecimal digits, no surrogate", &["00e9", "FFFD"]),
    (
        "eight hexadecimal digits, no surrogate, at most 0010ffff",
        &["0001f600", "0010FFFF"],
    ),
];

/// A placeholder for the condition on the text after a test without arguments.
const NO_ARGUMENT: &str = "\u{1}";
/// A placeholder for the condition on the text after a trailing comma.
const CLOSING: &str = "\u{2}";

/// A generator of sentences of the grammar.
struct Generator {
    grammar: Grammar,
    state: u64,
    sentence: String,
}

impl Generator {
    fn new() -> Self {
        Self {
            grammar: Grammar::load().expect("the grammar is read"),
            state: 0x9e37_79b9_7f4a_7c15,
            sentence: String::new(),
        }
    }

    /// Returns a pseudorandom number below `bound`, by xorshift.
    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 33) as usize % bound
    }

    fn production(&mut self, name: &str, depth: usize, is_token: bool) {
        let place = self.grammar.find(name).unwrap_or_else(|| panic!("no production {name}"));
        let rule = self.grammar.productions()[place].rule.clone();
        let is_token_begun = is_token || name.starts_with(|char: char| char.is_ascii_uppercase());
        if is_token_begun && !is_token {
            self.sentence.push(' ');
        }
        self.extend(&rule, depth, is_token_begun);
    }

    fn extend(&mut self, rule: &Rule, depth: usize, is_token: bool) {
        let is_large = depth > 70 || self.sentence.len() > 500;
        match rule {
            Rule::Text(text) => {
                if !is_token {
                    self.sentence.push(' ');
                }
                self.sentence.push_str(text);
            }
            Rule::Special(text) => {
                let samples = SAMPLES.iter().find(|(name, _)| name == text);
                let (_, samples) = samples.unwrap_or_else(|| panic!("no samples for {text}"));
                let chosen = self.below(samples.len());
                self.sentence.push_str(samples[chosen]);
            }
            Rule::Name(name) => self.production(name, depth + 1, is_token),
            Rule::Sequence(parts) => parts.iter().for_each(|part| self.extend(part, depth, is_token)),
            Rule::Choice(alternatives) if is_large => {
                let lowest = alternatives.iter().min_by_key(|rule| self.grammar.height(rule));
                self.extend(lowest.expect("an alternative"), depth, is_token);
            }
            Rule::Choice(alternatives) => {
                let chosen = self.below(alternatives.len());
                self.extend(&alternatives[chosen], depth, is_token);
            }
            Rule::Optional(rule) => {
                if !is_large && self.below(3) == 0 {
                    self.extend(rule, depth, is_token);
                }
            }
            Rule::Repeated(rule) => {
                while self.sentence.len() < 500 && depth < 70 && self.below(6) == 0 {
                    self.extend(rule, depth, is_token);
                }
            }
        }
    }

    /// Returns a sentence that meets the conditions of its placeholders, without the placeholders.
    fn sentence(&mut self, start: &str) -> String {
        loop {
            self.sentence.clear();
            self.production(start, 0, false);
            let keeps =
                |mark, condition: fn(&str) -> bool| self.sentence.split(mark).skip(1).all(|rest| condition(rest.trim_start()));
            if keeps(NO_ARGUMENT, begins_no_argument) && keeps(CLOSING, begins_with_closer) {
                return self
                    .sentence
                    .replace([NO_ARGUMENT, CLOSING].map(|mark| mark.chars().next().unwrap()), "");
            }
        }
    }
}

fn begins_no_argument(rest: &str) -> bool {
    let word = rest.split(|char: char| !char.is_alphanumeric()).next().unwrap_or_default();
    matches!(word, "else" | "or" | "and") || (word.is_empty() && !rest.starts_with(['(', '[', '{', '\'', '"']))
}

fn begins_with_closer(rest: &str) -> bool {
    ["%}", "-%}", "+%}", "}}", "-}}", ")"]
        .iter()
        .any(|closer| rest.starts_with(closer))
}

#[test]
fn the_parser_accepts_sentences_of_the_grammar() {
    let mut generator = Generator::new();
    for round in 0..3000 {
        let start = ["template", "statement", "output"][round % 3];
        let sentence = generator.sentence(start);
        if let Err(error) = check_syntax(&sentence) {
            panic!("{error}\n{sentence}");
        }
    }
}

#[test]
fn each_function_of_the_parser_has_a_production() {
    let grammar = Grammar::load().expect("the grammar is read");
    for rest in SOURCES.iter().flat_map(|source| source.split("fn parse_").skip(1)) {
        let name = rest.split('(').next().unwrap_or_default();
        assert!(grammar.find(name).is_some(), "no production {name}");
    }
}
