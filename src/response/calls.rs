//! Reads the list of Python calls that some models write: `[get_weather(city="Paris"), stop()]`.
//!
//! The grammar is that of transformers 5.24.0 `content_parsers.py`, `_python_call_list`: keyword arguments only, strings, numbers, lists,
//! dicts and constants.
#![expect(clippy::arithmetic_side_effects, reason = "offsets in a text in memory")]

use std::sync::LazyLock;

use super::content::{Entries, object, text};
use super::pattern::{Constant, Pattern};
use crate::error::{Error, Result};
use crate::json::Data;
use crate::meter::Meter;
use crate::number::parse::read_float;
use crate::text::quote::repr;

/// The maximum number of lists and dicts that enclose a value, as in the reference.
const MAX_DEPTH: usize = 100;

/// The largest integer, as in the reference: 2**53 - 1.
const MAX_INTEGER: i64 = (1 << 53) - 1;

// The expressions of the reference.
static NAME: Constant = LazyLock::new(|| Pattern::constant(r"[A-Za-z_][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)*"));
static NUMBER: Constant = LazyLock::new(|| Pattern::constant(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"));
static STRING: Constant = LazyLock::new(|| Pattern::constant(r#"'(?:[^'\\\n\r]|\\.)*'|"(?:[^"\\\n\r]|\\.)*""#));

/// Returns the calls that the text lists, as objects with `name` and `arguments`.
pub fn parse_calls(source: &str, meter: &mut Meter<'_>) -> Result<Data<'static>> {
    let mut calls = Calls { source, at: 0, meter };
    calls.expect('[')?;
    let list = calls.items(']', &mut |calls| calls.call())?;
    calls.skip_whitespace();
    if calls.rest().is_empty() {
        return Ok(Data::List(list));
    }
    Err(calls.fail("unexpected content after the closing ']'"))
}

/// A reader of the text from left to right.
struct Calls<'t, 'r, 'm> {
    source: &'t str,
    /// The offset of the byte that is read next.
    at: usize,
    meter: &'r mut Meter<'m>,
}

impl<'t> Calls<'t, '_, '_> {
    fn rest(&self) -> &'t str {
        self.source.get(self.at..).unwrap_or_default()
    }

    #[cold]
    fn fail(&self, message: &str) -> Error {
        let position = self.source.get(..self.at).unwrap_or_default().chars().count();
        Error::value(format!(
            "python-call-list: {message} at position {position}.\nContent: {}",
            repr(self.source)
        ))
    }

    fn skip_whitespace(&mut self) {
        self.at = self.source.len() - self.rest().trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    /// Returns what an expression matches next.
    fn next(&mut self, pattern: &Constant) -> Result<Option<&'t str>> {
        let Some(pattern) = pattern.as_ref() else { return Ok(None) };
        let found = pattern.find_at(self.source, self.at, self.meter)?;
        Ok(found.and_then(|found| self.source.get(found.bytes)))
    }

    /// Returns whether a character is next, after whitespace.
    fn is_at(&mut self, char: char) -> bool {
        self.skip_whitespace();
        self.rest().starts_with(char)
    }

    /// Reads a character if it is next, after whitespace. Returns whether it was.
    fn take(&mut self, char: char) -> bool {
        let is_next = self.is_at(char);
        if is_next {
            self.at += char.len_utf8();
        }
        is_next
    }

    fn expect(&mut self, char: char) -> Result<()> {
        if self.take(char) {
            return Ok(());
        }
        let mut buffer = [0; 4];
        Err(self.fail(&format!("expected {}", repr(char.encode_utf8(&mut buffer)))))
    }

    /// Reads items with commas between them, and the character that closes them.
    fn items<T>(&mut self, close: char, item: &mut dyn FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = Vec::new();
        if self.take(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.take(close) {
                return Ok(items);
            }
            self.expect(',')?;
        }
    }

    fn unique(&self, pairs: Vec<(String, Data<'static>)>) -> Result<Data<'static>> {
        let mut entries = Entries::new();
        for (name, value) in pairs {
            if entries.contains_key(&name) {
                return Err(self.fail(&format!("repeated name {}", repr(&name))));
            }
            entries.insert(name, value);
        }
        Ok(object(entries))
    }

    fn call(&mut self) -> Result<Data<'static>> {
        let name = self.name("a function name")?;
        self.expect('(')?;
        let arguments = self.items(')', &mut |calls| {
            let key = calls.name("a keyword argument (positional arguments and trailing commas are not supported)")?;
            if !calls.take('=') {
                return Err(calls.fail("expected '=' (positional arguments are not supported)"));
            }
            Ok((key, calls.value(0)?))
        })?;
        let arguments = self.unique(arguments)?;
        Ok(object(
            [("name".to_owned(), text(name)), ("arguments".to_owned(), arguments)].into(),
        ))
    }

    /// Reads a name: words of ASCII with hyphens and dots between them.
    fn name(&mut self, what: &str) -> Result<String> {
        self.skip_whitespace();
        match self.next(&NAME)? {
            Some(name) => {
                self.at += name.len();
                Ok(name.to_owned())
            }
            None => Err(self.fail(&format!("expected {what}"))),
        }
    }

    /// Reads a value that a number of lists and dicts enclose.
    fn value(&mut self, depth: usize) -> Result<Data<'static>> {
        if self.is_at('\'') || self.is_at('"') {
            return self.string().map(text);
        }
        if self.is_at('[') || self.is_at('{') {
            if depth >= MAX_DEPTH {
                return Err(self.fail(&format!("lists and dicts nested more than {MAX_DEPTH} levels deep")));
            }
            if self.take('[') {
                return self.items(']', &mut |calls| calls.value(depth + 1)).map(Data::List);
            }
            self.take('{');
            let pairs = self.items('}', &mut |calls| {
                if !(calls.is_at('\'') || calls.is_at('"')) {
                    return Err(calls.fail("dict keys must be strings"));
                }
                let key = calls.string()?;
                calls.expect(':')?;
                Ok((key, calls.value(depth + 1)?))
            })?;
            return self.unique(pairs);
        }
        if let Some(number) = self.next(&NUMBER)? {
            let value = if !number.contains(['.', 'e', 'E']) {
                let integer = number
                    .parse()
                    .ok()
                    .filter(|integer: &i64| number.len() <= 17 && integer.abs() <= MAX_INTEGER);
                let integer = integer.ok_or_else(|| self.fail("integer outside the range of -(2^53 - 1) to 2^53 - 1"))?;
                Data::Int(integer)
            } else {
                let float = read_float(number).filter(|float| float.is_finite());
                Data::Float(float.ok_or_else(|| self.fail("number too large"))?)
            };
            self.at += number.len();
            return Ok(value);
        }
        let name = self.next(&NAME)?.unwrap_or_default();
        let constant = match name {
            "True" | "true" => Data::Bool(true),
            "False" | "false" => Data::Bool(false),
            "None" | "null" => Data::None,
            _ => return Err(self.fail("expected a string, number, list, dict, True, False or None")),
        };
        self.at += name.len();
        Ok(constant)
    }

    /// Reads a string between single or double quotes.
    fn string(&mut self) -> Result<String> {
        let quoted = self.next(&STRING)?.ok_or_else(|| self.fail("invalid string"))?;
        let body = quoted.get(1..quoted.len() - 1).unwrap_or_default();
        let mut string = String::new();
        let mut left = body;
        while let Some((plain, escape)) = left.split_once('\\') {
            string.push_str(plain);
            let (char, length) = read_escape(escape).map_err(|message| self.fail(&message))?;
            string.push(char);
            left = escape.get(length..).unwrap_or_default();
        }
        string.push_str(left);
        self.at += quoted.len();
        Ok(string)
    }
}

/// Returns the character of an escape and the length of the escape in bytes, without its backslash.
fn read_escape(escape: &str) -> Result<(char, usize), String> {
    let next = escape.chars().next().unwrap_or_default();
    let plain = match next {
        '\\' | '\'' | '"' | '/' => next,
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        _ => {
            let code = hex_code(escape)
                .ok_or_else(|| format!("unsupported escape {} in the string starting", repr(&format!("\\{next}"))))?;
            let low = escape.get(5..).and_then(|rest| hex_code(rest.strip_prefix('\\')?));
            return match (code, low) {
                (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) => {
                    let code = 0x1_0000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                    Ok((char::from_u32(code).unwrap_or_default(), 11))
                }
                _ => char::from_u32(code)
                    .map(|char| (char, 5))
                    .ok_or_else(|| "lone surrogate escape in the string starting".to_owned()),
            };
        }
    };
    Ok((plain, 1))
}

/// Returns the number that hexadecimal digits spell after a letter: 0x12ab for `u12ab`.
fn hex_code(escape: &str) -> Option<u32> {
    let digits = escape.strip_prefix('u')?.get(..4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex { u32::from_str_radix(digits, 16).ok() } else { None }
}
