//! Python's stable sort, which compares items with `<` only.
//!
//! ```text
//! [2, 1, 3] by their value    the indices 1, 0, 2
//! ```
//!
//! The sort returns indices and moves no items. In a list of less than 64 items it makes the comparisons of CPython 3.13's `listobject.c`
//! in their order, for two reasons: the error of the first comparison that fails, such as that of `1` and `"a"`, is reported, and the place
//! of a NaN depends on the items that it was compared with.

use std::ops::Range;

use crate::error::Result;
use crate::value::Runtime;

/// A list that is shorter than this is sorted as one run. A run of a longer one has at least half as many items.
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

/// Splits the list into sorted runs, and merges neighbouring runs until there is one.
fn sort_runs<'a>(runtime: &mut Runtime<'a>, order: &mut [usize], less: &mut Less<'_, 'a>) -> Result<()> {
    let least = if order.len() < RUN { order.len() } else { RUN / 2 };
    let (mut ends, mut start) = (Vec::new(), 0);
    while let Some(rest) = order.get_mut(start..).filter(|rest| !rest.is_empty()) {
        start += sort_run(runtime, rest, least, less)?;
        ends.push(start);
    }
    while ends.len() > 1 {
        let (mut merged, mut start) = (Vec::with_capacity(ends.len()), 0);
        for pair in ends.chunks(2) {
            let (&[middle] | &[middle, _]) = pair else { continue };
            let end = pair.last().map_or(middle, |end| *end);
            if let Some(both) = order.get_mut(start..end) {
                merge(runtime, both, middle.saturating_sub(start), less)?;
            }
            merged.push(end);
            start = end;
        }
        ends = merged;
    }
    Ok(())
}

/// Merges two neighbouring runs, the second of which starts at the index `middle`.
fn merge<'a>(runtime: &mut Runtime<'a>, both: &mut [usize], middle: usize, less: &mut Less<'_, 'a>) -> Result<()> {
    let (mut left, mut right) = both.split_at_checked(middle).unwrap_or((both, &[]));
    let mut merged = Vec::with_capacity(both.len());
    while let ([first, firsts @ ..], [second, seconds @ ..]) = (left, right) {
        if less(runtime, *second, *first)? {
            merged.push(*second);
            right = seconds;
        } else {
            merged.push(*first);
            left = firsts;
        }
    }
    merged.extend(left.iter().chain(right));
    both.copy_from_slice(&merged);
    Ok(())
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
