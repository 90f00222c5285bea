//! The memory of the values that a render makes. It is freed as a whole when the render ends.
//!
//! ```text
//! arena.store_text("a")   ->   &str        arena.keep_int(2 ** 64)   ->   &BigInt
//! ```
//!
//! Small objects lie one after another in large blocks, and are never dropped. Long strings and large integers keep the memory that they
//! have, and are dropped with the arena.

use std::cell::{Cell, OnceCell};
use std::fmt;

use bumpalo::Bump;
use num_bigint::BigInt;

/// The number of bytes of a block beyond those of a large object.
const BLOCK: usize = 64 << 10;

/// The most bytes that the alignment of an object takes.
const ALIGNMENT: usize = 16;

/// The memory of the values that a render makes.
#[derive(Default)]
pub struct Arena {
    blocks: Bump,
    /// The objects that are dropped. Most renders make none.
    owned: OnceCell<Box<Owned>>,
}

#[derive(Default)]
struct Owned {
    texts: Store<String>,
    ints: Store<BigInt>,
}

impl Arena {
    /// Stores an object, which is never dropped.
    #[inline]
    pub fn store<T>(&self, object: T) -> &T {
        const { assert!(!std::mem::needs_drop::<T>(), "the object would not be dropped") }
        self.reserve(size_of::<T>());
        self.blocks.alloc(object)
    }

    /// Stores a copy of a string.
    #[inline]
    pub fn store_text(&self, text: &str) -> &str {
        self.reserve(text.len());
        self.blocks.alloc_str(text)
    }

    /// Stores a copy of items.
    #[inline]
    pub fn store_items<T: Copy>(&self, items: &[T]) -> &[T] {
        self.reserve(size_of_val(items));
        self.blocks.alloc_slice_copy(items)
    }

    /// Limits the size of the next block, if an object needs one. Blocks double in size without a limit.
    #[inline]
    fn reserve(&self, bytes: usize) {
        if self.blocks.chunk_capacity() < bytes.saturating_add(ALIGNMENT) {
            self.limit_block(bytes);
        }
    }

    #[cold]
    fn limit_block(&self, bytes: usize) {
        // A block is tried at twice the size of the last one, and then at half of that until it is within the limit.
        let most = bytes.saturating_mul(2).saturating_add(BLOCK);
        let limit = self.blocks.allocated_bytes().saturating_add(most);
        self.blocks.set_allocation_limit(Some(limit));
    }

    /// Keeps a string, without a copy.
    pub fn keep_text(&self, text: String) -> Option<&str> {
        self.owned.get_or_init(Box::default).texts.push(text).map(String::as_str)
    }

    /// Keeps a large integer.
    pub fn keep_int(&self, int: BigInt) -> Option<&BigInt> {
        self.owned.get_or_init(Box::default).ints.push(int)
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Arena({} bytes)", self.blocks.allocated_bytes())
    }
}

/// The number of chunks of a store, and the number of objects in its first chunk. Each further chunk has twice as many.
const CHUNKS: usize = 26;
const FIRST: usize = 4;

/// A list of objects to which others are added while they are borrowed.
struct Store<T> {
    len: Cell<usize>,
    chunks: [OnceCell<Box<[OnceCell<T>]>>; CHUNKS],
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self {
            len: Cell::new(0),
            chunks: [const { OnceCell::new() }; CHUNKS],
        }
    }
}

impl<T> Store<T> {
    /// Adds an object, or returns `None` if the list is full.
    fn push(&self, object: T) -> Option<&T> {
        let index = self.len.get();
        // The chunks before chunk n have FIRST * (2^n - 1) objects.
        let chunk = (index / FIRST + 1).checked_ilog2()?;
        let before = FIRST.checked_shl(chunk)?.checked_sub(FIRST)?;
        let size = before.checked_add(FIRST)?;
        let places = self.chunks.get(chunk as usize)?;
        let places = places.get_or_init(|| std::iter::repeat_with(OnceCell::new).take(size).collect());
        let place = places.get(index.checked_sub(before)?)?;
        self.len.set(index + 1);
        Some(place.get_or_init(|| object))
    }
}

#[cfg(test)]
mod tests {
    use super::{Arena, BigInt};

    #[test]
    fn objects_stay_where_they_are() {
        let arena = Arena::default();
        let kept: Vec<&BigInt> = (0..1000).filter_map(|int| arena.keep_int(BigInt::from(int))).collect();
        assert!(kept.into_iter().eq((0..1000).map(BigInt::from).collect::<Vec<_>>().iter()));
        let texts: Vec<&str> = (0..1000).map(|int: i32| arena.store_text(&int.to_string())).collect();
        assert!(texts.iter().enumerate().all(|(index, text)| **text == index.to_string()));
    }
}
