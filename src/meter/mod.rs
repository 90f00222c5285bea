//! Counts what one render uses, and stops it at its limits.
//!
//! Built with `RUSTFLAGS="--cfg unmetered"` it counts no work and checks nothing, so that a bench can tell what that costs.

mod stack;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub use stack::Stack;

use crate::error::{Error, Result};
use crate::limits::{Limit, Limits, Reached};

/// Steps between two looks at the clock and the flag: some 100 microseconds.
const STRIDE: u64 = 4096;

/// Bytes of text that are touched in one step. A text that has no more is charged with the statement or the container that it stands in.
pub const STEP_BYTES: usize = 64;

/// Bytes that any object takes besides what it holds: counts, its claim, and what the allocator rounds up.
const OBJECT: u64 = 96;

/// Counts what one render uses.
#[derive(Debug)]
pub struct Meter<'a> {
    limits: Limits,
    /// Steps until there is something to decide.
    steps_left: u64,
    /// Steps that are allowed after that; zero unless someone may stop the render earlier.
    steps_reserved: u64,
    watch: Option<Watch<'a>>,
    calls: u32,
    stack: Stack,
    /// Bytes that are claimed now; shared by the claims, and made with the first of them.
    live: Option<Rc<Cell<u64>>>,
}

/// Who may stop a render before its steps are used up.
#[derive(Debug)]
struct Watch<'a> {
    began: Instant,
    cancel: Option<&'a AtomicBool>,
}

impl<'a> Meter<'a> {
    /// A meter at zero; the stack and the time are measured from this call on.
    pub fn new(limits: Limits) -> Self {
        Self::with_cancel(limits, None)
    }

    /// A meter that also stops once the flag is set.
    pub fn with_cancel(limits: Limits, cancel: Option<&'a AtomicBool>) -> Self {
        let is_watched = cancel.is_some() || limits.milliseconds.is_some();
        Self {
            // A render that is watched looks before its first step.
            steps_left: if is_watched { 0 } else { limits.steps },
            steps_reserved: if is_watched { limits.steps } else { 0 },
            watch: is_watched.then(|| Watch {
                began: Instant::now(),
                cancel,
            }),
            calls: 0,
            stack: Stack::new(limits.stack),
            live: None,
            limits,
        }
    }

    /// The limits that it keeps.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Counts work before it is done.
    #[inline]
    pub fn charge(&mut self, steps: u64) -> Result<()> {
        if cfg!(unmetered) {
            return Ok(());
        }
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => self.refill(steps),
        }
    }

    /// Counts the work of touching so many bytes once.
    #[inline]
    pub fn charge_bytes(&mut self, bytes: usize) -> Result<()> {
        self.charge(((bytes / STEP_BYTES) as u64).saturating_add(1))
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

    /// Counts the work of asking the tables of Unicode about the characters of a text, which takes three times as long where they are not
    /// ASCII.
    pub fn charge_unicode(&mut self, text: &str) -> Result<()> {
        let times = if text.is_ascii() { 1 } else { 3 };
        self.charge_scan(text.len().saturating_mul(times))
    }

    /// Steps used so far.
    pub fn steps(&self) -> u64 {
        self.limits
            .steps
            .saturating_sub(self.steps_left.saturating_add(self.steps_reserved))
    }

    /// Claims memory for a value before it is made; it counts as live until the claim is dropped.
    #[inline]
    pub fn claim(&mut self, bytes: usize) -> Result<Claim> {
        self.check_size(bytes)?;
        let bytes = (bytes as u64).saturating_add(OBJECT);
        let live = self.live.get_or_insert_default();
        let claimed = live.get().saturating_add(bytes);
        if claimed > self.limits.live {
            return Err(exceeded(Limit::Live, claimed, self.limits.live));
        }
        live.set(claimed);
        Ok(Claim {
            live: Rc::clone(live),
            bytes,
        })
    }

    /// Checks the size that a value would have, before any of it is made.
    #[inline]
    pub fn check_size(&self, bytes: usize) -> Result<()> {
        match !cfg!(unmetered) && bytes as u64 > self.limits.value {
            true => Err(exceeded(Limit::Value, bytes as u64, self.limits.value)),
            false => Ok(()),
        }
    }

    /// Checks the height of a container or iterator before it is made.
    #[inline]
    pub fn check_height(&self, height: u32) -> Result<()> {
        match !cfg!(unmetered) && height > self.limits.height {
            true => Err(exceeded(Limit::Height, u64::from(height), u64::from(self.limits.height))),
            false => Ok(()),
        }
    }

    /// Checks how much output there is.
    #[inline]
    pub fn check_output(&self, bytes: usize) -> Result<()> {
        match !cfg!(unmetered) && bytes as u64 > self.limits.output {
            true => Err(exceeded(Limit::Output, bytes as u64, self.limits.output)),
            false => Ok(()),
        }
    }

    /// Checks the stack used since the meter was made.
    #[inline]
    pub fn check_stack(&self) -> Result<()> {
        self.stack.check()
    }

    /// Enters a call of a macro, a block or a recursive loop; [`Meter::leave_call`] must follow.
    pub fn enter_call(&mut self) -> Result<()> {
        let calls = self.calls.saturating_add(1);
        if calls > self.limits.calls {
            let reached = Reached::new(Limit::Calls, u64::from(calls), u64::from(self.limits.calls));
            return Err(Error::recursion(reached));
        }
        self.check_stack()?;
        self.calls = calls;
        Ok(())
    }

    /// Leaves a call.
    pub fn leave_call(&mut self) {
        self.calls = self.calls.saturating_sub(1);
    }

    /// Decides whether a render whose steps have run out may have some of those that were kept.
    #[cold]
    fn refill(&mut self, steps: u64) -> Result<()> {
        let used = self.steps();
        let allowed = self.steps_left.saturating_add(self.steps_reserved);
        let Some(left) = allowed.checked_sub(steps) else {
            (self.steps_left, self.steps_reserved) = (0, 0);
            return Err(exceeded(Limit::Steps, used.saturating_add(steps), self.limits.steps));
        };
        if let Some(watch) = &self.watch {
            watch.check(&self.limits, used)?;
        }
        self.steps_left = left.min(STRIDE);
        self.steps_reserved = left.saturating_sub(self.steps_left);
        Ok(())
    }
}

impl Watch<'_> {
    fn check(&self, limits: &Limits, steps: u64) -> Result<()> {
        if self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(exceeded(Limit::Cancel, steps, 0));
        }
        let passed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        match limits.milliseconds {
            Some(allowed) if passed >= allowed => Err(exceeded(Limit::Milliseconds, passed, allowed)),
            _ => Ok(()),
        }
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

#[cold]
fn exceeded(limit: Limit, figure: u64, allowed: u64) -> Error {
    Error::limit(Reached::new(limit, figure, allowed))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{Meter, STRIDE};
    use crate::limits::{Limit, Limits};

    #[test]
    fn a_flag_is_looked_at_within_a_stride() {
        let flag = AtomicBool::new(false);
        let mut meter = Meter::with_cancel(Limits::default(), Some(&flag));
        meter.charge(1).unwrap();
        meter.charge(STRIDE / 2).unwrap();
        flag.store(true, Ordering::Relaxed);
        meter.charge(STRIDE / 2).unwrap();
        let error = meter.charge(1).unwrap_err();
        assert_eq!(error.reached().map(|reached| reached.limit), Some(Limit::Cancel));
    }

    #[test]
    fn a_watched_render_has_the_same_steps() {
        let limits = Limits {
            steps: 3 * STRIDE,
            milliseconds: Some(u64::MAX),
            ..Limits::default()
        };
        let mut meter = Meter::new(limits);
        for used in 0..3 * STRIDE {
            assert_eq!(meter.steps(), used);
            meter.charge(1).unwrap();
        }
        let error = meter.charge(5).unwrap_err();
        let reached = error.reached().unwrap();
        assert_eq!((reached.limit, reached.figure), (Limit::Steps, 3 * STRIDE + 5));
    }

    #[test]
    fn no_time_is_no_step() {
        let limits = Limits {
            milliseconds: Some(0),
            ..Limits::default()
        };
        let error = Meter::new(limits).charge(1).unwrap_err();
        assert_eq!(error.message(), "limit reached: milliseconds: 0, at most 0");
    }
}
