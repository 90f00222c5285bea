//! The places of values in a body, and in what a template gets.

use std::borrow::Cow;

use crate::json::escape_key;
use crate::number::text::write_int;

/// The index of the place of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyPlace(u32);

impl BodyPlace {
    /// The body itself.
    pub const BODY: Self = Self(0);
}

/// The places of values in the body. A pointer is written only for a change or an error.
#[derive(Debug, Default)]
pub struct Places<'b> {
    steps: Vec<Step<'b>>,
}

#[derive(Clone, Debug)]
struct Step<'b> {
    parent: BodyPlace,
    index: u32,
    key: Cow<'b, str>,
}

/// The index of a step to a value that is no item.
const NO_INDEX: u32 = u32::MAX;

/// The bytes and the steps of most pointers.
const POINTER: usize = 64;
const STEPS: usize = 8;

/// The memory of a step.
pub const STEP: usize = size_of::<Step<'static>>();

impl<'b> Places<'b> {
    /// Makes room for more places.
    pub fn reserve(&mut self, count: usize) {
        self.steps.reserve(count);
    }

    /// Returns the place of the value of a key.
    pub fn key(&mut self, parent: BodyPlace, key: impl Into<Cow<'b, str>>) -> BodyPlace {
        self.push(parent, key, NO_INDEX)
    }

    /// Returns the place of an item in the list of a key.
    pub fn item(&mut self, parent: BodyPlace, key: impl Into<Cow<'b, str>>, index: usize) -> BodyPlace {
        self.push(parent, key, u32::try_from(index).unwrap_or(NO_INDEX))
    }

    fn push(&mut self, parent: BodyPlace, key: impl Into<Cow<'b, str>>, index: u32) -> BodyPlace {
        let key = key.into();
        self.steps.push(Step { parent, index, key });
        BodyPlace(u32::try_from(self.steps.len()).unwrap_or(0))
    }

    /// Returns the JSON pointer of a place.
    pub fn pointer(&self, mut place: BodyPlace) -> String {
        let (mut pointer, mut steps) = (String::with_capacity(POINTER), Vec::with_capacity(STEPS));
        while let Some(step) = (place.0 as usize).checked_sub(1).and_then(|index| self.steps.get(index)) {
            steps.push(step);
            place = step.parent;
        }
        for step in steps.into_iter().rev() {
            if !step.key.is_empty() {
                pointer.push('/');
                pointer.push_str(&escape_key(&step.key));
            }
            if step.index != NO_INDEX {
                pointer.push('/');
                write_int(i64::from(step.index), &mut pointer);
            }
        }
        pointer
    }
}
