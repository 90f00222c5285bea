//! Python's `json.dumps`, for the filter `tojson`.
//!
//! ```text
//! {'b': [1.0, none], 1: 'é'}    {"b": [1.0, null], "1": "é"}
//! ```
//!
//! The rules are those of CPython 3.13 `json/encoder.py` and `_json.c`. Escapes and line breaks are in [`crate::json`]. A value that JSON
//! does not have is an error: `Object of type range is not JSON serializable`.

use serde_json::{Map, Value as Json};

use super::ops::sort_indices;
use super::print::DIGITS;
use super::{Dict, Escapes, Runtime, Seq, Str, Value, ops, print};
use crate::error::{Error, Result};
use crate::json::{Data, Layout, Object, write_escaped, write_float, write_short};
use crate::meter::{LONG, STEP_BYTES};
use crate::number::text::write_int;

/// The options of `json.dumps`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether characters beyond ASCII are escaped.
    pub ensure_ascii: bool,
    /// Whether the entries of dicts are sorted by key.
    pub sort_keys: bool,
    /// The separators and the indentation.
    pub layout: Layout,
}

/// Appends `json.dumps(value)`.
pub fn write<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, options: &Options, out: &mut String) -> Result<()> {
    if runtime.tape.is_some() {
        dump::<true>(runtime, value, options, out)
    } else {
        dump::<false>(runtime, value, options, out)
    }
}

fn dump<'a, const RECORDS: bool>(runtime: &mut Runtime<'a>, value: &Value<'a>, options: &Options, out: &mut String) -> Result<()> {
    let line = if options.layout.indent.is_some() { "\n" } else { "" };
    let mut dumper = Dumper::<RECORDS> {
        runtime,
        options,
        line: line.to_owned(),
        out: std::mem::take(out),
    };
    let dumped = dumper.dump(value);
    *out = dumper.out;
    dumped?;
    runtime.meter.check_output(out.len())
}

/// A JSON text in progress. `RECORDS` says whether the render is traced.
struct Dumper<'r, 'a, const RECORDS: bool> {
    runtime: &'r mut Runtime<'a>,
    options: &'r Options,
    /// The line break and the indentation before the bracket that closes the innermost container. Empty for JSON on one line.
    line: String,
    out: String,
}

impl<'a, const RECORDS: bool> Dumper<'_, 'a, RECORDS> {
    fn dump(&mut self, value: &Value<'a>) -> Result<()> {
        match value {
            Value::Str(text) => return self.dump_str(text),
            Value::List(items) | Value::Tuple(items) => return self.dump_items(items),
            Value::Dict(dict) => return self.dump_dict(dict),
            Value::Big(_) => return print::write_repr(self.runtime, value, &mut self.out),
            // Short strings are charged by their container, which also checks the limit of the output.
            Value::None => self.out.push_str("null"),
            Value::Bool(bool) => self.out.push_str(if *bool { "true" } else { "false" }),
            Value::Int(int) => write_int(*int, &mut self.out),
            Value::Float(float) => {
                self.runtime.meter.charge(DIGITS)?;
                write_float(*float, &mut self.out);
            }
            _ => {
                let name = value.ty().name();
                return Err(Error::type_error(format!("Object of type {name} is not JSON serializable")));
            }
        }
        Ok(())
    }

    /// Writes a value of the caller.
    #[inline(always)]
    fn dump_json(&mut self, json: &'a Json) -> Result<()> {
        match json {
            Json::String(text) => self.dump_str(&Str::from(&**text)),
            Json::Object(map) if !self.options.sort_keys => self.dump_map(map),
            Json::Array(items) => self.dump_array(items),
            _ => self.dump_json_value(json),
        }
    }

    #[inline(never)]
    fn dump_json_value(&mut self, json: &'a Json) -> Result<()> {
        self.dump(&Value::from(json))
    }

    /// Writes a value of a JSON text.
    fn dump_data(&mut self, data: &'a Data<'a>) -> Result<()> {
        match data {
            Data::Str(text) => self.dump_str(&Str::from(&**text)),
            Data::Object(object) if !self.options.sort_keys => self.dump_object(object),
            _ => self.dump(&Value::from(data)),
        }
    }

    fn dump_items(&mut self, items: &Seq<'a>) -> Result<()> {
        match items {
            Seq::Json(items) => self.dump_array(items),
            _ => self.dump_between(['[', ']'], items.len(), items.iter(), |dumper, item| dumper.dump(&item)),
        }
    }

    #[inline(never)]
    fn dump_array(&mut self, items: &'a [Json]) -> Result<()> {
        self.dump_between(['[', ']'], items.len(), items, Self::dump_json)
    }

    fn dump_dict(&mut self, dict: &Dict<'a>) -> Result<()> {
        match dict {
            _ if self.options.sort_keys => self.dump_sorted(dict),
            Dict::Json(map) => self.dump_map(map),
            Dict::Data(object) => self.dump_object(object),
            Dict::Owned(_) => self.dump_entries(dict.len(), dict.iter()),
        }
    }

    /// Writes an object of the caller.
    #[inline(never)]
    fn dump_map(&mut self, map: &'a Map<String, Json>) -> Result<()> {
        self.dump_between(['{', '}'], map.len(), map, |dumper, (key, value)| {
            dumper.dump_key(&Str::from(&**key))?;
            dumper.dump_json(value)
        })
    }

    /// Writes an object of a JSON text.
    fn dump_object(&mut self, object: &'a Object<'a>) -> Result<()> {
        self.dump_between(['{', '}'], object.len(), object.entries(), |dumper, (key, value)| {
            dumper.dump_key(&Str::from(&**key))?;
            dumper.dump_data(value)
        })
    }

    fn dump_sorted(&mut self, dict: &Dict<'a>) -> Result<()> {
        self.runtime.meter.charge_items(dict.len())?;
        // A dict within this one is sorted before this one is written.
        let bytes = dict.len().saturating_mul(size_of::<[Value<'_>; 2]>());
        let _claim = self.runtime.meter.claim(bytes)?;
        let entries: Vec<_> = dict.iter().collect();
        // CPython sorts the pairs, and no two of them have the same key.
        let order = sort_indices(self.runtime, entries.len(), false, &mut |runtime, left, right| match (
            entries.get(left),
            entries.get(right),
        ) {
            (Some((left, _)), Some((right, _))) => ops::less(runtime, left, right),
            _ => Ok(false),
        })?;
        let entries = order.into_iter().filter_map(|index| entries.get(index).cloned());
        self.dump_entries(dict.len(), entries)
    }

    /// Writes the entries of a dict whose keys can be other values than strings.
    fn dump_entries(&mut self, count: usize, entries: impl Iterator<Item = (Value<'a>, Value<'a>)>) -> Result<()> {
        self.dump_between(['{', '}'], count, entries, |dumper, (key, value)| {
            dumper.dump_any_key(&key)?;
            dumper.dump(&value)
        })
    }

    /// Writes the brackets of a container and its `count` members, each by a call of `dump`.
    #[inline]
    fn dump_between<T>(
        &mut self,
        [open, close]: [char; 2],
        count: usize,
        members: impl IntoIterator<Item = T>,
        dump: impl FnMut(&mut Self, T) -> Result<()>,
    ) -> Result<()> {
        self.out.push(open);
        if count > 0 {
            self.dump_members(count, members, dump)?;
        }
        self.out.push(close);
        Ok(())
    }

    /// Writes the members of a container, with separators and line breaks.
    #[inline(always)]
    fn dump_members<T>(
        &mut self,
        count: usize,
        members: impl IntoIterator<Item = T>,
        mut dump: impl FnMut(&mut Self, T) -> Result<()>,
    ) -> Result<()> {
        let meter = &mut self.runtime.meter;
        meter.check_stack()?;
        let layout = &self.options.layout;
        let (outer, indent) = (self.line.len(), layout.indent.as_deref().unwrap_or_default());
        let length = (outer + indent.len()).saturating_add(layout.separators_len());
        meter.charge(count as u64)?;
        if length >= STEP_BYTES {
            meter.charge(((length / STEP_BYTES) as u64).saturating_mul(count as u64))?;
            meter.check_output(self.out.len().saturating_add(length))?;
        }
        let most = meter.limits().output.saturating_sub(length as u64);
        if outer > 0 {
            self.line.push_str(indent);
        }
        let mut is_first = true;
        for member in members {
            if self.out.len() as u64 > most {
                self.runtime.meter.check_output(self.out.len().saturating_add(length))?;
            }
            if !std::mem::take(&mut is_first) {
                layout.write_item_separator(&mut self.out);
            }
            if outer > 0 {
                self.out.push_str(&self.line);
            }
            dump(self, member)?;
        }
        if outer > 0 {
            self.line.truncate(outer);
            self.out.push_str(&self.line);
        }
        Ok(())
    }

    /// Writes a key, which is always a string in JSON, and the separator after it.
    fn dump_any_key(&mut self, key: &Value<'a>) -> Result<()> {
        match key {
            Value::Str(text) => return self.dump_key(text),
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_) => {
                self.out.push('"');
                self.dump(key)?;
            }
            _ => {
                let name = key.ty().name();
                let message = format!("keys must be str, int, float, bool or None, not {name}");
                return Err(Error::type_error(message));
            }
        }
        self.options.layout.write_key_end(&mut self.out);
        Ok(())
    }

    /// Writes a key that is a string, and the separator after it.
    #[inline(always)]
    fn dump_key(&mut self, key: &Str<'a>) -> Result<()> {
        self.dump_open(key)?;
        self.options.layout.write_key_end(&mut self.out);
        Ok(())
    }

    #[inline(always)]
    fn dump_str(&mut self, text: &Str<'a>) -> Result<()> {
        self.dump_open(text)?;
        self.out.push('"');
        Ok(())
    }

    /// Writes a string without its closing quotation mark. The container of a short string charges for it.
    #[inline(always)]
    fn dump_open(&mut self, text: &Str<'a>) -> Result<()> {
        self.out.push('"');
        let start = self.out.len();
        if !write_short(text.as_str(), self.options.ensure_ascii, &mut self.out) {
            self.dump_long(text.as_str())?;
        }
        if RECORDS {
            self.record(text, start)?;
        }
        Ok(())
    }

    /// Records the pieces of a string whose characters were written from a byte on.
    #[cold]
    fn record(&mut self, text: &Str<'a>, start: usize) -> Result<()> {
        let written = self.out.get(start..).unwrap_or_default();
        self.runtime.record_escaped(text, start, written, Escapes::Backslash)
    }

    /// Writes the characters of a string that is long or needs escapes.
    #[inline(never)]
    fn dump_long(&mut self, text: &str) -> Result<()> {
        let ensure_ascii = self.options.ensure_ascii;
        if text.len() >= LONG {
            self.runtime.meter.charge_scan(text.len())?;
            let meter = &mut self.runtime.meter;
            return meter.write_scanned(&mut self.out, |out| write_escaped(text, ensure_ascii, out));
        }
        let start = self.out.len();
        // Writing to a string cannot fail.
        let _ = write_escaped(text, ensure_ascii, &mut self.out);
        // Each character of a string, however short, can become an escape.
        let written = self.out.len() - start;
        self.runtime.meter.charge_scan(text.len() + written)
    }
}
