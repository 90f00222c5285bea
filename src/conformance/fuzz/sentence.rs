//! A template as tokens, with the stretches that productions wrote: what can be broken, and what can be made smaller.
//!
//! ```text
//! {{ x |upper }}     tokens `{{` `x` `|` `upper` `}}`, and among the stretches: an expression, something that may be absent
//! ```

use super::rng::Rng;

/// A token and what stands before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// Its text; a piece of template text or a whole comment is one token.
    pub text: String,
    /// What is between it and the token before where that is inside the same tag.
    pub space: &'static str,
}

/// What a stretch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Something that the grammar lets be absent, or repeats.
    Absent,
    /// An expression.
    Expression,
    /// The body of a statement, or of the template.
    Body,
}

/// A stretch of tokens.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// What it is.
    pub part: Part,
    /// Its first token.
    pub start: usize,
    /// The token behind it.
    pub end: usize,
}

/// A template.
#[derive(Clone, Debug, Default)]
pub struct Sentence {
    /// Its tokens.
    pub tokens: Vec<Token>,
    /// What the productions wrote, the inner ones first.
    pub stretches: Vec<Stretch>,
}

/// Marks a comma that may only stand before what closes.
pub const CLOSING: &str = "\u{1}";

/// Marks the end of a test without arguments.
pub const NO_ARGUMENT: &str = "\u{2}";

impl Sentence {
    /// Adds a token.
    pub fn push(&mut self, text: &str, space: &'static str) {
        self.tokens.push(Token {
            text: text.to_owned(),
            space,
        });
    }

    /// Says what the tokens from `start` on are.
    pub fn mark(&mut self, part: Part, start: usize) {
        let end = self.tokens.len();
        if start < end {
            self.stretches.push(Stretch { part, start, end });
        }
    }

    /// Keeps the conditions on what follows: takes away the commas that stand where no comma may, and gives a test parentheses that would
    /// else take what follows for its argument.
    pub fn settle(&mut self) {
        for place in 0..self.tokens.len() {
            let next = self
                .tokens
                .get(place.saturating_add(1))
                .map(|next| next.text.clone())
                .unwrap_or_default();
            let closes = next.starts_with(')') || next.ends_with('}') && !next.starts_with(['"', '\'']);
            let is_argument = next.starts_with(|char: char| char.is_alphanumeric() || "_'\"([{".contains(char));
            let Some(token) = self.tokens.get_mut(place) else { break };
            match token.text.as_str() {
                CLOSING => token.text = if closes { ",".to_owned() } else { String::new() },
                NO_ARGUMENT => {
                    let is_needed = is_argument && !matches!(next.as_str(), "else" | "or" | "and");
                    token.text = if is_needed { "()".to_owned() } else { String::new() };
                }
                _ => {}
            }
        }
    }

    /// Breaks it: drops, doubles, swaps or cuts a token.
    pub fn break_one(&mut self, random: &mut Rng) {
        let place = random.below(self.tokens.len());
        let next = place.saturating_add(1);
        let Some(token) = self.tokens.get(place).cloned() else {
            return;
        };
        match random.below(5) {
            0 => self.replace(place, String::new()),
            1 => self.replace(place, format!("{} {}", token.text, token.text)),
            2 if next < self.tokens.len() => self.tokens.swap(place, next),
            3 => {
                let other = random.below(self.tokens.len());
                let text = self.tokens.get(other).map(|token| token.text.clone()).unwrap_or_default();
                self.replace(place, text);
            }
            _ => {
                let end = random.below(token.text.chars().count());
                self.replace(place, token.text.chars().take(end).collect());
            }
        }
    }

    /// Puts another text in a token's place.
    pub fn replace(&mut self, place: usize, text: String) {
        if let Some(token) = self.tokens.get_mut(place) {
            token.text = text;
        }
    }

    /// The source.
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

/// Whether two tokens would be other ones without something between them.
fn needs_space(before: &str, next: &str) -> bool {
    let is_of_word = |char: char| char.is_alphanumeric() || char == '_';
    match (before.chars().next_back(), next.chars().next()) {
        (Some(last), Some(first)) if is_of_word(last) => is_of_word(first) || first == '.',
        (Some('.'), Some(first)) => first.is_numeric(),
        (Some(last), Some(first)) => {
            let joins = |char: char| !is_of_word(char) && !matches!(char, '(' | ')' | '[' | ']' | ',' | '|' | ':' | '"' | '\'');
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

    #[test]
    fn a_trailing_comma_stands_before_what_closes() {
        let mut tuple = sentence(&["{{", "1", "\u{1}", "}}", "{%", "if", "1", "\u{1}", "in", "%}"]);
        tuple.settle();
        assert_eq!(tuple.source(), "{{1,}}{%if 1 in%}");
        let mut test = sentence(&[
            "{{", "1", "is", "odd", "\u{2}", "if", "1", "is", "odd", "\u{2}", "else", "2", "}}",
        ]);
        test.settle();
        assert_eq!(test.source(), "{{1 is odd()if 1 is odd else 2}}");
    }
}
