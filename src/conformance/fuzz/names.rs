//! What the walk writes for a name: a variable that there is, a key of what stands before the dot, a filter that fits.
//!
//! ```text
//! a NAME in `attribute`, behind a dict of the context     one of its keys
//! a NAME in `dotted_name`, in `filter`, behind a list     a filter for lists
//! ```

use super::callee::{Callee, Wish};
use super::function_types::{returns, takes};
use super::kinds::parts;
use super::vocabulary::method_name;
use super::walk::{Known, Variable, Walker};
use crate::builtins::{filters, globals, jinja_tests, methods};
use crate::ebnf::Rule;
use crate::json::Data;
use crate::value::{Function, Type};

/// Names that templates give themselves.
const TARGETS: [&str; 15] = [
    "x", "y", "z", "i", "k", "v", "m", "ns", "a", "b", "items", "message", "ﬁ", "range", "é",
];

/// Arguments that nothing asks for by name; words of Python among them.
const KEYWORDS: [&str; 10] = ["a", "b", "x", "default", "attribute", "caller", "self", "if", "None", "ﬁ"];

impl<'w> Walker<'w> {
    pub(super) fn name(&mut self, rule: &'w Rule) {
        match (self.within(1), self.within(2)) {
            ("attribute", _) => self.attribute(),
            ("dotted_name", "test") => self.applied("test", jinja_tests::all()),
            ("dotted_name", _) => self.applied("filter", filters::all()),
            ("keyword", _) => self.keyword(),
            ("target_part" | "name_target", _) => self.target(),
            // The name of a namespace, a dot and the name of its attribute.
            ("namespace_part", _) => {
                let is_attribute = self.sentence.tokens.last().is_some_and(|token| token.text == ".");
                let namespaces: Vec<String> = self.named(|known| known.ty == Some(Type::Namespace));
                match self.random.pick(&namespaces).cloned() {
                    Some(name) if !is_attribute && self.random.happens(95) => self.word(&name),
                    _ => {
                        let name = self.random.text(&["a", "b", "x", "y", "items", "_a"]);
                        self.word(name);
                    }
                }
            }
            _ if self.random.happens(2) => {
                let start = self.sentence.tokens.len();
                self.rule(rule);
                let text: String = self.sentence.tokens.drain(start..).map(|token| token.text).collect();
                self.word(&text);
            }
            _ => self.variable(),
        }
    }

    /// The names of the scope that are of a kind.
    fn named(&self, is_wanted: impl Fn(&Known<'w>) -> bool) -> Vec<String> {
        let wanted = self.scope.iter().filter(|variable| is_wanted(&variable.known));
        wanted.map(|variable| variable.name.clone()).collect()
    }

    pub(super) fn has_macro(&self) -> bool {
        self.scope.iter().any(|variable| variable.known.ty == Some(Type::Macro))
    }

    pub(super) fn has_namespace(&self) -> bool {
        self.scope.iter().any(|variable| variable.known.ty == Some(Type::Namespace))
    }

    /// Whether the target of the loop that is being written has several parts.
    pub(super) fn has_pair_target(&self) -> bool {
        let tokens = self.sentence.tokens.iter().rev();
        tokens.take(4).any(|token| token.text == ",")
    }

    /// A variable that there is, of the type that is wished for where there is one; a global; or one that there is not.
    fn variable(&mut self) {
        let wish = std::mem::take(&mut self.wish);
        match self.random.below(100) {
            0..=7 => {
                let globals = globals::all();
                let Some(global) = self.random.pick(globals) else { return };
                self.word(global.name);
                self.hit("global", global.name);
                self.at = Known {
                    ty: Some(global.ty),
                    callee: Some(Callee::of(global, false)),
                    gives: returns(global.name, None),
                    value: None,
                };
                return;
            }
            8..=9 => {
                let name = self
                    .random
                    .text(&["nope", "caller", "varargs", "kwargs", "if", "loop", "x", "_"]);
                self.at = Known::default();
                if name == "caller" {
                    self.at.callee = Some(Callee::default());
                }
                return self.word(name);
            }
            10..=16 if self.loops > 0 => {
                self.at = Known::of(Type::Loop);
                return self.word("loop");
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
        let chosen = match self.random.happens(85) {
            true if !fitting.is_empty() => self.random.pick(&fitting).cloned(),
            _ => self.random.pick(&all).cloned(),
        };
        let (name, known) = chosen.unwrap_or_else(|| ("nope".to_owned(), Known::of(Type::Undefined)));
        self.at = known;
        self.word(&name);
    }

    fn target(&mut self) {
        let mut name = self.random.text(&TARGETS);
        // Two parameters of one name are an error, and once in a while that is enough.
        let is_parameter = matches!(self.within(2), "parameters" | "defaults" | "target_part" | "target");
        if is_parameter && self.scope.iter().rev().take(3).any(|variable| variable.name == name) {
            name = self.random.text(&TARGETS);
        }
        self.word(name);
        self.scope.push(Variable {
            name: name.to_owned(),
            known: Known::default(),
        });
    }

    /// The name of an argument.
    fn keyword(&mut self) {
        let keywords = self.callee.as_ref().map(|callee| callee.keywords.clone()).unwrap_or_default();
        // Those that stand last are those that no argument by place has filled.
        let free: Vec<_> = keywords
            .iter()
            .skip(self.given.min(keywords.len().saturating_sub(1)))
            .cloned()
            .collect();
        match self.random.pick(&free).cloned() {
            Some((name, wish)) if self.random.happens(92) => {
                self.word(&name);
                self.wish = wish;
            }
            _ => {
                let name = self.random.text(&KEYWORDS);
                self.word(name);
            }
        }
    }

    /// The name of a filter or a test for what was written last.
    fn applied(&mut self, kind: &'static str, functions: &'static [Function]) {
        if self.random.below(300) == 0 {
            self.callee = None;
            return self.word("nope");
        }
        let Some(mut function) = self.random.pick(functions) else {
            return;
        };
        for _ in 0..6 {
            let fits = takes(function.name);
            let is_name = function.name.starts_with(|char: char| char.is_alphabetic());
            let is_fitting = kind == "test" || fits.is_empty() || self.at.ty.is_none_or(|ty| fits.contains(&ty));
            if is_name && (is_fitting || self.random.happens(12)) {
                break;
            }
            function = self.random.pick(functions).unwrap_or(function);
        }
        self.word(function.name);
        self.hit(kind, function.name);
        self.callee = Some(Callee::of(function, true));
        let ty = self.at.ty;
        self.at = Known::maybe(returns(function.name, ty));
    }

    /// The name of an attribute of what was written last: a key, a method, a part, or none.
    fn attribute(&mut self) {
        let keys: Vec<String> = match self.at.value {
            Some(Data::Object(object)) => object.entries().iter().map(|(key, _)| key.clone().into_owned()).collect(),
            _ => Vec::new(),
        };
        let is_name = |key: &String| key.starts_with(|char: char| char.is_alphabetic()) && !key.contains(' ');
        let keys: Vec<String> = keys.into_iter().filter(is_name).collect();
        if self.random.happens(70) {
            if let (Some(key), Some(Data::Object(object))) = (self.random.pick(&keys).cloned(), self.at.value) {
                self.word(&key);
                self.at = object.get(&key).map(Known::value).unwrap_or_default();
                return;
            }
        }
        let ty = self.at.ty.unwrap_or(Type::Str);
        let parts = parts(ty);
        if !parts.is_empty() && self.random.happens(if methods::all(ty).len() > 3 { 10 } else { 70 }) {
            let part = self.random.text(parts);
            self.at = Known::default();
            return self.word(part);
        }
        let table = methods::all(ty);
        match self.random.pick(&table) {
            Some(method) if self.random.happens(93) => {
                self.word(method.name);
                if self.at.ty.is_some() {
                    self.hit("method", &method_name(ty, method));
                }
                self.at = Known {
                    ty: Some(Type::Method),
                    callee: Some(Callee::of(method, true)),
                    gives: returns(method.name, Some(ty)),
                    value: None,
                };
            }
            _ => {
                let name = self
                    .random
                    .text(&["a", "b", "c", "x", "role", "content", "name", "__class__", "_a", "true", "é"]);
                self.at = Known::default();
                self.word(name);
            }
        }
    }

    /// What a subscript should be: a key, or a place.
    pub(super) fn index_wish(&mut self) -> Wish {
        match self.at.ty {
            Some(Type::Dict) => Wish::Attribute,
            _ if self.random.happens(90) => Wish::Count,
            _ => Wish::Any,
        }
    }

    /// What is known of `before[…]`, where the subscript began at this token.
    pub(super) fn item(&self, before: &Known<'w>, start: usize) -> Known<'w> {
        let index = self
            .sentence
            .tokens
            .get(start.saturating_add(1))
            .map(|token| token.text.as_str())
            .unwrap_or_default();
        let is_alone = self.sentence.tokens.len() == start.saturating_add(3);
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
