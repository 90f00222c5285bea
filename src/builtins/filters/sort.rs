//! Filters that order: `sort`, `dictsort`, `min`, `max`.
//!
//! [`ops::less`] compares two items. The rules are those of jinja2 3.1.6 `filters.py`: `do_sort`, `do_dictsort`, `_min_or_max`.

use super::attribute_path::{AttributePath, to_lower};
use super::python_calls::call_items;
use crate::builtins::access;
use crate::builtins::table::built_ins;
use crate::error::{Error, Result};
use crate::value::{Comparison, Iter, Runtime, Undefined, Value, ops};

built_ins! { FILTERS:
    /// Returns a sorted list of the items.
    ///
    /// `{{ [3, 1, 2]|sort(reverse=true) }} -> [3, 2, 1]`
    Python "do_sort" fn sort(
        runtime, @environment, value: Items, reverse: Flag = false, case_sensitive: Flag = false, attribute: Attribute = None
    ) -> List {
        let ignores_case = !ops::is_true(runtime, &case_sensitive)?;
        let mut paths = AttributePath::split(runtime, &attribute)?;
        paths = paths.into_iter().map(|path| path.with_case_ignored(ignores_case)).collect();
        let items = ops::collect(runtime, &value)?;
        let reverse = ops::is_true(runtime, &reverse)?;
        // These lists are not on the heap of the render, so their memory is claimed here.
        let values = items.len().saturating_mul(size_of::<Value<'_>>());
        let _items = runtime.meter.claim(values)?;
        let claim = runtime.meter.claim(values.saturating_mul(paths.len()))?;
        // One list has the keys of all items one after another. A list for each item would take twice the memory.
        let mut keys = Vec::with_capacity(items.len().saturating_mul(paths.len()));
        for item in &items {
            for path in &paths {
                keys.push(path.follow(runtime, item)?);
            }
        }
        let keys_of = |item: usize| {
            let start = item.saturating_mul(paths.len());
            keys.get(start..start + paths.len()).unwrap_or_default()
        };
        let order = ops::sort_indices(runtime, items.len(), reverse, &mut |runtime, left, right| {
            is_less(runtime, keys_of(left), keys_of(right))
        })?;
        drop((keys, claim));
        runtime.list(&in_order(&items, &order))
    }

    /// Returns a list of the pairs of a dict, sorted by key or by value.
    ///
    /// `{{ {"b": 1, "a": 2}|dictsort(by="value") }} -> [('b', 1), ('a', 2)]`
    Python "do_dictsort" fn dictsort(
        runtime, value: Dict, case_sensitive: Flag = false, by: OneOf["key", "value", "nope"] = "key", reverse: Flag = false
    ) -> List {
        let ignores_case = !ops::is_true(runtime, &case_sensitive)?;
        let by_key = ops::equal(runtime, &by, &Value::text("key"))?;
        if !by_key && !ops::equal(runtime, &by, &Value::text("value"))? {
            return Err(Error::runtime(r#"You can only sort by either "key" or "value""#));
        }
        let pairs = call_items(runtime, &value)?;
        let pairs = ops::collect(runtime, &pairs)?;
        let reverse = ops::is_true(runtime, &reverse)?;
        let index = Value::Int(i64::from(!by_key));
        // The pairs and their keys are not on the heap of the render, so their memory is claimed here.
        let values = pairs.len().saturating_mul(size_of::<Value<'_>>());
        let claim = runtime.meter.claim(values.saturating_mul(2))?;
        let mut keys = Vec::with_capacity(pairs.len());
        for pair in &pairs {
            let key = access::get_item(runtime, pair, &index)?;
            keys.push(if ignores_case { to_lower(runtime, key)? } else { key });
        }
        let order = sort_keys(runtime, &keys, reverse)?;
        drop((keys, claim));
        runtime.list(&in_order(&pairs, &order))
    }

    /// Returns the smallest item, or the first one if several are equal.
    ///
    /// `{{ ["b", "A", "a"]|min }} -> A`
    Python "do_min" fn min(runtime, @environment, value: Items, case_sensitive: Flag = false, attribute: Attribute = None) {
        find_extreme(runtime, [value, case_sensitive, attribute], ops::less)
    }

    /// Returns the largest item, or the first one if several are equal.
    ///
    /// `{{ [1, 3, 2]|max }} -> 3`
    Python "do_max" fn max(runtime, @environment, value: Items, case_sensitive: Flag = false, attribute: Attribute = None) {
        find_extreme(runtime, [value, case_sensitive, attribute], ops::greater)
    }
}

fn in_order<'a>(items: &[Value<'a>], order: &[usize]) -> Vec<Value<'a>> {
    let mut ordered = Vec::with_capacity(order.len());
    ordered.extend(order.iter().filter_map(|&index| items.get(index).cloned()));
    ordered
}

fn find_extreme<'a>(
    runtime: &mut Runtime<'a>,
    [value, case_sensitive, attribute]: [Value<'a>; 3],
    is_better: Comparison,
) -> Result<Value<'a>> {
    let mut iter = Iter::new(&value)?;
    let Some(mut best) = iter.next(runtime)? else {
        return Ok(Value::Undefined(Undefined::Hint("No aggregated item, sequence was empty.")));
    };
    let ignores_case = !ops::is_true(runtime, &case_sensitive)?;
    let path = AttributePath::new(runtime, &attribute)?.with_case_ignored(ignores_case);
    let mut best_key = path.follow(runtime, &best)?;
    while let Some(item) = iter.next(runtime)? {
        let key = path.follow(runtime, &item)?;
        if is_better(runtime, &key, &best_key)? {
            (best, best_key) = (item, key);
        }
    }
    Ok(best)
}

/// Returns the indices of the keys in sorted order.
pub(super) fn sort_keys<'a>(runtime: &mut Runtime<'a>, keys: &[Value<'a>], reverse: bool) -> Result<Vec<usize>> {
    ops::sort_indices(
        runtime,
        keys.len(),
        reverse,
        &mut |runtime, left, right| match (keys.get(left), keys.get(right)) {
            (Some(left), Some(right)) => ops::less(runtime, left, right),
            _ => Ok(false),
        },
    )
}

/// Returns whether `left < right`, for two lists of the same length: the first two items that differ decide.
fn is_less<'a>(runtime: &mut Runtime<'a>, left: &[Value<'a>], right: &[Value<'a>]) -> Result<bool> {
    for (left, right) in left.iter().zip(right) {
        if !ops::identical_or_equal(runtime, left, right)? {
            return ops::less(runtime, left, right);
        }
    }
    Ok(false)
}
