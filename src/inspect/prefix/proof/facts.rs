//! Decides conditions by the facts of a path: the conditions that are known to be true or false there.

use super::terms::{FUEL, Facts, Node, Term, Terms};

impl Terms {
    /// Returns whether the current decision may look at one more term.
    pub fn burn(&self) -> bool {
        let fuel = self.fuel.get();
        self.fuel.set(fuel.saturating_sub(1));
        self.spend(1);
        fuel > 0 && !self.is_exhausted()
    }

    /// Returns whether a condition is true, if that follows from the facts.
    pub fn decide(&self, term: Term, facts: &[(Term, bool)]) -> Option<bool> {
        self.fuel.set(FUEL);
        self.decide_within(term, facts)
    }

    fn decide_within(&self, term: Term, facts: &[(Term, bool)]) -> Option<bool> {
        if !self.burn() {
            return None;
        }
        let own = match self.get(term) {
            Node::Str(text) => Some(!text.is_empty()),
            Node::Int(int) => Some(*int != 0),
            Node::Bool(bool) => Some(*bool),
            Node::None | Node::Undefined => Some(false),
            Node::Not(inner) => self.decide_within(*inner, facts).map(|truth| !truth),
            Node::Messages(_, 0)
            | Node::First
            | Node::Last
            | Node::Appended
            | Node::Namespace(_)
            | Node::Macro(_)
            | Node::Loop(_) => Some(true),
            Node::Messages(true, 1) => Some(true),
            Node::List(items) => Some(!items.is_empty()),
            Node::Dict(items) => Some(!items.is_empty()),
            Node::Concat(parts) => {
                self.spend(parts.len() / 8);
                let is_filled = |part: &Term| matches!(self.get(*part), Node::Str(text) if !text.is_empty());
                parts.iter().any(is_filled).then_some(true)
            }
            Node::Choice(test, then, otherwise) => match self.decide_within(*test, facts) {
                Some(true) => self.decide_within(*then, facts),
                Some(false) => self.decide_within(*otherwise, facts),
                None => {
                    let then = if then == test {
                        Some(true)
                    } else {
                        self.decide_within(*then, facts)
                    };
                    let otherwise = if otherwise == test {
                        Some(false)
                    } else {
                        self.decide_within(*otherwise, facts)
                    };
                    then.filter(|then| Some(*then) == otherwise)
                }
            },
            Node::Count => Some(true),
            Node::Sum(base, offset) if self.least(Some(*base), *offset) > 0 => Some(true),
            _ => None,
        };
        own.or_else(|| self.recall(term, facts))
    }

    /// Looks a condition up in the facts.
    fn recall(&self, term: Term, facts: &[(Term, bool)]) -> Option<bool> {
        self.spend(facts.len() / 4);
        if let Some((_, truth)) = facts.iter().rev().find(|(known, _)| *known == term) {
            return Some(*truth);
        }
        let is_known = |term: Term| matches!(self.get(term), Node::Str(_) | Node::Int(_) | Node::None);
        let equals = facts
            .iter()
            .filter(|(_, truth)| *truth)
            .filter_map(|(known, _)| match *self.get(*known) {
                Node::Equal(one, other) if is_known(other) => Some((one, other)),
                _ => None,
            });
        match *self.get(term) {
            Node::Equal(one, other) if is_known(other) => {
                let mut equals = equals;
                equals.any(|(same, value)| same == one && value != other).then_some(false)
            }
            _ => {
                let mut equals = equals;
                let (_, value) = equals.find(|(same, _)| *same == term)?;
                self.decide_within(value, &[])
            }
        }
    }

    /// Adds to the facts that a condition is true or false, and what follows from it.
    pub fn assume(&self, term: Term, truth: bool, facts: &mut Facts) {
        self.assume_within(term, truth, facts, 30);
    }

    fn assume_within(&self, term: Term, truth: bool, facts: &mut Facts, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        if self.decide(term, facts).is_some() || self.is_exhausted() {
            return;
        }
        facts.push((term, truth));
        match *self.get(term) {
            Node::Not(inner) => self.assume_within(inner, !truth, facts, depth),
            Node::Choice(test, then, otherwise) => {
                let then_truth = if then == test { Some(true) } else { self.decide(then, facts) };
                let otherwise_truth = if otherwise == test {
                    Some(false)
                } else {
                    self.decide(otherwise, facts)
                };
                if then_truth == Some(!truth) {
                    self.assume_within(test, false, facts, depth);
                    self.assume_within(otherwise, truth, facts, depth);
                } else if otherwise_truth == Some(!truth) {
                    self.assume_within(test, true, facts, depth);
                    self.assume_within(then, truth, facts, depth);
                }
            }
            _ => {}
        }
    }
}
