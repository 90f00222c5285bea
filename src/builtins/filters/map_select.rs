//! Filters that return a generator: `map`, `select`, `reject`, `selectattr`, `rejectattr`, `items`.
//!
//! A generator has no length, and its second pass is empty. Wrong arguments are an error when the first item is read, and only if the
//! input is true. The rules are those of jinja2 3.1.6 `filters.py`: `sync_do_map`, `prepare_map`, `select_or_reject`,
//! `prepare_select_or_reject`, `do_items`, and `environment.py` `_filter_test_common`.

use super::attribute_path::AttributePath;
use super::lazy_input::LazyInput;
use crate::builtins::table::built_ins;
use crate::error::{Error, Result};
use crate::unsupported::{self, Site};
use crate::value::{Arguments, Function, GAIN, ItemSource, Iter, Key, Runtime, Shortcut, Str, Value, ops, print};

/// A table of functions to which an argument of the filter refers by name.
#[derive(Clone, Copy)]
enum Table {
    Filters,
    Tests,
}

impl Table {
    fn find(self, runtime: &Runtime<'_>, name: &str) -> Option<&'static Function> {
        match self {
            Self::Filters => (runtime.lookups.filter)(name),
            Self::Tests => (runtime.lookups.test)(name),
        }
    }

    /// Returns the function that a value names. An unknown name is an error.
    fn require<'a>(self, runtime: &mut Runtime<'a>, name: &Value<'a>) -> Result<&'static Function> {
        if let Some(text) = name.as_str() {
            if let Some(function) = self.find(runtime, text) {
                return Ok(function);
            }
            if let (Self::Filters, Some(error)) = (self, unsupported::find(Site::Filter, text)) {
                return Err(error);
            }
        }
        // Names are the keys of a dict, so an unhashable name is a TypeError.
        Key::new(runtime, *name)?;
        let kind = match self {
            Self::Filters => "filter",
            Self::Tests => "test",
        };
        let repr = print::repr(runtime, name)?;
        let mut message = format!("No {kind} named {repr}.");
        if let Value::Undefined(undefined) = name {
            let error = undefined.error();
            message = format!("{message} ({}; did you forget to quote the callable name?)", error.message());
        }
        Err(Error::runtime(message))
    }
}

/// The arguments of a filter after its input.
struct Extra<'a> {
    positional: Vec<Value<'a>>,
    keywords: Vec<(Str<'a>, Value<'a>)>,
    /// The filter or test that one of the arguments names. It is looked up for the first item.
    function: Option<&'static Function>,
}

impl<'a> Extra<'a> {
    fn height(&self) -> u32 {
        let keywords = self.keywords.iter().map(|(_, value)| value);
        self.positional.iter().chain(keywords).map(Value::height).max().unwrap_or(0)
    }

    fn owned_bytes(&self) -> usize {
        let positional = self.positional.capacity().saturating_mul(size_of::<Value<'_>>());
        let keywords = self.keywords.capacity().saturating_mul(size_of::<[Value<'_>; 2]>());
        positional + keywords
    }

    fn take_keyword(&mut self, name: &str) -> Option<Value<'a>> {
        let index = self.keywords.iter().position(|(keyword, _)| keyword.as_str() == name)?;
        Some(self.keywords.remove(index).1)
    }

    /// Applies the filter that the first argument names to an item, with the other arguments.
    fn apply_filter(&mut self, runtime: &mut Runtime<'a>, item: Value<'a>) -> Result<Value<'a>> {
        match self.find_function(runtime, Table::Filters, 0)? {
            Some(function) => function.call(runtime, &mut self.arguments(item, 1)),
            None => Ok(item),
        }
    }

    /// Returns whether an item passes the test that the argument at an index names, or is true if there is no such argument.
    fn passes_test(&mut self, runtime: &mut Runtime<'a>, index: usize, item: Value<'a>) -> Result<bool> {
        let Some(function) = self.find_function(runtime, Table::Tests, index)? else {
            return ops::is_true(runtime, &item);
        };
        let others = index + 1;
        if self.keywords.is_empty() {
            if let Some(outcome) = function.test(runtime, &item, self.positional.get(others..).unwrap_or_default()) {
                return outcome;
            }
        }
        let outcome = function.call(runtime, &mut self.arguments(item, others))?;
        ops::is_true(runtime, &outcome)
    }

    /// Returns the function that the argument at an index names. It is looked up once.
    #[inline]
    fn find_function(&mut self, runtime: &mut Runtime<'a>, table: Table, index: usize) -> Result<Option<&'static Function>> {
        Ok(match (self.function, self.positional.get(index)) {
            (Some(function), _) => Some(function),
            (None, Some(name)) => Some(*self.function.insert(table.require(runtime, name)?)),
            (None, None) => None,
        })
    }

    /// Returns the arguments of a call: the item, the positional arguments from an index on, and the keywords.
    fn arguments(&self, item: Value<'a>, from: usize) -> Arguments<'a> {
        let mut arguments = Arguments::one(item);
        let positional = self.positional.iter().skip(from);
        positional.for_each(|value| arguments.push(*value));
        let keywords = self.keywords.iter();
        keywords.for_each(|(name, value)| arguments.push_keyword(*name, *value));
        arguments
    }
}

/// The input of a generator, its other arguments, and the maximum of their heights.
type Input<'a> = (LazyInput<'a>, Extra<'a>, u32);

fn read_input<'a>(value: Value<'a>, positional: Vec<Value<'a>>, keywords: Vec<(Str<'a>, Value<'a>)>) -> Input<'a> {
    let extra = Extra {
        positional,
        keywords,
        function: None,
    };
    let below = value.height().max(extra.height());
    (LazyInput::new(value), extra, below)
}

built_ins! { FILTERS:
    /// Applies a filter to each item, or returns an attribute of each item.
    ///
    /// `{{ [{"a": 1}, {}]|map(attribute="a", default=0)|list }} -> [1, 0]`
    Python "sync_do_map" fn map(runtime, @context, value: Items, *args[Filter], **kwargs) -> Generator {
        let (source, extra, below) = read_input(value, args, kwargs);
        runtime.generator(
            below.saturating_add(GAIN),
            Map {
                source,
                extra,
                path: None,
            },
        )
    }

    /// Returns the items that pass a test, or that are true.
    ///
    /// `{{ [0, 1, "", "a"]|select|list }} -> [1, 'a']`
    Python "sync_do_select" fn select(runtime, @context, value: Items, *args[Test, Any], **kwargs) -> Generator {
        select_or_reject(runtime, read_input(value, args, kwargs), true, false)
    }

    /// Returns the items that fail a test, or that are false.
    ///
    /// `{{ [1, 2, 3]|reject("odd")|list }} -> [2]`
    Python "sync_do_reject" fn reject(runtime, @context, value: Items, *args[Test, Any], **kwargs) -> Generator {
        select_or_reject(runtime, read_input(value, args, kwargs), false, false)
    }

    /// Returns the items with an attribute that passes a test, or that is true.
    ///
    /// `{{ [{"a": 1}, {"a": 2}]|selectattr("a", "eq", 2)|list }} -> [{'a': 2}]`
    Python "sync_do_selectattr".with_shortcut(Shortcut::SelectAttribute(true))
    fn selectattr(runtime, @context, value: Records, *args[Attribute, Test, Any], **kwargs) -> Generator {
        select_or_reject(runtime, read_input(value, args, kwargs), true, true)
    }

    /// Returns the items with an attribute that fails a test, or that is false.
    ///
    /// `{{ [{"a": 1}, {}]|rejectattr("a")|list }} -> [{}]`
    Python "sync_do_rejectattr".with_shortcut(Shortcut::SelectAttribute(false))
    fn rejectattr(runtime, @context, value: Records, *args[Attribute, Test, Any], **kwargs) -> Generator {
        select_or_reject(runtime, read_input(value, args, kwargs), false, true)
    }

    /// Returns the pairs of a dict, or no pairs if the value is undefined.
    ///
    /// `{{ {"a": 1}|items|list }} -> [('a', 1)]`
    Python "do_items".with_shortcut(Shortcut::Items) fn items(runtime, value: Dict) -> Items {
        runtime.generator(value.height(), Pairs(LazyInput::new(value)))
    }
}

struct Map<'a> {
    source: LazyInput<'a>,
    extra: Extra<'a>,
    /// The attribute to return, unless a filter is applied.
    path: Option<AttributePath<'a>>,
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
            let name = print::repr(runtime, &Value::Str(*name))?;
            return Err(Error::runtime(format!("Unexpected keyword argument {name}")));
        }
        self.path = Some(AttributePath::new(runtime, &attribute)?.with_default(default));
        Ok(())
    }
}

impl<'a> ItemSource<'a> for Map<'a> {
    fn owned_bytes(&self) -> usize {
        self.extra.owned_bytes()
    }

    fn next_item(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        if let Some(value) = self.source.unread_value() {
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
            None => self.extra.apply_filter(runtime, item)?,
        };
        Ok(Some(mapped))
    }

    fn name(&self) -> &'static str {
        "sync_do_map"
    }
}

/// Creates the generator of `select`, `reject`, `selectattr` and `rejectattr`.
fn select_or_reject<'a>(
    runtime: &mut Runtime<'a>,
    (source, extra, below): Input<'a>,
    wanted: bool,
    by_attribute: bool,
) -> Result<Value<'a>> {
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
    source: LazyInput<'a>,
    extra: Extra<'a>,
    /// What the test must return for an item that is selected: `true` for `select`, `false` for `reject`.
    wanted: bool,
    by_attribute: bool,
    path: Option<AttributePath<'a>>,
}

impl<'a> Select<'a> {
    fn prepare(&mut self, runtime: &mut Runtime<'a>) -> Result<()> {
        if self.by_attribute {
            let Some(attribute) = self.extra.positional.first() else {
                return Err(Error::runtime("Missing parameter for attribute name"));
            };
            self.path = Some(AttributePath::new(runtime, attribute)?);
        }
        Ok(())
    }

    fn is_selected(&mut self, runtime: &mut Runtime<'a>, item: &Value<'a>) -> Result<bool> {
        let tested = match &self.path {
            Some(path) => path.follow(runtime, item)?,
            None => *item,
        };
        let index = usize::from(self.by_attribute);
        Ok(self.extra.passes_test(runtime, index, tested)? == self.wanted)
    }
}

impl<'a> ItemSource<'a> for Select<'a> {
    fn owned_bytes(&self) -> usize {
        self.extra.owned_bytes()
    }

    fn next_item(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        if let Some(value) = self.source.unread_value() {
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

struct Pairs<'a>(LazyInput<'a>);

impl<'a> ItemSource<'a> for Pairs<'a> {
    fn next_item(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        match self.0.unread_value() {
            None | Some(Value::Undefined(_)) => {}
            Some(value) => match value.as_mapping() {
                Some(dict) => self.0 = LazyInput::Iter(Iter::Items(dict.iter())),
                None => return Err(Error::type_error("Can only get item pairs from a mapping.")),
            },
        }
        self.0.next(runtime)
    }

    fn name(&self) -> &'static str {
        "do_items"
    }
}
