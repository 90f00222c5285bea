//! Filters that order: `sort`, `dictsort`, `min`, `max`.
//!
//! ```text
//! {{ ["b", "A", "a"]|sort }}          ['A', 'a', 'b']    without regard to case, stable
//! {{ {"b": 1, "a": 2}|dictsort }}     [('a', 2), ('b', 1)]
//! ```
//!
//! What compares with what is for [`less`](crate::value::ops::less) to know. After jinja2 3.1.6 `filters.py`: `do_sort`,
//! `do_dictsort`, `_min_or_max`.

use super::attribute_path::{AttributePath, lowered};
use super::python_calls::items;
use super::{flag, given};
use crate::builtins::access;
use crate::builtins::c_arguments::c_int;
use crate::error::{Error, Result};
use crate::value::{Arguments, Iter, Runtime, Undefined, Value, ops};

/// The items in a list in their order.
///
/// `{{ [3, 1, 2]|sort(reverse=true) }} -> [3, 2, 1]`
pub(super) fn sort<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let attribute = given(&mut arguments, 3);
    let ignores_case = !flag(runtime, &arguments, 2)?;
    let mut paths = AttributePath::several(runtime, &attribute)?;
    paths = paths.into_iter().map(|path| path.ignoring_case(ignores_case)).collect();
    let items = ops::collect(runtime, &given(&mut arguments, 0))?;
    let reverse = c_int(arguments.get(1), 0)? != 0;
    // Nobody else counts the items and their keys.
    let values = items.len().saturating_mul(size_of::<Value<'_>>());
    let _items = runtime.meter.claim(values)?;
    let _keys = runtime.meter.claim(values.saturating_mul(paths.len()))?;
    // The keys of one item stand behind those of the item before: a list of its own for each item would take twice as much.
    let mut keys = Vec::with_capacity(items.len().saturating_mul(paths.len()));
    for item in &items {
        for path in &paths {
            keys.push(path.follow(runtime, item)?);
        }
    }
    let keys_of = |item: usize| {
        let start = item.saturating_mul(paths.len());
        keys.get(start..start.saturating_add(paths.len())).unwrap_or_default()
    };
    let order = ops::sorted(runtime, items.len(), reverse, &mut |runtime, left, right| {
        is_less(runtime, keys_of(left), keys_of(right))
    })?;
    let items = order.into_iter().filter_map(|index| items.get(index).cloned());
    runtime.list(items.collect())
}

/// The pairs of a dict in the order of their keys, or of their values.
///
/// `{{ {"b": 1, "a": 2}|dictsort(by="value") }} -> [('b', 1), ('a', 2)]`
pub(super) fn dictsort<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let ignores_case = !flag(runtime, &arguments, 1)?;
    let by = arguments.take(2).unwrap_or(Value::text("key"));
    let by_key = ops::equal(runtime, &by, &Value::text("key"))?;
    if !by_key && !ops::equal(runtime, &by, &Value::text("value"))? {
        return Err(Error::runtime(r#"You can only sort by either "key" or "value""#));
    }
    let pairs = items(runtime, &given(&mut arguments, 0))?;
    let pairs = ops::collect(runtime, &pairs)?;
    let reverse = c_int(arguments.get(3), 0)? != 0;
    let place = Value::Int(i64::from(!by_key));
    let mut keys = Vec::with_capacity(pairs.len());
    for pair in &pairs {
        let key = access::item(runtime, pair, &place)?;
        keys.push(if ignores_case { lowered(runtime, key)? } else { key });
    }
    let order = sorted_by_key(runtime, &keys, reverse)?;
    let pairs = order.into_iter().filter_map(|index| pairs.get(index).cloned());
    runtime.list(pairs.collect())
}

/// The first of the smallest items.
///
/// `{{ ["b", "A", "a"]|min }} -> A`
pub(super) fn min<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    extreme(runtime, arguments, |runtime, key, best| ops::less(runtime, key, best))
}

/// The first of the largest items.
///
/// `{{ [1, 3, 2]|max }} -> 3`
pub(super) fn max<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    extreme(runtime, arguments, |runtime, key, best| ops::greater(runtime, key, best))
}

fn extreme<'a>(
    runtime: &mut Runtime<'a>,
    mut arguments: Arguments<'a>,
    is_better: impl Fn(&mut Runtime<'a>, &Value<'a>, &Value<'a>) -> Result<bool>,
) -> Result<Value<'a>> {
    let mut iter = Iter::new(&given(&mut arguments, 0))?;
    let Some(mut best) = iter.next(runtime)? else {
        return Ok(Value::Undefined(Undefined::Hint("No aggregated item, sequence was empty.")));
    };
    let ignores_case = !flag(runtime, &arguments, 1)?;
    let path = AttributePath::new(runtime, &given(&mut arguments, 2))?.ignoring_case(ignores_case);
    let mut best_key = path.follow(runtime, &best)?;
    while let Some(item) = iter.next(runtime)? {
        let key = path.follow(runtime, &item)?;
        if is_better(runtime, &key, &best_key)? {
            (best, best_key) = (item, key);
        }
    }
    Ok(best)
}

/// The indices of the keys in their order.
pub(super) fn sorted_by_key<'a>(runtime: &mut Runtime<'a>, keys: &[Value<'a>], reverse: bool) -> Result<Vec<usize>> {
    ops::sorted(
        runtime,
        keys.len(),
        reverse,
        &mut |runtime, left, right| match (keys.get(left), keys.get(right)) {
            (Some(left), Some(right)) => ops::less(runtime, left, right),
            _ => Ok(false),
        },
    )
}

/// `left < right` of two lists of one length: the first items that differ decide.
fn is_less<'a>(runtime: &mut Runtime<'a>, left: &[Value<'a>], right: &[Value<'a>]) -> Result<bool> {
    for (left, right) in left.iter().zip(right) {
        if !ops::identical_or_equal(runtime, left, right)? {
            return ops::less(runtime, left, right);
        }
    }
    Ok(false)
}
