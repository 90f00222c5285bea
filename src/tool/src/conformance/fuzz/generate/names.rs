//! The names that the walk writes: variables that are set, keys of the value before a dot, filters for the type before a bar.
//!
//! ```text
//! a NAME in `attribute`, after a dict of the context      one of its keys
//! a NAME in `dotted_name`, in `filter`, after a list      a filter for lists
//! ```

use super::callee::{Callee, Wish};
use super::types::{attributes_of, parameter_types, return_type};
use super::vocabulary::method_name;
use super::walk::{Known, Variable, Walker};
use crate::ebnf::Rule;
use chat_template::internal::{Function, Type};
use chat_template::internal::{filters, globals, jinja_tests, methods};
use chat_template::json::Data;

/// Names of variables that templates set.
const TARGETS: [&str; 15] = [
    "x", "y", "z", "i", "k", "v", "m", "ns", "a", "b", "items", "message", "ﬁ", "range", "é",
];

/// Names of arguments that functions do not take. Some are keywords of Python.
const KEYWORDS: [&str; 10] = ["a", "b", "x", "default", "attribute", "caller", "self", "if", "None", "ﬁ"];

impl<'w> Walker<'w> {
    pub(super) fn name(&mut self, rule: &'w Rule) {
        match (self.within(1), self.within(2)) {
            ("attribute", _) => self.attribute(),
            ("dotted_name", "test") => self.applied("test", jinja_tests::all()),
            ("dotted_name", _) => self.applied("filter", filters::all()),
            ("keyword", _) => self.keyword(),
            ("target_part" | "name_target", _) => self.target(),
            // This production has two names: a namespace before the dot, and its attribute after it.
            ("namespace_part", _) => {
                let is_attribute = self.sentence.tokens.last().is_some_and(|token| token.text == ".");
                let namespaces: Vec<String> = self.find_names(|known| known.ty == Some(Type::Namespace));
                match self.random.pick(&namespaces).cloned() {
                    Some(name) if !is_attribute && self.random.happens(95) => self.push_token(&name),
                    _ => {
                        let name = self.random.text(&["a", "b", "x", "y", "items", "_a"]);
                        self.push_token(name);
                    }
                }
            }
            _ if self.random.happens(2) => {
                let start = self.sentence.tokens.len();
                self.rule(rule);
                let text: String = self.sentence.tokens.drain(start..).map(|token| token.text).collect();
                self.push_token(&text);
            }
            _ => self.variable(),
        }
    }

    /// Returns the names of the variables that fulfil a condition.
    fn find_names(&self, is_wanted: impl Fn(&Known<'w>) -> bool) -> Vec<String> {
        let wanted = self.scope.iter().filter(|variable| is_wanted(&variable.known));
        wanted.map(|variable| variable.name.clone()).collect()
    }

    pub(super) fn has_macro(&self) -> bool {
        self.scope.iter().any(|variable| variable.known.ty == Some(Type::Macro))
    }

    pub(super) fn has_namespace(&self) -> bool {
        self.scope.iter().any(|variable| variable.known.ty == Some(Type::Namespace))
    }

    /// Returns whether the target of the loop that is being written has several parts.
    pub(super) fn has_pair_target(&self) -> bool {
        let tokens = self.sentence.tokens.iter().rev();
        tokens.take(4).any(|token| token.text == ",")
    }

    /// Writes a variable. It is usually set and of the wanted type; sometimes it is a global, or undefined.
    fn variable(&mut self) {
        let wish = std::mem::take(&mut self.wish);
        match self.random.below(100) {
            0..=7 => {
                let globals = globals::all();
                let Some(global) = self.random.pick(globals) else { return };
                self.push_token(global.name);
                self.note("global", global.name);
                self.last = Known {
                    ty: Some(global.ty),
                    callee: Some(Callee::of(global, false)),
                    result: return_type(global, None),
                    value: None,
                };
                return;
            }
            8..=9 => {
                let name = self
                    .random
                    .text(&["nope", "caller", "varargs", "kwargs", "if", "loop", "x", "_"]);
                self.last = Known::default();
                if name == "caller" {
                    self.last.callee = Some(Callee::default());
                }
                return self.push_token(name);
            }
            10..=16 if self.loops > 0 => {
                self.last = Known::of(Type::Loop);
                return self.push_token("loop");
            }
            _ => {}
        }
        let scope = self
            .scope
            .iter()
            .filter(|variable| !variable.name.is_empty())
            .map(|variable| (variable.name.clone(), variable.known.clone()));
        let context = self
            .context
            .iter()
            .map(|(name, value)| (name.clone().into_owned(), Known::value(value)));
        let all: Vec<(String, Known<'w>)> = scope.clone().chain(scope).chain(context).collect();
        let fitting: Vec<_> = match wish {
            Wish::Of(ty) => all.iter().filter(|(_, known)| known.ty == Some(ty)).cloned().collect(),
            _ => Vec::new(),
        };
        let is_fitting = self.random.happens(85) && !fitting.is_empty();
        let chosen = self.random.pick(if is_fitting { &fitting } else { &all }).cloned();
        let (name, known) = chosen.unwrap_or_else(|| ("nope".to_owned(), Known::of(Type::Undefined)));
        self.last = known;
        self.push_token(&name);
    }

    fn target(&mut self) {
        let mut name = self.random.text(&TARGETS);
        // Two parameters with one name are an error, which should be rare.
        let is_parameter = matches!(self.within(2), "parameters" | "defaults" | "target_part" | "target");
        if is_parameter && self.scope.iter().rev().take(3).any(|variable| variable.name == name) {
            name = self.random.text(&TARGETS);
        }
        self.push_token(name);
        self.scope.push(Variable {
            name: name.to_owned(),
            known: Known::default(),
        });
    }

    /// Writes the name of an argument.
    fn keyword(&mut self) {
        let keywords = self.callee.as_ref().map(|callee| callee.keywords.clone()).unwrap_or_default();
        // The first parameters already have positional arguments.
        let free: Vec<_> = keywords
            .iter()
            .skip(self.arguments_written.min(keywords.len().saturating_sub(1)))
            .cloned()
            .collect();
        match self.random.pick(&free).cloned() {
            Some((name, wish)) if self.random.happens(92) => {
                self.push_token(&name);
                self.wish = wish;
            }
            _ => {
                let name = self.random.text(&KEYWORDS);
                self.push_token(name);
            }
        }
    }

    /// Writes the name of a filter or a test for the value that was written last.
    fn applied(&mut self, kind: &'static str, functions: &'static [Function]) {
        if self.random.below(300) == 0 {
            self.callee = None;
            return self.push_token("nope");
        }
        let Some(mut function) = self.random.pick(functions) else {
            return;
        };
        for _ in 0..6 {
            let types = parameter_types(function);
            let is_name = function.name.starts_with(|char: char| char.is_alphabetic());
            let is_fitting = kind == "test" || types.is_empty() || self.last.ty.is_none_or(|ty| types.contains(&ty));
            if is_name && (is_fitting || self.random.happens(12)) {
                break;
            }
            function = self.random.pick(functions).unwrap_or(function);
        }
        self.push_token(function.name);
        self.note(kind, function.name);
        self.callee = Some(Callee::of(function, true));
        let ty = self.last.ty;
        self.last = Known::maybe(return_type(function, ty));
    }

    /// Writes the name of an attribute of the value that was written last: a key, a method, another attribute, or an unknown name.
    fn attribute(&mut self) {
        let keys: Vec<String> = match self.last.value {
            Some(Data::Object(object)) => object.entries().iter().map(|(key, _)| key.clone().into_owned()).collect(),
            _ => Vec::new(),
        };
        let is_name = |key: &String| key.starts_with(|char: char| char.is_alphabetic()) && !key.contains(' ');
        let keys: Vec<String> = keys.into_iter().filter(is_name).collect();
        if self.random.happens(70) {
            if let (Some(key), Some(Data::Object(object))) = (self.random.pick(&keys).cloned(), self.last.value) {
                self.push_token(&key);
                self.last = object.get(&key).map(Known::value).unwrap_or_default();
                return;
            }
        }
        let ty = self.last.ty.unwrap_or(Type::Str);
        let attributes = attributes_of(ty);
        if !attributes.is_empty() && self.random.happens(if methods::all(ty).len() > 3 { 10 } else { 70 }) {
            let attribute = self.random.text(attributes);
            self.last = Known::default();
            return self.push_token(attribute);
        }
        let table = methods::all(ty);
        match self.random.pick(&table) {
            Some(method) if self.random.happens(93) => {
                self.push_token(method.name);
                if self.last.ty.is_some() {
                    self.note("method", &method_name(ty, method));
                }
                self.last = Known {
                    ty: Some(Type::Method),
                    callee: Some(Callee::of(method, true)),
                    result: return_type(method, Some(ty)),
                    value: None,
                };
            }
            _ => {
                let name = self
                    .random
                    .text(&["a", "b", "c", "x", "role", "content", "name", "__class__", "_a", "true", "é"]);
                self.last = Known::default();
                self.push_token(name);
            }
        }
    }

    /// Returns the value that a subscript should have: a key or an index.
    pub(super) fn index_wish(&mut self) -> Wish {
        match self.last.ty {
            Some(Type::Dict) => Wish::Attribute,
            _ if self.random.happens(90) => Wish::Count,
            _ => Wish::Any,
        }
    }

    /// Returns the facts about `before[…]`. `start` is the index of the token `[`.
    pub(super) fn item(&self, before: &Known<'w>, start: usize) -> Known<'w> {
        let index = self
            .sentence
            .tokens
            .get(start + 1)
            .map(|token| token.text.as_str())
            .unwrap_or_default();
        let is_alone = self.sentence.tokens.len() == start + 3;
        match before.value {
            Some(Data::List(items)) if is_alone => {
                let item = index.parse::<usize>().ok().and_then(|place| items.get(place));
                item.map(Known::value).unwrap_or_default()
            }
            Some(Data::Object(object)) if is_alone => object.get(index.trim_matches('\'')).map(Known::value).unwrap_or_default(),
            _ => Known::maybe(before.ty.filter(|ty| matches!(ty, Type::Str | Type::Markup))),
        }
    }
}
