//! JSON as models write it: with bare keys, and with strings between other strings than quotes.
//!
//! ```text
//! {city:<|"|>Paris<|"|>}   ->   {"city": "Paris"}
//! ```
//!
//! The rule is transformers 5.24.0 `content_parsers.py`, `_json`.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::pattern::{Constant, Pattern};
use crate::error::{Error, Result};
use crate::json::{self, Data, JsonErrorKind, Object};
use crate::meter::Meter;
use crate::text::quote::repr;

/// What the arguments of the parser `json` allow that JSON does not.
#[derive(Clone, Debug, Default)]
pub struct Dialect {
    /// The pairs of delimiters that a string may have in place of quotes.
    delimiters: Vec<[String; 2]>,
    has_unquoted_keys: bool,
    /// Whether text that is not JSON becomes a string.
    allows_text: bool,
}

fn read_delimiters(scope: &str, delimiters: Option<&Data<'_>>) -> Result<Vec<[String; 2]>> {
    let pairs = match delimiters {
        None => &[],
        Some(Data::List(pairs)) => pairs.as_slice(),
        Some(_) => &[Data::None],
    };
    let pairs = pairs.iter().map(|pair| match pair {
        Data::List(pair) => match pair.as_slice() {
            [Data::Str(open), Data::Str(close)] if !open.is_empty() && !close.is_empty() => {
                Some([open, close].map(|text| text.to_string()))
            }
            _ => None,
        },
        _ => None,
    });
    pairs.collect::<Option<_>>().ok_or_else(|| {
        Error::type_error(format!(
            "{scope}: string_delims must be a list of pairs of strings that are not empty"
        ))
    })
}

/// The number of bytes that a string between delimiters takes besides its characters.
const STRING: usize = 64;

/// The largest number of bytes that one byte of a string can become as JSON, as in `\u0001`.
const MAX_ESCAPE: usize = 6;

/// The control characters with which the reference marks the place of a string, whose index it puts between them.
const MARKS: [char; 2] = ['\u{1}', '\u{2}'];

impl Dialect {
    /// Reads the arguments of the parser `json`. `scope` says where the description has them.
    pub fn load(scope: &str, arguments: &Object<'_>) -> Result<Self> {
        let is_set = |key| arguments.get(key).is_some_and(Data::is_true);
        Ok(Self {
            delimiters: read_delimiters(scope, arguments.get("string_delims"))?,
            has_unquoted_keys: is_set("unquoted_keys"),
            allows_text: is_set("allow_non_json"),
        })
    }

    /// Returns whether the text is JSON as it is.
    pub fn is_plain(&self) -> bool {
        self.delimiters.is_empty() && !self.has_unquoted_keys
    }

    /// Returns the value that the text has as JSON, or `None` if it is not JSON and therefore becomes a string.
    pub fn parse(&self, source: &str, meter: &mut Meter<'_>) -> Result<Option<Data<'static>>> {
        let working = self.to_json(source, meter)?;
        meter.charge_scan(working.len())?;
        let error = match json::read_until(&working, meter.watch()) {
            Ok(value) => return Ok(Some(value.into_owned())),
            Err(error) if error.kind() == JsonErrorKind::Syntax => error,
            Err(error) => return Err(error.into()),
        };
        if self.allows_text {
            return Ok(None);
        }
        Err(Error::value(if working == source {
            format!(
                "json parser could not parse region as JSON.\nContent: {}\nError: {error}",
                repr(source)
            )
        } else {
            format!(
                "json: could not parse after dialect transforms.\nOriginal: {}\nTransformed: {}\nError: {error}",
                repr(source),
                repr(&working)
            )
        }))
    }

    /// Converts the text to JSON: puts quotes around bare keys, and around what is between the delimiters of strings.
    fn to_json<'s>(&self, source: &'s str, meter: &mut Meter<'_>) -> Result<Cow<'s, str>> {
        if self.is_plain() {
            return Ok(source.into());
        }
        if !self.delimiters.is_empty() && source.contains(MARKS) {
            let message = "json: input contains reserved sentinel characters (\\x01/\\x02); cannot parse safely.";
            return Err(Error::value(message));
        }
        let mut working = source.to_owned();
        let mut strings = Vec::new();
        let mut held: usize = 0;
        let [open_mark, close_mark] = MARKS;
        for [open, close] in &self.delimiters {
            meter.charge_scan(working.len())?;
            let marked = std::mem::take(&mut working);
            let mut left = marked.as_str();
            while let Some((before, after)) = left.split_once(open.as_str()) {
                let Some((string, after)) = after.split_once(close.as_str()) else {
                    break;
                };
                meter.charge_bytes(before.len().saturating_add(string.len()))?;
                held = held.saturating_add(string.len()).saturating_add(STRING);
                meter.check_size(working.len().saturating_add(held))?;
                working.push_str(before);
                working.push_str(&format!("{open_mark}{}{close_mark}", strings.len()));
                strings.push(string.to_owned());
                left = after;
            }
            working.push_str(left);
        }
        if self.has_unquoted_keys {
            working = quote_keys(&working, meter)?;
        }
        if strings.is_empty() {
            return Ok(working.into());
        }
        restore(&working, &strings, meter).map(Cow::Owned)
    }
}

/// Replaces the marks by the strings that they stand for. A string can itself have marks, of delimiters that were found before.
fn restore(marked: &str, strings: &[String], meter: &mut Meter<'_>) -> Result<String> {
    let [open_mark, close_mark] = MARKS;
    let mut whole = String::with_capacity(marked.len());
    let mut left = marked;
    while let Some((before, after)) = left.split_once(open_mark) {
        whole.push_str(before);
        let (index, after) = after.split_once(close_mark).unwrap_or((after, ""));
        let string = index.parse().ok().and_then(|index: usize| strings.get(index));
        let string = string.map_or("", String::as_str);
        meter.charge_scan(string.len())?;
        meter.check_size(whole.len().saturating_add(string.len().saturating_mul(MAX_ESCAPE)))?;
        json::write_string(string, true, &mut whole);
        left = after;
    }
    whole.push_str(left);
    Ok(whole)
}

/// The pattern of a bare key with what follows it: `name :`.
static BARE_KEY: Constant = LazyLock::new(|| Pattern::constant(r"\s*\w+\s*:"));

/// Puts bare keys between quotes. Text in a string is no key.
fn quote_keys(source: &str, meter: &mut Meter<'_>) -> Result<String> {
    let Some(bare_key) = BARE_KEY.as_ref() else {
        return Ok(source.to_owned());
    };
    let mut quoted = String::with_capacity(source.len());
    let mut left = source;
    // Where the search for the end of a string gave up. Quotes before are escaped in that string, and a string at them gives up there too.
    let mut unclosed = 0;
    while let Some((before, sign)) = find_sign(left, meter)? {
        let at = source.len().saturating_sub(left.len()).saturating_add(before.len());
        let (plain, mut rest) = left.split_at_checked(before.len().saturating_add(1)).unwrap_or((left, ""));
        if sign == '"' && at >= unclosed {
            match string_length(rest, meter)? {
                Ok(length) => {
                    let (string, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
                    quoted.extend([plain, string]);
                    left = after;
                    continue;
                }
                Err(length) => unclosed = at.saturating_add(1).saturating_add(length),
            }
        }
        quoted.push_str(plain);
        if sign != '"' {
            let start = source.len().saturating_sub(rest.len());
            let key = bare_key.find_at(source, start, meter)?;
            if let Some(key) = key.and_then(|key| source.get(key.bytes)) {
                let name = key.trim_end_matches(':').trim();
                let (before, after) = key.split_once(name).unwrap_or_default();
                quoted.extend([before, "\"", name, "\"", after]);
                rest = rest.get(key.len()..).unwrap_or_default();
            }
        }
        left = rest;
    }
    quoted.push_str(left);
    Ok(quoted)
}

/// Returns the text before the first quote, brace or comma, and that character.
fn find_sign<'t>(text: &'t str, meter: &mut Meter<'_>) -> Result<Option<(&'t str, char)>> {
    let found = text.char_indices().find(|(_, char)| matches!(char, '"' | '{' | ','));
    let end = found.map_or(text.len(), |(at, _)| at);
    meter.charge_scan(end)?;
    Ok(found.map(|(at, sign)| (text.get(..at).unwrap_or_default(), sign)))
}

/// Returns the length of the rest of a string after its first quote, up to its last one. A backslash does not escape a line break. If there
/// is no end, the error is the length after which the search gave up.
fn string_length(source: &str, meter: &mut Meter<'_>) -> Result<Result<usize, usize>> {
    let mut chars = source.char_indices();
    let length = loop {
        match chars.next() {
            Some((index, '"')) => break Ok(index.saturating_add(1)),
            Some((index, '\\')) if chars.next().is_none_or(|(_, next)| next == '\n') => break Err(index),
            Some(_) => {}
            None => break Err(source.len()),
        }
    };
    let (Ok(read) | Err(read)) = length;
    meter.charge_scan(read)?;
    Ok(length)
}
