//! Python's stable sort, which compares items with `<` only.
//!
//! ```text
//! [2, 1, 3] by their value    the indices 1, 0, 2
//! ```
//!
//! The sort returns indices and moves no items. It makes the comparisons of CPython 3.13's `listobject.c` in their order, for two reasons:
//! the error of the first comparison that fails, such as that of `1` and `"a"`, is reported, and the place of a NaN depends on the items
//! that it was compared with.

mod merge;

use std::ops::Range;

use merge::Merger;

use crate::error::Result;
use crate::value::Runtime;

/// A list that is shorter than this is sorted as one run.
const RUN: usize = 64;

/// Returns whether the item at the first index comes before the item at the second index.
pub type Less<'f, 'a> = dyn FnMut(&mut Runtime<'a>, usize, usize) -> Result<bool> + 'f;

/// Returns the indices below `len` in sorted order. Equal items keep their order, even if `reverse` is set.
pub fn sort_indices<'a>(runtime: &mut Runtime<'a>, len: usize, reverse: bool, less: &mut Less<'_, 'a>) -> Result<Vec<usize>> {
    runtime.meter.charge_items(len)?;
    // The indices, and those that a merge has taken.
    let _claim = runtime.meter.claim(len.saturating_mul(size_of::<[usize; 2]>()))?;
    let mut order: Vec<usize> = (0..len).collect();
    if reverse {
        order.reverse();
    }
    sort_runs(runtime, &mut order, less)?;
    if reverse {
        order.reverse();
    }
    Ok(order)
}

/// A sorted part of the list that is still to be merged with its neighbours.
struct Run {
    start: usize,
    len: usize,
    /// The power of the boundary between this run and the next one: boundaries of high power are merged first.
    power: u32,
}

/// Splits the list into runs and merges them in the order of Munro and Wild's powersort (`found_new_run`, `merge_force_collapse`).
fn sort_runs<'a>(runtime: &mut Runtime<'a>, order: &mut [usize], less: &mut Less<'_, 'a>) -> Result<()> {
    let least = run_length(order.len());
    let mut merger = Merger::default();
    let mut pending: Vec<Run> = Vec::new();
    let mut start = 0;
    while let Some(rest) = order.get_mut(start..).filter(|rest| !rest.is_empty()) {
        let len = sort_run(runtime, rest, least, less)?;
        if let Some(last) = pending.last() {
            let power = boundary_power(last.start, last.len, len, order.len());
            while let [.., before, _] = pending.as_slice() {
                if before.power <= power {
                    break;
                }
                let index = pending.len().saturating_sub(2);
                merge_at(runtime, order, &mut pending, index, &mut merger, less)?;
            }
            if let Some(last) = pending.last_mut() {
                last.power = power;
            }
        }
        pending.push(Run { start, len, power: 0 });
        start += len;
    }
    while pending.len() > 1 {
        let index = match pending.as_slice() {
            [.., first, _, third] if first.len < third.len => pending.len().saturating_sub(3),
            _ => pending.len().saturating_sub(2),
        };
        merge_at(runtime, order, &mut pending, index, &mut merger, less)?;
    }
    Ok(())
}

/// Merges the run at an index with the next one.
fn merge_at<'a>(
    runtime: &mut Runtime<'a>,
    order: &mut [usize],
    pending: &mut Vec<Run>,
    index: usize,
    merger: &mut Merger,
    less: &mut Less<'_, 'a>,
) -> Result<()> {
    let right = pending.remove(index + 1);
    let Some(left) = pending.get_mut(index) else {
        return Ok(());
    };
    let (start, middle) = (left.start, left.len);
    left.len = middle + right.len;
    match order.get_mut(start..start + left.len) {
        Some(both) => merger.merge(runtime, both, middle, less),
        None => Ok(()),
    }
}

/// Returns the power of the boundary between two neighbouring runs of a list: the first bit in which the middles of the two runs, as
/// fractions of the list's length, differ (`powerloop`).
fn boundary_power(start: usize, left: usize, right: usize, len: usize) -> u32 {
    let mut first = start.saturating_mul(2) + left;
    let mut second = first + left + right;
    let mut power: u32 = 1;
    while first >= len || second < len {
        if first >= len {
            first = first.saturating_sub(len);
            second = second.saturating_sub(len);
        }
        first = first.saturating_mul(2);
        second = second.saturating_mul(2);
        power = power.saturating_add(1);
    }
    power
}

/// Returns the minimum length of a run, for which the number of runs is close to a power of two (`merge_compute_minrun`).
fn run_length(len: usize) -> usize {
    let (mut length, mut odd) = (len, 0);
    while length >= RUN {
        odd |= length & 1;
        length >>= 1;
    }
    length + odd
}

/// Sorts a run at the beginning and returns its length. The indices that are sorted already form the run, and binary insertion extends a
/// short run (`binarysort`).
fn sort_run<'a>(runtime: &mut Runtime<'a>, rest: &mut [usize], least: usize, less: &mut Less<'_, 'a>) -> Result<usize> {
    let beginning = sort_beginning(runtime, rest, less)?;
    let length = beginning.max(least.min(rest.len()));
    for next in beginning..length {
        let (sorted, others) = rest.split_at_mut(next);
        let Some(&pivot) = others.first() else { break };
        let (mut low, mut high) = (0, sorted.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match sorted.get(middle) {
                Some(&other) if !less(runtime, pivot, other)? => low = middle + 1,
                _ => high = middle,
            }
        }
        if let Some(place) = rest.get_mut(low..=next) {
            place.rotate_right(1);
        }
    }
    Ok(length)
}

/// Returns how many indices at the beginning are sorted, after reversing those that descend (`count_run`). In a beginning that descends,
/// equal items keep their order.
fn sort_beginning<'a>(runtime: &mut Runtime<'a>, run: &mut [usize], less: &mut Less<'_, 'a>) -> Result<usize> {
    let mut end = skip_ascending(runtime, run, 1, less)?;
    if end >= run.len() {
        return Ok(end);
    }
    if end > 1 {
        if is_less(runtime, run, [0, end.saturating_sub(1)], less)? {
            return Ok(end);
        }
        // All items before the smaller one are equal.
        reverse(run, 0..end);
    }
    end += 1;
    let mut first_equal = end.saturating_sub(1);
    while end < run.len() {
        let last = end.saturating_sub(1);
        if is_less(runtime, run, [end, last], less)? {
            reverse(run, first_equal..end);
            first_equal = end;
        } else if is_less(runtime, run, [last, end], less)? {
            break;
        }
        end += 1;
    }
    reverse(run, first_equal..end);
    reverse(run, 0..end);
    skip_ascending(runtime, run, end, less)
}

/// Returns the index of the first item at or after `index` that is less than the item before it, or the number of items.
fn skip_ascending<'a>(runtime: &mut Runtime<'a>, run: &[usize], mut index: usize, less: &mut Less<'_, 'a>) -> Result<usize> {
    while index < run.len() && !is_less(runtime, run, [index, index.saturating_sub(1)], less)? {
        index += 1;
    }
    Ok(index)
}

/// Returns whether the item at one place of the run is less than the item at another.
fn is_less<'a>(runtime: &mut Runtime<'a>, run: &[usize], [left, right]: [usize; 2], less: &mut Less<'_, 'a>) -> Result<bool> {
    match (run.get(left), run.get(right)) {
        (Some(&left), Some(&right)) => less(runtime, left, right),
        _ => Ok(false),
    }
}

fn reverse(run: &mut [usize], part: Range<usize>) {
    run.get_mut(part).unwrap_or_default().reverse();
}
