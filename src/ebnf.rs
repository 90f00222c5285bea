//! Reads the notation of `grammar/template.ebnf`, so that sentences can be made of the grammar itself.
//!
//! ```text
//! print = "print", [ expression, { ",", expression } ] ;
//! ```
//!
//! The notation is ISO 14977's: `"a"`, `[ … ]`, `{ … }`, `( … | … )`, `? … ?`, and comments. What stands between question marks is
//! either a token that the notation cannot spell or a condition on what follows; whoever makes sentences has to know it. It deliberately
//! knows nothing of what a production means.

/// The grammar of templates.
const TEMPLATE: &str = include_str!("../grammar/template.ebnf");

/// The right side of a production, or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// `"a"`
    Text(String),
    /// `? … ?`
    Special(String),
    /// Another production.
    Name(String),
    /// `a, b`
    Sequence(Vec<Rule>),
    /// `a | b`
    Choice(Vec<Rule>),
    /// `[ a ]`
    Optional(Box<Rule>),
    /// `{ a }`
    Repeated(Box<Rule>),
}

/// Productions in the order of their text.
#[derive(Clone, Debug)]
pub struct Grammar {
    productions: Vec<Production>,
}

/// A production.
#[derive(Clone, Debug)]
pub struct Production {
    /// Its name; a token's is in upper case.
    pub name: String,
    /// What it stands for.
    pub rule: Rule,
    /// How many productions are at least inside each other in its smallest sentence.
    pub height: usize,
}

impl Grammar {
    /// The grammar of templates.
    ///
    /// # Errors
    /// When its text has a fault; a test checks that it has none.
    pub fn load() -> Result<Self, String> {
        Self::read(TEMPLATE)
    }

    /// Reads productions.
    ///
    /// # Errors
    /// When the notation is not kept, a name stands for nothing or for two things, or a production has no sentence.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut grammar = Self {
            productions: Reader { rest: text }.read_productions()?,
        };
        let names: Vec<&str> = grammar
            .productions
            .iter()
            .map(|production| production.name.as_str())
            .collect();
        for (place, name) in names.iter().enumerate() {
            if names.iter().take(place).any(|other| other == name) {
                return Err(format!("{name} is there twice"));
            }
        }
        grammar.compute_heights()?;
        Ok(grammar)
    }

    /// All productions.
    pub fn productions(&self) -> &[Production] {
        &self.productions
    }

    /// The place of a production among all of them.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.productions.iter().position(|production| production.name == name)
    }

    /// How many productions are at least inside each other in the smallest sentence of a rule; none where it is not known.
    pub fn height(&self, rule: &Rule) -> Option<usize> {
        match rule {
            Rule::Text(_) | Rule::Special(_) | Rule::Optional(_) | Rule::Repeated(_) => Some(0),
            Rule::Name(name) => {
                let production = self.productions.get(self.find(name)?)?;
                (production.height > 0).then_some(production.height)
            }
            Rule::Sequence(parts) => parts.iter().try_fold(0, |height, part| Some(self.height(part)?.max(height))),
            Rule::Choice(alternatives) => alternatives.iter().filter_map(|rule| self.height(rule)).min(),
        }
    }

    /// Each round knows what the one before found; a height of 0 is one that is not known.
    fn compute_heights(&mut self) -> Result<(), String> {
        loop {
            let heights: Vec<usize> = self
                .productions
                .iter()
                .map(|production| match production.height {
                    0 => self.height(&production.rule).map_or(0, |height| height.saturating_add(1)),
                    height => height,
                })
                .collect();
            let mut has_changed = false;
            for (production, height) in self.productions.iter_mut().zip(heights) {
                has_changed |= production.height != height;
                production.height = height;
            }
            if !has_changed {
                break;
            }
        }
        match self.productions.iter().find(|production| production.height == 0) {
            Some(production) => Err(format!("{} stands for no sentence", production.name)),
            None => Ok(()),
        }
    }
}

impl Rule {
    /// What one calls it by among alternatives: the first text or name in it.
    pub fn label(&self) -> &str {
        match self {
            Self::Text(text) | Self::Special(text) | Self::Name(text) => text,
            Self::Sequence(parts) | Self::Choice(parts) => parts.first().map_or("", Self::label),
            Self::Optional(rule) | Self::Repeated(rule) => rule.label(),
        }
    }
}

/// Reads the notation. What it descends into is nested as deep as the grammar's brackets, which are ours.
struct Reader<'g> {
    rest: &'g str,
}

impl<'g> Reader<'g> {
    fn read_productions(mut self) -> Result<Vec<Production>, String> {
        let mut productions = Vec::new();
        self.skip_blanks()?;
        while !self.rest.is_empty() {
            let name = self.read_word()?.to_owned();
            self.expect('=')?;
            let rule = self.read_choice()?;
            self.expect(';')?;
            productions.push(Production { name, rule, height: 0 });
            self.skip_blanks()?;
        }
        Ok(productions)
    }

    fn read_choice(&mut self) -> Result<Rule, String> {
        let mut alternatives = vec![self.read_sequence()?];
        while self.eat('|')? {
            alternatives.push(self.read_sequence()?);
        }
        Ok(Rule::Choice(alternatives))
    }

    fn read_sequence(&mut self) -> Result<Rule, String> {
        let mut parts = vec![self.read_part()?];
        while self.eat(',')? {
            parts.push(self.read_part()?);
        }
        Ok(Rule::Sequence(parts))
    }

    fn read_part(&mut self) -> Result<Rule, String> {
        for quote in ['"', '\''] {
            if self.eat(quote)? {
                return Ok(Rule::Text(self.read_until(quote)?.to_owned()));
            }
        }
        if self.eat('?')? {
            let words: Vec<&str> = self.read_until('?')?.split_whitespace().collect();
            return Ok(Rule::Special(words.join(" ")));
        }
        if self.eat('[')? {
            let rule = self.read_choice()?;
            self.expect(']')?;
            return Ok(Rule::Optional(Box::new(rule)));
        }
        if self.eat('{')? {
            let rule = self.read_choice()?;
            self.expect('}')?;
            return Ok(Rule::Repeated(Box::new(rule)));
        }
        if self.eat('(')? {
            let rule = self.read_choice()?;
            self.expect(')')?;
            return Ok(rule);
        }
        Ok(Rule::Name(self.read_word()?.to_owned()))
    }

    fn skip_blanks(&mut self) -> Result<(), String> {
        self.rest = self.rest.trim_start();
        while let Some(comment) = self.rest.strip_prefix("(*") {
            let (_, rest) = comment.split_once("*)").ok_or("a comment does not end")?;
            self.rest = rest.trim_start();
        }
        Ok(())
    }

    fn eat(&mut self, sign: char) -> Result<bool, String> {
        self.skip_blanks()?;
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        Ok(rest.is_some())
    }

    fn expect(&mut self, sign: char) -> Result<(), String> {
        match self.eat(sign)? {
            true => Ok(()),
            false => Err(format!("expected {sign} at {:.40}", self.rest)),
        }
    }

    fn read_until(&mut self, sign: char) -> Result<&'g str, String> {
        let (text, rest) = self.rest.split_once(sign).ok_or("a quotation does not end")?;
        self.rest = rest;
        Ok(text)
    }

    fn read_word(&mut self) -> Result<&'g str, String> {
        self.skip_blanks()?;
        let is_of_word = |char: char| char.is_ascii_alphabetic() || char == '_';
        let rest = self.rest.trim_start_matches(is_of_word);
        let word = self.rest.strip_suffix(rest).unwrap_or_default();
        if word.is_empty() {
            return Err(format!("expected a name at {:.40}", self.rest));
        }
        self.rest = rest;
        Ok(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_those_of_the_smallest_sentences() {
        let grammar = Grammar::read("(* a *) a = \"(\", a, ')' | b ; b = C, [ a ] ; C = ? a token ? ;").unwrap();
        let heights: Vec<_> = grammar.productions().iter().map(|production| production.height).collect();
        assert_eq!(heights, [3, 2, 1]);
        assert_eq!(
            grammar
                .productions()
                .iter()
                .map(|production| production.rule.label())
                .collect::<Vec<_>>(),
            ["(", "C", "a token"]
        );
        assert_eq!(Grammar::read("a = a ;").unwrap_err(), "a stands for no sentence");
        assert_eq!(Grammar::read("a = b ;").unwrap_err(), "a stands for no sentence");
        assert!(Grammar::read("a = [ \"b\" ; ").is_err());
        assert!(Grammar::load().is_ok());
    }
}
