//! The path of a value in the body, from the value outwards. Its JSON pointer is written only for a change.

use super::message::{PATH, push_index};
use crate::json::escape_key;

/// The largest number of bytes of a pointer. A key of a body can be as long as the body.
const LONG: usize = 1024;

/// The largest number of bytes of a pointer after [`BUDGET`] bytes of pointers.
const SHORT: usize = 64;

/// The total size of the pointers of a body, in bytes, up to which they can be long.
const BUDGET: usize = 8 << 20;

/// Writes the pointers of the values of one body. After [`BUDGET`] bytes of pointers, it writes only short ones.
#[derive(Debug, Default)]
pub struct Pointers {
    bytes: usize,
}

impl Pointers {
    /// Returns the JSON pointer of a value, or that of a value around it if its own is too long.
    pub fn write(&mut self, path: Path<'_>) -> String {
        let most = if self.bytes < BUDGET { LONG } else { SHORT };
        let pointer = path.to_pointer(most);
        self.bytes = self.bytes.saturating_add(pointer.len());
        pointer
    }
}

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

    /// Returns the JSON pointer of the value, or that of the innermost value around it whose pointer has at most `most` bytes.
    fn to_pointer(self, most: usize) -> String {
        let mut pointer = String::with_capacity(PATH);
        self.write(most, &mut pointer);
        pointer
    }

    /// Appends the keys that there is room for, and returns whether these are all.
    fn write(self, most: usize, pointer: &mut String) -> bool {
        if !self.parent.is_none_or(|parent| parent.write(most, pointer)) {
            return false;
        }
        let start = pointer.len();
        pointer.push('/');
        match self.key {
            Key::Name(name) if name.len() > most => pointer.truncate(start),
            Key::Name(name) => pointer.push_str(&escape_key(name)),
            Key::Index(index) => push_index(index, pointer),
        }
        let is_whole = pointer.len() > start && (start == 0 || pointer.len() <= most);
        if !is_whole {
            pointer.truncate(start);
        }
        is_whole
    }
}
