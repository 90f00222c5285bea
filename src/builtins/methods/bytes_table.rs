//! The methods of `bytes` that put other bytes in the place of some, and the one that reads bytes from digits.
//!
//! ```text
//! {{ "abc".encode().translate(none, "b".encode()) }}       b'ac'
//! {{ "a\tb".encode().expandtabs(4) }}                      b'a   b'
//! {{ "".encode().fromhex("61 62") }}                       b'ab'
//! ```
//!
//! After CPython 3.11 `bytesobject.c` (`bytes_translate_impl`, `_PyBytes_FromHex`) and `bytes_methods.c`.

use super::argument::{c_int, text};
use super::bytes::{bytes_like, from_text, receiver, to_text};
use super::row::{SELF, clinic, one_argument, optional, positional, required, unnamed};
use crate::error::{Error, Result};
use crate::text::pad;
use crate::value::{Arguments, Function, Runtime, Value};
use std::collections::BTreeSet;

/// The rows.
pub(super) static METHODS: [Function; 4] = [
    clinic("expandtabs", "bytes.expandtabs", &[SELF, optional("tabsize")], expand_tabs),
    clinic(
        "translate",
        "bytes.translate",
        &[SELF, unnamed("table"), optional("delete")],
        translate,
    ),
    positional(
        "maketrans",
        "bytes.maketrans",
        &[SELF, required("frm"), required("to")],
        make_table,
    ),
    one_argument("fromhex", "bytes.fromhex", from_hex),
];

fn expand_tabs<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let bytes = receiver(runtime, &mut arguments)?;
    let tab_size = i64::from(c_int(arguments.get(1), 8)?);
    let bytes = to_text(&bytes);
    let len = pad::expanded_len(&bytes, tab_size).unwrap_or(usize::MAX);
    runtime.meter.check_size(len)?;
    runtime.meter.charge_scan(len)?;
    Ok(from_text(&pad::expand_tabs(&bytes, tab_size).unwrap_or_default()))
}

/// `bytes.translate(table, delete)`: first some bytes go, then the table says what the others become.
fn translate<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let bytes = receiver(runtime, &mut arguments)?;
    let table = match arguments.take(1) {
        None | Some(Value::None) => None,
        table => Some(bytes_like(table)?),
    };
    if table.as_ref().is_some_and(|table| table.len() != 256) {
        return Err(Error::value("translation table must be 256 characters long"));
    }
    let mut deleted = BTreeSet::new();
    if let delete @ Some(_) = arguments.take(2) {
        let delete = bytes_like(delete)?;
        runtime.meter.charge_scan(delete.len())?;
        deleted.extend(delete.iter().copied());
    }
    let kept = bytes.iter().filter(|byte| !deleted.contains(byte));
    let to = |byte: u8| {
        table
            .as_ref()
            .and_then(|table| table.get(usize::from(byte)).copied())
            .unwrap_or(byte)
    };
    Ok(Value::Bytes(kept.map(|byte| to(*byte)).collect()))
}

/// `bytes.maketrans(from, to)`: a table for all bytes.
fn make_table<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let (from, to) = (bytes_like(arguments.take(1))?, bytes_like(arguments.take(2))?);
    if from.len() != to.len() {
        return Err(Error::value("maketrans arguments must have same length"));
    }
    runtime.meter.charge_scan(from.len())?;
    let mut table: Vec<u8> = (0..=u8::MAX).collect();
    for (old, new) in from.iter().zip(to.iter()) {
        if let Some(place) = table.get_mut(usize::from(*old)) {
            *place = *new;
        }
    }
    Ok(Value::Bytes(table.into()))
}

/// `bytes.fromhex(text)`: two digits a byte, with blanks between bytes.
fn from_hex<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let digits = text(arguments.take(1), |ty| format!("fromhex() argument must be str, not {ty}"))?;
    let digits = digits.as_str();
    runtime.meter.charge_scan(digits.len())?;
    // What is not ASCII is complained about first, wherever it stands.
    if let Some(at) = digits.chars().position(|character| !character.is_ascii()) {
        return Err(not_hexadecimal(at));
    }
    let digit = |found: Option<(usize, char)>| {
        let (at, digit) = found.unwrap_or((digits.len(), ' '));
        let digit = digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        digit.ok_or_else(|| not_hexadecimal(at))
    };
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    let mut characters = digits.char_indices();
    while let Some(first) = characters.find(|(_, character)| !matches!(character, ' ' | '\t'..='\r')) {
        bytes.push((digit(Some(first))? << 4) | digit(characters.next())?);
    }
    Ok(Value::Bytes(bytes.into()))
}

#[cold]
fn not_hexadecimal(at: usize) -> Error {
    Error::value(format!("non-hexadecimal number found in fromhex() arg at position {at}"))
}
