//! What one call may use, as its caller says.

use std::ops::Deref;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use super::{Deadline, Running};
use crate::limits::Limits;
use crate::setters::setters;

/// What a call may use: limits, a deadline that it shares with other calls, and a flag that cancels it. References to [`Limits`] and to
/// a [`Deadline`] convert to it.
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
    /// Returns the deadline of a call that begins now.
    pub(crate) fn start(&self) -> CallDeadline<'o> {
        match self.deadline {
            Some(deadline) => CallDeadline::Shared(deadline, deadline.start()),
            None => CallDeadline::Own(self.limits.into()),
        }
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
