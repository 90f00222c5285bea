//! Filters that go over their input as it is asked of them: `map`, `select`, `reject`, `selectattr`, `rejectattr`, `items`.
//!
//! ```text
//! {{ ["a", "b"]|map("upper")|list }}              ['A', 'B']
//! {{ [1, 2, 3]|select("odd")|list }}              [1, 3]
//! {{ users|selectattr("age", "ge", 18)|list }}
//! ```
//!
//! Each gives a generator: it has no length, a second pass is empty, and what is wrong with the arguments shows when the first item is
//! wanted, and only if the input is true. After jinja2 3.1.6 `filters.py`: `sync_do_map`, `prepare_map`, `select_or_reject`,
//! `prepare_select_or_reject`, `do_items`.

use super::path::Path;
use super::source::Source;
use super::{given, named};
use crate::builtins::predicates;
use crate::error::{Error, Result};
use crate::value::{Arguments, Function, ItemSource, Iter, Runtime, Str, Value, ops, print};

fn find_filter(name: &str) -> Option<&'static Function> {
    super::get(super::find(name)?)
}

fn find_test(name: &str) -> Option<&'static Function> {
    predicates::get(predicates::find(name)?)
}

/// What a lazy filter is given besides its input.
struct Extra<'a> {
    positional: Vec<Value<'a>>,
    keywords: Vec<(Str<'a>, Value<'a>)>,
    /// The filter or test among them, once an item has been there for it.
    function: Option<&'static Function>,
}

impl<'a> Extra<'a> {
    /// What stands behind the input.
    fn of(arguments: &mut Arguments<'a>) -> Self {
        Self {
            positional: arguments.take_from(1),
            keywords: arguments.take_keywords(),
            function: None,
        }
    }

    fn height(&self) -> u32 {
        let keywords = self.keywords.iter().map(|(_, value)| value);
        self.positional.iter().chain(keywords).map(Value::height).max().unwrap_or(0)
    }

    /// Bytes of what was given.
    fn owned_bytes(&self) -> usize {
        let positional = self.positional.capacity().saturating_mul(size_of::<Value<'_>>());
        let keywords = self.keywords.capacity().saturating_mul(size_of::<[Value<'_>; 2]>());
        positional.saturating_add(keywords)
    }

    fn take_keyword(&mut self, name: &str) -> Option<Value<'a>> {
        let at = self.keywords.iter().position(|(keyword, _)| keyword.as_str() == name)?;
        Some(self.keywords.remove(at).1)
    }

    /// Calls the filter or test whose name stands at an index, on an item and with what stands behind the name.
    fn call(
        &mut self,
        runtime: &mut Runtime<'a>,
        kind: &str,
        find: fn(&str) -> Option<&'static Function>,
        at: usize,
        item: Value<'a>,
    ) -> Result<Value<'a>> {
        match self.function(runtime, kind, find, at)? {
            Some(function) => function.call(runtime, &mut self.arguments(item, at.saturating_add(1))),
            None => Ok(item),
        }
    }

    /// Whether an item passes the test whose name stands at an index; without a name, whether it is true.
    fn test(&mut self, runtime: &mut Runtime<'a>, at: usize, item: Value<'a>) -> Result<bool> {
        let Some(function) = self.function(runtime, "test", find_test, at)? else {
            return ops::is_true(runtime, &item);
        };
        let others = at.saturating_add(1);
        if self.keywords.is_empty() {
            if let Some(told) = function.test(runtime, &item, self.positional.get(others..).unwrap_or_default()) {
                return told;
            }
        }
        let outcome = function.call(runtime, &mut self.arguments(item, others))?;
        ops::is_true(runtime, &outcome)
    }

    /// The filter or test whose name stands at an index.
    #[inline]
    fn function(
        &mut self,
        runtime: &mut Runtime<'a>,
        kind: &str,
        find: fn(&str) -> Option<&'static Function>,
        at: usize,
    ) -> Result<Option<&'static Function>> {
        Ok(match (self.function, self.positional.get(at)) {
            (Some(function), _) => Some(function),
            (None, Some(name)) => Some(*self.function.insert(named(runtime, kind, name, find)?)),
            (None, None) => None,
        })
    }

    /// The arguments of a call with the item first, and those positional ones that stand from an index on.
    fn arguments(&self, item: Value<'a>, from: usize) -> Arguments<'a> {
        let mut arguments = Arguments::one(item);
        let positional = self.positional.iter().skip(from);
        positional.for_each(|value| arguments.push(value.clone()));
        let keywords = self.keywords.iter();
        keywords.for_each(|(name, value)| arguments.push_keyword(name.clone(), value.clone()));
        arguments
    }
}

/// What a generator goes over, what it is given besides, and how high both stand.
fn begin<'a>(arguments: &mut Arguments<'a>) -> (Source<'a>, Extra<'a>, u32) {
    let extra = Extra::of(arguments);
    let value = given(arguments, 0);
    let below = value.height().max(extra.height());
    (Source::new(value), extra, below)
}

/// What a filter, or an attribute, makes of each item.
///
/// `{{ [{"a": 1}, {}]|map(attribute="a", default=0)|list }} -> [1, 0]`
pub(super) fn map<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let (source, extra, below) = begin(&mut arguments);
    runtime.generator(
        below,
        Map {
            source,
            extra,
            path: None,
        },
    )
}

struct Map<'a> {
    source: Source<'a>,
    extra: Extra<'a>,
    /// Where each item leads, if it is not a filter that is mapped.
    path: Option<Path<'a>>,
}

impl<'a> Map<'a> {
    fn prepare(&mut self, runtime: &mut Runtime<'a>) -> Result<()> {
        if !self.extra.positional.is_empty() {
            return Ok(());
        }
        let Some(attribute) = self.extra.take_keyword("attribute") else {
            return Err(Error::runtime("map requires a filter argument"));
        };
        let default = self.extra.take_keyword("default").unwrap_or(Value::None);
        if let Some((name, _)) = self.extra.keywords.first() {
            let name = print::repr(runtime, &Value::Str(name.clone()))?;
            return Err(Error::runtime(format!("Unexpected keyword argument {name}")));
        }
        self.path = Some(Path::new(runtime, &attribute)?.or(default));
        Ok(())
    }
}

impl<'a> ItemSource<'a> for Map<'a> {
    fn owned_bytes(&self) -> usize {
        self.extra.owned_bytes()
    }

    fn next_item(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        if let Some(value) = self.source.untouched() {
            if !ops::is_true(runtime, value)? {
                return Ok(None);
            }
            self.prepare(runtime)?;
        }
        let Some(item) = self.source.next(runtime)? else {
            return Ok(None);
        };
        let mapped = match &self.path {
            Some(path) => path.follow(runtime, &item)?,
            None => self.extra.call(runtime, "filter", find_filter, 0, item)?,
        };
        Ok(Some(mapped))
    }

    fn name(&self) -> &'static str {
        "sync_do_map"
    }
}

/// The items that pass a test, or that are true.
///
/// `{{ [0, 1, "", "a"]|select|list }} -> [1, 'a']`
pub(super) fn select<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    select_or_reject(runtime, arguments, true, false)
}

/// The items that fail a test, or that are false.
///
/// `{{ [1, 2, 3]|reject("odd")|list }} -> [2]`
pub(super) fn reject<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    select_or_reject(runtime, arguments, false, false)
}

/// The items with an attribute that passes a test, or that is true.
///
/// `{{ [{"a": 1}, {"a": 2}]|selectattr("a", "eq", 2)|list }} -> [{'a': 2}]`
pub(super) fn selectattr<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    select_or_reject(runtime, arguments, true, true)
}

/// The items with an attribute that fails a test, or that is false.
///
/// `{{ [{"a": 1}, {}]|rejectattr("a")|list }} -> [{}]`
pub(super) fn rejectattr<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    select_or_reject(runtime, arguments, false, true)
}

/// The generator of the four filters above.
fn select_or_reject<'a>(
    runtime: &mut Runtime<'a>,
    mut arguments: Arguments<'a>,
    wanted: bool,
    by_attribute: bool,
) -> Result<Value<'a>> {
    let (source, extra, below) = begin(&mut arguments);
    runtime.generator(
        below,
        Select {
            source,
            extra,
            wanted,
            by_attribute,
            path: None,
        },
    )
}

struct Select<'a> {
    source: Source<'a>,
    extra: Extra<'a>,
    /// Which outcome of the test lets an item through.
    wanted: bool,
    by_attribute: bool,
    path: Option<Path<'a>>,
}

impl<'a> Select<'a> {
    fn prepare(&mut self, runtime: &mut Runtime<'a>) -> Result<()> {
        if self.by_attribute {
            let Some(attribute) = self.extra.positional.first() else {
                return Err(Error::runtime("Missing parameter for attribute name"));
            };
            self.path = Some(Path::new(runtime, attribute)?);
        }
        Ok(())
    }

    fn is_selected(&mut self, runtime: &mut Runtime<'a>, item: &Value<'a>) -> Result<bool> {
        let tested = match &self.path {
            Some(path) => path.follow(runtime, item)?,
            None => item.clone(),
        };
        let at = usize::from(self.by_attribute);
        Ok(self.extra.test(runtime, at, tested)? == self.wanted)
    }
}

impl<'a> ItemSource<'a> for Select<'a> {
    fn owned_bytes(&self) -> usize {
        self.extra.owned_bytes()
    }

    fn next_item(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        if let Some(value) = self.source.untouched() {
            if !ops::is_true(runtime, value)? {
                return Ok(None);
            }
            self.prepare(runtime)?;
        }
        while let Some(item) = self.source.next(runtime)? {
            if self.is_selected(runtime, &item)? {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    fn name(&self) -> &'static str {
        "select_or_reject"
    }
}

/// The pairs of a dict; nothing where the value is undefined.
///
/// `{{ {"a": 1}|items|list }} -> [('a', 1)]`
pub(super) fn items<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = given(&mut arguments, 0);
    runtime.generator(value.height(), Pairs(Source::new(value)))
}

struct Pairs<'a>(Source<'a>);

impl<'a> ItemSource<'a> for Pairs<'a> {
    fn next_item(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        match self.0.untouched() {
            None | Some(Value::Undefined(_)) => {}
            Some(value) => match value.as_mapping() {
                Some(dict) => self.0 = Source::Iter(Iter::Items(dict.iter())),
                None => return Err(Error::type_error("Can only get item pairs from a mapping.")),
            },
        }
        self.0.next(runtime)
    }

    fn name(&self) -> &'static str {
        "do_items"
    }
}
