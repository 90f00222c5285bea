//! A template as a list of tokens, with the ranges of tokens that productions wrote.
//!
//! ```text
//! {{ x |upper }}     tokens `{{` `x` `|` `upper` `}}`; ranges: an expression, an optional part
//! ```

use super::rng::Rng;

/// A token, and the space before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// The text of the token. Template text between tags and a whole comment are one token each.
    pub text: String,
    /// The space between this token and the one before, if both are in one tag.
    pub space: &'static str,
}

/// What a range of tokens is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An optional or repeated part of a production.
    Optional,
    Expression,
}

/// A range of tokens that a production wrote.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    pub part: Part,
    pub start: usize,
    /// The index after the last token.
    pub end: usize,
}

/// A range of tokens that uses features of the language.
#[derive(Clone, Debug)]
pub struct Use {
    /// The indices of the features in the vocabulary.
    pub features: Vec<usize>,
    pub start: usize,
    /// The index after the last token.
    pub end: usize,
    /// The range of tokens that stays if the features are removed: the value that a filter is applied to, for example.
    pub kept: Option<(usize, usize)>,
}

/// A template as a list of tokens.
#[derive(Clone, Debug, Default)]
pub struct Sentence {
    pub tokens: Vec<Token>,
    /// The ranges that productions wrote. An inner range comes before the ranges around it.
    pub stretches: Vec<Stretch>,
    pub uses: Vec<Use>,
}

/// Expressions of types that few phrases have.
const ODD: [&str; 30] = [
    "('<b>'|safe)",
    "('a&b <i>'|escape)",
    "(1, 'a')",
    "()",
    "([{'a': 1}, {'a': 2}, {'a': 1}]|groupby('a')|first)",
    "{'a': 1, 'b': 2}.keys()",
    "{'a': 1, 'b': 2}.values()",
    "{'a': 'x'}.items()",
    "range(5, 0, -2)",
    "range(0)",
    "nope",
    "(1 if false)",
    "none",
    "true",
    "-1",
    "2.5",
    "1e16",
    "[]",
    "{}",
    "''",
    "(['a', 'b']|map('upper'))",
    "('ab'|batch(1))",
    "([1, 2]|reverse)",
    "({'a': 1, 'b': 2}|reverse)",
    "namespace(a=1, b='x')",
    "cycler('a', 'b')",
    "joiner('; ')",
    "dict",
    "'a'.upper",
    "loop",
];

impl Sentence {
    /// Adds a token.
    pub fn push(&mut self, text: &str, space: &'static str) {
        self.tokens.push(Token {
            text: text.to_owned(),
            space,
        });
    }

    /// Records the kind of the range from `start` to the end.
    pub fn mark(&mut self, part: Part, start: usize) {
        let end = self.tokens.len();
        if start < end {
            self.stretches.push(Stretch { part, start, end });
        }
    }

    /// Changes one token: drops, doubles, swaps, cuts or replaces it.
    pub fn mutate(&mut self, random: &mut Rng) {
        let place = random.below(self.tokens.len());
        let next = place + 1;
        let Some(token) = self.tokens.get(place).cloned() else {
            return;
        };
        match random.below(9) {
            0 => self.replace(place, String::new()),
            1 => self.replace(place, format!("{} {}", token.text, token.text)),
            2 if next < self.tokens.len() => self.tokens.swap(place, next),
            3 => {
                let end = random.below(token.text.chars().count());
                self.replace(place, token.text.chars().take(end).collect());
            }
            4 | 5 => {
                let other = random.below(self.tokens.len());
                let text = self.tokens.get(other).map(|token| token.text.clone()).unwrap_or_default();
                self.replace(place, text);
            }
            // A value of a type that most places do not take.
            _ => {
                let is_value = |token: &Token| {
                    token
                        .text
                        .starts_with(|char: char| char.is_alphanumeric() || "'\"".contains(char))
                };
                let places = self.tokens.iter().enumerate().filter(|(_, token)| is_value(token));
                let places: Vec<usize> = places.map(|(place, _)| place).collect();
                let place = random.pick(&places).copied().unwrap_or(place);
                self.replace(place, random.text(&ODD).to_owned());
            }
        }
    }

    /// Replaces the text of a token.
    pub fn replace(&mut self, place: usize, text: String) {
        if let Some(token) = self.tokens.get_mut(place) {
            token.text = text;
        }
    }

    /// Returns the source of the template.
    pub fn source(&self) -> String {
        let mut source = String::new();
        let mut is_inside = false;
        for token in self.tokens.iter().filter(|token| !token.text.is_empty()) {
            let text = token.text.as_str();
            if is_inside && needs_space(&source, text) {
                source.push_str(match token.space {
                    "" => " ",
                    space => space,
                });
            } else if is_inside {
                source.push_str(token.space);
            }
            source.push_str(text);
            is_inside = match text {
                "{{" | "{{-" | "{{+" | "{%" | "{%-" | "{%+" => true,
                "}}" | "-}}" | "%}" | "-%}" | "+%}" => false,
                _ => is_inside,
            };
        }
        source
    }
}

/// Returns whether two adjacent tokens would be read as other tokens.
fn needs_space(before: &str, next: &str) -> bool {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    match (before.chars().next_back(), next.chars().next()) {
        (Some(last), Some(first)) if is_word(last) => {
            let word = before.rsplit(|char: char| !is_word(char)).next().unwrap_or_default();
            is_word(first) || first == '.' && word.starts_with(|char: char| char.is_ascii_digit())
        }
        (Some('.'), Some(first)) => first.is_numeric(),
        (Some(last), Some(first)) => {
            let joins = |char: char| !is_word(char) && !matches!(char, '(' | ')' | '[' | ']' | ',' | '|' | ':' | '"' | '\'');
            joins(last) && joins(first)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(tokens: &[&str]) -> Sentence {
        let mut sentence = Sentence::default();
        tokens.iter().for_each(|token| sentence.push(token, ""));
        sentence
    }

    #[test]
    fn tokens_stay_apart() {
        let source = sentence(&[
            "a", "{{", "1", ".", "real", "-", "-", "x", "if", "{", "}", "}}", " b", "{%", "print", "'a'", "%}",
        ])
        .source();
        assert_eq!(source, "a{{1 .real- -x if{ } }} b{%print'a'%}");
    }
}
