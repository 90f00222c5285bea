//! Filters on whole values and sequences: `default`, `attr`, `first`, `last`, `length`, `list`, `reverse`, `join`, `sum`.
//!
//! ```text
//! {{ [1, 2]|first }}             1
//! {{ [1, none]|join(", ") }}     1, None
//! {{ [1, 2]|reverse|list }}      [2, 1]    an iterator, of one pass
//! ```
//!
//! After jinja2 3.1.6 `filters.py` (`sync_do_first` and its neighbours) and what they call of Python: `reversed`, `sum`, `str.join`.

use super::path::Path;
use super::{flag, given, plain};
use crate::builtins::access;
use crate::builtins::methods::{self, Attribute};
use crate::error::{Error, ErrorKind, Result};
use crate::value::{Arguments, DictIter, ItemSource, Iter, Key, Runtime, Str, Type, Undefined, Value, ops, print};

/// Another value where this one is undefined, or, if asked for, false.
///
/// `{{ nope|default("x") }}{{ none|default("y", true) }} -> xy`
pub(super) fn default<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = given(&mut arguments, 0);
    if value.is_undefined() || (flag(runtime, &arguments, 2)? && !ops::is_true(runtime, &value)?) {
        return Ok(arguments.take(1).unwrap_or(Value::text("")));
    }
    Ok(value)
}

/// An attribute, and nothing else that a dot would find.
///
/// `{{ {"b": 1}|attr("b") is defined }} -> False`
pub(super) fn attr<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let (object, name) = (given(&mut arguments, 0), given(&mut arguments, 1));
    let Value::Str(name) = &name else {
        Key::new(runtime, name.clone())?;
        let ty = name.ty().name();
        return Err(Error::type_error(format!("attribute name must be string, not '{ty}'")));
    };
    runtime.meter.charge_scan(name.as_str().len())?;
    let is_reserved = name.as_str().starts_with("__") && name.as_str().ends_with("__");
    match (methods::attribute(runtime, &object, name.as_str())?, &object) {
        (Attribute::Value(attribute), _) => Ok(attribute),
        (Attribute::Method(function), _) => Ok(object.method(function)),
        (Attribute::Unsafe, _) => Ok(access::unsafe_attribute(&object, name)),
        (Attribute::Missing, Value::Undefined(undefined)) if !is_reserved => Err(undefined.error()),
        (Attribute::Missing, _) => Ok(access::missing(&object, name)),
    }
}

/// The first item, or an undefined value.
///
/// `{{ "abc"|first }} -> a`
pub(super) fn first<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let item = Iter::new(&given(&mut arguments, 0))?.next(runtime)?;
    Ok(item.unwrap_or(Value::Undefined(Undefined::Hint("No first item, sequence was empty."))))
}

/// The last item of what can be gone over from behind, or an undefined value.
///
/// `{{ {"a": 1, "b": 2}|last }} -> b`
pub(super) fn last<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = given(&mut arguments, 0);
    let item = Backwards::new(&value)?.next_item(runtime)?;
    Ok(item.unwrap_or(Value::Undefined(Undefined::Hint("No last item, sequence was empty."))))
}

/// How many items there are.
///
/// `{{ {"a": 1}|length }} -> 1`
pub(super) fn length<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    length_of(runtime, &given(&mut arguments, 0))
}

/// The same of the value itself.
pub(super) fn length_of<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Value<'a>> {
    ops::length(runtime, value).map(Value::from)
}

/// The items as a list.
///
/// `{{ "ab"|list }} -> ['a', 'b']`
pub(super) fn list<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let items = ops::collect(runtime, &given(&mut arguments, 0))?;
    runtime.list(items)
}

/// A string from behind, or an iterator that goes over the value from behind.
///
/// `{{ "abc"|reverse }} -> cba`
pub(super) fn reverse<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = given(&mut arguments, 0);
    if let Value::Str(_) = value {
        return ops::slice(runtime, &value, None, None, Some(&Value::Int(-1)));
    }
    if let Ok(backwards) = Backwards::new(&value) {
        let ty = backwards.ty(&value);
        return runtime.iterator(ty, value.height(), backwards);
    }
    match ops::collect(runtime, &value) {
        Ok(mut items) => {
            items.reverse();
            runtime.list(items)
        }
        Err(error) if error.kind() == ErrorKind::Type => Err(Error::runtime("argument must be iterable")),
        Err(error) => Err(error),
    }
}

/// Python's `reversed`, under way.
enum Backwards<'a> {
    /// Over what is asked for its items from the first to the last, because the value knows itself from behind.
    Items(Iter<'a>),
    /// Over a string: the characters that are left; those of a Markup are Markups, as they are not from the front.
    Characters(Str<'a>),
    Keys(DictIter<'a>),
    Values(DictIter<'a>),
    Pairs(DictIter<'a>),
}

impl<'a> Backwards<'a> {
    fn new(value: &Value<'a>) -> Result<Self> {
        Ok(match value {
            Value::List(items) | Value::Tuple(items) => Self::Items(Iter::Seq(items.reversed(), 0)),
            Value::Str(text) => Self::Characters(text.clone()),
            Value::Dict(dict) => Self::Keys(dict.iter()),
            Value::Keys(view) => Self::Keys(view.iter()),
            Value::Values(view) => Self::Values(view.iter()),
            Value::Items(view) => Self::Pairs(view.iter()),
            Value::Range(range) => {
                let last = range.at(range.len.saturating_sub(1)).unwrap_or(0);
                Self::Items(Iter::Range(last, range.step.saturating_neg(), range.len))
            }
            // It has a length, which is 0, and so its items are never asked for.
            Value::Undefined(_) => Self::Items(Iter::empty()),
            other => {
                let ty = other.ty().name();
                return Err(Error::type_error(format!("'{ty}' object is not reversible")));
            }
        })
    }

    /// The type that Python's `reversed(value)` has.
    fn ty(&self, value: &Value<'a>) -> Type {
        match value {
            Value::List(_) => Type::ListReverseIterator,
            Value::Dict(_) | Value::Keys(_) => Type::DictReverseIterator,
            Value::Values(_) => Type::ValuesReverseIterator,
            Value::Items(_) => Type::ItemsReverseIterator,
            Value::Range(_) => Type::RangeIterator,
            _ => Type::ReverseIterator,
        }
    }
}

impl<'a> ItemSource<'a> for Backwards<'a> {
    fn owned_bytes(&self) -> usize {
        0
    }

    fn next_item(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        runtime.meter.charge(1)?;
        Ok(match self {
            Self::Items(iter) => return iter.next(runtime),
            Self::Characters(text) => {
                let rest = text.as_str();
                let Some((start, _)) = rest.char_indices().next_back() else {
                    return Ok(None);
                };
                let character = text.slice(start..rest.len());
                *text = text.slice(0..start);
                Some(Value::Str(character))
            }
            Self::Keys(entries) => entries.next_back().map(|(key, _)| key),
            Self::Values(entries) => entries.next_back().map(|(_, value)| value),
            Self::Pairs(entries) => match entries.next_back() {
                Some((key, value)) => Some(runtime.tuple(vec![key, value])?),
                None => None,
            },
        })
    }
}

/// The texts of the items, with a separator between them.
///
/// `{{ [{"a": 1}, {"a": 2}]|join("-", attribute="a") }} -> 1-2`
pub(super) fn join<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = given(&mut arguments, 0);
    let path = Path::new(runtime, &given(&mut arguments, 2))?;
    let mut iter = Iter::new(&value)?;
    let separator = match arguments.take(1) {
        Some(separator) => plain(runtime, &separator)?,
        None => Str::from(""),
    };
    let Some(first) = iter.next(runtime)? else {
        return Ok(Value::text(""));
    };
    // Its text is made before the next item is asked for: a loop that is an item counts on with each that is taken from it.
    let first = path.follow(runtime, &first)?;
    let first = Value::Str(plain(runtime, &first)?);
    let Some(mut next) = iter.next(runtime)? else {
        return Ok(first);
    };
    let mut joined = String::new();
    print::write_str(runtime, &first, &mut joined)?;
    loop {
        let item = path.follow(runtime, &next)?;
        joined.push_str(separator.as_str());
        print::write_str(runtime, &item, &mut joined)?;
        runtime.meter.charge_bytes(separator.as_str().len())?;
        runtime.meter.check_size(joined.len())?;
        match iter.next(runtime)? {
            Some(item) => next = item,
            None => return runtime.str(joined),
        }
    }
}

/// The start and all items added up.
///
/// `{{ [{"a": 1}, {"a": 2}]|sum(attribute="a") }} -> 3`
pub(super) fn sum<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = given(&mut arguments, 0);
    let path = Path::new(runtime, &given(&mut arguments, 1))?;
    let mut iter = Iter::new(&value)?;
    let mut sum = arguments.take(2).unwrap_or(Value::Int(0));
    if let Value::Str(_) = sum {
        return Err(Error::type_error("sum() can't sum strings [use ''.join(seq) instead]"));
    }
    while let Some(item) = iter.next(runtime)? {
        let item = path.follow(runtime, &item)?;
        sum = ops::add(runtime, &sum, &item)?;
    }
    Ok(sum)
}
