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
            Key::Name(name) if name.contains(['~', '/']) => pointer.push_str(&escape(name)),
            Key::Name(name) => pointer.push_str(name),
            Key::Index(index) => push_index(index, &mut pointer),
        }
        pointer
    }

    /// Returns the index of the message or the tool in which the value is.
    pub fn item(self) -> Option<usize> {
        match (self.parent, self.key) {
            (Some(parent), Key::Index(index)) if parent.parent.is_none() => Some(index),
            (Some(parent), _) => parent.item(),
            (None, _) => None,
        }
    }

    /// Returns the rest of a JSON pointer after this path, or an empty rest if the pointer is that of a value around it.
    pub fn strip_from(self, known: &str) -> Option<&str> {
        let rest = match self.parent {
            Some(parent) => parent.strip_from(known)?,
            None => known,
        };
        if self.parent.is_some() && rest.is_empty() {
            return Some(rest);
        }
        let rest = rest.strip_prefix('/')?;
        let (key, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let is_equal = match self.key {
            Key::Name(name) if name.contains(['~', '/']) => key == escape(name),
            Key::Name(name) => key == name,
            Key::Index(index) => key.parse() == Ok(index),
        };
        is_equal.then_some(rest)
    }
}

/// Returns a key as it is written in a JSON pointer.
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Returns the index of the message or the tool in which the value at a JSON pointer is.
pub fn read_index(path: &str) -> Option<usize> {
    path.split('/').nth(2)?.parse().ok()
}
