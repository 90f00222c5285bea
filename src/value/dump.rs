//! `json.dumps`, which is what the filter `tojson` is.
//!
//! ```text
//! {'b': [1.0, none], 1: 'é'}    {"b": [1.0, null], "1": "é"}
//! ```
//!
//! After CPython 3.11 `json/encoder.py` and `_json.c`. How strings are escaped and lines are broken is [`crate::json`]'s. What is not
//! of JSON's types has no text: `Object of type range is not JSON serializable`.

use super::Value;
use super::dict::Dict;
use super::display::DIGITS;
use super::runtime::Runtime;
use super::seq::Seq;
use super::sort::sorted;
use crate::error::{Error, Result};
use crate::json::{Layout, write_float, write_string};
use crate::text::escape::escape;

/// The options of `json.dumps`.
#[derive(Clone, Debug, Default)]
pub struct Dump {
    /// Whether everything beyond ASCII is escaped.
    pub ensure_ascii: bool,
    /// Whether dicts are written in the order of their keys.
    pub sort_keys: bool,
    /// The separators and the indentation.
    pub layout: Layout,
    /// Whether a string that is the first item of a list, or a later one, is escaped for HTML, because what the encoder in Python
    /// puts before it is a Markup.
    pub escapes: [bool; 2],
}

impl<'a> Runtime<'a> {
    /// Appends `json.dumps(value)`.
    pub fn dumps(&mut self, value: &Value<'a>, options: &Dump, out: &mut String) -> Result<()> {
        self.dump(value, options, 0, out)
    }

    fn dump(&mut self, value: &Value<'a>, options: &Dump, level: usize, out: &mut String) -> Result<()> {
        match value {
            Value::Str(text) => self.dump_text(text.as_str(), options, out),
            Value::None => self.write_piece("null", out),
            Value::Bool(true) => self.write_piece("true", out),
            Value::Bool(false) => self.write_piece("false", out),
            Value::Float(float) => {
                self.meter.charge(DIGITS)?;
                write_float(*float, out);
                self.write_piece("", out)
            }
            Value::Int(_) | Value::Big(_) => self.write_repr(value, out),
            Value::List(items) | Value::Tuple(items) => self.dump_items(items, options, level, out),
            Value::Dict(dict) => self.dump_dict(dict, options, level, out),
            _ => {
                let name = value.ty().name();
                Err(Error::type_error(format!("Object of type {name} is not JSON serializable")))
            }
        }
    }

    fn dump_items(&mut self, items: &Seq<'a>, options: &Dump, level: usize, out: &mut String) -> Result<()> {
        self.meter.check_stack()?;
        if items.is_empty() {
            return self.write_piece("[]", out);
        }
        let within = level.saturating_add(1);
        out.push('[');
        for (index, item) in items.iter().enumerate() {
            self.begin_member(index, options, within, out)?;
            let [first, later] = options.escapes;
            match &item {
                Value::Str(text) if if index == 0 { first } else { later } => self.dump_escaped(text.as_str(), options, out)?,
                _ => self.dump(&item, options, within, out)?,
            }
        }
        self.break_line(options, level, out)?;
        self.write_piece("]", out)
    }

    #[cold]
    fn dump_escaped(&mut self, text: &str, options: &Dump, out: &mut String) -> Result<()> {
        let mut plain = String::new();
        self.dump_text(text, options, &mut plain)?;
        self.meter.charge_scan(plain.len())?;
        out.push_str(&escape(&plain));
        self.meter.check_output(out.len())
    }

    fn dump_dict(&mut self, dict: &Dict<'a>, options: &Dump, level: usize, out: &mut String) -> Result<()> {
        self.meter.check_stack()?;
        if dict.is_empty() {
            return self.write_piece("{}", out);
        }
        match dict {
            _ if options.sort_keys => self.dump_sorted(dict, options, level, out),
            Dict::Json(map) => self.dump_members(*map, options, level, out),
            Dict::Data(object, _) => {
                self.dump_members(object.entries().iter().map(|(key, value)| (key, value)), options, level, out)
            }
            Dict::Owned(_) => self.dump_entries(dict.iter(), options, level, out),
        }
    }

    /// An object of the caller, whose keys are strings.
    fn dump_members<'k, K, V>(
        &mut self,
        members: impl IntoIterator<Item = (&'k K, V)>,
        options: &Dump,
        level: usize,
        out: &mut String,
    ) -> Result<()>
    where
        K: AsRef<str> + ?Sized + 'k,
        Value<'a>: From<V>,
    {
        let within = level.saturating_add(1);
        out.push('{');
        for (index, (key, value)) in members.into_iter().enumerate() {
            self.begin_member(index, options, within, out)?;
            self.dump_text(key.as_ref(), options, out)?;
            out.push_str(&options.layout.key_separator);
            self.dump(&Value::from(value), options, within, out)?;
        }
        self.break_line(options, level, out)?;
        self.write_piece("}", out)
    }

    fn dump_sorted(&mut self, dict: &Dict<'a>, options: &Dump, level: usize, out: &mut String) -> Result<()> {
        self.meter.charge_items(dict.len())?;
        self.meter
            .check_size(dict.len().saturating_mul(size_of::<[Value<'_>; 2]>()))?;
        let entries: Vec<_> = dict.iter().collect();
        // CPython sorts the pairs, of which no two begin with the same key.
        let order = sorted(
            self,
            entries.len(),
            false,
            &mut |runtime, left, right| match (entries.get(left), entries.get(right)) {
                (Some((left, _)), Some((right, _))) => runtime.less(left, right),
                _ => Ok(false),
            },
        )?;
        let entries = order.into_iter().filter_map(|index| entries.get(index).cloned());
        self.dump_entries(entries, options, level, out)
    }

    fn dump_entries(
        &mut self,
        entries: impl Iterator<Item = (Value<'a>, Value<'a>)>,
        options: &Dump,
        level: usize,
        out: &mut String,
    ) -> Result<()> {
        let within = level.saturating_add(1);
        out.push('{');
        for (index, (key, value)) in entries.enumerate() {
            self.begin_member(index, options, within, out)?;
            self.dump_key(&key, options, out)?;
            self.write_piece(&options.layout.key_separator, out)?;
            self.dump(&value, options, within, out)?;
        }
        self.break_line(options, level, out)?;
        self.write_piece("}", out)
    }

    /// A key is a string always, whatever it was.
    fn dump_key(&mut self, key: &Value<'a>, options: &Dump, out: &mut String) -> Result<()> {
        match key {
            Value::Str(text) => self.dump_text(text.as_str(), options, out),
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_) => {
                out.push('"');
                self.dump(key, options, 0, out)?;
                self.write_piece("\"", out)
            }
            _ => {
                let name = key.ty().name();
                let message = format!("keys must be str, int, float, bool or None, not {name}");
                Err(Error::type_error(message))
            }
        }
    }

    #[inline]
    fn dump_text(&mut self, text: &str, options: &Dump, out: &mut String) -> Result<()> {
        self.meter.charge_scan(text.len())?;
        write_string(text, options.ensure_ascii, out);
        self.meter.check_output(out.len())
    }

    /// What stands between a member and the one before it, or the opening bracket.
    #[inline]
    fn begin_member(&mut self, index: usize, options: &Dump, level: usize, out: &mut String) -> Result<()> {
        if index > 0 {
            out.push_str(&options.layout.item_separator);
        }
        self.break_line(options, level, out)
    }

    #[inline]
    fn break_line(&mut self, options: &Dump, level: usize, out: &mut String) -> Result<()> {
        match options.layout.indent {
            Some(_) => self.indent(options, level, out),
            None => Ok(()),
        }
    }

    #[inline(never)]
    fn indent(&mut self, options: &Dump, level: usize, out: &mut String) -> Result<()> {
        let len = options.layout.line_break_length(level);
        self.meter.charge_bytes(len)?;
        self.meter.check_output(out.len().saturating_add(len))?;
        options.layout.break_line(level, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use crate::limits::Limits;
    use crate::value::{Entries, Key};

    fn dumped(options: &Dump) -> String {
        let mut runtime = Runtime::new(Limits::default(), &SystemClock);
        let list = runtime
            .list(vec![Value::Float(1.0), Value::Bool(true), Value::Float(f64::NAN)])
            .unwrap();
        let mut entries = Entries::default();
        for (key, value) in [(Value::text("é"), list), (Value::text("a"), Value::None)] {
            entries.insert(Key::new(&mut runtime, key).unwrap(), value);
        }
        let dict = Value::Dict(runtime.dict(entries).unwrap());
        let mut out = String::new();
        match runtime.dumps(&dict, options, &mut out) {
            Ok(()) => out,
            Err(error) => error.message().to_owned(),
        }
    }

    #[test]
    fn options_change_the_layout() {
        assert_eq!(dumped(&Dump::default()), r#"{"é": [1.0, true, NaN], "a": null}"#);
        let options = Dump {
            ensure_ascii: true,
            sort_keys: true,
            layout: Layout::indented(" ".to_owned()),
            ..Dump::default()
        };
        let lines = "{\n \"a\": null,\n \"\\u00e9\": [\n  1.0,\n  true,\n  NaN\n ]\n}";
        assert_eq!(dumped(&options), lines);
    }
}
