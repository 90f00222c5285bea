//! The arguments of a call. A few are stored in place, so that most calls allocate nothing.

use crate::meter::Claim;
use crate::value::{Str, Value};

/// The number of positional arguments that are stored in place: the object of a method, or the input of a filter, and three more. A higher
/// number would make every call move more bytes.
const FEW: usize = 4;

/// The arguments of a call. After `Signature::bind`, they are in the order of the parameters, and an absent one is `None`.
#[derive(Debug, Default)]
pub struct Arguments<'a> {
    /// The positional arguments, if there are at most [`FEW`]. Otherwise the array is empty.
    few: [Option<Value<'a>>; FEW],
    /// The number of arguments in the array.
    len: usize,
    /// The positional arguments, if there are more than [`FEW`]. Boxed, because every call moves this field.
    many: Option<Box<Many<'a>>>,
    keywords: Vec<(Str<'a>, Value<'a>)>,
}

/// Arguments that are too many to be stored in place.
#[derive(Debug)]
struct Many<'a> {
    values: Vec<Option<Value<'a>>>,
    /// The claim to the memory of the arguments that were unpacked from `*args`.
    claim: Option<Claim>,
}

impl<'a> Arguments<'a> {
    pub fn new() -> Self {
        Self::default()
    }

    #[inline]
    pub fn one(value: Value<'a>) -> Self {
        Self {
            few: [Some(value), None, None, None],
            len: 1,
            ..Self::default()
        }
    }

    #[inline]
    fn as_slice(&self) -> &[Option<Value<'a>>] {
        match &self.many {
            None => self.few.get(..self.len).unwrap_or_default(),
            Some(many) => &many.values,
        }
    }

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

    pub fn push(&mut self, value: Value<'a>) {
        self.push_or_skip(Some(value));
    }

    #[inline]
    fn push_or_skip(&mut self, value: Option<Value<'a>>) {
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

    pub fn push_front(&mut self, value: Value<'a>) {
        self.push_or_skip(None);
        let all = self.as_mut_slice();
        all.rotate_right(1);
        if let Some(first) = all.first_mut() {
            *first = Some(value);
        }
    }

    pub fn drop_first(&mut self) {
        let all = self.as_mut_slice();
        if let Some(first) = all.first_mut() {
            *first = None;
            all.rotate_left(1);
            self.truncate(self.len().saturating_sub(1));
        }
    }

    fn truncate(&mut self, len: usize) {
        match &mut self.many {
            Some(many) => many.values.truncate(len),
            None => self.len = self.len.min(len),
        }
    }

    pub fn push_keyword(&mut self, name: Str<'a>, value: Value<'a>) {
        self.keywords.push((name, value));
    }

    /// Sets the keyword argument `name=value`. It replaces one of the same name.
    pub fn put_keyword(&mut self, name: Str<'a>, value: Value<'a>) {
        match self.keywords.iter_mut().find(|(other, _)| other.as_str() == name.as_str()) {
            Some((_, old)) => *old = value,
            None => self.keywords.push((name, value)),
        }
    }

    /// Returns the number of positional arguments, or of parameters after binding.
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    pub fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    /// Returns whether there is one positional argument and nothing else.
    pub fn is_alone(&self) -> bool {
        self.len() == 1 && self.keywords().is_empty()
    }

    pub fn get(&self, index: usize) -> Option<&Value<'a>> {
        self.as_slice().get(index)?.as_ref()
    }

    pub fn take(&mut self, index: usize) -> Option<Value<'a>> {
        self.as_mut_slice().get_mut(index)?.take()
    }

    /// Removes and returns the first positional arguments.
    #[inline]
    pub fn take_first<const COUNT: usize>(&mut self) -> [Option<Value<'a>>; COUNT] {
        let mut arguments = self.as_mut_slice().iter_mut();
        std::array::from_fn(|_| arguments.next().and_then(Option::take))
    }

    /// Removes and returns all positional arguments from an index on.
    pub fn take_from(&mut self, index: usize) -> Vec<Value<'a>> {
        let all = self.as_mut_slice();
        let mut taken = Vec::with_capacity(all.len().saturating_sub(index));
        taken.extend(all.iter_mut().skip(index).filter_map(Option::take));
        self.truncate(index);
        taken
    }

    /// Returns the keyword arguments. After binding, these are the ones that no parameter takes.
    pub fn keywords(&self) -> &[(Str<'a>, Value<'a>)] {
        &self.keywords
    }

    /// Returns all arguments and the names of keywords.
    pub fn values(&self) -> impl Iterator<Item = Value<'a>> + '_ {
        let keywords = self.keywords().iter().flat_map(|(name, value)| [Value::Str(*name), *value]);
        self.as_slice().iter().flatten().cloned().chain(keywords)
    }

    pub fn take_keywords(&mut self) -> Vec<(Str<'a>, Value<'a>)> {
        std::mem::take(&mut self.keywords)
    }

    pub fn take_keyword(&mut self, name: &str) -> Option<Value<'a>> {
        let at = self.keywords.iter().position(|(keyword, _)| keyword.as_str() == name)?;
        Some(self.keywords.remove(at).1)
    }

    /// Sets the number of positional arguments. New ones are absent.
    pub(super) fn resize(&mut self, parameters: usize) {
        while self.len() < parameters {
            self.push_or_skip(None);
        }
    }

    /// Sets the argument of the parameter at an index. Parameters before it without an argument are absent.
    pub(super) fn set(&mut self, index: usize, value: Value<'a>) {
        self.resize(index + 1);
        if let Some(place) = self.as_mut_slice().get_mut(index) {
            *place = Some(value);
        }
    }
}
