//! Writes a random template by walking the grammar.
//!
//! ```text
//! for = "for", target, …     ->     {% for x in items %}{{ x|upper }}{% endfor %}
//! ```
//!
//! The walk follows the notation of the grammar. It also remembers which names are defined, which type the last value has, and which
//! arguments a call takes, so that some templates print. [`weights`](super::weights) has its choices, [`names`](super::names) writes
//! names, and [`tokens`](super::tokens) writes literals.

use std::collections::BTreeSet;

use super::callee::{Callee, Wish};
use super::rng::Rng;
use super::sentence::{CLOSING, Part, Sentence, Use};
use super::vocabulary::Vocabulary;
use crate::ebnf::Rule;
use chat_template::internal::Entry;
use chat_template::internal::Type;
use chat_template::json::Data;

/// The facts that are known about a value of the template.
#[derive(Clone, Debug, Default)]
pub struct Known<'w> {
    pub ty: Option<Type>,
    /// The value itself, if it is in the context.
    pub value: Option<&'w Data<'static>>,
    /// The arguments that it takes, if it can be called.
    pub callee: Option<Callee>,
    /// The type of the result of a call.
    pub result: Option<Type>,
}

/// A variable that the template sets.
#[derive(Clone, Debug)]
pub struct Variable<'w> {
    pub name: String,
    /// The facts about its value.
    pub known: Known<'w>,
}

/// A template, and the features that it uses.
pub struct Walked {
    pub sentence: Sentence,
    /// The indices of the features in the vocabulary.
    pub features: BTreeSet<usize>,
}

/// The state of a walk.
pub struct Walker<'w> {
    pub(super) vocabulary: &'w Vocabulary,
    pub(super) random: Rng,
    pub(super) context: &'w [Entry<'static>],
    pub(super) sentence: Sentence,
    pub(super) features: BTreeSet<usize>,
    /// The variables that are set here, the innermost scope last.
    pub(super) scope: Vec<Variable<'w>>,
    /// The value that was written last.
    pub(super) last: Known<'w>,
    /// The value that the next primary should have.
    pub(super) wish: Wish,
    /// The function that the next arguments belong to.
    pub(super) callee: Option<Callee>,
    /// For the current call: the number of arguments that are written, and the number that should be.
    pub(super) arguments_written: usize,
    pub(super) arguments_wanted: usize,
    /// The names of the productions that are being written, the innermost last.
    pub(super) path: Vec<&'w str>,
    /// The number of nested expressions, and of nested statements.
    pub(super) depth: usize,
    pub(super) blocks: usize,
    /// The number of nested loops that `break` can leave.
    pub(super) loops: usize,
    /// The number of operators that were written.
    pub(super) operators: usize,
    /// The number of tokens after which no optional part is written.
    pub(super) max_tokens: usize,
}

impl<'w> Walker<'w> {
    /// Returns a random template for a context.
    pub fn walk(vocabulary: &'w Vocabulary, random: Rng, context: &'w [Entry<'static>]) -> Walked {
        let mut walker = Self {
            vocabulary,
            random,
            context,
            sentence: Sentence::default(),
            features: BTreeSet::new(),
            scope: Vec::new(),
            last: Known::default(),
            wish: Wish::Any,
            callee: None,
            arguments_written: 0,
            arguments_wanted: 0,
            path: Vec::new(),
            depth: 0,
            blocks: 0,
            loops: 0,
            operators: 0,
            max_tokens: 0,
        };
        walker.max_tokens = walker.random.below(45) + 6;
        walker.production("template");
        walker.sentence.replace_marks();
        if walker.random.happens(5) {
            walker.sentence.break_one(&mut walker.random);
        }
        Walked {
            sentence: walker.sentence,
            features: walker.features,
        }
    }

    /// Returns whether the template is so large that no optional part should be written.
    pub(super) fn is_large(&self) -> bool {
        self.sentence.tokens.len() > self.max_tokens || self.depth > 5
    }

    /// Returns the name of the production that is being written (0), of the one around it (1), and so on.
    pub(super) fn within(&self, back: usize) -> &'w str {
        let place = self.path.len().checked_sub(back + 1);
        place.and_then(|place| self.path.get(place)).copied().unwrap_or_default()
    }

    pub(super) fn note(&mut self, kind: &'static str, name: &str) {
        self.features.extend(self.vocabulary.index(kind, name));
    }

    fn production(&mut self, name: &str) {
        let Some(production) = self.vocabulary.production(name) else {
            return;
        };
        let name = production.name.as_str();
        self.path.push(name);
        self.note("production", name);
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
        self.sentence.uses.push(Use {
            features: self.vocabulary.index("production", name).into_iter().collect(),
            start,
            end: self.sentence.tokens.len(),
            kept: None,
        });
        self.path.pop();
    }

    /// Writes a production that is not a token, and closes the scopes that it opened.
    fn composed(&mut self, name: &str, rule: &'w Rule, start: usize) {
        let (scope, loops, operators) = (self.scope.len(), self.loops, self.operators);
        let before = self.last.clone();
        match name {
            "expression" | "condition" => self.depth += 1,
            "arguments" => return self.arguments(rule),
            "primary" => return self.primary(rule),
            "statement" => self.blocks += 1,
            "subscript" => self.wish = self.index_wish(),
            "macro" | "call_block" | "generation" => self.loops = 0,
            "set" if self.random.happens(12) => self.wish = Wish::Of(Type::Namespace),
            "filter_block" => self.last = Known::of(Type::Str),
            _ => {}
        }
        self.rule(rule);
        match name {
            "expression" | "condition" => self.depth = self.depth.saturating_sub(1),
            "statement" => self.blocks = self.blocks.saturating_sub(1),
            "for" | "with" | "set" | "macro" | "call_block" | "filter_block" | "generation" => self.leave(name, scope),
            "subscript" => self.last = self.item(&before, start),
            "call" => self.last = Known::maybe(before.result),
            "test" => self.last = Known::of(Type::Bool),
            "list" => self.last = Known::of(Type::List),
            "dict" => self.last = Known::of(Type::Dict),
            "string" => self.last = Known::of(Type::Str),
            _ => {}
        }
        self.loops = loops;
        let is_operation = matches!(
            name,
            "conditional" | "or" | "and" | "not" | "comparison" | "sum" | "concat" | "product" | "power"
        );
        if is_operation && self.operators != operators {
            self.last = Known::default();
        }
    }

    /// Removes the variables of a statement that ends, except those that stay set after it.
    fn leave(&mut self, name: &str, scope: usize) {
        match name {
            // The targets of a `set` and the name of a macro stay set.
            "set" => {
                let known = self.last.clone();
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
                        result: Some(Type::Str),
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
        let callee = self.callee.take().or_else(|| self.last.callee.clone());
        let (result, given, wanted) = (self.last.clone(), self.arguments_written, self.arguments_wanted);
        let (least, most) = callee
            .as_ref()
            .map_or((0, 1), |callee| (callee.required, callee.wishes.len()));
        self.arguments_written = 0;
        self.arguments_wanted = match self.random.below(12) {
            0 => self.random.below(3),
            _ => least + self.random.below(most.saturating_sub(least) + 1),
        };
        let outer = std::mem::replace(&mut self.callee, callee);
        self.depth += 1;
        self.rule(rule);
        self.depth = self.depth.saturating_sub(1);
        (self.callee, self.arguments_written, self.arguments_wanted, self.last) = (outer, given, wanted, result);
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
                let chosen = self.choose(alternatives);
                if let Some(rule) = alternatives.get(chosen) {
                    self.rule(rule);
                }
            }
            Rule::Optional(rule) => {
                let percent = self.chance(rule.label());
                if self.random.happens(percent) {
                    let start = self.sentence.tokens.len();
                    self.rule(rule);
                    self.sentence.mark(Part::Optional, start);
                }
            }
            Rule::Repeated(rule) => {
                // No repetition is longer than this.
                for _ in 0..12 {
                    let percent = self.chance(rule.label());
                    if !self.random.happens(percent) {
                        break;
                    }
                    let start = self.sentence.tokens.len();
                    self.rule(rule);
                    self.sentence.mark(Part::Optional, start);
                }
            }
        }
    }

    /// Decides which value the next part of a production should have.
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
            // A variable without a name marks the end of the parameters.
            ("macro", "statements") => self.scope.push(Variable {
                name: String::new(),
                known: Known::default(),
            }),
            ("test", "test_argument") => {
                let wish = self.callee.as_ref().and_then(|callee| callee.wishes.first());
                self.wish = wish.copied().unwrap_or_default();
            }
            ("for", "statements") => self.loops += 1,
            ("positional", "expression") => {
                let wish = self
                    .callee
                    .as_ref()
                    .and_then(|callee| callee.wishes.get(self.arguments_written))
                    .copied();
                self.wish = wish.unwrap_or_default();
                self.arguments_written += 1;
            }
            ("named" | "named_after_star", "expression") => self.wish = Wish::Pairs,
            ("slice" | "bound", "expression") => self.wish = Wish::Count,
            ("set", "filter") => self.last = Known::of(Type::Str),
            ("call_block", "NAME") => self.wish = Wish::Of(Type::Macro),
            ("comparison" | "sum" | "concat" | "product" | "power", _) => {
                let operator = self
                    .sentence
                    .tokens
                    .last()
                    .map(|token| token.text.as_str())
                    .unwrap_or_default();
                self.wish = match (operator, self.last.ty) {
                    // The first operand follows no operator.
                    _ if !self.vocabulary.is_operator(within, operator) => return,
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
            // After a sign or an additive operator, a number is likely.
            ("unary", "primary") if self.wish == Wish::Any && self.is_after(&["-", "+"]) => self.wish = Wish::Of(Type::Int),
            _ => {}
        }
    }

    fn is_after(&self, texts: &[&str]) -> bool {
        let last = self.sentence.tokens.last();
        last.is_some_and(|token| texts.contains(&token.text.as_str()))
    }

    fn after(&mut self, name: &str) {
        // The type of the loop variable is known only after the iterable is written.
        if (self.within(0), name) == ("for", "conditions") {
            let item = match self.last.value {
                Some(Data::List(items)) => items.first(),
                _ => None,
            };
            let ty = matches!(self.last.ty, Some(Type::Range)).then_some(Type::Int);
            if let Some(variable) = self.scope.last_mut() {
                variable.known = item.map_or(Known::maybe(ty), Known::value);
            }
        }
    }

    fn text(&mut self, text: &str) {
        let within = self.within(0);
        let name = format!("{within} {text}");
        if let Some(index) = self.vocabulary.index("operator", &name) {
            self.features.insert(index);
            self.operators += 1;
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
    /// Returns the facts about a value of this type.
    pub fn of(ty: Type) -> Self {
        Self::maybe(Some(ty))
    }

    /// Returns the facts about a value whose type may be unknown.
    pub fn maybe(ty: Option<Type>) -> Self {
        Self { ty, ..Self::default() }
    }

    /// Returns the facts about a value of the context.
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
