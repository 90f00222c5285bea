//! The state of the evaluation of one of the two renders.

use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexMap;

use super::terms::{Facts, Node, Term, Terms};
use crate::ast::Symbol;
use crate::meter::Claim;

/// The attributes of a namespace, with the address of the call that makes it.
type Space = (usize, Attributes);

/// The number of bytes that are claimed for each value of a copy. It allows for lists that double when they grow.
const VALUE_BYTES: usize = 2 * size_of::<(Rc<str>, Term)>();

type Attributes = Vec<(Rc<str>, Term)>;

/// The values of variables and namespaces at a place of the template, for one of the two renders.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Whether the render is that of the longer conversation.
    pub is_longer: bool,
    /// The variables, the innermost scope last.
    variables: Vec<(Symbol, Term)>,
    /// For each scope but the outermost, the index in `variables` at which it begins.
    scopes: Vec<usize>,
    /// The attributes of namespaces, each by the address of the call that makes it.
    pub spaces: Vec<Space>,
    /// The output so far.
    pub out: Vec<Term>,
    /// The conditions that are known to be true or false on this path.
    pub facts: Facts,
    /// The condition under which the rest of the loop's body is skipped.
    pub stopped: Option<Term>,
    /// Whether the template refuses the conversation on this path.
    pub is_dead: bool,
    /// The claim to the memory of a copy.
    _claim: Option<Rc<Claim>>,
}

impl State {
    pub fn new(is_longer: bool) -> Self {
        Self {
            is_longer,
            ..Self::default()
        }
    }

    /// Returns a copy, whose memory was claimed.
    pub fn copy(&self, claim: Claim) -> Self {
        Self {
            _claim: Some(Rc::new(claim)),
            ..self.clone()
        }
    }

    pub fn find(&self, name: Symbol) -> Option<Term> {
        let mut variables = self.variables.iter().rev();
        variables.find(|(other, _)| *other == name).map(|(_, term)| *term)
    }

    /// Sets a variable of the innermost scope.
    pub fn set(&mut self, name: Symbol, term: Term) {
        let start = self.scopes.last().copied().unwrap_or_default();
        let mut own = self.variables.iter_mut().skip(start);
        match own.find(|(other, _)| *other == name) {
            Some((_, place)) => *place = term,
            None => self.variables.push((name, term)),
        }
    }

    pub fn open_scope(&mut self) {
        self.scopes.push(self.variables.len());
    }

    pub fn close_scope(&mut self) {
        let start = self.scopes.pop().unwrap_or_default();
        self.variables.truncate(start);
    }

    /// Returns the approximate cost of a copy.
    pub fn size(&self) -> usize {
        let parts = self.variables.len() + self.facts.len() + self.out.len();
        parts / 32 + 1
    }

    /// Returns the bytes that a copy takes when it has grown a little.
    pub fn bytes(&self) -> usize {
        (self.values() + self.scopes.len()).saturating_mul(VALUE_BYTES) + size_of::<Self>()
    }

    /// Returns the number of values that a copy has.
    pub fn values(&self) -> usize {
        let attributes = self.spaces.iter().map(|(_, attributes)| attributes.len() + 2);
        let own = [self.variables.len(), self.facts.len(), self.out.len()];
        own.into_iter().chain(attributes).fold(0, usize::saturating_add)
    }

    pub fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// Removes and returns the scopes that are nested deeper than `depth`.
    pub fn hide_scopes(&mut self, depth: usize) -> (Vec<(Symbol, Term)>, Vec<usize>) {
        match self.scopes.get(depth).copied() {
            Some(start) => (self.variables.split_off(start), self.scopes.split_off(depth)),
            None => (Vec::new(), Vec::new()),
        }
    }

    pub fn restore_scopes(&mut self, (variables, scopes): (Vec<(Symbol, Term)>, Vec<usize>)) {
        self.variables.extend(variables);
        self.scopes.extend(scopes);
    }

    pub fn attribute(&self, space: usize, name: &str) -> Option<Term> {
        let (_, attributes) = self.spaces.iter().find(|(address, _)| *address == space)?;
        attributes.iter().find(|(other, _)| **other == *name).map(|(_, term)| *term)
    }

    pub fn set_attribute(&mut self, space: usize, name: &str, term: Term) {
        let Some((_, attributes)) = self.spaces.iter_mut().find(|(address, _)| *address == space) else {
            return;
        };
        match attributes.iter_mut().find(|(other, _)| **other == *name) {
            Some((_, place)) => *place = term,
            None => attributes.push((name.into(), term)),
        }
    }

    /// Joins the states after the two branches of a choice. Both began with `self`, whose output is the common beginning.
    pub fn join(mut self, terms: &mut Terms, test: Term, then: Self, otherwise: Self) -> Self {
        match (then.is_dead, otherwise.is_dead) {
            // The template refuses the conversation in one branch, so only the other one matters.
            (true, _) => return otherwise,
            (_, true) => return then,
            _ => {}
        }
        let start = self.scopes.last().copied().unwrap_or_default();
        terms.spend((then.values() + otherwise.values()) / 4);
        // Both branches have the variables of the scope in the same places, and new ones after them.
        let old = self.variables.len();
        let mut names = Vec::new();
        for (index, (name, term)) in self.variables.iter().enumerate().skip(start) {
            let is_same = |state: &Self| state.variables.get(index) == Some(&(*name, *term));
            if !is_same(&then) || !is_same(&otherwise) {
                names.push(*name);
            }
        }
        let new = then.variables.iter().skip(old).chain(otherwise.variables.iter().skip(old));
        names.extend(new.map(|(name, _)| *name));
        names.sort_unstable();
        names.dedup();
        for name in names {
            let mut value = |state: &Self| state.find(name).unwrap_or_else(|| terms.add(Node::Input(name)));
            let (one, other) = (value(&then), value(&otherwise));
            terms.spend(old / 4);
            let joined = terms.choice(test, one, other);
            self.set(name, joined);
        }
        self.spaces = Self::join_spaces(terms, test, &then, &otherwise);
        let no = terms.bool(false);
        self.stopped = match (then.stopped, otherwise.stopped) {
            (None, None) => None,
            (one, other) => Some(terms.choice(test, one.unwrap_or(no), other.unwrap_or(no))).filter(|stopped| *stopped != no),
        };
        let printed = |terms: &mut Terms, state: &Self| terms.concat(state.out.get(self.out.len()..).unwrap_or_default());
        let (one, other) = (printed(terms, &then), printed(terms, &otherwise));
        let text = terms.choice(test, one, other);
        if *terms.get(text) != Node::Str("".into()) {
            self.out.push(text);
        }
        self
    }

    fn join_spaces(terms: &mut Terms, test: Term, then: &Self, otherwise: &Self) -> Vec<Space> {
        let undefined = terms.add(Node::Undefined);
        let mut joined = Vec::new();
        let mut others: IndexMap<usize, &Attributes> = otherwise
            .spaces
            .iter()
            .map(|(address, attributes)| (*address, attributes))
            .collect();
        for (address, attributes) in &then.spaces {
            let Some(others) = others.shift_remove(address) else {
                joined.push((*address, attributes.clone()));
                continue;
            };
            // The two values of each attribute, in the order of the names.
            let mut values: BTreeMap<Rc<str>, [Term; 2]> = BTreeMap::new();
            for (side, attributes) in [attributes, others].into_iter().enumerate() {
                for (name, term) in attributes {
                    let pair = values.entry(Rc::clone(name)).or_insert([undefined; 2]);
                    pair.iter_mut().skip(side).take(1).for_each(|place| *place = *term);
                }
            }
            let attributes = values
                .into_iter()
                .map(|(name, [one, other])| (name, terms.choice(test, one, other)));
            joined.push((*address, attributes.collect()));
        }
        joined.extend(others.into_iter().map(|(address, attributes)| (address, attributes.clone())));
        joined
    }
}
