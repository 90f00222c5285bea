//! The time limit of reading a long text.

use std::time::Instant;

use super::error::Fault;
use crate::clock::HAS_CLOCK;
use crate::limits::Limits;

/// The least number of bytes of a text whose reading is timed. A shorter text is always read within a few milliseconds.
const TIMED_TEXT: usize = 1 << 20;

/// The number of bytes of values, or of a decoded string, between two checks of the clock. Reading so many takes a few milliseconds.
pub(super) const STRIDE: usize = 1 << 20;

/// The time at which reading began, and how long it may take.
pub(super) struct Timer {
    began: Instant,
    milliseconds: u64,
    /// The clock is checked when values may take fewer bytes than this.
    next_check: usize,
}

impl Timer {
    /// Starts the timer of a text, if the text is long and its time is limited.
    pub fn start(text: &str, limits: &Limits) -> Option<Self> {
        let milliseconds = limits.milliseconds.filter(|_| HAS_CLOCK && text.len() >= TIMED_TEXT)?;
        Some(Self {
            began: Instant::now(),
            milliseconds,
            next_check: usize::MAX,
        })
    }

    /// Checks the clock at the first call, and whenever values have taken [`STRIDE`] bytes since the last check. `bytes_left` is the number
    /// of bytes that values may still take.
    pub fn check(&mut self, bytes_left: usize, at: usize) -> Result<(), Box<Fault>> {
        if bytes_left >= self.next_check {
            return Ok(());
        }
        self.next_check = bytes_left.saturating_sub(STRIDE);
        self.check_clock(at)
    }

    /// Returns an error if the time is over.
    pub fn check_clock(&self, at: usize) -> Result<(), Box<Fault>> {
        let passed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        if passed < self.milliseconds {
            return Ok(());
        }
        let limit = self.milliseconds;
        Err(Box::new(Fault::TimedOut { limit, passed, at }))
    }
}

#[cfg(test)]
mod tests {
    use super::{STRIDE, TIMED_TEXT};
    use crate::json::{DEPTH, JsonErrorKind, read, read_within};
    use crate::limits::Limits;

    #[test]
    fn the_time_limit_stops_long_arrays_and_long_strings() {
        let no_time = Limits::default().with_milliseconds(0);
        let long = format!("[0{}]", ",0".repeat(TIMED_TEXT / 2));
        let error = read_within(&long, DEPTH, &no_time).unwrap_err();
        assert_eq!(error.kind(), JsonErrorKind::TimedOut);
        assert_eq!(
            error.to_string(),
            "limit reached: milliseconds: 0, at most 0: line 1 column 3 (char 2)"
        );
        for limits in [Limits::default(), Limits::default().with_milliseconds(None)] {
            assert_eq!(read_within(&long, DEPTH, &limits), read(&long, DEPTH));
        }
        assert_eq!(read_within("[0]", DEPTH, &no_time), read("[0]", DEPTH));
        let escapes = format!("\"{}\"", "\\n".repeat(STRIDE));
        assert_eq!(
            read_within(&escapes, DEPTH, &no_time).unwrap_err().kind(),
            JsonErrorKind::TimedOut
        );
    }
}
