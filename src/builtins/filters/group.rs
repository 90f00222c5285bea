//! Filters that compare all items: `groupby`, `unique`.
//!
//! A group is a tuple whose items have the names `grouper` and `list`. The rules are those of jinja2 3.1.6 `filters.py`:
//! `sync_do_groupby`, `_GroupTuple`, `sync_do_unique`.

use super::attribute_path::AttributePath;
use super::lazy_input::LazyInput;
use super::sort::sort_keys;
use crate::builtins::table::built_ins;
use crate::error::Result;
use crate::meter::Claim;
use crate::value::{Entries, GAIN, ItemSource, Key, Runtime, Value, ops};

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
        let mut groups = Vec::new();
        let mut open: Option<(&Value<'a>, Vec<Value<'a>>)> = None;
        for (key, item) in sorted {
            if let Some((group_key, members)) = &mut open {
                if ops::identical_or_equal(runtime, group_key, key)? {
                    members.push(*item);
                    continue;
                }
            }
            if let Some((_, members)) = open.replace((key, vec![*item])) {
                groups.push(make_group(runtime, members, &path)?);
            }
        }
        if let Some((_, members)) = open {
            groups.push(make_group(runtime, members, &path)?);
        }
        runtime.list(&groups)
    }

    /// Returns the first item of each key.
    ///
    /// `{{ [1, 1.0, true, 2]|unique|list }} -> [1, 2]`
    Python "sync_do_unique" fn unique(
        runtime, @environment, value: Items, case_sensitive: Flag = false, attribute: Attribute = None
    ) -> Generator {
        let ignores_case = !ops::is_true(runtime, &case_sensitive)?;
        let below = value.height().max(attribute.height()).saturating_add(GAIN);
        let source = LazyInput::new(value);
        runtime.generator(
            below,
            Unique {
                source,
                attribute,
                ignores_case,
                path: None,
                seen: Entries::default(),
                height: below,
                claim: None,
            },
        )
    }
}

/// Returns the group of some members. Its key is that of the first member, with its case unchanged.
fn make_group<'a>(runtime: &mut Runtime<'a>, members: Vec<Value<'a>>, path: &AttributePath<'a>) -> Result<Value<'a>> {
    let key = match members.first() {
        Some(first) => path.follow(runtime, first)?,
        None => Value::None,
    };
    let list = runtime.list(&members)?;
    let pair = runtime.items(&[key, list])?;
    Ok(Value::Tuple(pair.into_group()))
}

struct Unique<'a> {
    source: LazyInput<'a>,
    attribute: Value<'a>,
    ignores_case: bool,
    path: Option<AttributePath<'a>>,
    seen: Entries<'a>,
    /// The height of the highest key in `seen`.
    height: u32,
    /// The claim to the memory of `seen`.
    claim: Option<Claim>,
}

impl<'a> ItemSource<'a> for Unique<'a> {
    fn next_item(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        let path = match &mut self.path {
            Some(path) => path,
            None => {
                let path = AttributePath::new(runtime, &self.attribute)?.with_case_ignored(self.ignores_case);
                self.path.insert(path)
            }
        };
        while let Some(item) = self.source.next(runtime)? {
            let key = path.follow(runtime, &item)?;
            runtime.meter.check_item_height(key.height(), self.height)?;
            let key = Key::new(runtime, key)?;
            if self.seen.len() == self.seen.capacity() {
                let room = self.seen.len().max(4).saturating_mul(2);
                self.claim = None;
                self.claim = Some(runtime.meter.claim(room.saturating_mul(size_of::<(Key<'_>, Value<'_>)>()))?);
            }
            if self.seen.insert(key, Value::None).is_none() {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    fn name(&self) -> &'static str {
        "sync_do_unique"
    }
}
