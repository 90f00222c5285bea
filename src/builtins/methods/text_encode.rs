//! `str.encode`.
//!
//! `{{ "é".encode() }}` is `b'\xc3\xa9'`. The encodings are in [`super::codec`].

use super::argument::{clinic_text, receiver};
use super::codec::Codec;
use super::row::{SELF, clinic, optional};
use crate::error::{Error, Result};
use crate::value::{Arguments, Function, Runtime, Str, Value};

/// The rows.
pub(super) static METHODS: [Function; 1] = [clinic(
    "encode",
    "str.encode",
    &[SELF, optional("encoding"), optional("errors")],
    encode,
)];

/// The names of encoding and error handler, for `encode` and `decode`.
pub(super) fn codec_arguments<'a>(arguments: &mut Arguments<'a>, function: &str) -> Result<(Str<'a>, Str<'a>)> {
    let mut name = |index: usize, parameter: &str, default: &'static str| match arguments.take(index) {
        None => Ok(Str::from(default)),
        name => {
            let name = clinic_text(name, &format!("{function}() argument '{parameter}'"))?;
            match name.as_str().contains('\0') {
                true => Err(Error::value("embedded null character")),
                false => Ok(name),
            }
        }
    };
    Ok((name(1, "encoding", "utf-8")?, name(2, "errors", "strict")?))
}

fn encode<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = receiver(&mut arguments)?;
    let (encoding, errors) = codec_arguments(&mut arguments, "encode")?;
    let len = text.as_str().len();
    runtime.meter.charge_scan(len)?;
    // No encoding takes more than four bytes for a character, and no handler writes more than twelve, but for names: these have up to
    // 92, of a character of two bytes at least.
    let growth = if errors.as_str() == "namereplace" { 46 } else { 4 };
    runtime.meter.check_size(len.saturating_mul(growth))?;
    let bytes = Codec::find(encoding.as_str())?.encode(text.as_str(), errors.as_str())?;
    runtime.meter.charge_scan(bytes.len())?;
    runtime.meter.check_size(bytes.len())?;
    Ok(Value::Bytes(bytes.into()))
}
