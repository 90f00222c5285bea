//! Claims on memory, which count as long as they live.

use std::cell::Cell;
use std::rc::Rc;

use super::{Meter, exceeded};
use crate::error::Result;
use crate::limits::Limit;

/// The number of bytes that each claim takes besides the memory that it is for: the claim, and the allocator's rounding.
const OBJECT: u64 = 96;

/// The number of bytes that a value takes besides its contents in the memory of the render.
const VALUE: u64 = 16;

/// The number of items that a collection may have before it claims memory, while it is filled.
pub const UNCLAIMED: usize = 1024;

/// A claim on memory. Dropping it releases the memory.
#[derive(Debug)]
pub struct Claim {
    live: Rc<Cell<u64>>,
    bytes: u64,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.live.set(self.live.get().saturating_sub(self.bytes));
    }
}

impl Meter<'_> {
    /// Counts the memory of a value that exists as long as the render, before it is created.
    #[inline]
    pub fn hold(&mut self, bytes: usize) -> Result<()> {
        self.check_size(bytes)?;
        self.add_live((bytes as u64).saturating_add(VALUE)).map(drop)
    }

    /// Claims memory before it is taken. It counts as live until the claim is dropped.
    #[inline]
    pub fn claim(&mut self, bytes: usize) -> Result<Claim> {
        self.check_size(bytes)?;
        let bytes = (bytes as u64).saturating_add(OBJECT);
        let live = self.add_live(bytes)?;
        Ok(Claim {
            live: Rc::clone(live),
            bytes,
        })
    }

    /// Counts memory that is not a value and that exists as long as the render, such as the compiled template, as live. It may be larger
    /// than a value.
    pub fn claim_for_render(&mut self, bytes: usize) -> Result<()> {
        self.add_live(bytes as u64).map(drop)
    }

    /// Adds bytes to those that are claimed now, and returns the count, which claims share.
    #[inline]
    pub(super) fn add_live(&mut self, bytes: u64) -> Result<&Rc<Cell<u64>>> {
        let live = self.live.get_or_insert_default();
        let claimed = live.get().saturating_add(bytes);
        if claimed > self.limits.live {
            return Err(exceeded(Limit::Live, claimed, self.limits.live));
        }
        live.set(claimed);
        Ok(live)
    }

    /// Claims the memory of a collection of `T` that is full, before an item is added to it. `claim` is the claim so far; a small
    /// collection has none.
    #[inline]
    pub fn claim_growth<T>(&mut self, claim: &mut Option<Claim>, len: usize, capacity: usize) -> Result<()> {
        if len < capacity || len < UNCLAIMED {
            return Ok(());
        }
        *claim = None;
        *claim = Some(self.claim(len.saturating_mul(2).saturating_mul(size_of::<T>()))?);
        Ok(())
    }
}
