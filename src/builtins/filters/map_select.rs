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
use crate::value::{Arguments, Function, GAIN, Iter, Key, Runtime, Shortcut, Str, Value, ops, print};

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
    fn take_keyword(&mut self, name: &str) -> Option<Value<'a>> {
        let index = self.keywords.iter().position(|(keyword, _)| keyword.as_str() == name)?;
        Some(self.keywords.remove(index).1)
    }

    /// Returns the path to the attribute that the arguments name, if they name one.
    fn read_path(&mut self, runtime: &mut Runtime<'a>, each: Each) -> Result<Option<AttributePath<'a>>> {
        let attribute = match each {
            Each::Select { by_attribute: true, .. } => self.positional.first().copied(),
            Each::Map if self.positional.is_empty() => self.take_keyword("attribute"),
            _ => return Ok(None),
        };
        let Some(attribute) = attribute else {
            return Err(Error::runtime(match each {
                Each::Map => "map requires a filter argument",
                Each::Select { .. } => "Missing parameter for attribute name",
            }));
        };
        let mut default = Value::None;
        if let Each::Map = each {
            default = self.take_keyword("default").unwrap_or(Value::None);
            if let Some((name, _)) = self.keywords.first() {
                let name = print::repr(runtime, &Value::Str(*name))?;
                return Err(Error::runtime(format!("Unexpected keyword argument {name}")));
            }
        }
        Ok(Some(AttributePath::new(runtime, &attribute)?.with_default(default)))
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

/// What a generator does with each item.
#[derive(Clone, Copy)]
enum Each {
    /// Returns an attribute of it, or applies a filter to it.
    Map,
    /// Returns it if the outcome of a test is the wanted one, of the item or of an attribute of it.
    Select { wanted: bool, by_attribute: bool },
}

built_ins! { FILTERS:
    /// Applies a filter to each item, or returns an attribute of each item.
    ///
    /// `{{ [{"a": 1}, {}]|map(attribute="a", default=0)|list }} -> [1, 0]`
    Python "sync_do_map" fn map(runtime, @context, value: Items, *args[Filter], **kwargs) -> Generator {
        for_each(runtime, Each::Map, value, args, kwargs)
    }

    /// Returns the items that pass a test, or that are true.
    ///
    /// `{{ [0, 1, "", "a"]|select|list }} -> [1, 'a']`
    Python "sync_do_select" fn select(runtime, @context, value: Items, *args[Test, Any], **kwargs) -> Generator {
        for_each(runtime, Each::Select { wanted: true, by_attribute: false }, value, args, kwargs)
    }

    /// Returns the items that fail a test, or that are false.
    ///
    /// `{{ [1, 2, 3]|reject("odd")|list }} -> [2]`
    Python "sync_do_reject" fn reject(runtime, @context, value: Items, *args[Test, Any], **kwargs) -> Generator {
        for_each(runtime, Each::Select { wanted: false, by_attribute: false }, value, args, kwargs)
    }

    /// Returns the items with an attribute that passes a test, or that is true.
    ///
    /// `{{ [{"a": 1}, {"a": 2}]|selectattr("a", "eq", 2)|list }} -> [{'a': 2}]`
    Python "sync_do_selectattr".with_shortcut(Shortcut::SelectAttribute(true))
    fn selectattr(runtime, @context, value: Records, *args[Attribute, Test, Any], **kwargs) -> Generator {
        for_each(runtime, Each::Select { wanted: true, by_attribute: true }, value, args, kwargs)
    }

    /// Returns the items with an attribute that fails a test, or that is false.
    ///
    /// `{{ [{"a": 1}, {}]|rejectattr("a")|list }} -> [{}]`
    Python "sync_do_rejectattr".with_shortcut(Shortcut::SelectAttribute(false))
    fn rejectattr(runtime, @context, value: Records, *args[Attribute, Test, Any], **kwargs) -> Generator {
        for_each(runtime, Each::Select { wanted: false, by_attribute: true }, value, args, kwargs)
    }

    /// Returns the pairs of a dict, or no pairs if the value is undefined.
    ///
    /// `{{ {"a": 1}|items|list }} -> [('a', 1)]`
    Python "do_items".with_shortcut(Shortcut::Items) fn items(runtime, value: Dict) -> Items {
        let (below, mut pairs) = (value.height(), LazyInput::new(value));
        runtime.generator("do_items", below, move |runtime| {
            match pairs.unread_value() {
                None | Some(Value::Undefined(_)) => {}
                Some(value) => match value.as_mapping() {
                    Some(dict) => pairs = LazyInput::Iter(Iter::Items(dict.iter())),
                    None => return Err(Error::type_error("Can only get item pairs from a mapping.")),
                },
            }
            pairs.next(runtime)
        })
    }
}

/// Makes the generator of `map`, `select`, `reject`, `selectattr` or `rejectattr`.
fn for_each<'a>(
    runtime: &mut Runtime<'a>,
    each: Each,
    value: Value<'a>,
    positional: Vec<Value<'a>>,
    keywords: Vec<(Str<'a>, Value<'a>)>,
) -> Result<Value<'a>> {
    let height = positional
        .iter()
        .chain(keywords.iter().map(|(_, value)| value))
        .map(Value::height)
        .max();
    let below = value.height().max(height.unwrap_or(0));
    runtime
        .meter
        .hold(size_of_val(positional.as_slice()).saturating_add(keywords.len().saturating_mul(size_of::<[Value<'_>; 2]>())))?;
    let (mut source, mut path) = (LazyInput::new(value), None);
    let mut extra = Extra {
        positional,
        keywords,
        function: None,
    };
    let (name, below) = match each {
        Each::Map => ("sync_do_map", below.saturating_add(GAIN)),
        Each::Select { .. } => ("select_or_reject", below),
    };
    runtime.generator(name, below, move |runtime| {
        if let Some(value) = source.unread_value() {
            if !ops::is_true(runtime, value)? {
                return Ok(None);
            }
            path = extra.read_path(runtime, each)?;
        }
        while let Some(item) = source.next(runtime)? {
            let found = match &path {
                Some(path) => path.follow(runtime, &item)?,
                None => item,
            };
            match each {
                Each::Map if path.is_some() => return Ok(Some(found)),
                Each::Map => return extra.apply_filter(runtime, item).map(Some),
                Each::Select { wanted, by_attribute } => {
                    if extra.passes_test(runtime, usize::from(by_attribute), found)? == wanted {
                        return Ok(Some(item));
                    }
                }
            }
        }
        Ok(None)
    })
}
