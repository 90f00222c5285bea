//! The shapes of loops over the messages, and the cases of their rounds.

use super::Prover;
use super::messages::Round;
use super::relate::Shape;
use super::terms::{Node, Term};

impl Prover<'_> {
    /// Returns how the lists that the two renders loop over are related, if they are lists of messages.
    pub fn find_shape(&self, lists: [Term; 2], depth: usize) -> Option<Shape> {
        let depth = depth.checked_sub(1)?;
        let [one, other] = lists;
        match (self.terms.get(one), self.terms.get(other)) {
            (Node::Messages(false, from), Node::Messages(true, other)) if from == other => Some(Shape {
                from: Some(*from),
                is_exact: *from <= 1,
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
                        is_exact: true,
                        are_indices: true,
                        is_reversed: false,
                    });
                }
                let shape = self
                    .find_shape([*first, *second], depth)
                    .filter(|_| rest == other_rest && operation.kind == "filter")?;
                match &*operation.name {
                    "list" => Some(shape),
                    "reverse" if shape.is_exact && !shape.are_indices => Some(Shape {
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
        let from = shape.from;
        let (yes, no) = (self.terms.bool(true), self.terms.bool(false));
        let undefined = self.terms.add(Node::Undefined);
        let (last, appended) = (self.terms.add(Node::Last), self.terms.add(Node::Appended));
        let count = self.terms.add(Node::Count);
        let start = i64::try_from(from.unwrap_or_default()).unwrap_or_default();
        let length = match (shape.is_exact, from) {
            (true, Some(_)) => [0, 1].map(|more: i64| self.terms.sum(Some(count), more.saturating_sub(start))),
            _ => self.lone_pair(),
        };
        if !shape.is_exact {
            let round = Round {
                index: [self.terms.index_between(0, None); 2],
                item: self.terms.fresh(),
                before: [self.terms.fresh(); 2],
                length,
                is_last: self.lone_pair(),
                after: self.lone_pair(),
                ..Round::default()
            };
            return vec![(round, false)];
        }
        let mut rounds = Vec::new();
        for (is_first, is_last) in [(true, true), (true, false), (false, true), (false, false)] {
            let index = match (is_first, is_last) {
                (true, _) => self.terms.add(Node::Int(0)),
                (false, true) if from.is_some() => self.terms.sum(Some(count), start.saturating_add(1).saturating_neg()),
                (false, true) => self.terms.index_between(1, None),
                (false, false) => self
                    .terms
                    .index_between(1, from.map(|_| start.saturating_add(2).saturating_neg())),
            };
            let item = match (is_first && from == Some(0), is_last) {
                (true, _) => self.terms.add(Node::First),
                (false, true) => last,
                (false, false) => self.terms.fresh(),
            };
            let before = if is_first { undefined } else { self.terms.fresh() };
            let after = if is_last {
                [undefined, appended]
            } else {
                [self.terms.fresh(); 2]
            };
            let is_last_of = if is_last { [yes, no] } else { [no; 2] };
            let least = match (is_first, is_last) {
                (true, true) => 1,
                (true, false) | (false, true) => 2,
                (false, false) => 3,
            };
            let round = Round {
                from,
                least_count: start.saturating_add(least),
                item,
                value: shape.are_indices.then_some([index; 2]),
                index: [index; 2],
                length,
                is_last: is_last_of,
                before: [before; 2],
                after,
            };
            rounds.push((round, is_last));
        }
        rounds
    }

    /// Returns the round of the appended message.
    pub fn last_round(&mut self, shape: Shape) -> Round {
        let from = shape.from.filter(|_| shape.is_exact);
        let count = self.terms.add(Node::Count);
        let start = i64::try_from(from.unwrap_or_default()).unwrap_or_default();
        let index = match from {
            Some(_) => self.terms.sum(Some(count), start.saturating_neg()),
            None => self.terms.index_between(0, None),
        };
        let length = match self.terms.split_sum(index) {
            Some((base, offset)) => self.terms.sum(base, offset.saturating_add(1)),
            None => self.terms.lone(),
        };
        let before = match from {
            Some(0) => self.terms.add(Node::Last),
            _ => self.terms.lone(),
        };
        let yes = self.terms.bool(true);
        let undefined = self.terms.add(Node::Undefined);
        Round {
            from,
            item: self.terms.add(Node::Appended),
            value: shape.are_indices.then_some([index; 2]),
            index: [index; 2],
            length: [length; 2],
            is_last: [yes; 2],
            before: [before; 2],
            after: [undefined; 2],
            ..Round::default()
        }
    }

    fn lone_pair(&mut self) -> [Term; 2] {
        [self.terms.lone(), self.terms.lone()]
    }

    /// Returns a round of a loop that goes backwards, as `for message in messages|reverse` does. The longer conversation has the round of
    /// the appended message first.
    pub fn reversed_round(&mut self, is_first: bool, is_appended: bool) -> Round {
        let zero = self.terms.add(Node::Int(0));
        let count = self.terms.add(Node::Count);
        let more = self.terms.sum(Some(count), 1);
        let (last, appended) = (self.terms.add(Node::Last), self.terms.add(Node::Appended));
        let undefined = self.terms.add(Node::Undefined);
        let (item, index, before) = match (is_appended, is_first) {
            (true, _) => (appended, [zero; 2], [undefined; 2]),
            (false, true) => (last, [zero, self.terms.sum(None, 1)], [undefined, appended]),
            (false, false) => {
                let index = self.terms.index_between(1, None);
                (
                    self.terms.fresh(),
                    [index, self.terms.sum(Some(index), 1)],
                    [self.terms.fresh(); 2],
                )
            }
        };
        let no = self.terms.bool(false);
        let is_last = if is_appended { no } else { self.terms.fresh() };
        let after = if is_appended { last } else { self.terms.fresh() };
        Round {
            item,
            index,
            length: [count, more],
            is_last: [is_last; 2],
            before,
            after: [after; 2],
            ..Round::default()
        }
    }
}
