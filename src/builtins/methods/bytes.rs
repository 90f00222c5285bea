//! The methods of `bytes`, which only `str.encode` and `int.to_bytes` make.
//!
//! `{{ "é".encode().decode() }}` is `é`, `{{ "a".encode().hex() }}` is `61`. After CPython 3.11 `bytesobject.c`.

use super::argument::wrong_receiver;
use super::codec::Codec;
use super::decode;
use super::row::{SELF, clinic, optional};
use super::text_encode::codec_arguments;
use crate::error::Result;
use crate::value::{Arguments, Function, Runtime, Value};
use std::rc::Rc;

/// The tables.
pub(super) static METHODS: &[&[Function]] = &[&CODING];

static CODING: [Function; 1] = [clinic(
    "decode",
    "bytes.decode",
    &[SELF, optional("encoding"), optional("errors")],
    decode,
)];

fn receiver(arguments: &mut Arguments<'_>) -> Result<Rc<[u8]>> {
    match arguments.take(0) {
        Some(Value::Bytes(bytes)) => Ok(bytes),
        _ => Err(wrong_receiver("bytes")),
    }
}

fn decode<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let bytes = receiver(&mut arguments)?;
    let (encoding, errors) = codec_arguments(&mut arguments, "decode")?;
    runtime.meter.charge_bytes(bytes.len())?;
    runtime.meter.check_size(bytes.len().saturating_mul(3))?;
    let text = decode::decode(Codec::find(encoding.as_str())?, &bytes, errors.as_str())?;
    runtime.str(text)
}
