//! Python's stable sort, which compares items with `<` only.
//!
//! ```text
//! [2, 1, 3] by their value    the indices 1, 0, 2
//! ```
//!
//! The sort returns indices and moves no items. If `<` fails, as between `1` and `"a"`, the first comparison that fails is reported. The
//! comparisons are therefore those of CPython 3.11's `listobject.c` (`count_run`, `binarysort`) for up to 63 items. Runs of longer lists
//! are merged two by two without CPython's galloping, which changes the comparisons but not the result.

use crate::error::Result;
use crate::value::Runtime;

/// Lists that are shorter than this are one run.
const RUN: usize = 64;

/// Returns whether the item at the first index comes before the item at the second index.
pub type Less<'f, 'a> = dyn FnMut(&mut Runtime<'a>, usize, usize) -> Result<bool> + 'f;

/// Returns the indices from 0 to `len` in sorted order. Equal items keep their order, also if `reverse` is set.
pub fn sorted<'a>(runtime: &mut Runtime<'a>, len: usize, reverse: bool, less: &mut Less<'_, 'a>) -> Result<Vec<usize>> {
    runtime.meter.charge_items(len)?;
    runtime.meter.check_size(len.saturating_mul(size_of::<[usize; 2]>()))?;
    let mut order: Vec<usize> = (0..len).collect();
    if reverse {
        order.reverse();
    }
    let least = run_length(len);
    let mut runs = Vec::new();
    let mut rest = order.as_mut_slice();
    while !rest.is_empty() {
        let length = sort_run(runtime, rest, least, less)?;
        runs.push(length);
        rest = rest.get_mut(length..).unwrap_or_default();
    }
    while runs.len() > 1 {
        let mut merged = Vec::with_capacity(len);
        let mut rest = order.as_slice();
        let pairs = runs.chunks(2).map(|pair| {
            let mut next = |length: Option<&usize>| {
                let (run, behind) = rest.split_at_checked(length.copied().unwrap_or(0)).unwrap_or((rest, &[]));
                rest = behind;
                run
            };
            let (left, right) = (next(pair.first()), next(pair.get(1)));
            merge(runtime, left, right, &mut merged, less).map(|()| left.len().saturating_add(right.len()))
        });
        runs = pairs.collect::<Result<_>>()?;
        order = merged;
    }
    if reverse {
        order.reverse();
    }
    Ok(order)
}

/// Returns the minimum length of a run, for which the number of runs is close to a power of two (`merge_compute_minrun`).
fn run_length(len: usize) -> usize {
    let (mut length, mut odd) = (len, 0);
    while length >= RUN {
        odd |= length & 1;
        length >>= 1;
    }
    length.saturating_add(odd)
}

/// Sorts a run at the beginning and returns its length. The indices that are sorted already form the run, and binary insertion extends a
/// short run.
fn sort_run<'a>(runtime: &mut Runtime<'a>, rest: &mut [usize], least: usize, less: &mut Less<'_, 'a>) -> Result<usize> {
    let beginning = sorted_beginning(runtime, rest, less)?;
    let length = beginning.max(least.min(rest.len()));
    for next in beginning..length {
        let (sorted, others) = rest.split_at_mut(next);
        let Some(&pivot) = others.first() else { break };
        let (mut low, mut high) = (0, sorted.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match sorted.get(middle) {
                Some(&other) if !less(runtime, pivot, other)? => low = middle.saturating_add(1),
                _ => high = middle,
            }
        }
        if let Some(place) = rest.get_mut(low..=next) {
            place.rotate_right(1);
        }
    }
    Ok(length)
}

/// Returns how many indices at the beginning are sorted. Reverses a beginning that strictly descends.
fn sorted_beginning<'a>(runtime: &mut Runtime<'a>, run: &mut [usize], less: &mut Less<'_, 'a>) -> Result<usize> {
    let mut descends = None;
    let mut end = run.len().min(1);
    for pair in run.windows(2) {
        let &[before, after] = pair else { break };
        let is_less = less(runtime, after, before)?;
        if *descends.get_or_insert(is_less) != is_less {
            break;
        }
        end = end.saturating_add(1);
    }
    if let Some(beginning) = run.get_mut(..end).filter(|_| descends == Some(true)) {
        beginning.reverse();
    }
    Ok(end)
}

/// Merges two sorted runs. Of equal items, those of the left run come first.
fn merge<'a>(
    runtime: &mut Runtime<'a>,
    left: &[usize],
    right: &[usize],
    merged: &mut Vec<usize>,
    less: &mut Less<'_, 'a>,
) -> Result<()> {
    let (mut left, mut right) = (left, right);
    while let (Some((&first_left, rest_left)), Some((&first_right, rest_right))) = (left.split_first(), right.split_first()) {
        if less(runtime, first_right, first_left)? {
            merged.push(first_right);
            right = rest_right;
        } else {
            merged.push(first_left);
            left = rest_left;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use crate::limits::Limits;

    fn order(items: &[i64], reverse: bool) -> Vec<usize> {
        let mut runtime = Runtime::new(Limits::default(), &SystemClock);
        let mut less = |_: &mut Runtime<'_>, left: usize, right: usize| Ok(items.get(left) < items.get(right));
        sorted(&mut runtime, items.len(), reverse, &mut less).unwrap()
    }

    #[test]
    fn equal_items_keep_their_order() {
        assert_eq!(order(&[2, 1, 2, 1], false), [1, 3, 0, 2]);
        assert_eq!(order(&[2, 1, 2, 1], true), [0, 2, 1, 3]);
        let many: Vec<i64> = (0..1000).map(|index| index * 7919 % 100).collect();
        let sorted = order(&many, false);
        assert!(
            sorted
                .windows(2)
                .all(|pair| (many[pair[0]], pair[0]) < (many[pair[1]], pair[1]))
        );
    }
}
