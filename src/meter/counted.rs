//! Continues the count of one meter with another, for a parser that receives its text in parts.

use super::{Meter, STRIDE};
use crate::error::Result;

/// The count of a meter, from which another meter can continue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    steps: u64,
    live: u64,
    part: usize,
}

impl Meter<'_> {
    pub fn counted(&self) -> Counted {
        Counted {
            steps: self.steps(),
            live: self.live(),
            part: self.part,
        }
    }

    /// Continues from the count of another meter, whose work is done. The next check of the clock comes when one meter for all the work
    /// would make it.
    pub fn resume(&mut self, counted: Counted) -> Result<()> {
        self.add_done(counted.steps);
        self.part = counted.part;
        let next = STRIDE.saturating_sub(counted.steps % STRIDE);
        if self.steps_left > next {
            let left = self.steps_left();
            self.set_steps(next, left.saturating_sub(next));
        }
        self.add_held(counted.live)
    }
}
