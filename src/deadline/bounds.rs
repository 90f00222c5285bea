//! The bounds on the time and memory of one call.

use std::ops::Deref;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Deadline, Running};
use crate::limits::{Limit, LimitExceeded, Limits};
use crate::setters::setters;

/// The bounds on a call: limits, a deadline that it shares with other calls, and a flag that cancels it. References to [`Limits`] and to a
/// [`Deadline`] convert to it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Bounds<'o> {
    /// The limits on time and memory. They count from zero for each call.
    pub limits: &'o Limits,
    /// A time limit that this call shares with others, in place of [`Limits::milliseconds`].
    pub deadline: Option<&'o Deadline>,
    /// A flag that cancels the call. If any thread sets it, the call soon ends with an error of kind limit.
    pub cancel: Option<&'o AtomicBool>,
}

setters! { Bounds<'o>:
    with_limits(&'o Limits) = @limits;
    with_deadline(impl Into<Option<&'o Deadline>>) = @deadline;
    with_cancel(impl Into<Option<&'o AtomicBool>>) = @cancel;
}

static DEFAULT_LIMITS: LazyLock<Limits> = LazyLock::new(Limits::default);

impl Default for Bounds<'_> {
    fn default() -> Self {
        Self::from(&*DEFAULT_LIMITS)
    }
}

impl<'o> From<&'o Limits> for Bounds<'o> {
    fn from(limits: &'o Limits) -> Self {
        Self {
            limits,
            deadline: None,
            cancel: None,
        }
    }
}

impl<'o> From<&'o Deadline> for Bounds<'o> {
    fn from(deadline: &'o Deadline) -> Self {
        Self {
            deadline: Some(deadline),
            ..Self::default()
        }
    }
}

impl<'o> Bounds<'o> {
    /// Returns what can stop a call whose deadline has started.
    pub(crate) fn watch<'w>(&self, deadline: &'w Deadline) -> Watch<'w>
    where
        'o: 'w,
    {
        Watch {
            deadline: Some(deadline).filter(|deadline| deadline.is_limited()),
            cancel: self.cancel,
        }
    }

    /// Returns the deadline of a call that begins now.
    pub(crate) fn start(&self) -> CallDeadline<'o> {
        match self.deadline {
            Some(deadline) => CallDeadline::Shared(deadline, deadline.start()),
            None => CallDeadline::Own(self.limits.into()),
        }
    }
}

/// A deadline that has started and a flag, either of which can stop work that has begun.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watch<'d> {
    pub deadline: Option<&'d Deadline>,
    pub cancel: Option<&'d AtomicBool>,
}

impl Watch<'_> {
    /// Returns whether a check can fail.
    pub fn can_stop(&self) -> bool {
        self.deadline.is_some() || self.cancel.is_some()
    }

    /// Returns whether the time is already known to be over.
    pub fn is_over(&self) -> bool {
        self.deadline.is_some_and(Deadline::is_over)
    }

    /// Returns an error if the flag is set, or the time would be over after work that is expected to take some time. `used` is the number
    /// of steps so far.
    pub fn check(&self, used: u64, expected: Duration) -> Result<(), LimitExceeded> {
        if self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(LimitExceeded::new(Limit::Cancel, used, 0));
        }
        self.deadline.map_or(Ok(()), |deadline| deadline.check(expected))
    }
}

impl<'d> From<&'d Deadline> for Watch<'d> {
    fn from(deadline: &'d Deadline) -> Self {
        Bounds::default().watch(deadline)
    }
}

/// The deadline of one call: one that it shares with others, or its own. Its own begins with the first check of the clock, because most
/// calls end before that.
#[derive(Debug)]
pub(crate) enum CallDeadline<'d> {
    Shared(
        &'d Deadline,
        #[expect(dead_code, reason = "counts until it is dropped")] Running<'d>,
    ),
    Own(Deadline),
}

impl Deref for CallDeadline<'_> {
    type Target = Deadline;

    fn deref(&self) -> &Deadline {
        match self {
            Self::Shared(deadline, _) => deadline,
            Self::Own(deadline) => deadline,
        }
    }
}
