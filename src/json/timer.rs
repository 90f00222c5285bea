//! Checks the deadline while a long document is read.

use std::time::Duration;

use super::error::{JsonError, JsonErrorKind};
use crate::deadline::Deadline;

/// The least number of bytes of a document whose reading is timed. A shorter one is always read within a millisecond.
const TIMED_TEXT: usize = 64 << 10;

/// The number of bytes of values, or of a decoded string, between two checks. Reading so many takes about a millisecond.
pub(super) const STRIDE: usize = 256 << 10;

/// The deadline of reading a document, and when it is checked next.
pub(super) struct Timer<'d> {
    deadline: &'d Deadline,
    /// The deadline is checked when values may take fewer bytes than this.
    next_check: usize,
}

impl<'d> Timer<'d> {
    /// Returns the timer of a document, if it is long and the time is limited.
    pub fn start(text: &str, deadline: &'d Deadline) -> Option<Self> {
        let is_timed = deadline.is_over() || (text.len() >= TIMED_TEXT && deadline.is_limited());
        is_timed.then_some(Self {
            deadline,
            next_check: usize::MAX,
        })
    }

    /// Checks the deadline at the first call, and whenever values have taken [`STRIDE`] bytes since the last check. `bytes_left` is the
    /// number of bytes that values may still take.
    pub fn check(&mut self, bytes_left: usize, at: usize) -> Result<(), Box<JsonError>> {
        if bytes_left >= self.next_check {
            return Ok(());
        }
        self.next_check = bytes_left.saturating_sub(STRIDE);
        self.check_deadline(at)
    }

    /// Returns an error if the time is over.
    pub fn check_deadline(&self, at: usize) -> Result<(), Box<JsonError>> {
        let checked = self.deadline.check(Duration::ZERO);
        checked.map_err(|reached| Box::new(JsonError::of_limit(JsonErrorKind::TimedOut, reached, Some(at))))
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonErrorKind, STRIDE, TIMED_TEXT};
    use crate::deadline::Deadline;
    use crate::json::{DEPTH, read, read_within};

    #[test]
    fn the_time_limit_stops_long_arrays_and_long_strings() {
        let no_time = Deadline::new(0);
        let long = format!("[0{}]", ",0".repeat(TIMED_TEXT / 2));
        let error = read_within(&long, DEPTH, &no_time).unwrap_err();
        assert_eq!(error.kind(), JsonErrorKind::TimedOut);
        assert_eq!(
            error.to_string(),
            "limit reached: milliseconds: 0, at most 0: line 1 column 3 (char 2)"
        );
        assert_eq!(read_within(&long, DEPTH, &Deadline::new(None)), read(&long, DEPTH));
        assert_eq!(
            read_within("[0]", DEPTH, &no_time).unwrap_err().kind(),
            JsonErrorKind::TimedOut
        );
        let escapes = format!("\"{}\"", "\\n".repeat(STRIDE));
        assert_eq!(
            read_within(&escapes, DEPTH, &no_time).unwrap_err().kind(),
            JsonErrorKind::TimedOut
        );
    }
}
