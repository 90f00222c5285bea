//! Python's `range`, whose items are worked out and not kept.
//!
//! ```text
//! range(10, 0, -3)    10, 7, 4, 1
//! ```
//!
//! How a template makes one is known to the built-ins. After CPython 3.11 `rangeobject.c`.

/// Python's `range`: every bound an `int` that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first item.
    pub start: i64,
    /// The bound that is never reached.
    pub stop: i64,
    /// The distance; never 0.
    pub step: i64,
    /// How many items there are.
    pub len: i64,
}

impl Range {
    /// The number at an index, whether or not it is still an item; None where it does not fit.
    pub fn at(&self, index: i64) -> Option<i64> {
        index.checked_mul(self.step)?.checked_add(self.start)
    }

    /// Where an integer stands among the items.
    pub fn position(&self, int: i64) -> Option<i64> {
        let distance = i128::from(int).checked_sub(i128::from(self.start))?;
        let step = i128::from(self.step);
        let index = distance.checked_div(step)?;
        let is_item = distance.checked_rem(step)? == 0 && (0..i128::from(self.len)).contains(&index);
        i64::try_from(index).ok().filter(|_| is_item)
    }

    /// First item, step and length, by which ranges are equal: the step counts only from two items on, and nothing does without items.
    pub(super) fn identity(&self) -> Option<(i64, i64, i64)> {
        match self.len {
            0 => None,
            1 => Some((self.start, 0, 1)),
            len => Some((self.start, self.step, len)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Range;

    #[test]
    fn items_are_found_by_arithmetic() {
        let range = Range {
            start: 10,
            stop: 0,
            step: -3,
            len: 4,
        };
        assert_eq!([10, 7, 4, 1].map(|int| range.position(int)), [0, 1, 2, 3].map(Some));
        assert_eq!([0, 1, 2, 3].map(|index| range.at(index)), [10, 7, 4, 1].map(Some));
        assert!(
            [13, 9, -2, i64::MIN, i64::MAX]
                .into_iter()
                .all(|int| range.position(int).is_none())
        );
    }
}
