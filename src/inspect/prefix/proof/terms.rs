//! Terms: the values of expressions whose variables are unknown.
//!
//! ```text
//! '<' + message.role + '>'   ->   the text of '<', the item "role" of an unknown message, and '>'
//! ```
//!
//! Equal terms have one index, and have equal values in both renders. Terms with different indices may or may not have equal values.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use super::state::Place;
use crate::ast::Symbol;

/// The index of a term.
pub type Term = usize;

/// The operation of a term about which nothing is known but its operands. Equal operations on equal operands have equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// The kind of operation, such as `filter`.
    pub kind: &'static str,
    /// The name of the function.
    pub name: Rc<str>,
    /// The address of the operation's node in the tree, or 0 if it has none.
    pub address: usize,
}

/// A term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A string.
    Str(Rc<str>),
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// Python's `None`.
    None,
    /// An undefined value, which prints nothing.
    Undefined,
    /// A variable of the caller.
    Input(Symbol),
    /// An unknown value that both renders have.
    Fresh(usize),
    /// An unknown value of one render.
    Lone(usize),
    /// The messages from an index on. The flag says whether the appended message is one of them.
    Messages(bool, usize),
    /// The first message.
    First,
    /// The last message before the appended one.
    Last,
    /// The appended message.
    Appended,
    /// The number of messages before the appended one.
    Count,
    /// The sum of an unknown integer and a known one, which is not 0.
    Sum(Term, i64),
    /// The concatenation of what terms print.
    Concat(Rc<[Term]>),
    /// A choice: the second term if the first is true, else the third.
    Choice(Term, Term, Term),
    /// The negation of a term.
    Not(Term),
    /// Whether two terms are equal.
    Equal(Term, Term),
    /// Whether the first term is less than the second.
    Less(Term, Term),
    /// A list or a tuple.
    List(Rc<[Term]>),
    /// A dict.
    Dict(Rc<[(Term, Term)]>),
    /// A namespace, by the address of the call that makes it.
    Namespace(usize),
    /// A macro, by its index.
    Macro(usize),
    /// The variable `loop` of a loop over messages, by its index.
    Loop(usize),
    /// A function of other terms.
    Apply(Operation, Rc<[Term]>),
}

impl Node {
    /// Returns the number of bytes that a term takes besides its node.
    fn bytes(&self) -> usize {
        let of = |count: usize| count.saturating_mul(size_of::<Term>());
        match self {
            Self::Str(text) => text.len(),
            Self::Concat(terms) | Self::List(terms) => of(terms.len()),
            Self::Apply(operation, terms) => of(terms.len()) + operation.name.len(),
            Self::Dict(pairs) => of(pairs.len()).saturating_mul(2),
            _ => 0,
        }
    }
}

/// The maximum number of parts of a concatenation. One with more parts is an unknown value.
const MAX_PARTS: usize = 1000;

/// The number of bytes of a known string that count as one part of a concatenation.
const LONGEST_TEXT: usize = 100;

/// The maximum number of terms that one decision looks at.
pub const FUEL: usize = 300;

/// The maximum number of bytes of the strings and lists of all terms. Those of real templates have some hundred thousand.
const MAX_BYTES: usize = 16 << 20;

/// The maximum work between two checks of the meter.
const MAX_UNCHECKED_WORK: u64 = 1_000_000;

/// The facts of a path: conditions, and whether each is true.
pub type Facts = Vec<(Term, bool)>;

/// The terms of a proof.
#[derive(Debug, Default)]
pub struct Terms {
    nodes: Vec<Node>,
    indices: HashMap<Node, Term>,
    /// Whether each term can have different values in the two renders.
    varying: Vec<bool>,
    unknown: usize,
    /// The bounds of each unknown integer: its least value, and, if it is known, its greatest value as a difference from [`Node::Count`].
    bounds: HashMap<Term, (i64, Option<i64>)>,
    /// The least number of messages of the shorter conversation in the round that is executed.
    pub least_count: i64,
    /// The terms that the current decision may still look at. Terms share their parts, so a walk over all can take exponential time.
    pub fuel: Cell<usize>,
    /// The bytes of the strings and lists of all terms.
    bytes: usize,
    /// Whether a term was not made, because it would have had too many bytes.
    pub is_full: bool,
    /// The work since the last check of the meter: values and bytes that were copied or compared.
    spent: Cell<u64>,
}

impl Terms {
    /// Counts work until the next check of the meter.
    pub fn spend(&self, work: usize) {
        self.spent.set(self.spent.get().saturating_add(work as u64));
    }

    /// Returns the work since the last call.
    pub fn take_spent(&self) -> u64 {
        self.spent.take()
    }

    /// Returns whether there was so much work that no more may be done before the next check of the meter.
    pub fn is_exhausted(&self) -> bool {
        self.spent.get() > MAX_UNCHECKED_WORK
    }

    /// Returns the index of a term. A term that is too large is an unknown value.
    pub fn add(&mut self, node: Node) -> Term {
        let bytes = node.bytes();
        self.spend(bytes / 32);
        if let Some(index) = self.indices.get(&node) {
            return *index;
        }
        if bytes > 0 {
            self.bytes += bytes;
            if self.bytes > MAX_BYTES {
                self.is_full = true;
                return self.lone();
            }
        }
        let index = self.nodes.len();
        self.varying.push(self.node_varies(&node));
        self.nodes.push(node.clone());
        self.indices.insert(node, index);
        index
    }

    /// Returns the term with an index.
    pub fn get(&self, term: Term) -> &Node {
        self.nodes.get(term).unwrap_or(&Node::Undefined)
    }

    /// Returns the number of terms.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether a term can have different values in the two renders.
    pub fn varies(&self, term: Term) -> bool {
        self.varying.get(term).copied().unwrap_or(true)
    }

    fn node_varies(&self, node: &Node) -> bool {
        let varies = |term: &Term| self.varies(*term);
        match node {
            Node::Messages(..) | Node::Last | Node::Appended | Node::Count | Node::Lone(_) => true,
            Node::Sum(term, _) | Node::Not(term) => varies(term),
            Node::Concat(terms) | Node::List(terms) | Node::Apply(_, terms) => terms.iter().any(varies),
            Node::Choice(test, then, otherwise) => [test, then, otherwise].into_iter().any(varies),
            Node::Equal(one, other) | Node::Less(one, other) => varies(one) || varies(other),
            Node::Dict(pairs) => pairs.iter().any(|(key, value)| varies(key) || varies(value)),
            _ => false,
        }
    }

    pub fn text(&mut self, text: &str) -> Term {
        self.add(Node::Str(text.into()))
    }

    pub fn bool(&mut self, bool: bool) -> Term {
        self.add(Node::Bool(bool))
    }

    /// Returns an unknown value that both renders have.
    pub fn fresh(&mut self) -> Term {
        self.unknown += 1;
        self.add(Node::Fresh(self.unknown))
    }

    /// Returns an unknown value that only one render has.
    pub fn lone(&mut self) -> Term {
        self.unknown += 1;
        self.add(Node::Lone(self.unknown))
    }

    /// Returns the value of a place that was not assigned.
    pub fn absent(&mut self, place: &Place) -> Term {
        self.add(match place {
            Place::Variable(name) => Node::Input(*name),
            Place::Attribute(..) => Node::Undefined,
        })
    }

    /// Returns an unknown integer between bounds.
    pub fn index_between(&mut self, least: i64, most: Option<i64>) -> Term {
        let index = self.fresh();
        self.bounds.insert(index, (least, most));
        index
    }

    pub fn apply(&mut self, kind: &'static str, name: &str, args: Vec<Term>) -> Term {
        self.apply_node(kind, name, 0, args)
    }

    pub fn apply_node(&mut self, kind: &'static str, name: &str, address: usize, args: Vec<Term>) -> Term {
        let operation = Operation {
            kind,
            name: name.into(),
            address,
        };
        self.add(Node::Apply(operation, args.into()))
    }

    /// Returns the concatenation of what terms print.
    pub fn concat(&mut self, parts: &[Term]) -> Term {
        let length = |part: &Term| match self.get(*part) {
            Node::Concat(inner) => inner.len(),
            Node::Str(text) => text.len() / LONGEST_TEXT + 1,
            _ => 1,
        };
        if parts.iter().map(length).sum::<usize>() > MAX_PARTS {
            return self.lone();
        }
        let mut flat: Vec<Term> = Vec::new();
        for part in parts {
            match self.get(*part).clone() {
                Node::Concat(inner) => flat.extend(inner.iter()),
                Node::Undefined => {}
                Node::Str(text) if text.is_empty() => {}
                _ => flat.push(*part),
            }
        }
        let mut joined: Vec<Term> = Vec::with_capacity(flat.len());
        let mut parts = flat.into_iter().peekable();
        while let Some(part) = parts.next() {
            let mut joint: Option<String> = None;
            if let Node::Str(first) = self.get(part) {
                let next = |part: &Term| matches!(self.get(*part), Node::Str(_));
                while let Some(Node::Str(other)) = parts.next_if(next).map(|part| self.get(part)) {
                    joint.get_or_insert_with(|| (**first).to_owned()).push_str(other);
                }
            }
            joined.push(match joint {
                Some(text) => self.text(&text),
                None => part,
            });
        }
        match joined.as_slice() {
            [] => self.text(""),
            [one] if self.is_text(*one) => *one,
            _ => self.add(Node::Concat(joined.into())),
        }
    }

    /// Returns whether a term certainly is a string.
    pub fn is_text(&self, term: Term) -> bool {
        self.fuel.set(FUEL);
        self.is_text_within(term)
    }

    fn is_text_within(&self, term: Term) -> bool {
        match self.get(term) {
            Node::Str(_) | Node::Concat(_) => true,
            Node::Choice(_, one, other) => self.burn() && self.is_text_within(*one) && self.is_text_within(*other),
            Node::Apply(operation, _) => match operation.kind {
                "filter" => ["trim", "tojson", "string", "upper", "lower", "join", "replace"].contains(&&*operation.name),
                "method" => ["strip", "lstrip", "rstrip", "upper", "lower", "replace", "title"].contains(&&*operation.name),
                "output" | "macro" => true,
                _ => false,
            },
            _ => false,
        }
    }

    pub fn choice(&mut self, test: Term, then: Term, otherwise: Term) -> Term {
        if then == otherwise {
            return then;
        }
        if let Some(test) = self.decide(test, &[]) {
            return if test { then } else { otherwise };
        }
        match *self.get(test) {
            Node::Not(inner) => self.choice(inner, otherwise, then),
            _ => self.add(Node::Choice(test, then, otherwise)),
        }
    }

    pub fn not(&mut self, term: Term) -> Term {
        if let Some(truth) = self.decide(term, &[]) {
            return self.bool(!truth);
        }
        match *self.get(term) {
            Node::Not(inner) if self.is_condition(inner) => inner,
            _ => self.add(Node::Not(term)),
        }
    }

    /// Returns whether a term certainly is a boolean.
    fn is_condition(&self, term: Term) -> bool {
        match self.get(term) {
            Node::Not(_) | Node::Equal(..) | Node::Less(..) | Node::Bool(_) => true,
            Node::Apply(operation, _) => ["test", "in"].contains(&operation.kind),
            _ => false,
        }
    }

    /// Splits an integer into an unknown term and a known number that is added to it.
    pub fn split_sum(&self, term: Term) -> Option<(Option<Term>, i64)> {
        match self.get(term) {
            Node::Int(int) => Some((None, *int)),
            Node::Sum(base, offset) => Some((Some(*base), *offset)),
            Node::Count => Some((Some(term), 0)),
            _ if self.bounds.contains_key(&term) => Some((Some(term), 0)),
            _ => None,
        }
    }

    /// Returns the sum of an unknown integer and a known number.
    pub fn sum(&mut self, base: Option<Term>, offset: i64) -> Term {
        match base {
            None => self.add(Node::Int(offset)),
            Some(base) if offset == 0 => base,
            Some(base) => self.add(Node::Sum(base, offset)),
        }
    }

    /// Returns the least value of an integer.
    pub fn least(&self, base: Option<Term>, offset: i64) -> i64 {
        let least = match base {
            None => 0,
            Some(base) => match self.get(base) {
                Node::Count => self.least_count.max(1),
                _ => self.bounds.get(&base).map_or(i64::MIN, |(least, _)| *least),
            },
        };
        least.saturating_add(offset)
    }

    /// Returns whether one integer is less than another, if that is known.
    fn find_less(&self, one: Term, other: Term) -> Option<bool> {
        let ((base, offset), (other_base, other_offset)) = (self.split_sum(one)?, self.split_sum(other)?);
        if base == other_base {
            return Some(offset < other_offset);
        }
        let is_count = |base: Option<Term>| base.is_some_and(|base| *self.get(base) == Node::Count);
        let most = |base: Option<Term>| base.and_then(|base| self.bounds.get(&base)?.1);
        if base.is_none() && offset < self.least(other_base, other_offset) {
            return Some(true);
        }
        if other_base.is_none() && self.least(base, offset) >= other_offset {
            return Some(false);
        }
        if is_count(other_base) && most(base).is_some_and(|most| most.saturating_add(offset) < other_offset) {
            return Some(true);
        }
        if is_count(base) && most(other_base).is_some_and(|most| most.saturating_add(other_offset) <= offset) {
            return Some(false);
        }
        None
    }

    pub fn less(&mut self, one: Term, other: Term, depth: usize) -> Term {
        if let Some(less) = self.find_less(one, other) {
            return self.bool(less);
        }
        match (self.get(one).clone(), self.get(other).clone()) {
            (Node::Choice(test, then, otherwise), _) if depth > 0 => {
                let then = self.less(then, other, depth.saturating_sub(1));
                let otherwise = self.less(otherwise, other, depth.saturating_sub(1));
                self.choice(test, then, otherwise)
            }
            (_, Node::Choice(test, then, otherwise)) if depth > 0 => {
                let then = self.less(one, then, depth.saturating_sub(1));
                let otherwise = self.less(one, otherwise, depth.saturating_sub(1));
                self.choice(test, then, otherwise)
            }
            _ => self.add(Node::Less(one, other)),
        }
    }

    pub fn equal(&mut self, one: Term, other: Term) -> Term {
        if one == other {
            return self.bool(true);
        }
        let (first, second) = (self.get(one).clone(), self.get(other).clone());
        let is_known = |node: &Node| {
            matches!(
                node,
                Node::Str(_) | Node::Int(_) | Node::Bool(_) | Node::None | Node::Undefined
            )
        };
        match (&first, &second) {
            (Node::Int(_) | Node::Bool(_), Node::Int(_) | Node::Bool(_))
                if std::mem::discriminant(&first) != std::mem::discriminant(&second) => {}
            (first, second) if is_known(first) && is_known(second) => return self.bool(false),
            _ => {}
        }
        let is_less = self.find_less(one, other) == Some(true) || self.find_less(other, one) == Some(true);
        if is_less {
            return self.bool(false);
        }
        let (one, other) = if is_known(&first) { (other, one) } else { (one, other) };
        self.add(Node::Equal(one, other))
    }
}
