//! Reads the notation of `grammar/template.ebnf`, so that tests can derive sentences from the grammar.
//!
//! ```text
//! print = "print", [ expression, { ",", expression } ] ;
//! ```
//!
//! The notation is ISO 14977: `"a"`, `[ … ]`, `{ … }`, `( … | … )`, `? … ?`, and comments. The text between question marks is either a
//! token that the notation cannot spell, or a condition on the following text. The users of this module interpret it.

/// The grammar of templates.
const TEMPLATE: &str = include_str!("../../../grammar/template.ebnf");

/// The right side of a production, or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// A literal text: `"a"`.
    Text(String),
    /// A special sequence: `? … ?`.
    Special(String),
    /// The name of a production.
    Name(String),
    /// A sequence: `a, b`.
    Sequence(Vec<Rule>),
    /// A choice: `a | b`.
    Choice(Vec<Rule>),
    /// An optional part: `[ a ]`.
    Optional(Box<Rule>),
    /// A part that occurs any number of times: `{ a }`.
    Repeated(Box<Rule>),
}

/// The productions of a grammar, in the order of the text.
#[derive(Clone, Debug)]
pub struct Grammar {
    productions: Vec<Production>,
}

/// A production: a name and its right side.
#[derive(Clone, Debug)]
pub struct Production {
    /// The name. Names of tokens are in upper case.
    pub name: String,
    /// The right side of the production.
    pub rule: Rule,
    /// The nesting depth of productions in the smallest sentence of this production.
    pub height: usize,
}

impl Grammar {
    /// Reads the grammar of templates.
    ///
    /// # Errors
    /// If the text has an error. A test checks that it has none.
    pub fn load() -> Result<Self, String> {
        Self::read(TEMPLATE)
    }

    /// Reads a grammar.
    ///
    /// # Errors
    /// If the notation is invalid, a name has no production or several, or a production has no finite sentence.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut grammar = Self {
            productions: Reader { rest: text }.read_productions()?,
        };
        let names: Vec<&str> = grammar
            .productions
            .iter()
            .map(|production| production.name.as_str())
            .collect();
        for (index, name) in names.iter().enumerate() {
            if names.iter().take(index).any(|other| other == name) {
                return Err(format!("{name} has two productions"));
            }
        }
        grammar.compute_heights()?;
        Ok(grammar)
    }

    /// Returns all productions.
    pub fn productions(&self) -> &[Production] {
        &self.productions
    }

    /// Returns the index of a production.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.productions.iter().position(|production| production.name == name)
    }

    /// Returns the nesting depth of productions in the smallest sentence of a rule, or `None` if it is not known yet.
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

    /// Computes the heights of all productions. Each round uses the heights of the previous round; 0 stands for an unknown height.
    fn compute_heights(&mut self) -> Result<(), String> {
        loop {
            let heights: Vec<usize> = self
                .productions
                .iter()
                .map(|production| match production.height {
                    0 => self.height(&production.rule).map_or(0, |height| height + 1),
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
            Some(production) => Err(format!("{} has no finite sentence", production.name)),
            None => Ok(()),
        }
    }
}

impl Rule {
    /// Returns how a message names a rule: by the first literal text or name in it.
    pub fn label(&self) -> &str {
        match self {
            Self::Text(text) | Self::Special(text) | Self::Name(text) => text,
            Self::Sequence(parts) | Self::Choice(parts) => parts.first().map_or("", Self::label),
            Self::Optional(rule) | Self::Repeated(rule) => rule.label(),
        }
    }
}

/// Reads the notation by recursive descent. The recursion is as deep as the brackets of our own grammar.
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
        if self.eat(sign)? {
            return Ok(());
        }
        Err(format!("expected {sign} at {:.40}", self.rest))
    }

    fn read_until(&mut self, sign: char) -> Result<&'g str, String> {
        let (text, rest) = self.rest.split_once(sign).ok_or("a quotation does not end")?;
        self.rest = rest;
        Ok(text)
    }

    fn read_word(&mut self) -> Result<&'g str, String> {
        self.skip_blanks()?;
        let is_word_char = |char: char| char.is_ascii_alphabetic() || char == '_';
        let rest = self.rest.trim_start_matches(is_word_char);
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
    fn heights_are_the_depths_of_the_smallest_sentences() {
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
        assert_eq!(Grammar::read("a = a ;").unwrap_err(), "a has no finite sentence");
        assert_eq!(Grammar::read("a = b ;").unwrap_err(), "a has no finite sentence");
        assert!(Grammar::read("a = [ \"b\" ; ").is_err());
        assert!(Grammar::load().is_ok());
    }
}
