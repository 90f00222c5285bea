//! Writes an answer within a time limit.
//!
//! A long answer takes much longer to write than its prompt to render, because a character can become six. An answer that ended in the
//! middle would be no JSON, so the time is found out before the first byte is written.

use std::io::{self, Write};
use std::time::Duration;

use chat_template::{Deadline, Error, LimitExceeded};

/// The number of bytes of an answer that are kept in memory. A longer answer is made twice: first only to measure the time.
const KEPT: usize = 1 << 20;

/// The number of bytes between two checks of the deadline.
const STRIDE: usize = 64 << 10;

/// Writes what a function writes, or returns an error and writes nothing if that takes longer than the time that is left.
pub fn write(
    deadline: &Deadline,
    out: &mut impl Write,
    write: impl Fn(&mut dyn Write) -> io::Result<()>,
) -> io::Result<Result<(), Error>> {
    if deadline.milliseconds().is_none() {
        return write(out).map(Ok);
    }
    let _running = deadline.start();
    let before = deadline.spent();
    let mut draft = Draft {
        check: &|| deadline.check(Duration::ZERO),
        kept: Vec::new(),
        length: 0,
        next_check: STRIDE,
        reached: None,
    };
    let written = write(&mut draft);
    if let Some(reached) = draft.reached {
        return Ok(Err(reached.into()));
    }
    written?;
    if draft.length == draft.kept.len() {
        return out.write_all(&draft.kept).map(Ok);
    }
    drop(draft);
    if let Err(reached) = deadline.check(Duration::ZERO) {
        return Ok(Err(reached.into()));
    }
    // The system copies the bytes as well.
    let expected = deadline.spent().saturating_sub(before).saturating_mul(2);
    match deadline.check(expected) {
        Ok(()) => write(out).map(Ok),
        Err(reached) => Ok(Err(reached.into())),
    }
}

/// Keeps the beginning of an answer, and counts the rest.
struct Draft<'c> {
    check: &'c dyn Fn() -> Result<(), LimitExceeded>,
    kept: Vec<u8>,
    length: usize,
    next_check: usize,
    reached: Option<LimitExceeded>,
}

impl Write for Draft<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.kept.len() == self.length && bytes.len() <= KEPT.saturating_sub(self.length) {
            self.kept.extend_from_slice(bytes);
        }
        self.length += bytes.len();
        if self.length >= self.next_check {
            self.next_check = self.length + STRIDE;
            if let Err(reached) = (self.check)() {
                self.reached = Some(reached);
                return Err(io::Error::other(reached));
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use chat_template::Deadline;

    use super::{KEPT, STRIDE, write};

    #[test]
    fn an_answer_is_written_whole_or_not_at_all() {
        for length in [0, 10, KEPT, KEPT + 1, 3 * KEPT] {
            let answer = |out: &mut dyn Write| {
                "x".repeat(length)
                    .as_bytes()
                    .chunks(1000)
                    .try_for_each(|part| out.write_all(part))
            };
            let mut out = Vec::new();
            write(&Deadline::new(None), &mut out, answer).unwrap().unwrap();
            assert_eq!(out, "x".repeat(length).as_bytes());
            let mut out = Vec::new();
            let written = write(&Deadline::new(0), &mut out, answer).unwrap();
            let expected = if length < STRIDE { (true, length) } else { (false, 0) };
            assert_eq!((written.is_ok(), out.len()), expected);
        }
    }
}
