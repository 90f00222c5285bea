//! The methods of `bytes`, which only `str.encode` and `int.to_bytes` make.
//!
//! ```text
//! {{ "é".encode().decode() }}               é
//! {{ "é".encode().hex() }}                  c3a9
//! {{ "a b".encode().split() }}              [b'a', b'b']
//! ```
//!
//! Each byte is taken for the character of that number, and the algorithms are those of [`crate::text`]; what is a letter or a blank,
//! only ASCII says. After CPython 3.11 `bytesobject.c` and `bytes_methods.c`. Here are the methods that ask, change and decode; those
//! that search and cut are in [`super::bytes_search`], those that go by a table in [`super::bytes_table`].

use super::argument::{size, wrong_receiver};
use super::codec::Codec;
use super::row::{SELF, clinic, no_arguments, one_argument, optional, positional, required};
use super::text_encode::codec_arguments;
use super::{bytes_search, bytes_table, decode};
use crate::error::{Error, Result};
use crate::text::pad::{self, Padding};
use crate::value::{Arguments, Bytes, Function, Parameter, Runtime, Value};

/// The tables.
pub(super) static METHODS: &[&[Function]] = &[&CODING, &ASKING, &CHANGING, &bytes_search::METHODS, &bytes_table::METHODS];

static CODING: [Function; 2] = [
    clinic(
        "decode",
        "bytes.decode",
        &[SELF, optional("encoding"), optional("errors")],
        decode,
    ),
    clinic("hex", "bytes.hex", &[SELF, optional("sep"), optional("bytes_per_sep")], hex),
];

static ASKING: [Function; 8] = [
    no_arguments("isascii", "bytes.isascii", |runtime, arguments| {
        asked(runtime, arguments, true, |byte| byte.is_ascii())
    }),
    no_arguments("isalpha", "bytes.isalpha", |runtime, arguments| {
        asked(runtime, arguments, false, |byte| byte.is_ascii_alphabetic())
    }),
    no_arguments("isdigit", "bytes.isdigit", |runtime, arguments| {
        asked(runtime, arguments, false, |byte| byte.is_ascii_digit())
    }),
    no_arguments("isalnum", "bytes.isalnum", |runtime, arguments| {
        asked(runtime, arguments, false, |byte| byte.is_ascii_alphanumeric())
    }),
    no_arguments("isspace", "bytes.isspace", |runtime, arguments| {
        asked(runtime, arguments, false, is_space)
    }),
    no_arguments("islower", "bytes.islower", |runtime, arguments| {
        cased(runtime, arguments, |byte| byte.is_ascii_lowercase())
    }),
    no_arguments("isupper", "bytes.isupper", |runtime, arguments| {
        cased(runtime, arguments, |byte| byte.is_ascii_uppercase())
    }),
    no_arguments("istitle", "bytes.istitle", is_title),
];

const WIDTH: &[Parameter] = &[SELF, required("width"), optional("fillbyte")];

static CHANGING: [Function; 9] = [
    no_arguments("upper", "bytes.upper", |runtime, arguments| {
        mapped(runtime, arguments, |byte, _| byte.to_ascii_uppercase())
    }),
    no_arguments("lower", "bytes.lower", |runtime, arguments| {
        mapped(runtime, arguments, |byte, _| byte.to_ascii_lowercase())
    }),
    no_arguments("swapcase", "bytes.swapcase", |runtime, arguments| {
        mapped(runtime, arguments, |byte, _| swapped(byte))
    }),
    no_arguments("title", "bytes.title", |runtime, arguments| {
        mapped(runtime, arguments, |byte, before| {
            raised(byte, !before.is_some_and(|before| before.is_ascii_alphabetic()))
        })
    }),
    no_arguments("capitalize", "bytes.capitalize", |runtime, arguments| {
        mapped(runtime, arguments, |byte, before| raised(byte, before.is_none()))
    }),
    positional("center", "bytes.center", WIDTH, |runtime, arguments| {
        padded(runtime, arguments, "center", Padding::center)
    }),
    positional("ljust", "bytes.ljust", WIDTH, |runtime, arguments| {
        padded(runtime, arguments, "ljust", Padding::right_of)
    }),
    positional("rjust", "bytes.rjust", WIDTH, |runtime, arguments| {
        padded(runtime, arguments, "rjust", Padding::left_of)
    }),
    one_argument("zfill", "bytes.zfill", zero_fill),
];

/// The bytes that a method was called on.
pub(super) fn receiver(runtime: &mut Runtime<'_>, arguments: &mut Arguments<'_>) -> Result<Bytes> {
    let bytes = own(arguments)?;
    runtime.meter.charge_scan(bytes.len())?;
    runtime.meter.check_size(bytes.len().saturating_mul(2))?;
    Ok(bytes)
}

fn own(arguments: &mut Arguments<'_>) -> Result<Bytes> {
    match arguments.take(0) {
        Some(Value::Bytes(bytes)) => Ok(bytes),
        _ => Err(wrong_receiver("bytes")),
    }
}

/// An argument that has to be bytes.
pub(super) fn bytes_like(argument: Option<Value<'_>>) -> Result<Bytes> {
    match argument {
        Some(Value::Bytes(bytes)) => Ok(bytes),
        other => {
            let ty = other.as_ref().map_or("NoneType", |value| value.ty().name());
            Err(Error::type_error(format!("a bytes-like object is required, not '{ty}'")))
        }
    }
}

/// Each byte as the character of its number.
pub(super) fn to_text(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// The bytes of a text that [`to_text`] made, or of pieces of one.
pub(super) fn from_text<'a>(text: &str) -> Value<'a> {
    Value::Bytes(text.chars().filter_map(|character| u8::try_from(character).ok()).collect())
}

/// Whether C's `isspace` holds.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn decode<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let bytes = receiver(runtime, &mut arguments)?;
    let (encoding, errors) = codec_arguments(&mut arguments, "decode")?;
    runtime.meter.check_size(bytes.len().saturating_mul(3))?;
    // Nothing is decoded without a look at the encoding.
    if bytes.is_empty() {
        return runtime.str(String::new());
    }
    let text = decode::decode(Codec::find(encoding.as_str())?, &bytes, errors.as_str())?;
    runtime.str(text)
}

/// `bytes.hex(sep, bytes_per_sep)`: groups count from the right, or from the left where their size is negative.
fn hex<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let bytes = receiver(runtime, &mut arguments)?;
    let group = i64::from(super::argument::c_int(arguments.get(2), 1)?);
    let separator = match arguments.take(1) {
        None => None,
        Some(Value::Str(text)) => Some(to_separator(&mut text.as_str().chars())?),
        Some(Value::Bytes(bytes)) => Some(to_separator(&mut bytes.iter().copied().map(char::from))?),
        Some(other) => {
            return Err(if runtime.length(&other)? == 1 {
                Error::type_error("sep must be str or bytes.")
            } else {
                Error::value("sep must be length 1.")
            });
        }
    };
    let size = usize::try_from(group.unsigned_abs()).unwrap_or(usize::MAX);
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    for (index, byte) in bytes.iter().enumerate() {
        let counted = if group < 0 { index } else { bytes.len().saturating_sub(index) };
        let is_between = index > 0 && counted.checked_rem(size) == Some(0);
        if let Some(separator) = separator.filter(|_| is_between) {
            text.push(separator);
        }
        let digits = [byte >> 4, byte & 15].map(|digit| char::from_digit(u32::from(digit), 16));
        text.extend(digits.into_iter().flatten());
    }
    runtime.str(text)
}

fn to_separator(characters: &mut dyn Iterator<Item = char>) -> Result<char> {
    match (characters.next(), characters.next()) {
        (Some(separator), None) if separator.is_ascii() => Ok(separator),
        (Some(_), None) => Err(Error::value("sep must be ASCII.")),
        _ => Err(Error::value("sep must be length 1.")),
    }
}

/// Whether there are bytes, and all of them are what is asked; `empty` is the answer for none.
fn asked<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, empty: bool, is: fn(u8) -> bool) -> Result<Value<'a>> {
    let bytes = receiver(runtime, &mut arguments)?;
    Ok(Value::Bool(if bytes.is_empty() {
        empty
    } else {
        bytes.iter().copied().all(is)
    }))
}

/// Whether there are letters, and all of them have that case.
fn cased<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, is: fn(u8) -> bool) -> Result<Value<'a>> {
    let bytes = receiver(runtime, &mut arguments)?;
    let mut letters = bytes.iter().copied().filter(u8::is_ascii_alphabetic).peekable();
    Ok(Value::Bool(letters.peek().is_some() && letters.all(is)))
}

fn is_title<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let bytes = receiver(runtime, &mut arguments)?;
    let mut has_letters = false;
    let mut is_inside = false;
    for byte in bytes.iter() {
        if byte.is_ascii_alphabetic() {
            if byte.is_ascii_uppercase() == is_inside {
                return Ok(Value::Bool(false));
            }
            has_letters = true;
        }
        is_inside = byte.is_ascii_alphabetic();
    }
    Ok(Value::Bool(has_letters))
}

fn swapped(byte: u8) -> u8 {
    if byte.is_ascii_uppercase() {
        byte.to_ascii_lowercase()
    } else {
        byte.to_ascii_uppercase()
    }
}

fn raised(byte: u8, is_first: bool) -> u8 {
    if is_first {
        byte.to_ascii_uppercase()
    } else {
        byte.to_ascii_lowercase()
    }
}

/// Each byte mapped, given the one before it.
fn mapped<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, map: fn(u8, Option<u8>) -> u8) -> Result<Value<'a>> {
    let bytes = receiver(runtime, &mut arguments)?;
    let before = std::iter::once(None).chain(bytes.iter().copied().map(Some));
    Ok(Value::Bytes(
        bytes.iter().zip(before).map(|(byte, before)| map(*byte, before)).collect(),
    ))
}

fn padded<'a>(
    runtime: &mut Runtime<'a>,
    mut arguments: Arguments<'a>,
    name: &str,
    padding: fn(usize, i64) -> Padding,
) -> Result<Value<'a>> {
    let bytes = receiver(runtime, &mut arguments)?;
    let width = size(arguments.get(1), 0)?;
    let fill = match arguments.get(2) {
        None => ' ',
        Some(Value::Bytes(fill)) if fill.len() == 1 => fill.first().copied().map_or(' ', char::from),
        Some(other) => {
            let ty = if matches!(other, Value::None) {
                "None"
            } else {
                other.ty().name()
            };
            return Err(Error::type_error(format!(
                "{name}() argument 2 must be a byte string of length 1, not {ty}"
            )));
        }
    };
    let padding = padding(bytes.len(), width);
    let len = bytes.len().saturating_add(padding.left).saturating_add(padding.right);
    runtime.meter.check_size(len)?;
    runtime.meter.charge_scan(len)?;
    let text = to_text(&bytes);
    Ok(from_text(&pad::pad(&text, padding, fill).unwrap_or_default()))
}

fn zero_fill<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let bytes = receiver(runtime, &mut arguments)?;
    let width = size(arguments.get(1), 0)?;
    let len = usize::try_from(width).unwrap_or(0).max(bytes.len());
    runtime.meter.check_size(len)?;
    runtime.meter.charge_scan(len)?;
    let text = to_text(&bytes);
    Ok(from_text(&pad::zfill(&text, width).unwrap_or_default()))
}
