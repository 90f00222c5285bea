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
            (Node::Messages(false, from), Node::Messages(true, other)) if from == other => Some(Shape::Longer {
                from: Some(*from),
                is_exact: *from <= 1,
                are_indices: false,
            }),
            (Node::Choice(test, a, b), Node::Choice(other_test, c, d)) if test == other_test => {
                let (first, second) = (self.find_shape([*a, *c], depth)?, self.find_shape([*b, *d], depth)?);
                match (first, second) {
                    (first, second) if first == second => Some(first),
                    (
                        Shape::Longer {
                            is_exact,
                            are_indices: false,
                            ..
                        },
                        Shape::Longer {
                            is_exact: other,
                            are_indices: false,
                            ..
                        },
                    ) => Some(Shape::Longer {
                        from: None,
                        is_exact: is_exact && other,
                        are_indices: false,
                    }),
                    _ => None,
                }
            }
            (Node::Apply(operation, args), Node::Apply(other, other_args)) if operation == other => {
                let ([first, rest @ ..], [second, other_rest @ ..]) = (&**args, &**other_args) else {
                    return None;
                };
                let is_range = operation.kind == "global" && &*operation.name == "range";
                if is_range
                    && *self.terms.get(*first) == Node::Count
                    && rest.is_empty()
                    && self.terms.split_sum(*second) == Some((Some(*first), 1))
                {
                    return Some(Shape::Longer {
                        from: Some(0),
                        is_exact: true,
                        are_indices: true,
                    });
                }
                let shape = self
                    .find_shape([*first, *second], depth)
                    .filter(|_| rest == other_rest && operation.kind == "filter")?;
                match (&*operation.name, shape) {
                    (
                        "reverse",
                        Shape::Longer {
                            is_exact: true,
                            are_indices: false,
                            ..
                        },
                    ) => Some(Shape::Reversed),
                    ("list", shape) => Some(shape),
                    ("selectattr" | "rejectattr" | "select" | "reject", Shape::Longer { are_indices: false, .. }) => {
                        Some(Shape::Longer {
                            from: None,
                            is_exact: false,
                            are_indices: false,
                        })
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
        let Shape::Longer {
            from,
            is_exact,
            are_indices,
        } = shape
        else {
            return vec![
                (self.reversed_round(true, false), false),
                (self.reversed_round(false, false), false),
            ];
        };
        let (yes, no) = (self.terms.bool(true), self.terms.bool(false));
        let undefined = self.terms.add(Node::Undefined);
        let (last, appended) = (self.terms.add(Node::Last), self.terms.add(Node::Appended));
        let count = self.terms.add(Node::Count);
        let start = i64::try_from(from.unwrap_or_default()).unwrap_or_default();
        let lengths = match (is_exact, from) {
            (true, Some(_)) => [0, 1].map(|more: i64| self.terms.sum(Some(count), more.saturating_sub(start))),
            _ => [self.terms.lone(), self.terms.lone()],
        };
        let mut rounds = Vec::new();
        if !is_exact {
            let (index, item) = (self.terms.index_between(0, None), self.terms.fresh());
            let before = self.terms.fresh();
            let lone = [self.terms.lone(), self.terms.lone()];
            let after = [self.terms.lone(), self.terms.lone()];
            rounds.push((
                Round {
                    from: None,
                    least_count: 1,
                    item,
                    value: None,
                    index: [index; 2],
                    length: lengths,
                    is_last: lone,
                    before: [before; 2],
                    after,
                },
                false,
            ));
            return rounds;
        }
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
                value: are_indices.then_some([index; 2]),
                index: [index; 2],
                length: lengths,
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
        let from = match shape {
            Shape::Longer {
                from, is_exact: true, ..
            } => from,
            _ => None,
        };
        let are_indices = matches!(shape, Shape::Longer { are_indices: true, .. });
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
            least_count: 1,
            item: self.terms.add(Node::Appended),
            value: are_indices.then_some([index; 2]),
            index: [index; 2],
            length: [length; 2],
            is_last: [yes; 2],
            before: [before; 2],
            after: [undefined; 2],
        }
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
            from: None,
            least_count: 1,
            item,
            value: None,
            index,
            length: [count, more],
            is_last: [is_last; 2],
            before,
            after: [after; 2],
        }
    }
}
