//! Filters on whole values and sequences: `default`, `attr`, `first`, `last`, `length`, `list`, `reverse`, `join`, `sum`.
//!
//! The rules are those of jinja2 3.1.6 `filters.py` (`sync_do_first` and the others) and of the Python functions that they call:
//! `reversed`, `sum`, `str.join`.

use super::attribute_path::AttributePath;
use crate::builtins::access::{self, Attribute};
use crate::builtins::arguments::to_plain_str;
use crate::builtins::table::built_ins;
use crate::error::{Error, ErrorKind, Result};
use crate::value::{DictIter, Iter, Key, Runtime, Seq, Shortcut, Str, Type, Undefined, Value, ops, print};

built_ins! { FILTERS:
    /// Returns the value, or a default if the value is undefined. With `boolean`, the default also replaces a false value.
    ///
    /// `{{ nope|d("x") }}{{ none|d("y", true) }} -> xy`
    /// `{{ nope|default("x") }}{{ none|default("y", true) }} -> xy`
    Python "do_default" fn default["default", "d"](runtime, value, default_value = "", boolean: Flag = false) {
        if value.is_undefined() || (ops::is_true(runtime, &boolean)? && !ops::is_true(runtime, &value)?) {
            return Ok(default_value);
        }
        Ok(value)
    }

    /// Returns an attribute, and never an item.
    ///
    /// `{{ {"b": 1}|attr("b") is defined }} -> False`
    Python "do_attr" fn attr(runtime, @environment, obj, name: Attribute) {
        let Value::Str(name) = &name else {
            Key::new(runtime, name)?;
            let ty = name.ty().name();
            return Err(Error::type_error(format!("attribute name must be string, not '{ty}'")));
        };
        runtime.meter.charge_scan(name.as_str().len())?;
        let is_reserved = name.as_str().starts_with("__") && name.as_str().ends_with("__");
        match (access::find_attribute(runtime, &obj, name.as_str())?, &obj) {
            (Attribute::Missing, Value::Undefined(undefined)) if !is_reserved => Err(undefined.error()),
            (attribute, _) => access::to_value(runtime, attribute, &obj, name),
        }
    }

    /// Returns the first item, or an undefined value.
    ///
    /// `{{ "abc"|first }} -> a`
    Python "sync_do_first" fn first(runtime, @environment, seq: Items) {
        let item = Iter::new(&seq)?.next(runtime)?;
        Ok(item.unwrap_or(Value::Undefined(Undefined::Hint("No first item, sequence was empty."))))
    }

    /// Returns the last item of a reversible value, or an undefined value.
    ///
    /// `{{ {"a": 1, "b": 2}|last }} -> b`
    Python "do_last" fn last(runtime, @environment, seq: Items) {
        let item = Reversed::new(&seq)?.next(runtime)?;
        Ok(item.unwrap_or(Value::Undefined(Undefined::Hint("No last item, sequence was empty."))))
    }

    /// Returns the number of items.
    ///
    /// `{{ "é"|count }} -> 1`
    /// `{{ {"a": 1}|length }} -> 1`
    OneArgument "len".with_shortcut(Shortcut::Length) fn length["length", "count"](runtime, value: Items) -> Int {
        length_of(runtime, &value)
    }

    /// Returns a list of the items.
    ///
    /// `{{ "ab"|list }} -> ['a', 'b']`
    Python "sync_do_list".with_shortcut(Shortcut::List) fn list(runtime, value: Items) -> List {
        let items = ops::collect(runtime, &value)?;
        runtime.list(&items)
    }

    /// Reverses a string, or returns an iterator over the items in reverse order.
    ///
    /// `{{ "abc"|reverse }} -> cba`
    Python "do_reverse" fn reverse(runtime, value: Items) {
        if let Value::Str(_) = value {
            return ops::slice(runtime, &value, None, None, Some(&Value::Int(-1)));
        }
        if let Ok(mut reversed) = Reversed::new(&value) {
            let ty = reversed.ty(&value);
            return runtime.iterator(ty, "", value.height(), move |runtime| reversed.next(runtime));
        }
        match ops::collect(runtime, &value) {
            Ok(mut items) => {
                items.reverse();
                runtime.list(&items)
            }
            Err(error) if error.kind() == ErrorKind::Type => Err(Error::runtime("argument must be iterable")),
            Err(error) => Err(error),
        }
    }

    /// Joins the strings of the items, with a separator between them.
    ///
    /// `{{ [{"a": 1}, {"a": 2}]|join("-", attribute="a") }} -> 1-2`
    Python "sync_do_join" fn join(runtime, @eval_ctx, value: Items, d: Text = "", attribute: Attribute = None) -> Text {
        let path = AttributePath::new(runtime, &attribute)?;
        let mut iter = Iter::new(&value)?;
        let separator = to_plain_str(runtime, &d)?;
        let Some(first) = iter.next(runtime)? else {
            return Ok(Value::text(""));
        };
        // The text of the first item is made before the second item is read, because reading can change it: `{{ loop|join }}` in a
        // loop.
        let first = path.follow(runtime, &first)?;
        let first = Value::Str(to_plain_str(runtime, &first)?);
        let Some(mut next) = iter.next(runtime)? else {
            return Ok(first);
        };
        runtime.capture(|runtime, joined| {
            print::write_str(runtime, &first, joined)?;
            loop {
                let item = path.follow(runtime, &next)?;
                runtime.push(&separator, joined)?;
                print::write_str(runtime, &item, joined)?;
                runtime.meter.charge_bytes(separator.as_str().len())?;
                runtime.meter.check_size(joined.len())?;
                match iter.next(runtime)? {
                    Some(item) => next = item,
                    None => return Ok(()),
                }
            }
        })
    }

    /// Returns the sum of the items and a start value.
    ///
    /// `{{ [{"a": 1}, {"a": 2}]|sum(attribute="a") }} -> 3`
    Python "sync_do_sum" fn sum(runtime, @environment, iterable: Items, attribute: Attribute = None, start = 0) {
        let path = AttributePath::new(runtime, &attribute)?;
        let mut iter = Iter::new(&iterable)?;
        let mut sum = start;
        if let Value::Str(_) = sum {
            return Err(Error::type_error("sum() can't sum strings [use ''.join(seq) instead]"));
        }
        // What rounding has removed from a sum of floats, as long as all items so far were small integers, and then floats or small
        // integers.
        let mut lost = matches!(sum, Value::Int(_) | Value::Float(_)).then_some(0.0);
        while let Some(item) = iter.next(runtime)? {
            let item = path.follow(runtime, &item)?;
            sum = match (sum, &item, lost) {
                (Value::Float(total), Value::Float(item), Some(before)) => {
                    runtime.meter.charge(1)?;
                    let (total, rounded) = add_exactly(total, *item);
                    lost = Some(before + rounded);
                    Value::Float(total)
                }
                (sum, item, _) => {
                    let next = match (&sum, item) {
                        (Value::Float(_), Value::Int(_) | Value::Bool(_)) => lost,
                        (Value::Int(_), Value::Int(_) | Value::Bool(_) | Value::Float(_)) => lost,
                        _ => None,
                    };
                    let sum = if next.is_none() { restore(sum, lost) } else { sum };
                    let total = ops::add(runtime, &sum, item)?;
                    lost = next.filter(|_| !matches!(total, Value::Big(_)));
                    total
                }
            };
        }
        Ok(restore(sum, lost))
    }
}

pub(super) fn length_of<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Value<'a>> {
    ops::length(runtime, value).map(Value::from)
}

/// The iterator of Python's `reversed`.
enum Reversed<'a> {
    /// A list or a tuple, and the number of items that are left.
    Items(Seq<'a>, usize),
    /// An iterator over a range that is reversed already.
    Range(Iter<'a>),
    /// The characters of a string that are not read yet. Those of a Markup are Markups, which they are not in the forward direction.
    Characters(Str<'a>),
    Keys(DictIter<'a>),
    Values(DictIter<'a>),
    Pairs(DictIter<'a>),
}

impl<'a> Reversed<'a> {
    fn new(value: &Value<'a>) -> Result<Self> {
        Ok(match value {
            Value::List(items) | Value::Tuple(items) => Self::Items(*items, items.len()),
            Value::Str(text) => Self::Characters(*text),
            Value::Dict(dict) => Self::Keys(dict.iter()),
            Value::Keys(view) => Self::Keys(view.iter()),
            Value::Values(view) => Self::Values(view.iter()),
            Value::Items(view) => Self::Pairs(view.iter()),
            Value::Range(range) => {
                let last = range.item(range.len.saturating_sub(1)).unwrap_or(0);
                Self::Range(Iter::Range(last, range.step.saturating_neg(), range.len))
            }
            // An undefined value has the length 0.
            Value::Undefined(_) => Self::Range(Iter::empty()),
            other => {
                let ty = other.ty().name();
                return Err(Error::type_error(format!("'{ty}' object is not reversible")));
            }
        })
    }

    /// Returns the type of the iterator that Python's `reversed(value)` returns.
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

    fn next(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        runtime.meter.charge(1)?;
        Ok(match self {
            Self::Items(items, left) => {
                let Some(next) = left.checked_sub(1) else { return Ok(None) };
                *left = next;
                items.get(next)
            }
            Self::Range(iter) => return iter.next(runtime),
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
                Some((key, value)) => Some(runtime.tuple(&[key, value])?),
                None => None,
            },
        })
    }
}

/// Returns the rounded sum of two floats, and the rounding error (Neumaier's algorithm).
fn add_exactly(left: f64, right: f64) -> (f64, f64) {
    let total = left + right;
    let lost = if left.abs() >= right.abs() {
        (left - total) + right
    } else {
        (right - total) + left
    };
    (total, lost)
}

/// Returns a sum after adding the rounding error to it (CPython 3.13 `bltinmodule.c`, `builtin_sum_impl`).
fn restore(sum: Value<'_>, lost: Option<f64>) -> Value<'_> {
    match (sum, lost) {
        (Value::Float(total), Some(lost)) if lost != 0.0 && lost.is_finite() => Value::Float(total + lost),
        (sum, _) => sum,
    }
}
