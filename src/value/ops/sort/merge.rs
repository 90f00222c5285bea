//! Merges two neighbouring runs, as `merge_at`, `merge_lo`, `merge_hi`, `gallop_left` and `gallop_right` of `listobject.c` do.
//!
//! ```text
//! [1, 4, 9 | 2, 3, 5, 7]    1 stays in place, and the merge begins at the front, because 4, 9 is shorter than 2, 3, 5, 7
//! ```
//!
//! A merge compares the next items of the two runs and takes one of them, until one run has won several times in a row. Then it gallops:
//! it searches how many items of a run come next, in steps that double.

use super::Less;
use crate::error::Result;
use crate::value::Runtime;

/// The least number of items that one search must find for galloping to go on (`MIN_GALLOP`).
const GALLOP: usize = 7;

/// An end of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Front,
    Back,
}

/// The state that the merges of one sort share.
pub(super) struct Merger {
    /// The number of wins in a row after which galloping begins. It falls while galloping pays off, and rises when galloping ends.
    wins: usize,
    /// The items that the current merge has taken.
    taken: Vec<usize>,
}

impl Default for Merger {
    fn default() -> Self {
        Self {
            wins: GALLOP,
            taken: Vec::new(),
        }
    }
}

impl Merger {
    /// Merges the two runs of the slice, the second of which starts at the index `middle`.
    pub(super) fn merge<'a>(
        &mut self,
        runtime: &mut Runtime<'a>,
        both: &mut [usize],
        middle: usize,
        less: &mut Less<'_, 'a>,
    ) -> Result<()> {
        let (left, right) = both.split_at_checked(middle).unwrap_or((both, &[]));
        let (Some(&first), Some(&last)) = (right.first(), left.last()) else {
            return Ok(());
        };
        let in_place = count_at(runtime, left, End::Front, |runtime, item| Ok(!less(runtime, first, item)?))?;
        let left = left.get(in_place..).unwrap_or_default();
        if left.is_empty() {
            return Ok(());
        }
        let after = count_at(runtime, right, End::Back, |runtime, item| less(runtime, item, last))?;
        let right = right.get(..right.len().saturating_sub(after)).unwrap_or_default();
        if right.is_empty() {
            return Ok(());
        }
        let end = if left.len() <= right.len() { End::Front } else { End::Back };
        let merged = left.len() + right.len();
        self.taken.clear();
        let mut merge = Merge {
            end,
            left,
            right,
            merger: self,
        };
        merge.run(runtime, less)?;
        if let Some(place) = both.get_mut(in_place..in_place + merged) {
            place.copy_from_slice(&self.taken);
        }
        Ok(())
    }
}

/// Two runs during their merge, with the items that have not been taken.
struct Merge<'r> {
    /// The end of both runs from which items are taken.
    end: End,
    left: &'r [usize],
    right: &'r [usize],
    merger: &'r mut Merger,
}

impl Merge<'_> {
    fn run<'a>(&mut self, runtime: &mut Runtime<'a>, less: &mut Less<'_, 'a>) -> Result<()> {
        match self.end {
            End::Front => self.take_right(1),
            End::Back => self.take_left(1),
        }
        while !self.is_decided() {
            self.take_winners(runtime, less)?;
            if !self.is_decided() {
                self.gallop(runtime, less)?;
            }
        }
        // If both runs have items left, those of the right run belong before those of the left run.
        match self.end {
            End::Front => {
                self.take_right(self.right.len());
                self.take_left(self.left.len());
            }
            End::Back => {
                self.take_left(self.left.len());
                self.take_right(self.right.len());
                self.merger.taken.reverse();
            }
        }
        Ok(())
    }

    /// Returns whether the rest needs no comparison: one run is empty, or only the last item of the shorter run is left, whose place is
    /// known from the search before the merge.
    fn is_decided(&self) -> bool {
        match self.end {
            End::Front => self.left.len() <= 1 || self.right.is_empty(),
            End::Back => self.right.len() <= 1 || self.left.is_empty(),
        }
    }

    fn take_left(&mut self, count: usize) {
        take(&mut self.left, self.end, count, &mut self.merger.taken);
    }

    fn take_right(&mut self, count: usize) {
        take(&mut self.right, self.end, count, &mut self.merger.taken);
    }

    /// Takes items one by one, until one run has won often enough for galloping.
    fn take_winners<'a>(&mut self, runtime: &mut Runtime<'a>, less: &mut Less<'_, 'a>) -> Result<()> {
        let (mut winner_is_right, mut wins) = (false, 0_usize);
        while let (Some(left), Some(right)) = (next(self.left, self.end), next(self.right, self.end)) {
            let takes_right = less(runtime, right, left)? == (self.end == End::Front);
            wins = if takes_right == winner_is_right { wins + 1 } else { 1 };
            winner_is_right = takes_right;
            if takes_right {
                self.take_right(1);
            } else {
                self.take_left(1);
            }
            if self.is_decided() || wins >= self.merger.wins {
                break;
            }
        }
        Ok(())
    }

    /// Takes all items of one run that come next, then those of the other run, until both are few.
    fn gallop<'a>(&mut self, runtime: &mut Runtime<'a>, less: &mut Less<'_, 'a>) -> Result<()> {
        while let Some(key) = next(self.right, self.end) {
            let from_left = count_at(runtime, self.left, self.end, |runtime, item| Ok(!less(runtime, key, item)?))?;
            self.take_left(from_left);
            if self.is_decided() {
                return Ok(());
            }
            self.take_right(1);
            let Some(key) = next(self.left, self.end).filter(|_| !self.is_decided()) else {
                return Ok(());
            };
            let from_right = count_at(runtime, self.right, self.end, |runtime, item| less(runtime, item, key))?;
            self.take_right(from_right);
            if self.is_decided() {
                return Ok(());
            }
            self.take_left(1);
            if self.is_decided() {
                return Ok(());
            }
            if from_left < GALLOP && from_right < GALLOP {
                break;
            }
            self.merger.wins = self.merger.wins.saturating_sub(1).max(1);
        }
        self.merger.wins += 1;
        Ok(())
    }
}

fn next(run: &[usize], end: End) -> Option<usize> {
    match end {
        End::Front => run.first().copied(),
        End::Back => run.last().copied(),
    }
}

/// Moves items from an end of the run to `taken`, beginning with the outermost.
fn take(run: &mut &[usize], end: End, count: usize, taken: &mut Vec<usize>) {
    match end {
        End::Front => {
            let (items, rest) = run.split_at_checked(count).unwrap_or((run, &[]));
            taken.extend_from_slice(items);
            *run = rest;
        }
        End::Back => {
            let (rest, items) = run.split_at_checked(run.len().saturating_sub(count)).unwrap_or((&[], run));
            taken.extend(items.iter().rev());
            *run = rest;
        }
    }
}

/// Returns how many items at an end of the run belong on that side of a key, where `is_before` says whether an item is before the key. The
/// search begins at that end, doubles its steps, and bisects the last step.
fn count_at<'a>(
    runtime: &mut Runtime<'a>,
    run: &[usize],
    end: End,
    mut is_before: impl FnMut(&mut Runtime<'a>, usize) -> Result<bool>,
) -> Result<usize> {
    let len = run.len();
    let mirrored = |offset: usize| len.saturating_sub(1).saturating_sub(offset);
    // The items at offsets up to `inside` are counted. If there is an item at the offset `outside`, it is not.
    let (mut inside, mut outside) = (None, 0_usize);
    while outside < len {
        let index = if end == End::Front { outside } else { mirrored(outside) };
        let Some(&item) = run.get(index) else { break };
        if is_before(runtime, item)? != (end == End::Front) {
            break;
        }
        inside = Some(outside);
        outside = outside.saturating_mul(2) + 1;
    }
    let Some(inside) = inside else { return Ok(0) };
    let outside = outside.min(len);
    let (mut low, mut high) = match end {
        End::Front => (inside + 1, outside),
        End::Back => (len.saturating_sub(outside), mirrored(inside)),
    };
    while low < high {
        let middle = usize::midpoint(low, high);
        match run.get(middle) {
            Some(&item) if is_before(runtime, item)? => low = middle + 1,
            _ => high = middle,
        }
    }
    Ok(if end == End::Front { low } else { len.saturating_sub(low) })
}
