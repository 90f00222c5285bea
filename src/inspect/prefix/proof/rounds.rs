//! The shapes of loops over the messages, and the cases of their rounds.

use super::Prover;
use super::messages::Round;
use super::relate::Shape;
use super::terms::{Node, Term};
use crate::ast::BinaryOp;

impl Prover<'_> {
    /// Returns how the lists that the two renders loop over are related, if they are lists of messages.
    pub fn find_shape(&self, lists: [Term; 2], depth: usize) -> Option<Shape> {
        let depth = depth.checked_sub(1)?;
        let [one, other] = lists;
        match (self.terms.get(one), self.terms.get(other)) {
            (Node::Messages(false, from), Node::Messages(true, other)) if from == other => Some(Shape {
                from: Some(*from).filter(|from| *from <= 1),
                ..Shape::default()
            }),
            (Node::Apply(operation, args), Node::Apply(other, other_args)) if operation == other => {
                let ([first, rest @ ..], [second, other_rest @ ..]) = (&**args, &**other_args) else {
                    return None;
                };
                let is_range = operation.kind == "global" && &*operation.name == "range" && rest.is_empty();
                let is_count = *self.terms.get(*first) == Node::Count;
                if is_range && is_count && self.terms.split_sum(*second) == Some((Some(*first), 1)) {
                    return Some(Shape {
                        from: Some(0),
                        are_indices: true,
                        is_reversed: false,
                    });
                }
                let shape = self
                    .find_shape([*first, *second], depth)
                    .filter(|_| rest == other_rest && operation.kind == "filter")?;
                match &*operation.name {
                    "list" => Some(shape),
                    "reverse" if shape.from.is_some() && !shape.are_indices => Some(Shape {
                        is_reversed: true,
                        ..Shape::default()
                    }),
                    "selectattr" | "rejectattr" | "select" | "reject" if !shape.are_indices && !shape.is_reversed => {
                        Some(Shape::default())
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the cases of a round that both conversations have. For each, also returns whether it is the last round of the shorter
    /// conversation.
    pub fn list_rounds(&mut self, shape: Shape) -> Vec<(Round, bool)> {
        if shape.is_reversed {
            return [true, false]
                .map(|is_first| (self.reversed_round(is_first, false), false))
                .into();
        }
        let Some(from) = shape.from else {
            let round = Round {
                index: [self.terms.index_between(0, None); 2],
                item: self.terms.fresh(),
                before: [self.terms.fresh(); 2],
                length: self.lone_pair(),
                is_last: self.lone_pair(),
                after: self.lone_pair(),
                ..Round::default()
            };
            return vec![(round, false)];
        };
        let undefined = self.terms.add(Node::Undefined);
        let (last, appended) = (self.terms.add(Node::Last), self.terms.add(Node::Appended));
        let count = self.terms.add(Node::Count);
        let start = i64::try_from(from).unwrap_or_default().saturating_neg();
        let length = [0, 1].map(|more: i64| self.terms.sum(Some(count), start.saturating_add(more)));
        let cases = [(true, true), (true, false), (false, true), (false, false)];
        let rounds = cases.map(|(is_first, is_last)| {
            let index = match (is_first, is_last) {
                (true, _) => self.terms.add(Node::Int(0)),
                (false, true) => self.terms.sum(Some(count), start.saturating_sub(1)),
                (false, false) => self.terms.index_between(1, Some(start.saturating_sub(2))),
            };
            let item = match is_last {
                _ if is_first && from == 0 => self.terms.add(Node::First),
                true => last,
                false => self.terms.fresh(),
            };
            let round = Round {
                from: shape.from,
                least_count: i64::try_from(1 + from + usize::from(!is_first) + usize::from(!is_last)).unwrap_or_default(),
                item,
                sets_index: shape.are_indices,
                index: [index; 2],
                length,
                is_last: [is_last, false].map(|is_last| self.terms.bool(is_last)),
                before: [if is_first { undefined } else { self.terms.fresh() }; 2],
                after: if is_last {
                    [undefined, appended]
                } else {
                    [self.terms.fresh(); 2]
                },
            };
            (round, is_last)
        });
        rounds.into()
    }

    /// Returns the round of the appended message.
    pub fn last_round(&mut self, shape: Shape) -> Round {
        let count = self.terms.add(Node::Count);
        let index = match shape.from {
            Some(from) => self
                .terms
                .sum(Some(count), i64::try_from(from).unwrap_or_default().saturating_neg()),
            None => self.terms.index_between(0, None),
        };
        let one = self.terms.add(Node::Int(1));
        let before = match shape.from {
            Some(0) => self.terms.add(Node::Last),
            _ => self.terms.lone(),
        };
        Round {
            from: shape.from,
            item: self.terms.add(Node::Appended),
            sets_index: shape.are_indices,
            index: [index; 2],
            length: [self.binary(BinaryOp::Add, index, one); 2],
            is_last: [self.terms.bool(true); 2],
            before: [before; 2],
            after: [self.terms.add(Node::Undefined); 2],
            ..Round::default()
        }
    }

    fn lone_pair(&mut self) -> [Term; 2] {
        [self.terms.lone(), self.terms.lone()]
    }

    /// Returns a round of a loop that goes backwards, as `for message in messages|reverse` does. The longer conversation has the round of
    /// the appended message first.
    pub fn reversed_round(&mut self, is_first: bool, is_appended: bool) -> Round {
        let count = self.terms.add(Node::Count);
        let index = match is_first || is_appended {
            true => self.terms.add(Node::Int(0)),
            false => self.terms.index_between(1, None),
        };
        let one = self.terms.add(Node::Int(1));
        let [next, more] = [index, count].map(|term| self.binary(BinaryOp::Add, term, one));
        let (last, appended) = (self.terms.add(Node::Last), self.terms.add(Node::Appended));
        let undefined = self.terms.add(Node::Undefined);
        let (item, before) = match (is_appended, is_first) {
            (true, _) => (appended, [undefined; 2]),
            (false, true) => (last, [undefined, appended]),
            (false, false) => (self.terms.fresh(), [self.terms.fresh(); 2]),
        };
        let [is_last, after] = match is_appended {
            true => [self.terms.bool(false), last],
            false => [self.terms.fresh(), self.terms.fresh()],
        };
        Round {
            item,
            index: [index, if is_appended { index } else { next }],
            length: [count, more],
            is_last: [is_last; 2],
            before,
            after: [after; 2],
            ..Round::default()
        }
    }
}
