//! Finds what an expression reads of the messages and of the loops over them.

use super::Prover;
use super::state::State;
use super::terms::{Node, Term};
use crate::ast::BinaryOp;

/// The variable `loop` of one round of a loop over messages.
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// The index of the first message of the loop, if it is known.
    pub from: Option<usize>,
    /// The least number of messages of the shorter conversation. Each has at least one.
    pub least_count: i64,
    /// The message of the round.
    pub item: Term,
    /// Whether the loop's target is the index of the message, and not the message.
    pub sets_index: bool,
    /// The term of `loop.index0`, in the shorter and in the longer conversation.
    pub index: [Term; 2],
    /// The term of `loop.length`.
    pub length: [Term; 2],
    /// Whether the round is the last one.
    pub is_last: [Term; 2],
    /// The message of the round before.
    pub before: [Term; 2],
    /// The message of the round after.
    pub after: [Term; 2],
}

impl Prover<'_> {
    /// Returns the last message of one of the conversations.
    pub fn last_message(&mut self, is_longer: bool) -> Term {
        self.terms.add(if is_longer { Node::Appended } else { Node::Last })
    }

    /// Returns the message at an index of the messages from `from` on.
    pub fn message_at(&mut self, messages: Term, from: usize, key: Term, state: &mut State) -> Term {
        let start = i64::try_from(from).unwrap_or(i64::MAX);
        if let Some((base, offset)) = self.terms.split_sum(key) {
            match (base, offset) {
                (None, offset @ 0..) => return self.message_from_start(messages, start.saturating_add(offset), state),
                (None, -1) if from == 0 => return self.last_message(state.is_longer),
                (None, -2) if from == 0 && state.is_longer => return self.terms.add(Node::Last),
                _ => {}
            }
            let side = usize::from(state.is_longer);
            let rounds: Vec<Round> = self.rounds.iter().rev().cloned().collect();
            for round in rounds {
                let (Some(round_from), Some(index)) = (round.from, round.index.get(side)) else {
                    continue;
                };
                let Some((round_base, round_offset)) = self.terms.split_sum(*index) else {
                    continue;
                };
                if round_base != base || self.terms.least(base, offset) < 0 {
                    continue;
                }
                let round_start = i64::try_from(round_from).unwrap_or(i64::MAX);
                let place = offset
                    .saturating_add(start)
                    .saturating_sub(round_offset)
                    .saturating_sub(round_start);
                let neighbour = |pair: [Term; 2]| pair.get(side).copied().unwrap_or_default();
                match place {
                    0 => return round.item,
                    1 => return neighbour(round.after),
                    -1 if base.is_some() => return neighbour(round.before),
                    _ => {}
                }
            }
        }
        self.terms.apply("item", "", vec![messages, key])
    }

    /// Returns the message at an index from the beginning.
    fn message_from_start(&mut self, messages: Term, place: i64, state: &State) -> Term {
        if place == 0 {
            return self.terms.add(Node::First);
        }
        let rounds = self.rounds.iter().rev();
        let start = |round: &&Round| {
            round
                .from
                .is_some_and(|from| i64::try_from(from) == Ok(place.saturating_sub(1)))
        };
        let first = rounds
            .clone()
            .find(|round| start(round) && matches!(self.terms.get(round.index[0]), Node::Int(0)));
        if let Some(round) = first {
            // The message after the first one of the loop.
            let [one, other] = round.after;
            return if state.is_longer { other } else { one };
        }
        let key = self.terms.add(Node::Int(place));
        let there = self.terms.apply("message", "", vec![key]);
        let count = self.terms.add(Node::Count);
        let is_there = self.terms.less(key, count, 0);
        let undefined = self.terms.add(Node::Undefined);
        let missing = if state.is_longer {
            let appended = self.terms.add(Node::Appended);
            let is_appended = self.terms.equal(count, key);
            self.terms.choice(is_appended, appended, undefined)
        } else {
            undefined
        };
        match self.terms.get(messages) {
            Node::Messages(..) => self.terms.choice(is_there, there, missing),
            _ => self.terms.apply("item", "", vec![messages, key]),
        }
    }

    /// Returns an attribute of the variable `loop` of a loop over messages.
    pub fn loop_attribute(&mut self, object: Term, name: &str, state: &State) -> Term {
        let Node::Loop(index) = *self.terms.get(object) else {
            return self.give_up();
        };
        let Some(round) = self.all_rounds.get(index).cloned() else {
            return self.give_up();
        };
        let side = usize::from(state.is_longer);
        let own = |pair: [Term; 2]| pair.get(side).copied().unwrap_or_default();
        let (index, length) = (own(round.index), own(round.length));
        let one = self.terms.add(Node::Int(1));
        match name {
            "index0" => index,
            "index" => self.binary(BinaryOp::Add, index, one),
            "first" => {
                let zero = self.terms.add(Node::Int(0));
                self.terms.equal(index, zero)
            }
            "last" => own(round.is_last),
            "length" => length,
            "revindex" => self.binary(BinaryOp::Sub, length, index),
            "revindex0" => {
                let difference = self.binary(BinaryOp::Sub, length, index);
                self.binary(BinaryOp::Sub, difference, one)
            }
            "previtem" => own(round.before),
            "nextitem" => own(round.after),
            "depth" | "depth0" => self.terms.apply("loop", name, Vec::new()),
            _ => self.give_up(),
        }
    }

    /// Returns the input of a filter. If the filter chooses messages by their role, and does not choose the appended one, this is the list
    /// of the shorter conversation.
    pub fn without_appended(&mut self, filter: &str, input: Term, args: &[Term]) -> Term {
        let appended = self.terms.add(Node::Appended);
        let role = self
            .roles
            .iter()
            .find(|(message, _)| *message == appended)
            .map(|(_, role)| *role);
        let Node::Messages(true, from) = *self.terms.get(input) else {
            return input;
        };
        let is_text = |prover: &Self, term: Term, texts: &[&str]| matches!(prover.terms.get(term), Node::Str(text) if texts.contains(&&**text));
        let (Some(role), [field, test, wanted]) = (role, args) else {
            return input;
        };
        let compares = is_text(self, *field, &["role"]) && is_text(self, *test, &["equalto", "eq", "=="]);
        if !compares || !matches!(self.terms.get(*wanted), Node::Str(_)) {
            return input;
        }
        match (filter, role == *wanted) {
            ("selectattr", false) | ("rejectattr", true) => self.terms.add(Node::Messages(false, from)),
            _ => input,
        }
    }
}
