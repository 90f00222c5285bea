//! The positional arguments of a call. A few are stored in place, so that most calls allocate nothing.

use crate::meter::Claim;
use crate::value::Value;

/// The number of arguments that are stored in place: the object of a method, or the input of a filter, and three more. A higher number
/// would make every call move more bytes.
const FEW: usize = 4;

/// Positional arguments in their order. An argument that was not given is `None`.
#[derive(Debug, Default)]
pub(super) struct Positional<'a> {
    /// The arguments, if there are at most [`FEW`]. Otherwise the array is empty.
    few: [Option<Value<'a>>; FEW],
    /// The number of arguments in the array.
    len: usize,
    /// The arguments, if there are more than [`FEW`]. Boxed, because every call moves this field.
    many: Option<Box<Many<'a>>>,
}

/// Arguments that are too many to be stored in place.
#[derive(Debug)]
struct Many<'a> {
    values: Vec<Option<Value<'a>>>,
    /// The claim to the memory of the arguments that were unpacked from `*args`.
    claim: Option<Claim>,
}

impl<'a> Positional<'a> {
    /// Makes a list of one argument.
    #[inline]
    pub fn one(value: Value<'a>) -> Self {
        Self {
            few: [Some(value), None, None, None],
            len: 1,
            many: None,
        }
    }

    /// Returns the arguments.
    #[inline]
    pub fn as_slice(&self) -> &[Option<Value<'a>>] {
        match &self.many {
            None => self.few.get(..self.len).unwrap_or_default(),
            Some(many) => &many.values,
        }
    }

    /// Returns the arguments for modification.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [Option<Value<'a>>] {
        match &mut self.many {
            None => self.few.get_mut(..self.len).unwrap_or_default(),
            Some(many) => &mut many.values,
        }
    }

    /// Keeps the claim to the memory of arguments that were unpacked from `*args`. A list that is stored in place needs none.
    pub fn keep(&mut self, claim: Claim) {
        if let Some(many) = &mut self.many {
            many.claim = Some(claim);
        }
    }

    /// Adds an argument after the others.
    #[inline]
    pub fn push(&mut self, value: Option<Value<'a>>) {
        match &mut self.many {
            Some(many) => many.values.push(value),
            None => match self.few.get_mut(self.len) {
                Some(place) => {
                    *place = value;
                    self.len += 1;
                }
                None => {
                    let few = self.few.iter_mut().map(Option::take);
                    let values = few.chain(std::iter::once(value)).collect();
                    self.many = Some(Box::new(Many { values, claim: None }));
                }
            },
        }
    }

    /// Adds an argument before the others.
    pub fn push_front(&mut self, value: Value<'a>) {
        self.push(None);
        let all = self.as_mut_slice();
        all.rotate_right(1);
        if let Some(first) = all.first_mut() {
            *first = Some(value);
        }
    }

    /// Removes the first argument.
    pub fn drop_first(&mut self) {
        let all = self.as_mut_slice();
        if let Some(first) = all.first_mut() {
            *first = None;
            all.rotate_left(1);
            match &mut self.many {
                Some(many) => many.values.truncate(many.values.len().saturating_sub(1)),
                None => self.len = self.len.saturating_sub(1),
            }
        }
    }

    /// Removes and returns the arguments from an index on.
    pub fn take_from(&mut self, index: usize) -> Vec<Value<'a>> {
        let all = self.as_mut_slice();
        let mut taken = Vec::with_capacity(all.len().saturating_sub(index));
        taken.extend(all.iter_mut().skip(index).filter_map(Option::take));
        match &mut self.many {
            Some(many) => many.values.truncate(index),
            None => self.len = self.len.min(index),
        }
        taken
    }

    /// Adds absent arguments until there are `len`.
    pub fn resize(&mut self, len: usize) {
        while self.as_slice().len() < len {
            self.push(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_stays_when_arguments_become_many() {
        let mut positional = Positional::default();
        (1..=4).for_each(|int| positional.push(Some(Value::Int(int))));
        positional.push_front(Value::Int(0));
        let ints: Vec<_> = positional.as_slice().iter().flatten().filter_map(Value::as_int).collect();
        assert_eq!(ints, [0, 1, 2, 3, 4]);
        assert_eq!(positional.take_from(2).len(), 3);
        assert_eq!(positional.as_slice().len(), 2);
    }
}
