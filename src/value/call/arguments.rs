//! The arguments of a call.

use super::positional::Positional;
use crate::value::{Str, Value};

/// The arguments of a call. Behind [`Signature::bind`] they stand in the order of the parameters, absent ones as None.
#[derive(Clone, Debug, Default)]
pub struct Arguments<'a> {
    positional: Positional<'a>,
    /// Boxed, because most calls have none and all of them move this.
    #[allow(clippy::box_collection, reason = "one word instead of three in what every call moves")]
    keywords: Option<Box<Vec<(Str<'a>, Value<'a>)>>>,
}

impl<'a> Arguments<'a> {
    /// No arguments.
    pub fn new() -> Self {
        Self::default()
    }

    /// One argument.
    pub fn one(value: Value<'a>) -> Self {
        Self {
            positional: Positional::one(value),
            keywords: None,
        }
    }

    /// Adds a positional argument behind the others.
    pub fn push(&mut self, value: Value<'a>) {
        self.positional.push(Some(value));
    }

    /// Adds a positional argument before the others.
    pub fn push_front(&mut self, value: Value<'a>) {
        self.positional.push_front(value);
    }

    /// Drops the first positional argument.
    pub fn drop_first(&mut self) {
        self.positional.drop_first();
    }

    /// Adds `name=value`.
    pub fn push_keyword(&mut self, name: Str<'a>, value: Value<'a>) {
        self.keywords.get_or_insert_default().push((name, value));
    }

    /// Adds `name=value`, or gives the one of that name another value, as a dict does.
    pub fn put_keyword(&mut self, name: Str<'a>, value: Value<'a>) {
        let keywords = self.keywords.get_or_insert_default();
        match keywords.iter_mut().find(|(other, _)| other.as_str() == name.as_str()) {
            Some((_, old)) => *old = value,
            None => keywords.push((name, value)),
        }
    }

    /// How many positional arguments there are, or parameters once bound.
    pub fn len(&self) -> usize {
        self.positional.as_slice().len()
    }

    /// Whether there is no positional argument.
    pub fn is_empty(&self) -> bool {
        self.positional.as_slice().is_empty()
    }

    /// The argument at an index, if it was given.
    pub fn get(&self, index: usize) -> Option<&Value<'a>> {
        self.positional.as_slice().get(index)?.as_ref()
    }

    /// The positional arguments, to take them.
    pub fn places(&mut self) -> &mut [Option<Value<'a>>] {
        self.positional.as_mut_slice()
    }

    /// Takes the argument at an index, if it was given.
    pub fn take(&mut self, index: usize) -> Option<Value<'a>> {
        self.positional.as_mut_slice().get_mut(index)?.take()
    }

    /// Takes all arguments from an index on.
    pub fn take_from(&mut self, index: usize) -> Vec<Value<'a>> {
        self.positional.take_from(index)
    }

    /// The keywords that no parameter took.
    pub fn keywords(&self) -> &[(Str<'a>, Value<'a>)] {
        self.keywords.as_ref().map_or(&[], |keywords| keywords)
    }

    /// Takes the keywords that no parameter took.
    pub fn take_keywords(&mut self) -> Vec<(Str<'a>, Value<'a>)> {
        self.keywords.take().map_or_else(Vec::new, |keywords| *keywords)
    }

    /// Takes the keyword of that name.
    pub fn take_keyword(&mut self, name: &str) -> Option<Value<'a>> {
        let keywords = self.keywords.as_mut()?;
        let at = keywords.iter().position(|(keyword, _)| keyword.as_str() == name)?;
        Some(keywords.remove(at).1)
    }

    /// Makes room for so many parameters; the new ones are absent.
    pub(super) fn resize(&mut self, parameters: usize) {
        self.positional.resize(parameters);
    }

    /// Gives a parameter its value; those before it that are not there yet are absent.
    pub(super) fn set(&mut self, index: usize, value: Value<'a>) {
        self.resize(index.saturating_add(1));
        if let Some(place) = self.positional.as_mut_slice().get_mut(index) {
            *place = Some(value);
        }
    }
}
