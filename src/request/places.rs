//! The places of values in a body, and in what a template gets.

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
    key: &'b str,
}

/// The index of a step to a value that is no item.
const NO_INDEX: u32 = u32::MAX;

/// The size in bytes of most pointers.
const POINTER: usize = 64;

/// The memory of a step.
pub const STEP: usize = size_of::<Step<'static>>();

impl<'b> Places<'b> {
    /// Makes room for more places.
    pub fn reserve(&mut self, count: usize) {
        self.steps.reserve(count);
    }

    /// Returns the place of the value of a key, or of an item of a list there.
    pub fn add(&mut self, parent: BodyPlace, key: &'b str, index: Option<usize>) -> BodyPlace {
        let index = index.and_then(|index| u32::try_from(index).ok()).unwrap_or(NO_INDEX);
        self.steps.push(Step { parent, index, key });
        BodyPlace(u32::try_from(self.steps.len()).unwrap_or(0))
    }

    /// Returns the JSON pointer of a place.
    pub fn pointer(&self, place: BodyPlace) -> String {
        let mut pointer = String::with_capacity(POINTER);
        self.write(place, &mut pointer);
        pointer
    }

    fn write(&self, place: BodyPlace, pointer: &mut String) {
        let index = (place.0 as usize).checked_sub(1);
        let Some(step) = index.and_then(|index| self.steps.get(index)) else {
            return;
        };
        self.write(step.parent, pointer);
        if !step.key.is_empty() {
            pointer.push('/');
            pointer.push_str(&escape_key(step.key));
        }
        if step.index != NO_INDEX {
            pointer.push('/');
            write_int(i64::from(step.index), pointer);
        }
    }
}
