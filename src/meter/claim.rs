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
        self.add_held((bytes as u64).saturating_add(VALUE))
    }

    /// Claims memory before it is taken. It counts as live until the claim is dropped.
    #[inline]
    pub fn claim(&mut self, bytes: usize) -> Result<Claim> {
        self.check_size(bytes)?;
        let bytes = (bytes as u64).saturating_add(OBJECT);
        self.check_live(bytes)?;
        let live = Rc::clone(self.claimed.get_or_insert_default());
        live.set(live.get().saturating_add(bytes));
        Ok(Claim { live, bytes })
    }

    /// Counts memory that is not a value and that exists as long as the render, such as the compiled template, as live. It may be larger
    /// than a value.
    pub fn claim_for_render(&mut self, bytes: usize) -> Result<()> {
        self.add_held(bytes as u64)
    }

    /// Adds bytes to those that are held until the end.
    #[inline]
    pub(super) fn add_held(&mut self, bytes: u64) -> Result<()> {
        self.held = self.check_live(bytes)?.saturating_sub(self.claimed());
        Ok(())
    }

    /// Returns the number of bytes that are live.
    pub(super) fn live(&self) -> u64 {
        self.held.saturating_add(self.claimed())
    }

    fn claimed(&self) -> u64 {
        self.claimed.as_ref().map_or(0, |claimed| claimed.get())
    }

    /// Returns the number of bytes that are live with some more, if the limit allows as many.
    #[inline]
    fn check_live(&self, bytes: u64) -> Result<u64> {
        let live = self.live().saturating_add(bytes);
        if live > self.limits.live {
            return Err(exceeded(Limit::Live, live, self.limits.live));
        }
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
