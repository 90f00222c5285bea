//! The long runs of white space in a string.
//!
//! ```text
//! "Hi" and 1000 blanks and "you"   ->   [2..1002]
//! ```

use std::ops::Range;

use crate::error::Result;
use crate::meter::Meter;

/// The number of bytes between two places of a string that are tested for white space.
const STRIDE: usize = 256;

/// A string whose long runs of white space are known, so that any part of it is trimmed quickly.
pub(super) struct Blanks<'t> {
    text: &'t str,
    /// The runs in the order of the text. A run that is not among them is at most two strides long.
    runs: Vec<Range<usize>>,
}

impl<'t> Blanks<'t> {
    pub fn new(text: &'t str, meter: &mut Meter<'_>) -> Result<Self> {
        let mut runs = Vec::new();
        let mut at = 0_usize;
        while let Some((start, rest)) = (at..text.len()).find_map(|at| Some((at, text.get(at..)?))) {
            let end = start + count_blanks(rest);
            if end > start {
                let before = text.get(..start).unwrap_or_default().trim_end().len();
                let length = end.saturating_sub(before);
                meter.charge(length as u64 >> 3)?;
                if length > STRIDE {
                    runs.push(before..end);
                }
            }
            at = end + STRIDE;
        }
        Ok(Self { text, runs })
    }

    /// Returns the end of a part without the white space at its end.
    pub fn trim_end(&self, part: &Range<usize>) -> usize {
        let after = self.runs.partition_point(|run| run.start < part.end);
        let run = after.checked_sub(1).and_then(|index| self.runs.get(index));
        let end = match run.filter(|run| run.end >= part.end) {
            Some(run) => run.start,
            None => self.text.get(..part.end).unwrap_or_default().trim_end().len(),
        };
        end.max(part.start)
    }

    /// Returns the start of a part without the white space at its start.
    pub fn trim_start(&self, part: &Range<usize>) -> usize {
        let index = self.runs.partition_point(|run| run.end <= part.start);
        let start = match self.runs.get(index).filter(|run| run.start <= part.start) {
            Some(run) => run.end,
            None => {
                let rest = self.text.get(part.start..).unwrap_or_default();
                part.start + count_blanks(rest)
            }
        };
        start.min(part.end).max(part.start)
    }
}

/// Returns the number of bytes of the white space at the start of a string.
pub(super) fn count_blanks(text: &str) -> usize {
    text.len().saturating_sub(text.trim_start().len())
}

#[cfg(test)]
mod tests {
    use super::{Blanks, STRIDE};
    use crate::limits::Limits;
    use crate::meter::Meter;

    #[test]
    fn a_part_is_trimmed_as_if_it_were_a_text() {
        for blank in [" ", "\n", "\u{3000}", " \u{a0}"] {
            for length in [0, 1, STRIDE - 1, STRIDE, STRIDE + 1, 3 * STRIDE] {
                let run = blank.repeat(length);
                let text = format!("{run}a{run}bé{run}");
                let blanks = Blanks::new(&text, &mut Meter::new(Limits::default())).expect("no limit is reached");
                let edges: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
                for start in edges.iter().copied().step_by(37) {
                    for end in edges.iter().copied().filter(|end| *end >= start).step_by(53) {
                        let part = text.get(start..end).expect("the edges are those of characters");
                        assert_eq!(blanks.trim_end(&(start..end)), start + part.trim_end().len());
                        assert_eq!(blanks.trim_start(&(start..end)), end - part.trim_start().len());
                    }
                }
            }
        }
    }
}
