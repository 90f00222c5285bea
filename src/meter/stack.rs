//! How much of the stack is used, told by the addresses of locals.
//!
//! ```text
//! let stack = Stack::new(420 << 10);
//! stack.check()?;     an error once the stack has grown by 420 KiB since
//! ```
//!
//! What calls itself asks here as it goes down. How much is right is unknown here.

use crate::error::{Error, Result};
use crate::limits::{Limit, Limits, Reached};

/// The stack from some place on.
#[derive(Debug)]
pub struct Stack {
    /// Bytes that may be used.
    limit: usize,
    /// Where the stack may reach down to, and how far from there it may reach up: as far on the other side of where it was measured first.
    end: usize,
    room: usize,
}

impl Stack {
    /// A stack of which so many bytes may be used from here on.
    pub fn new(limit: usize) -> Self {
        let marker = 0_u8;
        Self {
            limit,
            end: address(&marker).wrapping_sub(limit),
            room: limit.saturating_mul(2),
        }
    }

    /// A stack for what makes a tree. What visits and drops the tree later goes down without asking, on larger frames: a quarter of the
    /// stack is left to it.
    pub fn for_trees() -> Self {
        Self::new((Limits::default().stack / 4).saturating_mul(3))
    }

    /// Checks how much is used.
    #[inline]
    pub fn check(&self) -> Result<()> {
        let marker = 0_u8;
        let address = address(&marker);
        match !cfg!(unmetered) && address.wrapping_sub(self.end) > self.room {
            true => Err(self.exceeded(address)),
            false => Ok(()),
        }
    }

    #[cold]
    fn exceeded(&self, address: usize) -> Error {
        let used = self.end.wrapping_add(self.limit).abs_diff(address);
        // CPython counts frames where we count bytes.
        Error::recursion(Reached::from_sizes(Limit::Stack, used, self.limit))
    }
}

#[inline(always)]
fn address(marker: &u8) -> usize {
    std::ptr::from_ref(marker).addr()
}
