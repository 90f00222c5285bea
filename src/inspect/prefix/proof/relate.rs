//! Executes a loop over the messages for both renders at once.
//!
//! The rounds of the shorter conversation are also rounds of the longer one. A round is executed for each of these cases: the first or a
//! later one, the last of the shorter conversation or an earlier one. In each case both renders must print the same and leave equal
//! values. Then the round of the appended message is executed for the longer conversation alone.

use std::collections::HashSet;

use indexmap::IndexSet;

use super::Prover;
use super::compare::Relation;
use super::eval::SPREAD;
use super::messages::Round;
use super::state::{Place, State};
use super::terms::{Facts, Node, Term};
use crate::ast::For;

/// How the two lists of a loop over messages are related: that of the shorter and that of the longer conversation, which has more items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The index of the first message, if the list has all messages from the first or the second on. Then the longer conversation's list
    /// has the appended message in addition, at its end.
    pub from: Option<usize>,
    /// Whether the items are the indices of the messages, and not the messages.
    pub are_indices: bool,
    /// Whether the lists have the messages in reverse, so that the appended message comes first.
    pub is_reversed: bool,
}

/// The result of a loop over the messages.
pub struct Outcome {
    /// The states if both renders have printed the same, or `None` if that is impossible.
    pub together: Option<[State; 2]>,
    /// The states if the renders may have printed different strings. Each state has the output of its own render. The flag is true if the
    /// loop over the longer conversation had exactly one round more.
    pub apart: Vec<([State; 2], bool)>,
}

/// An attribute of a namespace that the body of a loop assigns.
struct Carried {
    place: Place,
    /// The values before the loop.
    old: [Term; 2],
    /// Whether the values of the two renders are equal when a round begins, or each is the one from before the loop.
    is_related: bool,
}

impl<'t> Prover<'t> {
    /// Executes a loop over the messages. Returns `None` if the renders may have printed different strings.
    pub fn relate(&mut self, node: &'t For, mut shape: Shape, mut states: [State; 2]) -> Option<Outcome> {
        let reads = self.reads_of(node);
        if node.test.is_some() {
            // The variable `loop` counts only the messages that the test of the loop chooses.
            shape.from = None;
        }
        if (shape.are_indices && shape.from.is_none()) || (shape.is_reversed && node.test.is_some()) {
            return None;
        }
        if node.recursive || !node.otherwise.stmts.is_empty() {
            self.give_up();
        }
        if shape.is_reversed {
            let round = self.reversed_round(false, true);
            let begun = self.fork_both(&states).map(Some);
            let [_, after] = self.run_round(node, &round, begun)?;
            let mut after = after?;
            let stops = after.stopped.take().is_some() && reads.breaks;
            let out = std::mem::take(&mut after.out);
            if stops || !self.are_related(&out, &[], Relation::Equal, &after.facts) {
                return None;
            }
            let [_, longer] = &mut states;
            *longer = after;
        }
        let mut carried = Vec::new();
        let splits_ends = !reads.breaks && shape.from.is_some();
        let mut ends = loop {
            let mut begun = self.fork_both(&states);
            self.loosen(&carried, &mut begun);
            match self.run_rounds(node, shape, &begun, &mut carried, splits_ends) {
                Rounds::Hold(ends) => break ends,
                Rounds::Repeat => {}
                Rounds::Fail => return None,
            }
            if self.has_given_up {
                return None;
            }
        };
        if shape.is_reversed {
            self.loosen(&carried, &mut states);
            return Some(Outcome {
                together: Some(states),
                apart: Vec::new(),
            });
        }
        if !splits_ends {
            self.loosen(&carried, &mut states);
            return self.append(node, shape, vec![states], false);
        }
        if shape.from == Some(1) && !states.iter().all(|state| self.has_two(state)) {
            ends.push(states);
        }
        self.append(node, shape, ends, true)
    }

    /// Returns whether the shorter conversation must have two messages, because the first one has a role that the last one cannot have.
    fn has_two(&mut self, state: &State) -> bool {
        let (first, last) = (self.terms.add(Node::First), self.terms.add(Node::Last));
        let key = self.terms.text("role");
        let own = self.terms.apply("item", "", vec![first, key]);
        let roles = state
            .facts
            .iter()
            .filter(|(_, truth)| *truth)
            .filter_map(|(fact, _)| match *self.terms.get(*fact) {
                Node::Equal(one, other) if one == own => Some(other),
                _ => None,
            });
        let roles: Vec<Term> = roles.collect();
        let mut facts = self.fork(state);
        let last_role = self.item(last, key, &mut facts);
        roles.into_iter().any(|role| {
            let is_same = self.terms.equal(last_role, role);
            self.terms.decide(is_same, &state.facts) == Some(false)
        })
    }

    /// Executes the round of the appended message, which only the longer conversation has. It runs after each end of the common rounds.
    fn append(&mut self, node: &'t For, shape: Shape, ends: Vec<[State; 2]>, is_exact: bool) -> Option<Outcome> {
        let (mut together, mut apart) = (Vec::new(), Vec::new());
        let was_peeling = std::mem::replace(&mut self.peels, true);
        for [shorter, longer] in ends {
            let mut round = self.last_round(shape);
            if shape.from == Some(1) && self.has_two(&longer) {
                round.least_count = 2;
            }
            let begun = self.fork(&longer);
            let [_, after] = self.run_round(node, &round, [None, Some(begun)])?;
            let Some(mut after) = after else {
                together.push([shorter, longer]);
                continue;
            };
            after.stopped = None;
            if after.is_dead {
                if !is_exact {
                    together.push([shorter, longer]);
                }
                continue;
            }
            let facts = super::join_facts(&shorter, &after);
            if !self.are_related(&shorter.out, &after.out, Relation::Equal, &facts) {
                apart.push(([shorter, after], is_exact));
                continue;
            }
            if !is_exact {
                let test = self.terms.lone();
                let before = self.fork(&longer);
                after = before.join(&mut self.terms, test, after, longer);
            }
            together.push([shorter, after]);
        }
        self.peels = was_peeling;
        for state in together.iter_mut().flatten() {
            state.out.clear();
        }
        Some(Outcome {
            together: self.join_ends(together),
            apart,
        })
    }

    /// Executes each case of a round that both conversations have. With `splits_ends`, the states after the last round of the shorter
    /// conversation may differ, and keep what they printed in it.
    fn run_rounds(
        &mut self,
        node: &'t For,
        shape: Shape,
        begun: &[State; 2],
        carried: &mut Vec<Carried>,
        splits_ends: bool,
    ) -> Rounds {
        let reads = self.reads_of(node);
        let mut ends = Vec::new();
        for (round, is_end) in self.list_rounds(shape) {
            let states = self.fork_both(begun).map(Some);
            let after = self.run_round(node, &round, states);
            let (mut one, mut other) = match after {
                Some([Some(one), Some(other)]) => (one, other),
                // Neither conversation has the round.
                Some([None, None]) => continue,
                _ => return Rounds::Fail,
            };
            if one.is_dead || other.is_dead {
                continue;
            }
            if is_end && splits_ends {
                one.stopped = None;
                other.stopped = None;
                ends.push([one, other]);
                continue;
            }
            let facts = super::join_facts(&one, &other);
            let (first, second) = (std::mem::take(&mut one.out), std::mem::take(&mut other.out));
            if !self.are_related(&first, &second, Relation::Equal, &facts) {
                return Rounds::Fail;
            }
            if reads.breaks && one.stopped != other.stopped {
                return Rounds::Fail;
            }
            if !self.add_carried([&one, &other], begun, &facts, carried) {
                return Rounds::Repeat;
            }
        }
        Rounds::Hold(ends)
    }

    /// Returns the values of an attribute in both renders.
    fn values(&mut self, place: &Place, states: [&State; 2]) -> [Term; 2] {
        states.map(|state| state.get(place).unwrap_or_else(|| self.terms.absent(place)))
    }

    fn are_same(&self, [one, other]: [Term; 2]) -> bool {
        one == other && !matches!(self.terms.get(one), Node::Lone(_))
    }

    /// Returns whether two values are certainly equal, or each is the value from before the loop.
    fn are_equal(&self, values: [Term; 2], old: [Term; 2], facts: &[(Term, bool)], depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let is_same = |values: [Term; 2]| self.are_same(values) || values == old;
        let chosen = values.map(|value| self.resolve(value, facts));
        is_same(values)
            || is_same(chosen)
            || match chosen.map(|value| self.terms.get(value)) {
                [Node::Choice(test, a, b), Node::Choice(other, c, d)] if test == other => {
                    self.are_equal([*a, *c], old, facts, depth) && self.are_equal([*b, *d], old, facts, depth)
                }
                _ => false,
            }
    }

    /// Adds the attributes that a round assigned to those that are carried. Returns whether all were known, and are related as was assumed.
    fn add_carried(&mut self, after: [&State; 2], begun: &[State; 2], facts: &Facts, carried: &mut Vec<Carried>) -> bool {
        let mut is_stable = true;
        let [one, other] = begun;
        let places = after[0].list_changed(one).chain(after[1].list_changed(other));
        for place in places.cloned().collect::<IndexSet<Place>>() {
            self.terms.spend((one.values() + carried.len()) / 4);
            match carried.iter_mut().find(|known| known.place == place) {
                None => {
                    let (old, is_related) = (self.values(&place, [one, other]), true);
                    carried.push(Carried { place, old, is_related });
                    is_stable = false;
                }
                Some(known) if known.is_related => {
                    let values = self.values(&place, after);
                    known.is_related = self.are_equal(values, known.old, facts, SPREAD);
                    is_stable &= known.is_related;
                }
                Some(_) => {}
            }
        }
        is_stable
    }

    /// Replaces the values that a loop passes from one round to the next by unknown ones.
    fn loosen(&mut self, carried: &[Carried], states: &mut [State; 2]) {
        for Carried { place, old, is_related } in carried {
            self.terms.spend(states.iter().map(State::values).sum::<usize>() / 4);
            let (test, value) = (self.terms.fresh(), self.terms.fresh());
            for (state, own) in states.iter_mut().zip(old) {
                let value = match is_related {
                    true if self.are_same(*old) => value,
                    true => self.terms.choice(test, *own, value),
                    false => self.terms.lone(),
                };
                state.set(place.clone(), value);
            }
        }
    }

    /// Joins the states after a loop. Returns `None` if there are none, because the template refuses one of the conversations.
    fn join_ends(&mut self, ends: Vec<[State; 2]>) -> Option<[State; 2]> {
        ends.into_iter().reduce(|mut states, others| {
            let test = self.terms.fresh();
            let pairs = || states.iter().zip(&others);
            let places = pairs().flat_map(|(state, other)| state.list_changed(other));
            for place in places.cloned().collect::<IndexSet<Place>>() {
                self.terms.spend(states.iter().map(State::values).sum::<usize>() / 4);
                for (state, other) in states.iter_mut().zip(&others) {
                    let [value, other] = self.values(&place, [state, other]);
                    let value = self.terms.choice(test, value, other);
                    state.set(place.clone(), value);
                }
            }
            for (state, other) in states.iter_mut().zip(&others) {
                let known: HashSet<&(Term, bool)> = other.facts.iter().collect();
                state.facts.retain(|fact| known.contains(fact));
            }
            states
        })
    }

    /// Executes one round, beginning with each of the states.
    fn run_round(&mut self, node: &'t For, round: &Round, states: [Option<State>; 2]) -> Option<[Option<State>; 2]> {
        let (first, yes) = (self.terms.add(Node::First), self.terms.bool(true));
        self.terms.least_count = round.least_count;
        self.all_rounds.push(round.clone());
        let variable = self.terms.add(Node::Loop(self.all_rounds.len().saturating_sub(1)));
        self.rounds.push(round.clone());
        let (mut after, mut tests) = ([None, None], Vec::new());
        for ((place, index), state) in after.iter_mut().zip(round.index).zip(states) {
            let Some(mut state) = state else { continue };
            if round.item == first && round.is_last[0] == yes {
                // The first message is also the last one.
                self.assume_role_of_last(first, &mut state);
            }
            state.open_scope();
            let value = if round.sets_index { index } else { round.item };
            self.assign(&node.target, value, &mut state);
            if let Some(test) = &node.test {
                let test = self.eval(&test.condition, &mut state);
                let chosen = self.terms.decide(test, &state.facts);
                if chosen == Some(false) {
                    continue;
                }
                self.terms.assume(test, true, &mut state.facts);
                tests.push(chosen.map_or(test, |_| variable));
            }
            if let Some(name) = self.tree.symbols.find("loop") {
                state.set(Place::Variable(name), variable);
            }
            self.exec(&node.body.stmts, &mut state);
            state.close_scope();
            *place = Some(state);
        }
        self.rounds.pop();
        self.terms.least_count = 1;
        tests.dedup();
        if tests.len() > 1 {
            // The two conversations may have different rounds.
            return None;
        }
        (!self.has_given_up).then_some(after)
    }
}

/// The result of the rounds of a loop.
enum Rounds {
    /// The renders print the same in each round. These are the states after the last one.
    Hold(Vec<[State; 2]>),
    /// An attribute is assigned or is less closely related than was assumed, so the loop has to be executed again.
    Repeat,
    /// In some round the renders may print different strings.
    Fail,
}
