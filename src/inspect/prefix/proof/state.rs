//! The state of the evaluation of one of the two renders.

use std::rc::Rc;

use super::terms::{Facts, Node, Term, Terms};
use crate::ast::Symbol;

/// The attributes of a namespace, with the address of the call that makes it.
type Space = (usize, Vec<(Rc<str>, Term)>);

/// The values of variables and namespaces at a place of the template, for one of the two renders.
#[derive(Clone, Debug)]
pub struct State {
    /// Whether the render is that of the longer conversation.
    pub is_longer: bool,
    /// The variables, the innermost scope last.
    variables: Vec<(Symbol, Term)>,
    /// The beginnings of the scopes within the outermost one.
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
}

impl State {
    pub fn new(is_longer: bool) -> Self {
        Self {
            is_longer,
            variables: Vec::new(),
            scopes: Vec::new(),
            spaces: Vec::new(),
            out: Vec::new(),
            facts: Facts::new(),
            stopped: None,
            is_dead: false,
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
        let parts = self
            .variables
            .len()
            .saturating_add(self.facts.len())
            .saturating_add(self.out.len());
        (parts / 32).saturating_add(1)
    }

    pub fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// Takes the scopes away that are nested deeper than `depth`.
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
            // The template refuses the conversation in one branch, so that only the other one matters.
            (true, _) => return otherwise,
            (_, true) => return then,
            _ => {}
        }
        let start = self.scopes.last().copied().unwrap_or_default();
        let own = |state: &Self| state.variables.iter().skip(start).map(|(name, _)| *name).collect::<Vec<_>>();
        let mut names = own(&then);
        names.extend(own(&otherwise));
        names.sort_unstable();
        names.dedup();
        for name in names {
            let mut value = |state: &Self| state.find(name).unwrap_or_else(|| terms.add(Node::Input(name)));
            let (one, other) = (value(&then), value(&otherwise));
            let joined = terms.choice(test, one, other);
            self.set(name, joined);
        }
        self.spaces = Self::join_spaces(terms, test, &then, &otherwise);
        let no = terms.bool(false);
        self.stopped = match (then.stopped, otherwise.stopped) {
            (None, None) => None,
            (one, other) => Some(terms.choice(test, one.unwrap_or(no), other.unwrap_or(no))).filter(|stopped| *stopped != no),
        };
        let printed = |terms: &mut Terms, state: &Self| {
            let new = state.out.get(self.out.len()..).unwrap_or_default();
            if new.is_empty() { terms.text("") } else { terms.concat(new) }
        };
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
        for (address, attributes) in &then.spaces {
            let mut names: Vec<Rc<str>> = attributes.iter().map(|(name, _)| Rc::clone(name)).collect();
            let Some((_, others)) = otherwise.spaces.iter().find(|(other, _)| other == address) else {
                joined.push((*address, attributes.clone()));
                continue;
            };
            names.extend(others.iter().map(|(name, _)| Rc::clone(name)));
            names.sort_unstable();
            names.dedup();
            let attributes = names.into_iter().map(|name| {
                let one = then.attribute(*address, &name).unwrap_or(undefined);
                let other = otherwise.attribute(*address, &name).unwrap_or(undefined);
                let term = terms.choice(test, one, other);
                (name, term)
            });
            joined.push((*address, attributes.collect()));
        }
        let is_new = |address: usize| !then.spaces.iter().any(|(other, _)| *other == address);
        let others = otherwise.spaces.iter().filter(|(address, _)| is_new(*address));
        joined.extend(others.cloned());
        joined
    }
}
