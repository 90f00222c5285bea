//! The path of a value in the body, from the value outwards. Its JSON pointer is written only for a change.

use super::message::{PATH, push_index};

/// The place of a value in the body.
#[derive(Clone, Copy)]
pub struct Path<'p> {
    pub parent: Option<&'p Path<'p>>,
    pub key: Key<'p>,
}

#[derive(Clone, Copy)]
pub enum Key<'p> {
    Name(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    pub fn name(&'p self, name: &'p str) -> Self {
        let (parent, key) = (Some(self), Key::Name(name));
        Self { parent, key }
    }

    pub fn index(&'p self, index: usize) -> Self {
        let (parent, key) = (Some(self), Key::Index(index));
        Self { parent, key }
    }

    /// Returns the JSON pointer.
    pub fn to_pointer(self) -> String {
        let mut pointer = match self.parent {
            Some(parent) => parent.to_pointer(),
            None => String::with_capacity(PATH),
        };
        pointer.push('/');
        match self.key {
            Key::Name(name) if name.bytes().any(|byte| matches!(byte, b'~' | b'/')) => pointer.push_str(&escape(name)),
            Key::Name(name) => pointer.push_str(name),
            Key::Index(index) => push_index(index, &mut pointer),
        }
        pointer
    }
}

/// Returns a key as it is written in a JSON pointer.
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
