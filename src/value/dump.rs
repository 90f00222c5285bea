//! `json.dumps`, which is what the filter `tojson` is.
//!
//! ```text
//! {'b': [1.0, none], 1: 'é'}    {"b": [1.0, null], "1": "é"}
//! ```
//!
//! After CPython 3.11 `json/encoder.py` and `_json.c`. How strings are escaped and lines are broken is [`crate::json`]'s. What is not
//! of JSON's types has no text: `Object of type range is not JSON serializable`.

use serde_json::{Map, Value as Json};

use super::Value;
use super::dict::Dict;
use super::display::DIGITS;
use super::runtime::Runtime;
use super::seq::Seq;
use super::sort::sorted;
use crate::data::{Data, Object};
use crate::error::{Error, Result};
use crate::json::{Layout, write_float, write_string};
use crate::limits::STEP_BYTES;
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
        self.dump(value, options, 0, out)?;
        self.meter.check_output(out.len())
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

    /// A value of the caller, of which most is written as it stands there.
    fn dump_json(&mut self, json: &'a Json, options: &Dump, level: usize, out: &mut String) -> Result<()> {
        match json {
            Json::String(text) => self.dump_text(text, options, out),
            Json::Object(map) if !options.sort_keys => self.dump_map(map, options, level, out),
            Json::Array(items) if options.escapes == [false; 2] => self.dump_array(items, options, level, out),
            _ => self.dump(&Value::from(json), options, level, out),
        }
    }

    /// The same of a JSON text.
    fn dump_data(&mut self, data: &'a Data<'a>, options: &Dump, level: usize, out: &mut String) -> Result<()> {
        match data {
            Data::Str(text) => self.dump_text(text, options, out),
            Data::Object(object) if !options.sort_keys => self.dump_object(object, options, level, out),
            _ => self.dump(&Value::from(data), options, level, out),
        }
    }

    fn dump_items(&mut self, items: &Seq<'a>, options: &Dump, level: usize, out: &mut String) -> Result<()> {
        match items {
            Seq::Json(items, _) if options.escapes == [false; 2] => self.dump_array(items, options, level, out),
            _ => {
                let [mut escapes, later] = options.escapes;
                let members = (items.len(), items.iter());
                self.dump_between(['[', ']'], members, options, level, out, |runtime, item, level, out| {
                    match (item, std::mem::replace(&mut escapes, later)) {
                        (Value::Str(text), true) => runtime.dump_escaped(text.as_str(), options, out),
                        (item, _) => runtime.dump(&item, options, level, out),
                    }
                })
            }
        }
    }

    fn dump_array(&mut self, items: &'a [Json], options: &Dump, level: usize, out: &mut String) -> Result<()> {
        let members = (items.len(), items);
        self.dump_between(['[', ']'], members, options, level, out, |runtime, item, level, out| {
            runtime.dump_json(item, options, level, out)
        })
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
        match dict {
            _ if options.sort_keys => self.dump_sorted(dict, options, level, out),
            Dict::Json(map) => self.dump_map(map, options, level, out),
            Dict::Data(object, _) => self.dump_object(object, options, level, out),
            Dict::Owned(_) => self.dump_entries((dict.len(), dict.iter()), options, level, out),
        }
    }

    /// The members of an object whose keys are strings; `dump` writes a value.
    fn dump_members<K: AsRef<str>, V>(
        &mut self,
        members: (usize, impl IntoIterator<Item = (K, V)>),
        options: &Dump,
        level: usize,
        out: &mut String,
        dump: impl Fn(&mut Self, V, &Dump, usize, &mut String) -> Result<()>,
    ) -> Result<()> {
        let braces = ['{', '}'];
        self.dump_between(braces, members, options, level, out, |runtime, (key, value), level, out| {
            runtime.dump_text(key.as_ref(), options, out)?;
            options.layout.write_key_separator(out);
            dump(runtime, value, options, level, out)
        })
    }

    /// An object of the caller.
    fn dump_map(&mut self, map: &'a Map<String, Json>, options: &Dump, level: usize, out: &mut String) -> Result<()> {
        self.dump_members((map.len(), map), options, level, out, Self::dump_json)
    }

    /// An object of a JSON text.
    fn dump_object(&mut self, object: &'a Object<'a>, options: &Dump, level: usize, out: &mut String) -> Result<()> {
        let entries = object.entries().iter().map(|(key, value)| (key, value));
        self.dump_members((object.len(), entries), options, level, out, Self::dump_data)
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
        self.dump_entries((dict.len(), entries), options, level, out)
    }

    /// The members of a dict whose keys may be other values too.
    fn dump_entries(
        &mut self,
        members: (usize, impl Iterator<Item = (Value<'a>, Value<'a>)>),
        options: &Dump,
        level: usize,
        out: &mut String,
    ) -> Result<()> {
        let braces = ['{', '}'];
        self.dump_between(braces, members, options, level, out, |runtime, (key, value), level, out| {
            runtime.dump_key(&key, options, out)?;
            options.layout.write_key_separator(out);
            runtime.dump(&value, options, level, out)
        })
    }

    /// The members of a container between its brackets, so many; `dump` writes one.
    fn dump_between<T>(
        &mut self,
        [open, close]: [char; 2],
        (count, members): (usize, impl IntoIterator<Item = T>),
        options: &Dump,
        level: usize,
        out: &mut String,
        mut dump: impl FnMut(&mut Self, T, usize, &mut String) -> Result<()>,
    ) -> Result<()> {
        self.meter.check_stack()?;
        let layout = &options.layout;
        let within = level.saturating_add(1);
        // What a member has around it, at most.
        let around = layout.around_length(within);
        let steps = ((around / STEP_BYTES) as u64).saturating_add(1);
        self.meter.charge(steps.saturating_mul(count as u64))?;
        let line = layout.line(within);
        let most = self.meter.limits().output.saturating_sub(around as u64);
        let mut is_empty = true;
        out.push(open);
        for member in members {
            if out.len() as u64 > most {
                self.meter.check_output(out.len().saturating_add(around))?;
            }
            if !std::mem::take(&mut is_empty) {
                layout.write_item_separator(out);
            }
            line.write(out);
            dump(self, member, within, out)?;
        }
        if !is_empty {
            layout.line(level).write(out);
        }
        out.push(close);
        Ok(())
    }

    /// A key is a string always, whatever it was.
    fn dump_key(&mut self, key: &Value<'a>, options: &Dump, out: &mut String) -> Result<()> {
        match key {
            Value::Str(text) => self.dump_text(text.as_str(), options, out),
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_) => {
                out.push('"');
                self.dump(key, options, 0, out)?;
                out.push('"');
                Ok(())
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
        if text.len() > STEP_BYTES {
            // Of an escape each byte is looked at, and up to six are written.
            self.meter.charge_scan(text.len().saturating_mul(2))?;
        }
        write_string(text, options.ensure_ascii, out);
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
