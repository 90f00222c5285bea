//! Python's `str(value)`, which is what an output writes, and `repr(value)`, which is what containers print of their items.
//!
//! ```text
//! {{ 'a' }} {{ ['a', 1.0, none, nope] }}    a ['a', 1.0, None, Undefined]
//! ```
//!
//! Text is appended where it is wanted, each piece charged and the whole measured as it grows. How a number and a string are spelt is
//! known to [`crate::number::text`] and [`crate::text::quote`], what things without a value of their own print to
//! [`object`](super::object).

use std::fmt::Write;

use super::dict::Dict;
use super::runtime::Runtime;
use super::seq::Seq;
use super::text::Str;
use super::{Range, Value};
use crate::error::Result;
use crate::number::{IntRef, text};
use crate::text::quote;

/// Steps of finding the shortest digits of a float.
pub(super) const DIGITS: u64 = 4;

/// The containers around what is printed; CPython's `Py_ReprEnter` keeps the same.
#[derive(Clone, Copy)]
pub(super) struct Around<'p, 'a> {
    value: &'p Value<'a>,
    outer: Option<&'p Around<'p, 'a>>,
    /// Whether a namespace is among them. Only a namespace can hold what it is in.
    has_namespace: bool,
}

impl<'a> Runtime<'a> {
    /// Appends `str(value)`.
    #[inline]
    pub fn write_str(&mut self, value: &Value<'a>, out: &mut String) -> Result<()> {
        match value {
            Value::Str(text) => self.write_piece(text.as_str(), out),
            Value::Undefined(_) => Ok(()),
            _ => self.write_repr(value, out),
        }
    }

    /// `str(value)`: a string or a Markup as it is.
    pub fn str_of(&mut self, value: &Value<'a>) -> Result<Str<'a>> {
        match value {
            Value::Str(text) => Ok(text.clone()),
            Value::Undefined(_) => Ok(Str::from("")),
            _ => {
                let mut text = self.heap.idle.room();
                self.write_str(value, &mut text)?;
                self.text(text)
            }
        }
    }

    /// `repr(value)`
    pub fn repr(&mut self, value: &Value<'a>) -> Result<String> {
        let mut out = String::new();
        self.write_repr(value, &mut out)?;
        Ok(out)
    }

    /// Appends `repr(value)`.
    pub fn write_repr(&mut self, value: &Value<'a>, out: &mut String) -> Result<()> {
        self.write_nested(value, None, out)
    }

    /// Appends `repr(value)` inside other values.
    pub(super) fn write_nested(&mut self, value: &Value<'a>, around: Option<&Around<'_, 'a>>, out: &mut String) -> Result<()> {
        match value {
            Value::None => self.write_piece("None", out),
            Value::Bool(true) => self.write_piece("True", out),
            Value::Bool(false) => self.write_piece("False", out),
            Value::Int(int) => self.write_int(*int, out),
            Value::Big(big) => {
                self.meter.charge(big.bits() >> 4)?;
                let digits = text::int_text(IntRef::Big(big))?;
                self.write_piece(&digits, out)
            }
            Value::Float(float) => {
                self.meter.charge(DIGITS)?;
                self.write_piece(&text::float_text(*float), out)
            }
            Value::Str(text) if text.is_markup() => {
                out.push_str("Markup(");
                self.write_quoted(text, out)?;
                self.write_piece(")", out)
            }
            Value::Str(text) => self.write_quoted(text, out),
            Value::Undefined(_) => self.write_piece("Undefined", out),
            Value::Range(range) => self.write_range(range, out),
            Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Keys(_) | Value::Values(_) | Value::Items(_) => {
                self.write_container(value, around, out)
            }
            Value::Namespace(id) => self.write_namespace(*id, value, around, out),
            _ => self.write_object(value, around, out),
        }
    }

    fn write_container(&mut self, value: &Value<'a>, around: Option<&Around<'_, 'a>>, out: &mut String) -> Result<()> {
        self.meter.check_stack()?;
        if let Some(dots) = around.and_then(|around| around.dots_for(value)) {
            return self.write_piece(dots, out);
        }
        let around = &Around::within(value, around);
        match value {
            Value::List(items) => self.write_items(items.iter(), ("[", "]"), around, out),
            Value::Tuple(items) => self.write_tuple(items, around, out),
            Value::Keys(dict) => self.write_items(dict.keys(), ("dict_keys([", "])"), around, out),
            Value::Values(dict) => {
                let values = dict.iter().map(|(_, value)| value);
                self.write_items(values, ("dict_values([", "])"), around, out)
            }
            Value::Items(dict) => self.write_pairs(dict, around, out),
            Value::Dict(dict) => self.write_dict(dict.iter(), around, out),
            _ => Ok(()),
        }
    }

    fn write_items(
        &mut self,
        items: impl Iterator<Item = Value<'a>>,
        (open, close): (&str, &str),
        around: &Around<'_, 'a>,
        out: &mut String,
    ) -> Result<()> {
        self.write_piece(open, out)?;
        for (index, item) in items.enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            self.write_nested(&item, Some(around), out)?;
        }
        self.write_piece(close, out)
    }

    fn write_tuple(&mut self, items: &Seq<'a>, around: &Around<'_, 'a>, out: &mut String) -> Result<()> {
        let close = if items.len() == 1 { ",)" } else { ")" };
        self.write_items(items.iter(), ("(", close), around, out)
    }

    fn write_pairs(&mut self, dict: &Dict<'a>, around: &Around<'_, 'a>, out: &mut String) -> Result<()> {
        self.write_piece("dict_items([", out)?;
        for (index, (key, value)) in dict.iter().enumerate() {
            out.push_str(if index > 0 { ", (" } else { "(" });
            self.write_nested(&key, Some(around), out)?;
            out.push_str(", ");
            self.write_nested(&value, Some(around), out)?;
            self.write_piece(")", out)?;
        }
        self.write_piece("])", out)
    }

    /// Appends the repr of a dict with these entries.
    pub(super) fn write_dict(
        &mut self,
        entries: impl Iterator<Item = (Value<'a>, Value<'a>)>,
        around: &Around<'_, 'a>,
        out: &mut String,
    ) -> Result<()> {
        self.write_piece("{", out)?;
        for (index, (key, value)) in entries.enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            self.write_nested(&key, Some(around), out)?;
            out.push_str(": ");
            self.write_nested(&value, Some(around), out)?;
        }
        self.write_piece("}", out)
    }

    fn write_range(&mut self, range: &Range, out: &mut String) -> Result<()> {
        let Range { start, stop, step, .. } = range;
        match step {
            1 => self.write_displayed(&format_args!("range({start}, {stop})"), out),
            _ => self.write_displayed(&format_args!("range({start}, {stop}, {step})"), out),
        }
    }

    fn write_quoted(&mut self, text: &Str<'a>, out: &mut String) -> Result<()> {
        let text = text.as_str();
        self.meter.charge_scan(text.len())?;
        self.meter.check_output(out.len().saturating_add(text.len()))?;
        // A string takes whatever is written to it.
        let _ = quote::write_repr(out, text);
        self.meter.check_output(out.len())
    }

    fn write_displayed(&mut self, displayed: &dyn std::fmt::Display, out: &mut String) -> Result<()> {
        self.meter.charge(1)?;
        // A string takes whatever is written to it.
        let _ = write!(out, "{displayed}");
        self.meter.check_output(out.len())
    }

    /// Appends `repr(int)`.
    #[inline]
    pub(super) fn write_int(&mut self, int: i64, out: &mut String) -> Result<()> {
        self.meter.charge(1)?;
        text::write_int(int, out);
        self.meter.check_output(out.len())
    }

    /// Appends a text as it is.
    #[inline]
    pub(super) fn write_piece(&mut self, text: &str, out: &mut String) -> Result<()> {
        self.meter.charge_bytes(text.len())?;
        self.meter.check_output(out.len().saturating_add(text.len()))?;
        out.push_str(text);
        Ok(())
    }
}

impl<'p, 'a> Around<'p, 'a> {
    /// Inside one more container.
    pub(super) fn within(value: &'p Value<'a>, outer: Option<&'p Around<'p, 'a>>) -> Self {
        let is_namespace = matches!(value, Value::Namespace(_));
        Self {
            value,
            outer,
            has_namespace: is_namespace || outer.is_some_and(|outer| outer.has_namespace),
        }
    }

    /// What stands for a container inside itself.
    pub(super) fn dots_for(&self, value: &Value<'a>) -> Option<&'static str> {
        if !self.has_namespace {
            return None;
        }
        let mut around = Some(self);
        while let Some(Around { value: open, outer, .. }) = around {
            let (dots, is_open) = match (value, open) {
                (Value::Namespace(value), Value::Namespace(open)) => ("{...}", value == open),
                (Value::List(value), Value::List(open)) => ("[...]", value.shares_storage(open)),
                (Value::Tuple(value), Value::Tuple(open)) => ("(...)", value.shares_storage(open)),
                (Value::Dict(value), Value::Dict(open)) => ("{...}", value.shares_storage(open)),
                (Value::Keys(value), Value::Keys(open)) => ("...", value.shares_storage(open)),
                (Value::Values(value), Value::Values(open)) => ("...", value.shares_storage(open)),
                (Value::Items(value), Value::Items(open)) => ("...", value.shares_storage(open)),
                _ => ("", false),
            };
            if is_open {
                return Some(dots);
            }
            around = *outer;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use crate::limits::Limits;
    use crate::value::{Namespace, Undefined};

    #[test]
    fn containers_print_the_repr_of_their_items() {
        let mut runtime = Runtime::new(Limits::default(), &SystemClock);
        let items = vec![
            Value::text("it's"),
            Value::Float(1e16),
            Value::None,
            Value::Undefined(Undefined::Name("x")),
        ];
        let list = runtime.list(items).unwrap();
        let tuple = runtime.tuple(vec![list]).unwrap();
        assert_eq!(runtime.repr(&tuple).unwrap(), r#"(["it's", 1e+16, None, Undefined],)"#);
    }

    #[test]
    fn a_namespace_inside_itself_is_dots() {
        let mut runtime = Runtime::new(Limits::default(), &SystemClock);
        let id = runtime.namespace(Namespace::default()).unwrap();
        let list = runtime.list(vec![Value::Namespace(id)]).unwrap();
        let namespace = runtime.heap.namespace_mut(id).unwrap();
        namespace.set(Str::from("a"), Value::Int(1));
        namespace.set(Str::from("l"), list.clone());
        let shown = runtime.repr(&Value::Namespace(id)).unwrap();
        assert_eq!(shown, "<Namespace {'a': 1, 'l': [<Namespace {...}>]}>");
        assert_eq!(runtime.repr(&list).unwrap(), "[<Namespace {'a': 1, 'l': [...]}>]");
    }
}
