//! Evaluates filters, tests and calls to terms.

use super::Prover;
use super::eval::SPREAD;
use super::state::State;
use super::terms::{Node, Term};
use crate::ast::{Call, Expr, ExprKind, Filter, Test};

impl<'t> Prover<'t> {
    pub fn filter(&mut self, filter: &'t Filter, input: Term, state: &mut State) -> Term {
        let args = self.args(&filter.args, state);
        self.filter_by(&filter.name, input, &args, SPREAD)
    }

    fn filter_by(&mut self, name: &str, input: Term, args: &[Term], depth: usize) -> Term {
        let node = self.terms.get(input).clone();
        match (name, &node) {
            (_, Node::Choice(test, then, otherwise)) if depth > 0 && self.terms.varies(input) => {
                let then = self.filter_by(name, *then, args, depth.saturating_sub(1));
                let otherwise = self.filter_by(name, *otherwise, args, depth.saturating_sub(1));
                self.terms.choice(*test, then, otherwise)
            }
            ("length" | "count", Node::Messages(longer, from @ 0..=1)) => {
                let count = self.terms.add(Node::Count);
                let from = i64::try_from(*from).unwrap_or_default();
                self.terms.sum(Some(count), i64::from(*longer).saturating_sub(from))
            }
            ("first", Node::Messages(_, 0)) => self.terms.add(Node::First),
            ("last", Node::Messages(longer, 0)) => self.last_message(*longer),
            ("list", Node::Messages(..) | Node::List(_)) => input,
            ("string", _) if self.terms.is_text(input) => input,
            ("safe", _) if self.terms.is_text(input) => input,
            ("default" | "d", Node::Undefined) if args.len() == 1 => args.first().copied().unwrap_or(input),
            ("lower" | "upper" | "capitalize" | "title", Node::Str(text)) if args.is_empty() => match change_case(name, text) {
                Some(text) => self.terms.text(&text),
                None => self.terms.apply("filter", name, vec![input]),
            },
            _ => {
                let input = self.without_appended(name, input, args);
                let args = std::iter::once(input).chain(args.iter().copied()).collect();
                self.terms.apply("filter", name, args)
            }
        }
    }

    pub fn test(&mut self, test: &'t Test, input: Term, state: &mut State) -> Term {
        let (name, args) = (&*test.name, self.args(&test.args, state));
        let node = self.terms.get(input).clone();
        let is_message = matches!(node, Node::First | Node::Last | Node::Appended);
        let is_list = matches!(node, Node::Messages(..) | Node::List(_));
        let is_text = self.terms.is_text(input);
        let is_scalar = matches!(node, Node::Int(_) | Node::Bool(_) | Node::None);
        let known = match (name, &node) {
            ("defined", Node::Undefined) => Some(false),
            ("undefined", Node::Undefined) => Some(true),
            ("defined", _) if is_message || is_list || is_text || is_scalar => Some(true),
            ("defined", Node::Namespace(_) | Node::Macro(_) | Node::Dict(_)) => Some(true),
            ("undefined", _) if is_message || is_list || is_text || is_scalar => Some(false),
            ("none", Node::None) => Some(true),
            ("none", _) if is_message || is_list || is_text || is_scalar || node == Node::Undefined => Some(false),
            ("string", _) if is_text => Some(true),
            ("string", _) if is_message || is_list || is_scalar || node == Node::Undefined => Some(false),
            ("mapping", _) if is_message => Some(true),
            ("mapping", _) if is_list || is_text || is_scalar => Some(false),
            ("iterable", _) if is_message || is_list || is_text => Some(true),
            ("sequence", _) if is_list || is_text => Some(true),
            ("true", Node::Bool(bool)) => Some(*bool),
            ("false", Node::Bool(bool)) => Some(!bool),
            _ => None,
        };
        match known {
            Some(truth) => self.terms.bool(truth),
            None => {
                let args = std::iter::once(input).chain(args).collect();
                self.terms.apply("test", name, args)
            }
        }
    }

    pub fn call(&mut self, call: &'t Call, expr: &'t Expr, state: &mut State) -> Term {
        match &call.callee.kind {
            ExprKind::Attribute(node) => {
                let object = self.eval(&node.object, state);
                let args = self.args(&call.args, state);
                self.method(object, &node.name, args, state)
            }
            ExprKind::Name(name) => {
                let callee = state.find(name.symbol);
                if let Some(Node::Macro(index)) = callee.map(|callee| self.terms.get(callee).clone()) {
                    return self.call_macro(index, &call.args, state);
                }
                match (callee, self.tree.symbols.name(name.symbol)) {
                    (None, "namespace") => self.make_namespace(call, std::ptr::from_ref(expr) as usize, state),
                    (None, "raise_exception") => {
                        state.is_dead = true;
                        self.terms.add(Node::Undefined)
                    }
                    (None, name @ ("range" | "dict")) => {
                        let args = self.args(&call.args, state);
                        self.terms.apply("global", name, args)
                    }
                    // The time of the clock differs from render to render.
                    _ => self.give_up(),
                }
            }
            _ => self.give_up(),
        }
    }

    fn method(&mut self, object: Term, name: &str, args: Vec<Term>, state: &mut State) -> Term {
        let key = args.first().map(|key| (*key, self.terms.get(*key).clone()));
        match (self.terms.get(object).clone(), name, key) {
            (Node::Loop(_) | Node::Namespace(_) | Node::Macro(_), ..) => self.give_up(),
            (Node::Dict(_), "get", Some((key, Node::Str(_)))) => {
                let found = self.item(object, key, state);
                match (self.terms.get(found), args.get(1)) {
                    (Node::Undefined, Some(default)) => *default,
                    (Node::Undefined, None) => self.terms.add(Node::None),
                    _ => found,
                }
            }
            (Node::Str(text), "lower" | "upper" | "capitalize" | "title", None) => match change_case(name, &text) {
                Some(text) => self.terms.text(&text),
                None => self.terms.apply("method", name, vec![object]),
            },
            (_, "get", Some((key, Node::Str(role)))) if &*role == "role" => self.item(object, key, state),
            _ => {
                let args = std::iter::once(object).chain(args).collect();
                self.terms.apply("method", name, args)
            }
        }
    }
}

/// Changes the case of a word as a filter or method does. Returns `None` unless the word consists of ASCII letters.
fn change_case(name: &str, text: &str) -> Option<String> {
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let (first, rest) = text.split_at_checked(1).filter(|_| is_word)?;
    Some(match name {
        "lower" => text.to_ascii_lowercase(),
        "upper" => text.to_ascii_uppercase(),
        _ => first.to_ascii_uppercase() + &rest.to_ascii_lowercase(),
    })
}
