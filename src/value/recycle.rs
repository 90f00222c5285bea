//! A free list of objects that nothing uses any more, for the objects that a render makes next.
//!
//! ```text
//! {% for message in messages %}{% set text = shown(message)|trim %}{{ text }}{% endfor %}
//! ```
//!
//! A loop that makes a string in each round, as this one does, allocates once and not once a round: the buffer returns to the list when
//! the variable is set again. An object in the list is empty and claims no memory of the render.

use std::rc::Rc;

use super::Value;
use super::str::{OwnedText, Str};

/// The maximum number of objects in a pool: one for each of a few nested loops.
const CAPACITY: usize = 4;

/// The maximum size in bytes of a buffer that is kept. Larger strings are rare, and filling them costs more than allocating them.
const MAX_BUFFER: usize = 16 << 10;

/// The buffers of strings that nothing uses any more.
#[derive(Debug, Default)]
pub struct Recycler {
    buffers: Pool<Rc<OwnedText>>,
}

impl Recycler {
    /// Returns whether a value has a buffer that can be used again.
    #[inline]
    pub fn accepts(value: &Value<'_>) -> bool {
        matches!(value, Value::Str(text) if text.is_made())
    }

    /// Keeps the buffer of a string, unless other values use it too.
    #[inline(never)]
    pub fn recycle(&mut self, value: Value<'_>) {
        if let Value::Str(text) = value {
            if let Some(place) = self.buffers.free_slot() {
                *place = text.into_buffer(MAX_BUFFER);
            }
        }
    }

    /// Returns an empty string with the capacity of a kept buffer, if there is one.
    pub fn take_buffer(&mut self) -> String {
        let text = self.buffers.last_mut().and_then(Rc::get_mut);
        text.map(OwnedText::take_buffer).unwrap_or_default()
    }

    /// Makes a string in a kept allocation, if there is one. A string is shared, so it needs an allocation besides its buffer.
    pub(super) fn make_str<'a>(&mut self, text: OwnedText) -> Str<'a> {
        let recycled = self.buffers.pop();
        Str::owned(match recycled {
            Some(mut recycled) => match Rc::get_mut(&mut recycled) {
                Some(place) => {
                    *place = text;
                    recycled
                }
                None => Rc::new(text),
            },
            None => Rc::new(text),
        })
    }
}

/// A stack of a few objects that can be used again, stored in place.
#[derive(Debug)]
pub(super) struct Pool<T>([Option<T>; CAPACITY]);

impl<T> Pool<T> {
    /// Returns the place for one more object, or `None` if the pool is full.
    pub fn free_slot(&mut self) -> Option<&mut Option<T>> {
        self.0.iter_mut().find(|place| place.is_none())
    }

    /// Returns the object that was added last.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.0.iter_mut().rev().find_map(Option::as_mut)
    }

    /// Removes the object that was added last.
    pub fn pop(&mut self) -> Option<T> {
        self.0.iter_mut().rev().find_map(Option::take)
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self([const { None }; CAPACITY])
    }
}
