//! Measures the stack by the addresses of local variables.
//!
//! ```text
//! let stack = Stack::new(420 << 10);
//! stack.check()?;     an error if the stack has grown by 420 KiB since then
//! ```
//!
//! Recursive functions call [`Stack::check`].

use crate::error::{Error, Result};
use crate::limits::{Limit, LimitExceeded, Limits};

/// The part of the thread's stack that a compilation or a render may use.
#[derive(Debug)]
pub struct Stack {
    /// The number of bytes that may be used.
    limit: usize,
    /// The lowest allowed address. Addresses from `end` to `end + room` are within the limit; the middle is where the stack was first
    /// measured.
    end: usize,
    room: usize,
}

impl Stack {
    /// Starts to measure at the caller's frame, from which the stack may grow by `limit` bytes.
    pub fn new(limit: usize) -> Self {
        let marker = 0_u8;
        Self {
            limit,
            end: address(&marker).wrapping_sub(limit),
            room: limit.saturating_mul(2),
        }
    }

    /// Starts to measure for code that builds a tree. A quarter of the limit is reserved for the functions that visit and drop the tree,
    /// which do not check the stack and have larger frames.
    pub fn for_trees(limits: &Limits) -> Self {
        Self::new((limits.stack / 4).saturating_mul(3))
    }

    #[inline]
    pub fn check(&self) -> Result<()> {
        let marker = 0_u8;
        let address = address(&marker);
        if !cfg!(unmetered) && address.wrapping_sub(self.end) > self.room {
            return Err(self.exceeded(address));
        }
        Ok(())
    }

    #[cold]
    fn exceeded(&self, address: usize) -> Error {
        let used = self.end.wrapping_add(self.limit).abs_diff(address);
        // CPython counts frames instead of bytes.
        Error::recursion(LimitExceeded::from_sizes(Limit::Stack, used, self.limit))
    }
}

#[inline(always)]
fn address(marker: &u8) -> usize {
    std::ptr::from_ref(marker).addr()
}
