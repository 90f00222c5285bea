//! The state of the evaluation of one of the two renders.

use std::rc::Rc;

use super::terms::{Facts, Node, Term, Terms};
use crate::ast::Symbol;
use crate::meter::Claim;

/// The number of bytes that are claimed for each value of a copy. It allows for lists that double when they grow.
const VALUE_BYTES: usize = 2 * size_of::<(Place, Term)>();

/// What holds a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    Variable(Symbol),
    /// An attribute of a namespace, which is known by the address of the call that makes it.
    Attribute(usize, Rc<str>),
}

/// The values of variables and namespaces at a place of the template, for one of the two renders.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Whether the render is that of the longer conversation.
    pub is_longer: bool,
    /// The variables, the innermost scope last.
    variables: Vec<(Place, Term)>,
    /// For each scope but the outermost, the index in `variables` at which it begins.
    scopes: Vec<usize>,
    /// The attributes of namespaces.
    attributes: Vec<(Place, Term)>,
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

    pub fn get(&self, place: &Place) -> Option<Term> {
        let values = match place {
            Place::Variable(_) => &self.variables,
            Place::Attribute(..) => &self.attributes,
        };
        values.iter().rev().find(|(other, _)| other == place).map(|(_, term)| *term)
    }

    pub fn find(&self, name: Symbol) -> Option<Term> {
        self.get(&Place::Variable(name))
    }

    /// Sets an attribute, or a variable of the innermost scope.
    pub fn set(&mut self, place: Place, term: Term) {
        let (values, start) = match place {
            Place::Variable(_) => (&mut self.variables, self.scopes.last().copied().unwrap_or_default()),
            Place::Attribute(..) => (&mut self.attributes, 0),
        };
        match values.iter_mut().skip(start).find(|(other, _)| *other == place) {
            Some((_, old)) => *old = term,
            None => values.push((place, term)),
        }
    }

    /// Returns the attributes whose values differ from those in another state.
    pub fn list_changed<'s>(&'s self, other: &'s Self) -> impl Iterator<Item = &'s Place> {
        let pairs = [(self, other), (other, self)];
        let changed = pairs.map(|(state, other)| {
            state
                .attributes
                .iter()
                .filter(|(place, term)| other.get(place) != Some(*term))
        });
        changed.into_iter().flatten().map(|(place, _)| place)
    }

    /// Returns the values of a namespace's attributes.
    pub fn attributes(&self, space: usize) -> impl Iterator<Item = Term> {
        let own = self
            .attributes
            .iter()
            .filter(move |(place, _)| matches!(place, Place::Attribute(other, _) if *other == space));
        own.map(|(_, term)| *term)
    }

    /// Removes the attributes of a namespace.
    pub fn clear(&mut self, space: usize) {
        self.attributes
            .retain(|(place, _)| !matches!(place, Place::Attribute(other, _) if *other == space));
    }

    pub fn open_scope(&mut self) {
        self.scopes.push(self.variables.len());
    }

    pub fn close_scope(&mut self) {
        let start = self.scopes.pop().unwrap_or_default();
        self.variables.truncate(start);
    }

    /// Returns the bytes that a copy takes when it has grown a little.
    pub fn bytes(&self) -> usize {
        (self.values() + self.scopes.len()).saturating_mul(VALUE_BYTES) + size_of::<Self>()
    }

    /// Returns the number of values that a copy has.
    pub fn values(&self) -> usize {
        self.variables.len() + self.attributes.len() + self.facts.len() + self.out.len()
    }

    pub fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// Removes and returns the scopes that are nested deeper than `depth`.
    pub fn hide_scopes(&mut self, depth: usize) -> (Vec<(Place, Term)>, Vec<usize>) {
        match self.scopes.get(depth).copied() {
            Some(start) => (self.variables.split_off(start), self.scopes.split_off(depth)),
            None => (Vec::new(), Vec::new()),
        }
    }

    pub fn restore_scopes(&mut self, (variables, scopes): (Vec<(Place, Term)>, Vec<usize>)) {
        self.variables.extend(variables);
        self.scopes.extend(scopes);
    }

    /// Joins the states after the two branches of a choice. Both began with `self`, whose output is the common beginning.
    pub fn join(mut self, terms: &mut Terms, test: Term, then: Self, otherwise: Self) -> Self {
        match (then.is_dead, otherwise.is_dead) {
            // The template refuses the conversation in one branch, so only the other one matters.
            (true, _) => return otherwise,
            (_, true) => return then,
            _ => {}
        }
        terms.spend((then.values() + otherwise.values()) / 4);
        // Both branches have the values of the state in the same places, and new ones after them.
        let start = self.scopes.last().copied().unwrap_or_default();
        let mut changed = Vec::new();
        for (values, ends, start) in [
            (&self.variables, [&then.variables, &otherwise.variables], start),
            (&self.attributes, [&then.attributes, &otherwise.attributes], 0),
        ] {
            for end in ends {
                let new = end
                    .iter()
                    .enumerate()
                    .skip(start)
                    .filter(|(index, value)| values.get(*index) != Some(value));
                changed.extend(new.map(|(_, (place, _))| place.clone()));
            }
        }
        changed.sort_unstable();
        changed.dedup();
        for place in changed {
            terms.spend(self.values() / 4);
            let [one, other] = [&then, &otherwise].map(|state| state.get(&place).unwrap_or_else(|| terms.absent(&place)));
            let joined = terms.choice(test, one, other);
            self.set(place, joined);
        }
        let no = terms.bool(false);
        self.stopped = match (then.stopped, otherwise.stopped) {
            (None, None) => None,
            (one, other) => Some(terms.choice(test, one.unwrap_or(no), other.unwrap_or(no))).filter(|stopped| *stopped != no),
        };
        let [one, other] = [&then, &otherwise].map(|state| terms.concat(state.out.get(self.out.len()..).unwrap_or_default()));
        let text = terms.choice(test, one, other);
        if *terms.get(text) != Node::Str("".into()) {
            self.out.push(text);
        }
        self
    }
}
