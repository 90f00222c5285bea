//! Goes on counting with another meter, as a parser does that gets its text in parts.

use super::{Meter, STRIDE};
use crate::error::Result;

/// What a meter has counted, so that another meter can go on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    steps: u64,
    live: u64,
    part: usize,
}

impl Meter<'_> {
    /// Returns what was counted so far.
    pub fn counted(&self) -> Counted {
        Counted {
            steps: self.steps(),
            live: self.live.as_ref().map_or(0, |live| live.get()),
            part: self.part,
        }
    }

    /// Goes on from what another meter has counted, whose work is not expected again. The clock is checked after as many steps of both as
    /// after those of one.
    pub fn resume(&mut self, counted: Counted) -> Result<()> {
        self.add_done(counted.steps);
        self.part = counted.part;
        let next = STRIDE.saturating_sub(counted.steps % STRIDE);
        if self.steps_left > next {
            let left = self.steps_left();
            self.set_steps(next, left.saturating_sub(next));
        }
        match counted.live {
            0 => Ok(()),
            live => self.add_live(live).map(drop),
        }
    }
}
