//! Python's `iter()` and `next()`.

use std::rc::Rc;

use super::dict::{Dict, DictIter};
use super::generator::Generator;
use super::list::Seq;
use super::loop_context::Loop;
use super::runtime::Runtime;
use super::str::Str;
use super::{Range, Value};
use crate::error::{Error, Result};

/// An iteration under way.
#[derive(Clone, Debug)]
pub enum Iter<'a> {
    /// Over the items of a list or tuple, from an index on.
    Seq(Seq<'a>, usize),
    /// Over the characters of a string, from a byte on.
    Chars(Str<'a>, usize),
    /// Over the keys of a dict.
    Keys(DictIter<'a>),
    /// Over the values of a dict.
    Values(DictIter<'a>),
    /// Over the pairs of a dict.
    Items(DictIter<'a>),
    /// Over a range: the next item, the step, how many are left.
    Range(i64, i64, i64),
    /// On with a one-pass iterator.
    Generator(Rc<Generator<'a>>),
    /// On with the loop around: each item comes with the loop itself.
    Loop(Rc<Loop<'a>>),
}

impl<'a> Iter<'a> {
    /// Over nothing.
    pub fn empty() -> Self {
        Self::Seq(Seq::empty(), 0)
    }

    /// Python's `iter(value)`: `'int' object is not iterable` where there is none.
    pub fn new(value: &Value<'a>) -> Result<Self> {
        Self::try_new(value).ok_or_else(|| Error::type_error(format!("'{}' object is not iterable", value.ty().name())))
    }

    /// The same, or None where the value is not iterable.
    pub fn try_new(value: &Value<'a>) -> Option<Self> {
        Some(match value {
            Value::List(items) | Value::Tuple(items) => Self::Seq(items.clone(), 0),
            Value::Str(text) => Self::Chars(text.clone().with_markup(false), 0),
            Value::Dict(dict) => Self::Keys(dict.iter()),
            Value::Keys(view) => Self::Keys(view.iter()),
            Value::Values(view) => Self::Values(view.iter()),
            Value::Items(view) => Self::Items(view.iter()),
            Value::Range(range) => {
                let Range { start, step, len, .. } = **range;
                Self::Range(start, step, len)
            }
            Value::Undefined(_) => Self::empty(),
            Value::Iterator(iterator) => Self::Generator(Rc::clone(iterator)),
            Value::Loop(context) => Self::Loop(Rc::clone(context)),
            _ => return None,
        })
    }

    /// Goes past the next item, if that is an object from outside, and gives it.
    #[inline(always)]
    pub fn next_object(&mut self) -> Option<Dict<'a>> {
        let Self::Seq(items, next) = self else { return None };
        let object = items.object(*next)?;
        *next = next.saturating_add(1);
        Some(object)
    }

    /// Python's `next()`: None behind the last item.
    #[inline]
    pub fn next(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        runtime.meter.charge(1)?;
        Ok(match self {
            Self::Seq(items, next) => {
                let item = items.get(*next);
                *next = next.saturating_add(1);
                item
            }
            Self::Chars(text, next) => {
                let rest = text.as_str().get(*next..).unwrap_or_default();
                let Some(first) = rest.chars().next() else { return Ok(None) };
                let end = next.saturating_add(first.len_utf8());
                let piece = text.slice(*next..end);
                *next = end;
                Some(Value::Str(piece))
            }
            Self::Keys(entries) => entries.next().map(|(key, _)| key),
            Self::Values(entries) => entries.next().map(|(_, value)| value),
            Self::Items(entries) => return entries.next_pair(runtime),
            Self::Range(next, step, left) => {
                if *left == 0 {
                    return Ok(None);
                }
                let item = *next;
                *left = left.saturating_sub(1);
                *next = next.wrapping_add(*step);
                Some(Value::Int(item))
            }
            Self::Generator(iterator) => return iterator.next(runtime),
            Self::Loop(context) => match context.advance(runtime)? {
                Some(item) => {
                    let itself = Value::Loop(Rc::clone(context));
                    Some(runtime.tuple(vec![item, itself])?)
                }
                None => None,
            },
        })
    }

    /// How many items are sure to come, to reserve room; 0 where that is not known.
    pub fn size_hint(&self) -> usize {
        match self {
            Self::Seq(items, next) => items.len().saturating_sub(*next),
            Self::Keys(entries) | Self::Values(entries) | Self::Items(entries) => entries.len(),
            Self::Range(_, _, left) => usize::try_from(*left).unwrap_or(0),
            Self::Chars(..) | Self::Generator(_) | Self::Loop(_) => 0,
        }
    }

    /// Returns the items that are left.
    pub fn drain(&mut self, runtime: &mut Runtime<'a>) -> Result<Vec<Value<'a>>> {
        let mut items = Vec::with_capacity(self.size_hint().min(1024));
        while let Some(item) = self.next(runtime)? {
            runtime.check_values(items.len())?;
            items.push(item);
        }
        Ok(items)
    }
}
