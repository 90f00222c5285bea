//! Python's `iter()` and `next()`.

use super::dict::{Dict, DictIter};
use super::generator::Generator;
use super::list::Seq;
use super::loop_context::Loop;
use super::runtime::Runtime;
use super::str::Str;
use super::{Range, Value};
use crate::error::{Error, Result};
use crate::meter::UNCLAIMED;

/// An iteration in progress.
#[derive(Clone, Debug)]
pub enum Iter<'a> {
    /// The items of a list or tuple, and the index of the next item.
    Seq(Seq<'a>, usize),
    /// The characters of a string, and the byte offset of the next character.
    Chars(Str<'a>, usize),
    /// The keys of a dict.
    Keys(DictIter<'a>),
    /// The values of a dict.
    Values(DictIter<'a>),
    /// The entries of a dict as tuples.
    Items(DictIter<'a>),
    /// A range: the next item, the step, and the number of items left.
    Range(i64, i64, i64),
    /// A one-pass iterator.
    Generator(&'a Generator),
    /// The variable `loop`, which advances the loop itself. Each item is a tuple of the loop's item and `loop`.
    Loop(&'a Loop<'a>),
}

impl<'a> Iter<'a> {
    pub fn empty() -> Self {
        Self::Seq(Seq::empty(), 0)
    }

    /// Returns Python's `iter(value)`, or the error `'int' object is not iterable`.
    pub fn new(value: &Value<'a>) -> Result<Self> {
        Self::try_new(value).ok_or_else(|| Error::type_error(format!("'{}' object is not iterable", value.ty().name())))
    }

    /// Returns Python's `iter(value)`, or `None` if the value is not iterable.
    pub fn try_new(value: &Value<'a>) -> Option<Self> {
        Some(match value {
            Value::List(items) | Value::Tuple(items) => Self::Seq(*items, 0),
            Value::Str(text) => Self::Chars((*text).with_markup(false), 0),
            Value::Dict(dict) => Self::Keys(dict.iter()),
            Value::Keys(view) => Self::Keys(view.iter()),
            Value::Values(view) => Self::Values(view.iter()),
            Value::Items(view) => Self::Items(view.iter()),
            Value::Range(range) => {
                let Range { start, step, len, .. } = **range;
                Self::Range(start, step, len)
            }
            Value::Undefined(_) => Self::empty(),
            Value::Iterator(iterator) => Self::Generator(iterator),
            Value::Loop(context) => Self::Loop(context),
            _ => return None,
        })
    }

    /// Returns the next item and advances, if the item is an object of the caller or of a JSON text.
    #[inline(always)]
    pub fn next_object(&mut self) -> Option<Dict<'a>> {
        let Self::Seq(items, next) = self else { return None };
        let object = items.object(*next)?;
        *next += 1;
        Some(object)
    }

    /// Returns the next item, or `None` after the last.
    #[inline]
    pub fn next(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        runtime.meter.charge(1)?;
        Ok(match self {
            Self::Seq(items, next) => {
                let item = items.get(*next);
                *next += 1;
                item
            }
            Self::Chars(text, next) => {
                let rest = text.as_str().get(*next..).unwrap_or_default();
                let Some(first) = rest.chars().next() else { return Ok(None) };
                let end = *next + first.len_utf8();
                let piece = text.slice(*next..end);
                *next = end;
                Some(Value::Str(piece))
            }
            Self::Keys(entries) => entries.next().map(|(key, _)| key),
            Self::Values(entries) => entries.next().map(|(_, value)| value),
            Self::Items(entries) => match entries.next() {
                Some((key, value)) => Some(runtime.tuple(&[key, value])?),
                None => None,
            },
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
                    let itself = Value::Loop(context);
                    Some(runtime.tuple(&[item, itself])?)
                }
                None => None,
            },
        })
    }

    /// Returns the number of items that are left if it is known, or 0.
    pub fn size_hint(&self) -> usize {
        match self {
            Self::Seq(items, next) => items.len().saturating_sub(*next),
            Self::Keys(entries) | Self::Values(entries) | Self::Items(entries) => entries.len(),
            Self::Range(_, _, left) => usize::try_from(*left).unwrap_or(0),
            Self::Chars(..) | Self::Generator(_) | Self::Loop(_) => 0,
        }
    }

    /// Unpacks a value to a number of items (CPython `UNPACK_SEQUENCE`).
    pub fn unpack(runtime: &mut Runtime<'a>, value: &Value<'a>, expected: usize) -> Result<Vec<Value<'a>>> {
        let Some(mut iter) = Self::try_new(value) else {
            let message = format!("cannot unpack non-iterable {} object", value.ty().name());
            return Err(Error::type_error(message));
        };
        let mut items = Vec::with_capacity(expected);
        while let Some(item) = iter.next(runtime)? {
            if items.len() == expected {
                return Err(Error::value(format!("too many values to unpack (expected {expected})")));
            }
            items.push(item);
        }
        if items.len() < expected {
            let got = items.len();
            return Err(Error::value(format!(
                "not enough values to unpack (expected {expected}, got {got})"
            )));
        }
        Ok(items)
    }

    /// Returns all items that are left. The memory of many items is claimed while they are collected, because the next one can be the
    /// result of a macro that collects others. After that, the caller claims it.
    pub fn drain(&mut self, runtime: &mut Runtime<'a>) -> Result<Vec<Value<'a>>> {
        let mut items = Vec::with_capacity(self.size_hint().min(UNCLAIMED));
        let mut claim = None;
        while let Some(item) = self.next(runtime)? {
            runtime
                .meter
                .claim_growth::<Value<'_>>(&mut claim, items.len(), items.capacity())?;
            items.push(item);
        }
        Ok(items)
    }
}
