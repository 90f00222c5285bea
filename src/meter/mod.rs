//! Counts the resources that one compilation or one render uses, and stops it at its limits.
//!
//! All code that takes time or memory calls the meter first: [`Meter::charge`] for work, [`Meter::claim`] for memory. With
//! `RUSTFLAGS="--cfg unmetered"` the meter counts no work and checks only the limits on live memory, on calls and on items of iterators, so
//! that a benchmark can measure its cost.

mod claim;
#[cfg(feature = "response")]
mod counted;
mod scanned;
mod stack;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

pub use claim::{Claim, UNCLAIMED};
#[cfg(feature = "response")]
pub use counted::Counted;
pub use scanned::LONG;
pub use stack::Stack;

use crate::deadline::{Bounds, Deadline, Watch};
use crate::error::{Error, Result};
use crate::limits::{Limit, LimitExceeded, Limits};

/// The number of steps between two checks of the clock and the flag. These steps take about 100 microseconds.
const STRIDE: u64 = 4096;

/// The time that a step is expected to take, in nanoseconds. Work that is charged at once does not begin if it would probably end after
/// the deadline, because nothing stops it in between.
const STEP_NANOSECONDS: u64 = 20;

/// The number of bytes of text that are processed in one step. The cost of a shorter string is part of the cost of the statement or
/// container that contains it.
pub const STEP_BYTES: usize = 64;

/// The meter of one compilation or one render.
#[derive(Debug)]
pub struct Meter<'a> {
    limits: Limits,
    /// The number of steps until the next check.
    steps_left: u64,
    /// The number of steps that are allowed after the next check. It is zero unless a deadline or a flag can stop the render.
    steps_reserved: u64,
    /// The steps that are allowed after the next check, if several meters share them.
    steps_shared: Option<Rc<Cell<u64>>>,
    watch: Watch<'a>,
    calls: u32,
    stack: Stack,
    /// The number of bytes of the text that is being written, when its size was last checked.
    written: Cell<u64>,
    /// The number of bytes that the text that is being written may have: the limit of the output, less the unfinished strings around it.
    output_left: u64,
    /// The number of bytes that are held until the end.
    held: u64,
    /// The number of bytes that are claimed now. The claims share it, and the first claim creates it.
    claimed: Option<Rc<Cell<u64>>>,
    /// The number of bytes of a string that arrives in parts and that are not counted yet.
    part: usize,
}

impl<'a> Meter<'a> {
    pub fn new(limits: Limits) -> Self {
        Self::with_watch(limits, Watch::default())
    }

    /// Returns a meter at zero for a call with these bounds, whose deadline has started. The stack is measured from this call.
    pub fn within(bounds: Bounds<'a>, deadline: &'a Deadline) -> Self {
        Self::with_watch(bounds.limits.clone(), bounds.watch(deadline))
    }

    /// Lets the meters that [`Meter::renew`] returns share the steps of this one.
    pub fn share_steps(mut self) -> Self {
        let steps = self.steps_left.saturating_add(self.steps_reserved);
        (self.steps_left, self.steps_reserved) = (0, 0);
        self.steps_shared = Some(Rc::new(Cell::new(steps)));
        self
    }

    /// Returns a meter at zero with the limits, the deadline and the flag of this one. Only the stack is measured from this call.
    pub fn renew(&self) -> Self {
        self.renew_with(self.limits.clone())
    }

    /// Returns a meter as [`Meter::renew`] does, with other limits on memory.
    pub fn renew_with(&self, limits: Limits) -> Self {
        let mut renewed = Self::with_watch(limits, self.watch);
        if let Some(shared) = &self.steps_shared {
            (renewed.steps_left, renewed.steps_reserved) = (0, 0);
            renewed.steps_shared = Some(Rc::clone(shared));
        }
        renewed
    }

    /// Returns a meter with a number of steps of its own, and the other limits, the deadline and the flag of this one.
    pub fn fork(&self, steps: u64) -> Self {
        Self::with_watch(self.limits.clone().with_steps(steps), self.watch)
    }

    /// Returns a meter at zero with these limits, which a deadline or a flag can stop.
    fn with_watch(limits: Limits, watch: Watch<'a>) -> Self {
        let steps_left = if watch.cancel.is_some() || watch.is_over() {
            // The flag may be set already.
            0
        } else if watch.can_stop() {
            limits.steps.min(STRIDE)
        } else {
            limits.steps
        };
        Self {
            steps_left,
            steps_reserved: limits.steps.saturating_sub(steps_left),
            steps_shared: None,
            watch,
            calls: 0,
            stack: Stack::new(limits.stack),
            written: Cell::new(0),
            output_left: limits.output,
            held: 0,
            claimed: None,
            part: 0,
            limits,
        }
    }

    /// Returns what can stop the work, for code below the meter that takes long.
    pub fn watch(&self) -> Watch<'a> {
        self.watch
    }

    /// Returns an error if the time is over or the flag is set.
    pub fn check_time(&self) -> Result<()> {
        let used = self.steps();
        self.check_watch(used, 0)
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Lowers the limits on the bytes of the output and of a value.
    pub fn cap_sizes(&mut self, bytes: u64) {
        self.limits.output = self.limits.output.min(bytes);
        self.limits.value = self.limits.value.min(bytes);
        self.output_left = self.output_left.min(bytes);
    }

    /// Counts steps of work before it is done.
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

    /// Counts the work of processing a number of bytes once.
    #[inline]
    pub fn charge_bytes(&mut self, bytes: usize) -> Result<()> {
        self.charge(((bytes / STEP_BYTES) as u64).saturating_add(1))
    }

    /// Counts the work of processing bytes of a string that arrives in parts. Bytes that make no full step are counted with later ones, so
    /// that the sum is the same however the string is cut.
    #[inline]
    pub fn charge_part(&mut self, bytes: usize) -> Result<()> {
        let part = self.part.saturating_add(bytes);
        self.part = part % STEP_BYTES;
        self.charge((part / STEP_BYTES) as u64)
    }

    /// Counts the work of processing a number of items once.
    #[inline]
    pub fn charge_items(&mut self, count: usize) -> Result<()> {
        self.charge((count as u64).saturating_add(1))
    }

    /// Counts the work of scanning the characters of a string, which takes about eight times as long as copying them.
    #[inline]
    pub fn charge_scan(&mut self, bytes: usize) -> Result<()> {
        self.charge((bytes as u64 >> 3).saturating_add(1))
    }

    /// Counts the work of looking up the characters of a string in the tables of Unicode. Outside ASCII this takes three times as long as a
    /// scan.
    pub fn charge_unicode(&mut self, text: &str) -> Result<()> {
        let times = if text.is_ascii() { 1 } else { 3 };
        self.charge_scan(text.len().saturating_mul(times))
    }

    /// Counts the work of comparing a name with a number of other names. A comparison with a few short names takes no step.
    #[inline]
    pub fn charge_names(&mut self, name: &str, count: usize) -> Result<()> {
        let compared = (name.len() / STEP_BYTES + 1).saturating_mul(count);
        self.charge(compared as u64 >> 3)
    }

    pub fn steps_left(&self) -> u64 {
        self.steps_left.saturating_add(self.reserved())
    }

    /// Counts steps of work that was done with another meter. The next charge fails if they are more than are left.
    pub fn add_done(&mut self, steps: u64) {
        let left = self.steps_left.saturating_add(self.reserved()).saturating_sub(steps);
        let next = left.min(self.steps_left);
        self.set_steps(next, left.saturating_sub(next));
    }

    /// Returns the number of steps used so far, by all meters that share their steps.
    pub fn steps(&self) -> u64 {
        self.limits
            .steps
            .saturating_sub(self.steps_left.saturating_add(self.reserved()))
    }

    /// Returns the number of steps that are allowed after the next check.
    fn reserved(&self) -> u64 {
        self.steps_shared.as_ref().map_or(self.steps_reserved, |shared| shared.get())
    }

    /// Sets the numbers of steps before and after the next check.
    fn set_steps(&mut self, left: u64, reserved: u64) {
        self.steps_left = left;
        match &self.steps_shared {
            Some(shared) => shared.set(reserved),
            None => self.steps_reserved = reserved,
        }
    }

    /// Checks the size of a value before it is created.
    #[inline]
    pub fn check_size(&self, bytes: usize) -> Result<()> {
        if !cfg!(unmetered) && bytes as u64 > self.limits.value {
            return Err(exceeded(Limit::Value, bytes as u64, self.limits.value));
        }
        Ok(())
    }

    /// Checks the nesting depth of a container or iterator before it is created.
    #[inline]
    pub fn check_height(&self, height: u32) -> Result<()> {
        if !cfg!(unmetered) && height > self.limits.height {
            return Err(exceeded(Limit::Height, u64::from(height), u64::from(self.limits.height)));
        }
        Ok(())
    }

    /// Checks that the nesting depth of an item is at most that of its iterator, which was made and checked before the item.
    #[inline]
    pub fn check_item_height(&self, height: u32, iterator: u32) -> Result<()> {
        if height > iterator {
            return Err(exceeded(Limit::Height, u64::from(height), u64::from(iterator)));
        }
        Ok(())
    }

    /// Checks the size of the text that is being written: the output, or a string that is captured.
    #[inline]
    pub fn check_output(&self, bytes: usize) -> Result<()> {
        let bytes = bytes as u64;
        self.written.set(bytes);
        if !cfg!(unmetered) && bytes > self.output_left {
            let around = self.limits.output.saturating_sub(self.output_left);
            return Err(exceeded(Limit::Output, bytes.saturating_add(around), self.limits.output));
        }
        Ok(())
    }

    /// Checks the size of data that is returned with the output, such as the segments of a traced render. Its limit is that of the output.
    pub fn check_extra(&self, bytes: u64) -> Result<()> {
        if !cfg!(unmetered) && bytes > self.limits.output {
            return Err(exceeded(Limit::Output, bytes, self.limits.output));
        }
        Ok(())
    }

    /// Begins a string within the text that is being written, and returns the size of the outer one for [`Meter::end_text`].
    #[inline]
    pub fn begin_text(&mut self) -> u64 {
        let outer = self.written.replace(0);
        self.output_left = self.output_left.saturating_sub(outer);
        outer
    }

    /// Ends a string, and continues the outer one.
    #[inline]
    pub fn end_text(&mut self, outer: u64) {
        self.output_left = self.output_left.saturating_add(outer);
        self.written.set(outer);
    }

    /// Checks the stack used since the meter was created.
    #[inline]
    pub fn check_stack(&self) -> Result<()> {
        self.stack.check()
    }

    /// Counts a call of a macro or a recursive loop as begun. [`Meter::leave_call`] must follow.
    pub fn enter_call(&mut self) -> Result<()> {
        let calls = self.calls.saturating_add(1);
        if calls > self.limits.calls {
            let reached = LimitExceeded::new(Limit::Calls, u64::from(calls), u64::from(self.limits.calls));
            return Err(Error::recursion(reached));
        }
        self.check_stack()?;
        self.calls = calls;
        Ok(())
    }

    /// Counts a call of a macro or a recursive loop as ended.
    pub fn leave_call(&mut self) {
        self.calls = self.calls.saturating_sub(1);
    }

    /// Checks the clock and the flag when the steps have run out, and makes more of the reserved steps available.
    #[cold]
    fn refill(&mut self, steps: u64) -> Result<()> {
        let used = self.steps();
        let allowed = self.steps_left.saturating_add(self.reserved());
        let Some(left) = allowed.checked_sub(steps) else {
            self.set_steps(0, 0);
            return Err(exceeded(Limit::Steps, used.saturating_add(steps), self.limits.steps));
        };
        self.check_watch(used, steps)?;
        let next = left.min(STRIDE);
        self.set_steps(next, left.saturating_sub(next));
        Ok(())
    }

    /// Checks the flag and the deadline before work that takes a number of steps. `used` is the number of steps so far.
    fn check_watch(&self, used: u64, steps: u64) -> Result<()> {
        let expected = Duration::from_nanos(steps.saturating_mul(STEP_NANOSECONDS));
        self.watch.check(used, expected).map_err(Error::limit)
    }
}

/// Returns the steps that are left to the meters that share them.
impl Drop for Meter<'_> {
    fn drop(&mut self) {
        if let Some(shared) = &self.steps_shared {
            shared.set(shared.get().saturating_add(self.steps_left));
        }
    }
}

#[cold]
fn exceeded(limit: Limit, figure: u64, allowed: u64) -> Error {
    Error::limit(LimitExceeded::new(limit, figure, allowed))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{Bounds, Deadline, Meter, STRIDE};
    use crate::limits::{Limit, Limits};

    #[test]
    fn a_flag_is_checked_within_a_stride() {
        let flag = AtomicBool::new(false);
        let bounds = Bounds::default().with_cancel(&flag);
        let deadline = bounds.start();
        let mut meter = Meter::within(bounds, &deadline);
        meter.charge(1).unwrap();
        meter.charge(STRIDE / 2).unwrap();
        flag.store(true, Ordering::Relaxed);
        meter.charge(STRIDE / 2).unwrap();
        let error = meter.charge(1).unwrap_err();
        assert_eq!(error.reached().map(|reached| reached.limit), Some(Limit::Cancel));
    }

    #[test]
    fn a_deadline_does_not_change_the_number_of_steps() {
        let limits = Limits::default().with_steps(3 * STRIDE);
        let deadline = Deadline::new(u64::MAX);
        let mut meter = Meter::within(Bounds::from(&limits), &deadline);
        for used in 0..3 * STRIDE {
            assert_eq!(meter.steps(), used);
            meter.charge(1).unwrap();
        }
        let error = meter.charge(5).unwrap_err();
        let reached = error.reached().unwrap();
        assert_eq!((reached.limit, reached.actual), (Limit::Steps, 3 * STRIDE + 5));
    }

    #[test]
    fn renewed_meters_can_share_their_steps() {
        let limits = Limits {
            steps: 5 * STRIDE,
            ..Limits::default()
        };
        let meter = Meter::new(limits).share_steps();
        for _ in 0..4 {
            meter.renew().charge(STRIDE + 1).unwrap();
        }
        let error = meter.renew().charge(STRIDE + 1).unwrap_err();
        let reached = error.reached().unwrap();
        assert_eq!((reached.limit, reached.allowed), (Limit::Steps, 5 * STRIDE));
    }

    #[test]
    fn steps_of_another_meter_count() {
        let limits = Limits {
            steps: 3 * STRIDE,
            ..Limits::default()
        };
        let mut meter = Meter::new(limits);
        meter.charge(1).unwrap();
        meter.add_done(2 * STRIDE);
        assert_eq!(meter.steps(), 2 * STRIDE + 1);
        meter.charge(STRIDE - 1).unwrap();
        meter.charge(1).unwrap_err();
    }

    #[test]
    fn a_deadline_of_zero_allows_no_step() {
        let error = Meter::within(Bounds::default(), &Deadline::new(0)).charge(1).unwrap_err();
        assert_eq!(error.message(), "limit reached: milliseconds: 0, at most 0");
    }
}
