//! What a render may use, and the meter that counts it.
//!
//! Everything that takes time or memory asks first: [`Meter::charge`] for work, [`Meter::claim`] for memory. Limits are on by
//! default and generous for every real template; each says why it is what it is.

use std::cell::Cell;
use std::rc::Rc;

use crate::error::{Error, Result};

/// The limits of one render, and those of compiling.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Steps: about one for each node evaluated, for each 64 bytes copied and for each 8 characters looked at; 20 to 60 nanoseconds
    /// each. A conversation of 10 000 messages takes some millions; the default is reached within a second.
    pub steps: u64,
    /// Bytes of output. The longest context window of a model is some megabytes of text.
    pub output: u64,
    /// Bytes of any one value, as it stands or as it would print. A text takes twice that while it grows.
    pub value: u64,
    /// Bytes of all values that are alive at once.
    pub live: u64,
    /// Calls inside calls: macros and recursive loops. The reference manages about 150 before Python's recursion limit.
    pub calls: u32,
    /// Levels of containers and iterators inside each other. Python's own limit for printing is near 300; a JSON schema has 20.
    pub height: u32,
    /// Bytes of stack that compiling or rendering may use: 420 KiB, or 1280 KiB where the crate was built with debug assertions.
    ///
    /// Threads of servers have 2 MiB, some 512 KiB. What is measured is the distance to where the call began, so there must be room
    /// below it for what the caller used, and above it for the last frames, which nothing measures: some 40 KiB, or 200 KiB without
    /// optimisation. A plain macro that calls itself takes 1.3 KiB a level, so that 150 of them fit, which is about what the reference
    /// manages; one that does so from inside a loop, a choice, a set and filters takes 3.4 KiB, and 120 of them fit.
    pub stack: usize,
    /// Bytes of a template's source. The largest known has 60 thousand.
    pub source: usize,
    /// Width and precision of any formatting, in characters.
    pub width: usize,
    /// Bits of an integer.
    pub bits: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 16_000_000,
            output: 64 << 20,
            value: 32 << 20,
            live: 96 << 20,
            calls: 200,
            height: 200,
            stack: if cfg!(debug_assertions) { 1280 << 10 } else { 420 << 10 },
            source: 1 << 20,
            width: 1 << 20,
            bits: 1 << 20,
        }
    }
}

/// Counts what one render uses.
#[derive(Debug)]
pub struct Meter {
    limits: Limits,
    steps_left: u64,
    calls: u32,
    stack_base: usize,
    live: Rc<Cell<u64>>,
}

impl Meter {
    /// A meter at zero; the stack is measured from this call on.
    pub fn new(limits: Limits) -> Self {
        let marker = 0_u8;
        Self {
            steps_left: limits.steps,
            calls: 0,
            stack_base: address(&marker),
            live: Rc::new(Cell::new(0)),
            limits,
        }
    }

    /// A meter for what makes a tree. What visits and drops the tree later goes down without asking, on larger frames: a quarter of the
    /// stack is left to it.
    pub fn for_trees() -> Self {
        let limits = Limits::default();
        let stack = (limits.stack / 4).saturating_mul(3);
        Self::new(Limits { stack, ..limits })
    }

    /// The limits that it keeps.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Counts work before it is done.
    #[inline]
    pub fn charge(&mut self, steps: u64) -> Result<()> {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => Err(self.out_of_steps()),
        }
    }

    /// Counts the work of touching so many bytes once.
    #[inline]
    pub fn charge_bytes(&mut self, bytes: usize) -> Result<()> {
        self.charge((bytes as u64 >> 6).saturating_add(1))
    }

    /// Counts the work of touching so many items once.
    #[inline]
    pub fn charge_items(&mut self, count: usize) -> Result<()> {
        self.charge((count as u64).saturating_add(1))
    }

    /// Counts the work of looking at the characters of a text one by one, which takes about eight times as long as copying them.
    #[inline]
    pub fn charge_scan(&mut self, bytes: usize) -> Result<()> {
        self.charge((bytes as u64 >> 3).saturating_add(1))
    }

    /// Steps used so far.
    pub fn steps(&self) -> u64 {
        self.limits.steps.saturating_sub(self.steps_left)
    }

    /// Claims memory for a value before it is made; it counts as live until the claim is dropped.
    #[inline]
    pub fn claim(&mut self, bytes: usize) -> Result<Claim> {
        let bytes = bytes as u64;
        if bytes > self.limits.value {
            return Err(exceeded("bytes of one value", bytes, self.limits.value));
        }
        let live = self.live.get().saturating_add(bytes);
        if live > self.limits.live {
            return Err(exceeded("bytes of live values", live, self.limits.live));
        }
        self.live.set(live);
        Ok(Claim {
            live: Rc::clone(&self.live),
            bytes,
        })
    }

    /// Checks the size that a value would have, before any of it is made.
    pub fn check_size(&self, bytes: usize) -> Result<()> {
        if bytes as u64 > self.limits.value {
            return Err(exceeded("bytes of one value", bytes as u64, self.limits.value));
        }
        Ok(())
    }

    /// Checks the height of a container or iterator before it is made.
    #[inline]
    pub fn check_height(&self, height: u32) -> Result<()> {
        if height > self.limits.height {
            return Err(exceeded(
                "levels of nested values",
                u64::from(height),
                u64::from(self.limits.height),
            ));
        }
        Ok(())
    }

    /// Checks how much output there is.
    #[inline]
    pub fn check_output(&self, bytes: usize) -> Result<()> {
        if bytes as u64 > self.limits.output {
            return Err(exceeded("bytes of output", bytes as u64, self.limits.output));
        }
        Ok(())
    }

    /// Checks the stack used since the meter was made, by the distance between addresses of locals.
    #[inline]
    pub fn check_stack(&self) -> Result<()> {
        let marker = 0_u8;
        let used = self.stack_base.abs_diff(address(&marker));
        if used > self.limits.stack {
            // The reference's words for the same situation: CPython counts frames where we count bytes.
            return Err(Error::limit("maximum recursion depth exceeded"));
        }
        Ok(())
    }

    /// Enters a call of a macro or a recursive loop; [`Meter::leave_call`] must follow.
    pub fn enter_call(&mut self) -> Result<()> {
        if self.calls >= self.limits.calls {
            return Err(Error::limit("maximum recursion depth exceeded"));
        }
        self.check_stack()?;
        self.calls = self.calls.saturating_add(1);
        Ok(())
    }

    /// Leaves a call.
    pub fn leave_call(&mut self) {
        self.calls = self.calls.saturating_sub(1);
    }

    #[cold]
    fn out_of_steps(&mut self) -> Error {
        self.steps_left = 0;
        exceeded("steps", self.limits.steps.saturating_add(1), self.limits.steps)
    }
}

/// Memory that a value holds; dropping it gives the bytes back.
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

fn address(marker: &u8) -> usize {
    std::ptr::from_ref(std::hint::black_box(marker)).addr()
}

#[cold]
fn exceeded(what: &str, reached: u64, limit: u64) -> Error {
    Error::limit(format!("limit reached: {reached} {what}, at most {limit} are allowed"))
}
