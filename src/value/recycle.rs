//! Objects that a render has made and that nobody holds any more, for those that it makes next.
//!
//! ```text
//! {% for message in messages %}{% set text = shown(message)|trim %}{{ text }}{% endfor %}
//! ```
//!
//! A loop that makes a text or a loop in each round, as this one does, asks the allocator once and not once a round. What a variable held
//! comes here when the variable is set again. What is large or many is not kept, and what is kept is claimed by nobody.

use super::Value;
use super::loop_context::Loop;
use super::str::{OwnedText, Str};
use std::rc::Rc;

/// How many of each kind are kept: one for each loop around the place where they are made.
const KEPT: usize = 4;

/// Bytes of a text that is kept: larger ones are rare, and cost more than the allocator.
const LARGEST: usize = 16 << 10;

/// What is kept, which nobody else holds.
#[derive(Debug, Default)]
pub struct Idle<'a> {
    texts: Few<Rc<OwnedText>>,
    loops: Few<Rc<Loop<'a>>>,
}

/// A few things in their order, without an allocation of their own.
#[derive(Debug)]
struct Few<T>([Option<T>; KEPT]);

impl<'a> Idle<'a> {
    /// Whether a value is of something that can be kept.
    #[inline]
    pub fn takes(value: &Value<'a>) -> bool {
        matches!(value, Value::Str(text) if text.is_made())
    }

    /// Keeps what a value is of, if nobody else holds it.
    #[inline(never)]
    pub fn keep(&mut self, value: Value<'a>) {
        if let Value::Str(text) = value {
            if let Some(place) = self.texts.place() {
                *place = text.into_idle(LARGEST);
            }
        }
    }

    /// Keeps a loop that has ended, if nobody else holds it.
    pub fn keep_loop(&mut self, mut context: Rc<Loop<'a>>) {
        if let (Some(place), Some(own)) = (self.loops.place(), Rc::get_mut(&mut context)) {
            own.end();
            *place = Some(context);
        }
    }

    /// A loop that may begin again.
    pub fn take_loop(&mut self) -> Option<Rc<Loop<'a>>> {
        self.loops.pop()
    }

    /// An empty text to write to, with the room of one that is kept.
    pub fn room(&mut self) -> String {
        let text = self.texts.last().and_then(Rc::get_mut);
        text.map(OwnedText::take_room).unwrap_or_default()
    }

    /// A string of a text that was made, in the place of one that is kept.
    pub(super) fn fill(&mut self, text: OwnedText) -> Str<'a> {
        let kept = self.texts.pop();
        Str::owned(match kept {
            Some(mut kept) => match Rc::get_mut(&mut kept) {
                Some(place) => {
                    *place = text;
                    kept
                }
                None => Rc::new(text),
            },
            None => Rc::new(text),
        })
    }
}

impl<T> Few<T> {
    /// Where the next thing may be put, if there is room.
    fn place(&mut self) -> Option<&mut Option<T>> {
        self.0.iter_mut().find(|place| place.is_none())
    }

    /// The thing that was put last.
    fn last(&mut self) -> Option<&mut T> {
        self.0.iter_mut().rev().find_map(Option::as_mut)
    }

    /// Takes out the thing that was put last.
    fn pop(&mut self) -> Option<T> {
        self.0.iter_mut().rev().find_map(Option::take)
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self([const { None }; KEPT])
    }
}
