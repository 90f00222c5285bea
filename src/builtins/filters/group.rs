//! Filters that compare all items: `groupby`, `unique`.
//!
//! A group is a tuple whose items have the names `grouper` and `list`. The rules are those of jinja2 3.1.6 `filters.py`:
//! `sync_do_groupby`, `_GroupTuple`, `sync_do_unique`.

use super::attribute_path::AttributePath;
use super::lazy_input::LazyInput;
use super::sort::sort_keys;
use crate::builtins::table::built_ins;
use crate::error::Result;
use crate::value::{Entries, GAIN, Key, Runtime, Value, ops};

built_ins! { FILTERS:
    /// Groups the items by the value of an attribute, in the order of these values.
    ///
    /// `{{ [{"a": 2}, {"a": 1}]|groupby("a")|map(attribute="grouper")|list }} -> [1, 2]`
    Python "sync_do_groupby" fn groupby(
        runtime, @environment, value: Records, attribute: Attribute, default = None, case_sensitive: Flag = false
    ) -> List {
        let ignores_case = !ops::is_true(runtime, &case_sensitive)?;
        let path = AttributePath::new(runtime, &attribute)?.with_default(default);
        let key_path = AttributePath::new(runtime, &attribute)?
            .with_default(default)
            .with_case_ignored(ignores_case);
        let items = ops::collect(runtime, &value)?;
        // These lists are not on the heap of the render, so their memory is claimed here: the items, their keys, and the members of
        // groups.
        let values = items.len().saturating_mul(size_of::<Value<'_>>());
        let _lists = runtime.meter.claim(values.saturating_mul(3))?;
        let mut keys = Vec::with_capacity(items.len());
        for item in &items {
            keys.push(key_path.follow(runtime, item)?);
        }
        let order = sort_keys(runtime, &keys, false)?;
        let sorted = order.iter().filter_map(|&index| Some((keys.get(index)?, items.get(index)?)));
        let mut groups: Vec<(&Value<'a>, Vec<Value<'a>>)> = Vec::new();
        for (key, item) in sorted {
            match groups.last_mut() {
                Some((group_key, members)) if ops::identical_or_equal(runtime, group_key, key)? => members.push(*item),
                _ => groups.push((key, vec![*item])),
            }
        }
        let groups: Result<Vec<_>> = groups.into_iter().map(|(_, members)| make_group(runtime, &members, &path)).collect();
        runtime.list(&groups?)
    }

    /// Returns the first item of each key.
    ///
    /// `{{ [1, 1.0, true, 2]|unique|list }} -> [1, 2]`
    Python "sync_do_unique" fn unique(
        runtime, @environment, value: Items, case_sensitive: Flag = false, attribute: Attribute = None
    ) -> Generator {
        let ignores_case = !ops::is_true(runtime, &case_sensitive)?;
        let below = value.height().max(attribute.height()).saturating_add(GAIN);
        let (mut source, mut path) = (LazyInput::new(value), None);
        // The keys of the items so far, and the claim to their memory.
        let (mut seen, mut claim) = (Entries::default(), None);
        runtime.generator("sync_do_unique", below, move |runtime| {
            let path = match &mut path {
                Some(path) => path,
                none => none.insert(AttributePath::new(runtime, &attribute)?.with_case_ignored(ignores_case)),
            };
            while let Some(item) = source.next(runtime)? {
                let key = path.follow(runtime, &item)?;
                runtime.meter.check_item_height(key.height(), below)?;
                let key = Key::new(runtime, key)?;
                if seen.len() == seen.capacity() {
                    let room = seen.len().max(4).saturating_mul(2);
                    drop(claim.take());
                    claim = Some(runtime.meter.claim(room.saturating_mul(size_of::<(Key<'_>, Value<'_>)>()))?);
                }
                if seen.insert(key, Value::None).is_none() {
                    return Ok(Some(item));
                }
            }
            Ok(None)
        })
    }
}

/// Returns the group of some members. Its key is that of the first member, with its case unchanged.
fn make_group<'a>(runtime: &mut Runtime<'a>, members: &[Value<'a>], path: &AttributePath<'a>) -> Result<Value<'a>> {
    let key = match members.first() {
        Some(first) => path.follow(runtime, first)?,
        None => Value::None,
    };
    let list = runtime.list(members)?;
    let pair = runtime.items(&[key, list])?;
    Ok(Value::Tuple(pair.into_group()))
}
