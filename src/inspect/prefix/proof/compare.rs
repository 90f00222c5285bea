//! Compares what two lists of terms print.

use super::Prover;
use super::terms::{Facts, Node, Term};

/// The maximum number of steps of one comparison.
const MAX_STEPS: usize = 20_000;

/// The number of bytes that are claimed for each term and fact of a copy. It allows for lists that double when they grow.
const VALUE_BYTES: usize = 2 * size_of::<(Term, bool)>();

/// The relation that must hold between what two lists of terms print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The strings are equal.
    Equal,
    /// The first string is a prefix of the second.
    Prefix,
}

impl Prover<'_> {
    /// Returns whether a relation holds between what two lists print, whatever the values of the unknown terms are. False means that the
    /// terms do not show it.
    pub fn are_related(&mut self, one: &[Term], other: &[Term], relation: Relation, facts: &Facts) -> bool {
        let reversed = |terms: &[Term]| terms.iter().rev().copied().collect::<Vec<_>>();
        let mut steps = 0;
        self.compare_stacks(reversed(one), reversed(other), relation, facts.clone(), &mut steps)
    }

    /// Compares two lists of terms, which are stored in reverse: the last term is printed first.
    fn compare_stacks(
        &mut self,
        mut one: Vec<Term>,
        mut other: Vec<Term>,
        relation: Relation,
        facts: Facts,
        steps: &mut usize,
    ) -> bool {
        // Each condition that is assumed nests one more call.
        if self.stack.check().is_err() {
            return false;
        }
        loop {
            *steps += 1;
            self.terms.spend(1);
            if *steps > MAX_STEPS || !self.may_go_on() {
                return false;
            }
            if one.last().is_some()
                && one.last() == other.last()
                && !matches!(one.last().map(|term| self.terms.get(*term)), Some(Node::Lone(_)))
            {
                one.pop();
                other.pop();
                continue;
            }
            let test = match (self.unfold(&mut one, &facts), self.unfold(&mut other, &facts)) {
                (Some(test), _) | (None, Some(test)) => Some(test),
                (None, None) => None,
            };
            if let Some(test) = test {
                let values = one.len() + other.len() + facts.len();
                self.terms.spend(values / 4);
                let Ok(_claim) = self.meter.claim(values.saturating_mul(VALUE_BYTES)) else {
                    return false;
                };
                let mut yes = facts.clone();
                self.terms.assume(test, true, &mut yes);
                if !self.compare_stacks(one.clone(), other.clone(), relation, yes, steps) {
                    return false;
                }
                let mut no = facts;
                self.terms.assume(test, false, &mut no);
                return self.compare_stacks(one, other, relation, no, steps);
            }
            match (one.last().copied(), other.last().copied()) {
                (None, None) => return true,
                (None, Some(_)) => return relation == Relation::Prefix,
                (Some(_), None) => return false,
                (Some(first), Some(second)) => {
                    if first == second {
                        continue;
                    }
                    let (Node::Str(left), Node::Str(right)) = (self.terms.get(first).clone(), self.terms.get(second).clone())
                    else {
                        return false;
                    };
                    one.pop();
                    other.pop();
                    if let Some(rest) = left.strip_prefix(&*right) {
                        one.push(self.terms.text(rest));
                    } else if let Some(rest) = right.strip_prefix(&*left) {
                        other.push(self.terms.text(rest));
                    } else {
                        return false;
                    }
                }
            }
        }
    }

    /// Replaces the last term by its parts, until the last term is a string or an unknown value. Returns a condition on which a part
    /// depends, if the facts do not decide it.
    fn unfold(&mut self, stack: &mut Vec<Term>, facts: &Facts) -> Option<Term> {
        while let Some(last) = stack.last().copied() {
            match self.terms.get(last).clone() {
                Node::Undefined => drop(stack.pop()),
                Node::Str(text) if text.is_empty() => drop(stack.pop()),
                Node::Int(_) | Node::Bool(_) | Node::None => {
                    let text = self.printed(last);
                    stack.pop();
                    stack.push(text);
                }
                Node::Concat(parts) => {
                    self.terms.spend(parts.len() / 8);
                    stack.pop();
                    stack.extend(parts.iter().rev());
                }
                Node::Choice(test, then, otherwise) => match self.terms.decide(test, facts) {
                    Some(truth) => {
                        stack.pop();
                        stack.push(if truth { then } else { otherwise });
                    }
                    None => return Some(test),
                },
                _ => return None,
            }
        }
        None
    }
}
