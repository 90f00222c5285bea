//! The arguments of a call.

use super::positional::Positional;
use crate::meter::Claim;
use crate::value::{Str, Value};

/// The arguments of a call. After `Signature::bind`, they are in the order of the parameters, and an absent one is `None`.
#[derive(Debug, Default)]
pub struct Arguments<'a> {
    positional: Positional<'a>,
    /// Boxed, because most calls have no keywords and all calls move this field.
    #[allow(clippy::box_collection, reason = "so that every call moves one word instead of three")]
    keywords: Option<Box<Vec<(Str<'a>, Value<'a>)>>>,
}

impl<'a> Arguments<'a> {
    /// Makes an empty list of arguments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a list of one positional argument.
    pub fn one(value: Value<'a>) -> Self {
        Self {
            positional: Positional::one(value),
            keywords: None,
        }
    }

    /// Adds a positional argument after the others.
    pub fn push(&mut self, value: Value<'a>) {
        self.positional.push(Some(value));
    }

    /// Keeps the claim to the memory of arguments that were unpacked from `*args` until the list is dropped.
    pub fn keep(&mut self, claim: Claim) {
        self.positional.keep(claim);
    }

    /// Adds a positional argument before the others.
    pub fn push_front(&mut self, value: Value<'a>) {
        self.positional.push_front(value);
    }

    /// Removes the first positional argument.
    pub fn drop_first(&mut self) {
        self.positional.drop_first();
    }

    /// Adds the keyword argument `name=value`.
    pub fn push_keyword(&mut self, name: Str<'a>, value: Value<'a>) {
        self.keywords.get_or_insert_default().push((name, value));
    }

    /// Sets the keyword argument `name=value`. It replaces one of the same name.
    pub fn put_keyword(&mut self, name: Str<'a>, value: Value<'a>) {
        let keywords = self.keywords.get_or_insert_default();
        match keywords.iter_mut().find(|(other, _)| other.as_str() == name.as_str()) {
            Some((_, old)) => *old = value,
            None => keywords.push((name, value)),
        }
    }

    /// Returns the number of positional arguments, or of parameters after binding.
    pub fn len(&self) -> usize {
        self.positional.as_slice().len()
    }

    /// Returns whether there are no positional arguments.
    pub fn is_empty(&self) -> bool {
        self.positional.as_slice().is_empty()
    }

    /// Returns whether there is one positional argument and nothing else.
    pub fn is_alone(&self) -> bool {
        self.len() == 1 && self.keywords().is_empty()
    }

    /// Returns the positional argument at an index.
    pub fn get(&self, index: usize) -> Option<&Value<'a>> {
        self.positional.as_slice().get(index)?.as_ref()
    }

    /// Returns the positional arguments for modification.
    pub fn as_mut_slice(&mut self) -> &mut [Option<Value<'a>>] {
        self.positional.as_mut_slice()
    }

    /// Removes and returns the positional argument at an index.
    pub fn take(&mut self, index: usize) -> Option<Value<'a>> {
        self.positional.as_mut_slice().get_mut(index)?.take()
    }

    /// Removes and returns the first positional arguments.
    #[inline]
    pub fn take_first<const COUNT: usize>(&mut self) -> [Option<Value<'a>>; COUNT] {
        let mut arguments = self.positional.as_mut_slice().iter_mut();
        std::array::from_fn(|_| arguments.next().and_then(Option::take))
    }

    /// Removes and returns all positional arguments from an index on.
    pub fn take_from(&mut self, index: usize) -> Vec<Value<'a>> {
        self.positional.take_from(index)
    }

    /// Returns the keyword arguments. After binding, these are the ones that no parameter takes.
    pub fn keywords(&self) -> &[(Str<'a>, Value<'a>)] {
        self.keywords.as_ref().map_or(&[], |keywords| keywords)
    }

    /// Returns all arguments and the names of keywords.
    pub fn values(&self) -> impl Iterator<Item = Value<'a>> + '_ {
        let keywords = self
            .keywords()
            .iter()
            .flat_map(|(name, value)| [Value::Str(name.clone()), value.clone()]);
        self.positional.as_slice().iter().flatten().cloned().chain(keywords)
    }

    /// Removes and returns all keyword arguments.
    pub fn take_keywords(&mut self) -> Vec<(Str<'a>, Value<'a>)> {
        self.keywords.take().map_or_else(Vec::new, |keywords| *keywords)
    }

    /// Removes and returns the keyword argument of a name.
    pub fn take_keyword(&mut self, name: &str) -> Option<Value<'a>> {
        let keywords = self.keywords.as_mut()?;
        let at = keywords.iter().position(|(keyword, _)| keyword.as_str() == name)?;
        Some(keywords.remove(at).1)
    }

    /// Sets the number of positional arguments. New ones are absent.
    pub(super) fn resize(&mut self, parameters: usize) {
        self.positional.resize(parameters);
    }

    /// Sets the argument of the parameter at an index. Parameters before it without an argument are absent.
    pub(super) fn set(&mut self, index: usize, value: Value<'a>) {
        self.resize(index + 1);
        if let Some(place) = self.positional.as_mut_slice().get_mut(index) {
            *place = Some(value);
        }
    }
}
