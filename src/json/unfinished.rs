//! The arrays and objects that are open while a document is read. They are on a stack on the heap.

use std::borrow::Cow;

use super::tree::{Data, Entry};

/// If fewer members than this are open, [`take_members`] always copies those of the container that ends.
const MIN_LONG: usize = 4096;

/// The container of the next value.
#[derive(Clone, Copy)]
pub(super) enum Parent {
    /// The value is the document itself, outside of any container.
    Document,
    /// An array, whose items start at this index among the items of all open arrays.
    List { start: usize },
    /// An object, whose entries start at this index among the entries of all open objects.
    Object { start: usize },
}

/// The arrays and objects that are open.
pub(super) struct Unfinished<'a> {
    /// The container of the next value.
    pub parent: Parent,
    /// The container of each open array and object, and its key there, the outermost first. In an array the key is empty.
    pub outer: Vec<(Parent, Cow<'a, str>)>,
    /// The items of all open arrays, the outermost first. When an array ends, its items move into a vector of their own.
    pub items: Vec<Data<'a>>,
    /// The entries of all open objects, the outermost first.
    pub entries: Vec<Entry<'a>>,
}

impl<'a> Unfinished<'a> {
    /// Records that an array or object begins.
    #[inline(always)]
    pub fn open(&mut self, key: Cow<'a, str>, parent: Parent) {
        let outer = std::mem::replace(&mut self.parent, parent);
        push_with(&mut self.outer, || (outer, key));
    }

    /// Adds a value to the current container. Returns the number of bytes that it takes there.
    #[inline(always)]
    pub fn add(&mut self, key: Cow<'a, str>, value: impl FnOnce() -> Data<'a>) -> usize {
        match self.parent {
            Parent::Object { .. } => {
                push_with(&mut self.entries, || (key, value()));
                size_of::<Entry<'_>>()
            }
            _ => {
                push_with(&mut self.items, value);
                size_of::<Data<'_>>()
            }
        }
    }

    /// Makes the value of an array or object that ends. Returns its key if the outer container is an object, and an empty string otherwise.
    #[inline(always)]
    pub fn close(&mut self) -> Cow<'a, str> {
        let (outer, key) = self.outer.pop().unwrap_or((Parent::Document, Cow::Borrowed("")));
        self.parent = outer;
        key
    }
}

/// Pushes the value that `make` returns. If there is capacity, the compiler writes the parts of the value directly into the vector.
/// Writing them to the stack and copying them from there stalls the processor.
#[inline(always)]
fn push_with<T>(all: &mut Vec<T>, make: impl FnOnce() -> T) {
    if all.len() < all.capacity() {
        all.push(make());
    } else {
        push_growing(all, make());
    }
}

#[cold]
#[inline(never)]
fn push_growing<T>(all: &mut Vec<T>, one: T) {
    all.push(one);
}

/// Moves the members from `start` on into a vector of their own.
#[inline(always)]
pub(super) fn take_members<T>(all: &mut Vec<T>, start: usize) -> Vec<T> {
    if start >= all.len() / 2 || all.len() < MIN_LONG {
        return all.split_off(start);
    }
    take_most_members(all, start)
}

/// Moves the members before `start` into a vector of their own instead, so that a long array is never in memory twice.
#[cold]
#[inline(never)]
fn take_most_members<T>(all: &mut Vec<T>, start: usize) -> Vec<T> {
    let before = all.drain(..start).collect();
    let mut members = std::mem::replace(all, before);
    members.shrink_to_fit();
    members
}
