//! Derives templates by `grammar/template.ebnf`, and lists the parts of the grammar that a derivation uses.
//!
//! ```text
//! {{ a }}    template, body, output, VARIABLE_BEGIN "{{", tuple, …, NAME, VARIABLE_END "}}"
//! ```
//!
//! For each part of the grammar and each index of the text, it finds all indices at which the part can end. From these it picks one
//! derivation. A token is as long as possible, as in the lexer. Conditions on the meaning of a template are not checked.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::ebnf::{Grammar, Rule};
use chat_template::internal::{Site, find_unsupported, is_identifier, is_name, is_whitespace};

/// A part of a production: an index of the parts of [`Derivations`].
pub type Part = usize;

/// The grammar as a list of its parts.
pub struct Derivations {
    parts: Vec<Node>,
    productions: HashMap<String, Part>,
}

struct Node {
    kind: Kind,
    /// The name of the production that the part belongs to.
    production: String,
    /// Whether the production is a token, which has no blanks between its parts.
    is_token: bool,
}

enum Kind {
    Text(String),
    Special(String),
    Name(String),
    Sequence(Vec<Part>),
    Choice(Vec<Part>),
    Optional(Part),
    Repeated(Part),
}

/// Operators whose first character is also an operator. The lexer takes the longer one.
const LONG_OPERATORS: [&str; 6] = ["**", "//", "==", "!=", "<=", ">="];

const CLOSERS: [&str; 6] = ["%}", "-%}", "+%}", "}}", "-}}", ")"];

impl Derivations {
    pub fn new(grammar: &Grammar) -> Self {
        let mut derivations = Self {
            parts: Vec::new(),
            productions: HashMap::new(),
        };
        for production in grammar.productions() {
            let part = derivations.add(&production.rule, &production.name);
            derivations.productions.insert(production.name.clone(), part);
        }
        derivations
    }

    fn add(&mut self, rule: &Rule, production: &str) -> Part {
        let kind = match rule {
            Rule::Sequence(parts) | Rule::Choice(parts) if parts.len() == 1 => return self.add(&parts[0], production),
            Rule::Text(text) => Kind::Text(text.clone()),
            Rule::Special(text) => Kind::Special(text.clone()),
            Rule::Name(name) => Kind::Name(name.clone()),
            Rule::Sequence(parts) => Kind::Sequence(parts.iter().map(|part| self.add(part, production)).collect()),
            Rule::Choice(parts) => Kind::Choice(parts.iter().map(|part| self.add(part, production)).collect()),
            Rule::Optional(part) => Kind::Optional(self.add(part, production)),
            Rule::Repeated(part) => Kind::Repeated(self.add(part, production)),
        };
        self.parts.push(Node {
            kind,
            production: production.to_owned(),
            is_token: is_token(production),
        });
        self.parts.len() - 1
    }

    /// Returns the literals, the names and the conditions in the grammar.
    pub fn leaves(&self) -> impl Iterator<Item = Part> + '_ {
        let is_leaf = |part: &Part| {
            let node = &self.parts[*part];
            let is_unsupported = node.production == "unsupported" || find_unsupported(Site::Statement, &node.production).is_some();
            !is_unsupported && matches!(node.kind, Kind::Text(_) | Kind::Special(_) | Kind::Name(_))
        };
        (0..self.parts.len()).filter(is_leaf)
    }

    /// Describes a part.
    pub fn describe(&self, part: Part) -> String {
        let node = &self.parts[part];
        match &node.kind {
            Kind::Text(text) => format!("{:?} in {}", text, node.production),
            Kind::Special(text) => format!("? {text} ? in {}", node.production),
            Kind::Name(name) => format!("{name} in {}", node.production),
            _ => node.production.clone(),
        }
    }

    /// Returns the parts that a derivation of the template uses, or `None` if the template has no derivation.
    pub fn derive(&self, template: &str) -> Option<BTreeSet<Part>> {
        let text = template.replace("\r\n", "\n").replace('\r', "\n");
        let mut derivation = Derivation {
            grammar: self,
            text: &text,
            ends: HashMap::new(),
            used: BTreeSet::new(),
            seen: BTreeSet::new(),
        };
        let template = self.productions["template"];
        let is_derived = derivation.ends(template, 0).contains(&text.len());
        is_derived.then(|| {
            derivation.mark(template, 0, text.len());
            derivation.used
        })
    }
}

fn is_token(production: &str) -> bool {
    production.starts_with(|char: char| char.is_ascii_uppercase())
}

struct Derivation<'g> {
    grammar: &'g Derivations,
    text: &'g str,
    /// The indices at which a part can end if it begins at an index, sorted.
    ends: HashMap<(Part, usize), Rc<[usize]>>,
    used: BTreeSet<Part>,
    /// The parts that are marked, each with the start and the end of its range of the template.
    seen: BTreeSet<(Part, usize, usize)>,
}

impl<'g> Derivation<'g> {
    fn ends(&mut self, part: Part, at: usize) -> Rc<[usize]> {
        if let Some(ends) = self.ends.get(&(part, at)) {
            return Rc::clone(ends);
        }
        let grammar = self.grammar;
        let node = &grammar.parts[part];
        let mut ends = BTreeSet::new();
        match &node.kind {
            Kind::Text(text) => {
                let at = if node.is_token { at } else { self.skip_blanks(at) };
                ends.extend(self.text_end(text, at, node.is_token));
            }
            Kind::Special(text) => ends = self.special_ends(text, at),
            Kind::Name(name) if is_token(name) && !node.is_token => {
                let at = if name == "TEXT" { at } else { self.skip_blanks(at) };
                ends.extend(self.token_end(name, at));
            }
            Kind::Name(name) => ends.extend(self.ends(grammar.productions[name], at).iter()),
            Kind::Sequence(parts) => {
                ends.insert(at);
                for part in parts {
                    let starts = std::mem::take(&mut ends);
                    for start in starts {
                        ends.extend(self.ends(*part, start).iter());
                    }
                }
            }
            Kind::Choice(parts) => parts.iter().for_each(|part| ends.extend(self.ends(*part, at).iter())),
            Kind::Optional(part) => {
                ends.extend(self.ends(*part, at).iter());
                ends.insert(at);
            }
            Kind::Repeated(part) => {
                let mut starts = vec![at];
                while let Some(start) = starts.pop() {
                    if ends.insert(start) {
                        starts.extend(self.ends(*part, start).iter());
                    }
                }
            }
        }
        let ends: Rc<[usize]> = ends.into_iter().collect();
        self.ends.insert((part, at), Rc::clone(&ends));
        ends
    }

    /// Marks the parts of one derivation of a range of the text.
    fn mark(&mut self, part: Part, at: usize, end: usize) {
        if !self.seen.insert((part, at, end)) {
            return;
        }
        self.used.insert(part);
        let grammar = self.grammar;
        let node = &grammar.parts[part];
        match &node.kind {
            Kind::Text(_) | Kind::Special(_) => {}
            Kind::Name(name) => {
                let skips = is_token(name) && !node.is_token && name != "TEXT";
                let at = if skips { self.skip_blanks(at) } else { at };
                self.mark(grammar.productions[name], at, end);
            }
            Kind::Sequence(parts) => self.mark_sequence(parts, at, end),
            Kind::Choice(parts) => {
                // A keyword is preferred to a name.
                let is_text = |part: &&Part| matches!(grammar.parts[**part].kind, Kind::Text(_));
                let (texts, others): (Vec<&Part>, Vec<&Part>) = parts.iter().partition(is_text);
                let mut choices = texts.into_iter().chain(others);
                let taken = choices.find(|part| self.ends(**part, at).contains(&end));
                self.mark(*taken.expect("one of them ends there"), at, end);
            }
            Kind::Optional(part) if self.ends(*part, at).contains(&end) => self.mark(*part, at, end),
            Kind::Optional(_) => {}
            Kind::Repeated(round) => {
                let mut at = at;
                while at < end {
                    let next = self.ends(*round, at);
                    let reaches = |next: &&usize| **next > at && self.ends(part, **next).contains(&end);
                    let next = *next.iter().rev().find(reaches).expect("a round goes on");
                    self.mark(*round, at, next);
                    at = next;
                }
            }
        }
    }

    /// Splits a range of the text among the parts of a sequence, from its end.
    fn mark_sequence(&mut self, parts: &[Part], at: usize, end: usize) {
        let mut starts = vec![BTreeSet::from([at])];
        for part in parts {
            let before = starts.last().expect("there is a first").clone();
            let next = before.iter().flat_map(|start| self.ends(*part, *start).to_vec()).collect();
            starts.push(next);
        }
        let mut end = end;
        for (part, starts) in parts.iter().zip(starts).rev() {
            let start = starts.into_iter().rev().find(|start| self.ends(*part, *start).contains(&end));
            let start = start.expect("the sequence ends there");
            self.mark(*part, start, end);
            end = start;
        }
    }

    fn rest(&self, at: usize) -> &'g str {
        self.text.get(at..).expect("a place between characters")
    }

    fn skip_blanks(&self, at: usize) -> usize {
        self.text.len() - self.rest(at).trim_start_matches(is_whitespace).len()
    }

    fn text_end(&self, text: &str, at: usize, is_token: bool) -> Option<usize> {
        let rest = self.rest(at).strip_prefix(text)?;
        let next = rest.chars().next();
        let goes_on = if text.ends_with(|char: char| char.is_ascii_alphabetic()) {
            next.is_some_and(is_of_name)
        } else {
            let longer = format!("{text}{}", next.unwrap_or(' '));
            LONG_OPERATORS.contains(&longer.as_str())
        };
        (is_token || !goes_on).then_some(at + text.len())
    }

    /// Returns the end of the longest token, or `None` if another kind of token is there.
    fn token_end(&mut self, name: &str, at: usize) -> Option<usize> {
        let end = *self.ends(self.grammar.productions[name], at).last()?;
        let is_after_dot = self.text.get(..at).is_some_and(|before| before.ends_with('.'));
        let is_taken = match name {
            "FLOAT" => is_after_dot,
            "INTEGER" => !is_after_dot && self.ends(self.grammar.productions["FLOAT"], at).last() > Some(&end),
            _ => false,
        };
        (!is_taken).then_some(end)
    }

    /// Returns the ends of a special sequence, which the grammar writes between question marks.
    fn special_ends(&self, text: &str, at: usize) -> BTreeSet<usize> {
        let rest = self.rest(at);
        let first = rest.chars().next();
        let one = |is: fn(char) -> bool| first.filter(|char| is(*char)).map(|char| at + char.len_utf8());
        let digits = |count: usize| {
            let digits = rest.get(..count);
            digits
                .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
                .map(|_| at + count)
        };
        let name = |at: usize| {
            let rest = self.rest(at);
            let length = rest.find(|char| !is_of_name(char)).unwrap_or(rest.len());
            let name = rest.get(..length).unwrap_or_default();
            is_identifier(name).then_some(at + length)
        };
        let next = rest.trim_start_matches(is_whitespace);
        let end = match text {
            "text without an opening delimiter" => {
                let openers = ["{{", "{%", "{#"].iter().filter_map(|opener| rest.find(opener));
                Some(openers.min().unwrap_or(rest.len()))
                    .filter(|length| *length > 0)
                    .map(|length| at + length)
            }
            "text without the end of a comment" => {
                let comment = rest.split_once("#}").map(|(comment, _)| comment);
                // The sign before the end belongs to the next part.
                comment.map(|comment| at + comment.strip_suffix(['-', '+']).unwrap_or(comment).len())
            }
            "text without the end of a raw block" => {
                let is_endraw = |tag: &str| {
                    let word = tag.trim_start_matches("{%").trim_start_matches(['-', '+']);
                    word.trim_start_matches(is_whitespace).starts_with("endraw")
                };
                rest.match_indices("{%")
                    .find(|(place, _)| is_endraw(rest.get(*place..).unwrap_or_default()))
                    .map(|(place, _)| at + place)
            }
            "a blank: Python's \\s" => one(is_whitespace),
            "any character but a backslash and quotes" => one(|char| !matches!(char, '\\' | '\'' | '"')),
            "a line feed" => one(|char| char == '\n'),
            "word characters, and those of jinja2 _identifier.py, that are a Python identifier" => name(at),
            "the same name" => name(self.skip_blanks(at)),
            "four hexadecimal digits, no surrogate" => digits(4),
            "eight hexadecimal digits, no surrogate, at most 0010ffff" => digits(8),
            "directly before a closing delimiter or parenthesis" => {
                CLOSERS.iter().any(|closer| next.starts_with(closer)).then_some(at)
            }
            "no name but else, or, and; no literal; no opening bracket" => begins_no_argument(next).then_some(at),
            other => panic!("what is ? {other} ?"),
        };
        end.into_iter().collect()
    }
}

fn is_of_name(char: char) -> bool {
    is_name(char)
}

fn begins_no_argument(rest: &str) -> bool {
    let word = rest.split(|char: char| !is_of_name(char)).next().unwrap_or_default();
    matches!(word, "else" | "or" | "and") || (word.is_empty() && !rest.starts_with(['(', '[', '{', '\'', '"']))
}
