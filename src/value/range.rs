//! Python's `range`, whose items are computed on demand.
//!
//! ```text
//! range(10, 0, -3)    10, 7, 4, 1
//! ```
//!
//! The built-ins make ranges from the arguments of `range`. The rules are those of CPython 3.13
//! `rangeobject.c`.

/// Python's `range`, with bounds that fit in 64 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first item.
    pub start: i64,
    /// The bound, which is not an item.
    pub stop: i64,
    /// The difference between two items, never 0.
    pub step: i64,
    /// The number of items.
    pub len: i64,
}

impl Range {
    /// Returns the number at an index, even if the index is out of range, or `None` if it does not fit in 64 bits.
    pub fn item(&self, index: i64) -> Option<i64> {
        index.checked_mul(self.step)?.checked_add(self.start)
    }

    /// Returns the index of an integer among the items.
    pub fn position(&self, int: i64) -> Option<i64> {
        let distance = i128::from(int).checked_sub(i128::from(self.start))?;
        let step = i128::from(self.step);
        let index = distance.checked_div(step)?;
        let is_item = distance.checked_rem(step)? == 0 && (0..i128::from(self.len)).contains(&index);
        i64::try_from(index).ok().filter(|_| is_item)
    }

    /// Returns the first item, the step and the length: two ranges are equal if these are. The step is 0 for one item, and the result is
    /// `None` for an empty range.
    pub(super) fn identity(&self) -> Option<(i64, i64, i64)> {
        match self.len {
            0 => None,
            1 => Some((self.start, 0, 1)),
            len => Some((self.start, self.step, len)),
        }
    }
}
