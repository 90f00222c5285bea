//! Walks the grammar at random, and writes a template on the way.
//!
//! ```text
//! for = "for", target, …     ->     {% for x in items %}{{ x|upper }}{% endfor %}
//! ```
//!
//! The walk itself knows only the notation. What it remembers beside it is what makes templates that print: which names there are, what
//! type was written last, and what a call should be given. How it chooses stands in `weights`, what it writes for names in
//! `names`, for literals in `words`.

use std::collections::BTreeSet;

use super::callee::{Callee, Wish};
use super::rng::Rng;
use super::sentence::{CLOSING, Part, Sentence};
use super::vocabulary::Vocabulary;
use crate::ebnf::Rule;
use crate::json::{Data, Entry};
use crate::value::Type;

/// What is known of a value that was written.
#[derive(Clone, Debug, Default)]
pub struct Known<'w> {
    /// Its type.
    pub ty: Option<Type>,
    /// What it is in the context.
    pub value: Option<&'w Data<'static>>,
    /// What it takes where it can be called.
    pub callee: Option<Callee>,
    /// What calling it gives.
    pub gives: Option<Type>,
}

/// A name of the template's own.
#[derive(Clone, Debug)]
pub struct Variable<'w> {
    /// The name.
    pub name: String,
    /// What it is.
    pub known: Known<'w>,
}

/// What a round is made of.
pub struct Walked {
    /// The template.
    pub sentence: Sentence,
    /// The numbers of what it hits.
    pub hits: BTreeSet<usize>,
}

/// The walk.
pub struct Walker<'w> {
    pub(super) words: &'w Vocabulary,
    pub(super) random: Rng,
    pub(super) context: &'w [Entry<'static>],
    pub(super) sentence: Sentence,
    pub(super) hits: BTreeSet<usize>,
    /// The names that are set at this place, the innermost last.
    pub(super) scope: Vec<Variable<'w>>,
    /// What was written last.
    pub(super) at: Known<'w>,
    /// What the next primary should be.
    pub(super) wish: Wish,
    /// What the arguments that come are for.
    pub(super) callee: Option<Callee>,
    /// How many arguments are written, and how many shall be.
    pub(super) given: usize,
    pub(super) wanted: usize,
    /// The productions that are being written.
    pub(super) path: Vec<&'w str>,
    /// How many expressions and how many statements are inside each other here.
    pub(super) depth: usize,
    pub(super) blocks: usize,
    /// How many loops there are that `break` can leave.
    pub(super) loops: usize,
    /// How many operators were written.
    pub(super) operators: usize,
    /// A sentence of so many tokens is ended as soon as can be.
    pub(super) most_tokens: usize,
}

impl<'w> Walker<'w> {
    /// Writes a template for this context.
    pub fn walk(words: &'w Vocabulary, random: Rng, context: &'w [Entry<'static>]) -> Walked {
        let mut walker = Self {
            words,
            random,
            context,
            sentence: Sentence::default(),
            hits: BTreeSet::new(),
            scope: Vec::new(),
            at: Known::default(),
            wish: Wish::Any,
            callee: None,
            given: 0,
            wanted: 0,
            path: Vec::new(),
            depth: 0,
            blocks: 0,
            loops: 0,
            operators: 0,
            most_tokens: 0,
        };
        walker.most_tokens = walker.random.below(45).saturating_add(6);
        walker.production("template");
        walker.sentence.settle();
        if walker.random.happens(5) {
            walker.sentence.break_one(&mut walker.random);
        }
        Walked {
            sentence: walker.sentence,
            hits: walker.hits,
        }
    }

    /// Whether no more is begun that need not be there.
    pub(super) fn is_large(&self) -> bool {
        self.sentence.tokens.len() > self.most_tokens || self.depth > 5
    }

    /// The production that is being written, `back` of them up.
    pub(super) fn within(&self, back: usize) -> &'w str {
        let place = self.path.len().checked_sub(back.saturating_add(1));
        place.and_then(|place| self.path.get(place)).copied().unwrap_or_default()
    }

    pub(super) fn hit(&mut self, kind: &'static str, name: &str) {
        self.hits.extend(self.words.number(kind, name));
    }

    fn production(&mut self, name: &str) {
        let Some(production) = self.words.production(name) else {
            return;
        };
        let name = production.name.as_str();
        self.path.push(name);
        self.hit("production", name);
        let start = self.sentence.tokens.len();
        if name.starts_with(|char: char| char.is_ascii_uppercase()) {
            self.token(name, &production.rule);
        } else {
            self.composed(name, &production.rule, start);
        }
        let part = match name {
            "expression" | "binary" | "primary" | "tuple" => Some(Part::Expression),
            "body" => Some(Part::Body),
            _ => None,
        };
        if let Some(part) = part {
            self.sentence.mark(part, start);
        }
        self.path.pop();
    }

    /// A production that is no token: what it opens is closed behind it.
    fn composed(&mut self, name: &str, rule: &'w Rule, start: usize) {
        let (scope, loops, operators) = (self.scope.len(), self.loops, self.operators);
        let before = self.at.clone();
        match name {
            "expression" | "condition" => self.depth = self.depth.saturating_add(1),
            "arguments" => return self.arguments(rule),
            "primary" => return self.primary(rule),
            "statement" => self.blocks = self.blocks.saturating_add(1),
            "subscript" => self.wish = self.index_wish(),
            "macro" | "call_block" | "generation" => self.loops = 0,
            "set" if self.random.happens(12) => self.wish = Wish::Of(Type::Namespace),
            "filter_block" => self.at = Known::of(Type::Str),
            _ => {}
        }
        self.rule(rule);
        match name {
            "expression" | "condition" => self.depth = self.depth.saturating_sub(1),
            "statement" => self.blocks = self.blocks.saturating_sub(1),
            "for" | "with" | "set" | "macro" | "call_block" | "filter_block" | "generation" => self.leave(name, scope),
            "subscript" => self.at = self.item(&before, start),
            "call" => self.at = Known::maybe(before.gives),
            "test" => self.at = Known::of(Type::Bool),
            "list" => self.at = Known::of(Type::List),
            "dict" => self.at = Known::of(Type::Dict),
            "string" => self.at = Known::of(Type::Str),
            _ => {}
        }
        self.loops = loops;
        let is_operation = matches!(
            name,
            "conditional" | "or" | "and" | "not" | "comparison" | "sum" | "concat" | "product" | "power"
        );
        if is_operation && self.operators != operators {
            self.at = Known::default();
        }
    }

    /// What a statement leaves behind of the names that it set.
    fn leave(&mut self, name: &str, scope: usize) {
        match name {
            // A set leaves its names, and so does a macro its own.
            "set" => {
                let known = self.at.clone();
                for variable in self.scope.iter_mut().skip(scope) {
                    variable.known = known.clone();
                }
            }
            "macro" => {
                let names = self.scope.drain(scope..).map(|variable| variable.name);
                let names: Vec<String> = names.take_while(|name| !name.is_empty()).collect();
                if let Some((name, parameters)) = names.split_first() {
                    let known = Known {
                        ty: Some(Type::Macro),
                        callee: Some(Callee::of_macro(parameters)),
                        gives: Some(Type::Str),
                        value: None,
                    };
                    let name = name.clone();
                    self.scope.push(Variable { name, known });
                }
            }
            _ => self.scope.truncate(scope),
        }
    }

    fn arguments(&mut self, rule: &'w Rule) {
        let callee = self.callee.take().or_else(|| self.at.callee.clone());
        let (result, given, wanted) = (self.at.clone(), self.given, self.wanted);
        let (least, most) = callee.as_ref().map_or((0, 1), |callee| (callee.least, callee.wishes.len()));
        self.given = 0;
        self.wanted = match self.random.below(12) {
            0 => self.random.below(3),
            _ => least.saturating_add(self.random.below(most.saturating_sub(least).saturating_add(1))),
        };
        let outer = std::mem::replace(&mut self.callee, callee);
        self.depth = self.depth.saturating_add(1);
        self.rule(rule);
        self.depth = self.depth.saturating_sub(1);
        (self.callee, self.given, self.wanted, self.at) = (outer, given, wanted, result);
    }

    pub(super) fn rule(&mut self, rule: &'w Rule) {
        match rule {
            Rule::Text(text) => self.text(text),
            Rule::Special(text) => self.special(text),
            Rule::Name(name) => {
                self.before(name);
                self.production(name);
                self.after(name);
            }
            Rule::Sequence(parts) => parts.iter().for_each(|part| self.rule(part)),
            Rule::Choice(alternatives) => {
                let chosen = self.chosen(alternatives);
                if let Some(rule) = alternatives.get(chosen) {
                    self.rule(rule);
                }
            }
            Rule::Optional(rule) => {
                let percent = self.chance(rule.label());
                if self.random.happens(percent) {
                    let start = self.sentence.tokens.len();
                    self.rule(rule);
                    self.sentence.mark(Part::Absent, start);
                }
            }
            Rule::Repeated(rule) => {
                // So that no list is longer than a reader can see.
                for _ in 0..12 {
                    let percent = self.chance(rule.label());
                    if !self.random.happens(percent) {
                        break;
                    }
                    let start = self.sentence.tokens.len();
                    self.rule(rule);
                    self.sentence.mark(Part::Absent, start);
                }
            }
        }
    }

    /// What a part of a production should be.
    fn before(&mut self, name: &str) {
        let within = self.within(0);
        match (within, name) {
            ("for", "conditions") => {
                self.wish = if self.random.happens(12) {
                    Wish::Any
                } else if self.has_pair_target() {
                    Wish::Pairs
                } else {
                    Wish::Of(Type::List)
                };
            }
            // A name that is none ends the parameters.
            ("macro", "statements") => self.scope.push(Variable {
                name: String::new(),
                known: Known::default(),
            }),
            ("test", "test_argument") => {
                let wish = self.callee.as_ref().and_then(|callee| callee.wishes.first());
                self.wish = wish.copied().unwrap_or_default();
            }
            ("for", "statements") => self.loops = self.loops.saturating_add(1),
            ("positional", "expression") => {
                let wish = self.callee.as_ref().and_then(|callee| callee.wishes.get(self.given)).copied();
                self.wish = wish.unwrap_or_default();
                self.given = self.given.saturating_add(1);
            }
            ("named" | "named_after_star", "expression") => self.wish = Wish::Pairs,
            ("slice" | "bound", "expression") => self.wish = Wish::Count,
            ("set", "filter") => self.at = Known::of(Type::Str),
            ("call_block", "NAME") => self.wish = Wish::Of(Type::Macro),
            ("comparison" | "sum" | "concat" | "product" | "power", _) => {
                let operator = self
                    .sentence
                    .tokens
                    .last()
                    .map(|token| token.text.as_str())
                    .unwrap_or_default();
                self.wish = match (operator, self.at.ty) {
                    // The first operand is behind none.
                    _ if !self.words.is_operator(within, operator) => return,
                    ("**", _) => Wish::Exponent,
                    ("*", Some(Type::Str | Type::Markup | Type::List | Type::Tuple)) => Wish::Count,
                    ("%", Some(Type::Str | Type::Markup)) => Wish::Any,
                    ("in", _) => Wish::Of(Type::List),
                    ("~", _) => Wish::Any,
                    (_, Some(Type::Int | Type::Float | Type::Bool)) => Wish::Count,
                    (_, Some(ty)) => Wish::Of(ty),
                    (_, None) => Wish::Any,
                };
            }
            // A sign, or the operator before, behind which a number is as likely.
            ("unary", "primary") if self.wish == Wish::Any && self.is_behind(&["-", "+"]) => self.wish = Wish::Of(Type::Int),
            _ => {}
        }
    }

    fn is_behind(&self, texts: &[&str]) -> bool {
        let last = self.sentence.tokens.last();
        last.is_some_and(|token| texts.contains(&token.text.as_str()))
    }

    fn after(&mut self, name: &str) {
        // What is looped over is known only behind the target.
        if (self.within(0), name) == ("for", "conditions") {
            let item = match self.at.value {
                Some(Data::List(items)) => items.first(),
                _ => None,
            };
            let ty = matches!(self.at.ty, Some(Type::Range)).then_some(Type::Int);
            if let Some(variable) = self.scope.last_mut() {
                variable.known = item.map_or(Known::maybe(ty), Known::value);
            }
        }
    }

    fn text(&mut self, text: &str) {
        let within = self.within(0);
        let name = format!("{within} {text}");
        if let Some(number) = self.words.number("operator", &name) {
            self.hits.insert(number);
            self.operators = self.operators.saturating_add(1);
        }
        let text = match within {
            "TRAILING_COMMA" => CLOSING,
            _ => text,
        };
        let space = self.space(text);
        self.sentence.push(text, space);
    }
}

impl<'w> Known<'w> {
    /// A value of a type.
    pub fn of(ty: Type) -> Self {
        Self::maybe(Some(ty))
    }

    /// A value of a type that may not be known.
    pub fn maybe(ty: Option<Type>) -> Self {
        Self { ty, ..Self::default() }
    }

    /// A value of the context.
    pub fn value(value: &'w Data<'static>) -> Self {
        let ty = match value {
            Data::None => Type::None,
            Data::Bool(_) => Type::Bool,
            Data::Int(_) | Data::BigInt(_) => Type::Int,
            Data::Float(_) => Type::Float,
            Data::Str(_) => Type::Str,
            Data::List(_) => Type::List,
            Data::Tuple(_) => Type::Tuple,
            Data::Object(_) => Type::Dict,
        };
        Self {
            ty: Some(ty),
            value: Some(value),
            ..Self::default()
        }
    }
}
