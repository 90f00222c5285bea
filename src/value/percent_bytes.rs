//! Python's `%` on bytes: `'%s has %d'.encode() % ('a'.encode(), 3)`.
//!
//! ```text
//! '%.2b|%c'.encode() % ('abc'.encode(), 65)    b'ab|A'
//! '%s'.encode() % 'a'                          TypeError: %b requires a bytes-like object, …, not 'str'
//! ```
//!
//! Each byte stands for a character, so that the walk over the format is [`super::percent`]'s. What is here is what bytes have of their
//! own: `%b`, complaints in other words, and no text that is not ASCII. After CPython 3.11 `bytesobject.c`, `_PyBytes_FormatEx`.

use super::Value;
use super::percent::{Flavor, Source, number};
use super::runtime::Runtime;
use super::shared::Bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::number::percent::Conversion;

impl<'a> Runtime<'a> {
    /// `format % arguments`
    pub(super) fn percent_bytes(&mut self, format: &[u8], arguments: &Value<'a>) -> Result<Value<'a>> {
        let format: String = characters(format);
        let output = self.formatted(&format, Flavor::Bytes, arguments)?;
        self.meter.charge_scan(output.len())?;
        Ok(Value::Bytes(bytes(&output)))
    }
}

/// Bytes as the characters that stand for them.
fn characters(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// The bytes that characters stand for.
pub(super) fn bytes(text: &str) -> Bytes {
    text.chars().filter_map(|character| u8::try_from(character).ok()).collect()
}

/// The complaint about a letter that means nothing, behind that much of the format. A byte beyond ASCII is no character where CPython
/// reads it as a `char` of C, which has a sign; behind the digits of a width or a precision it does not.
#[cold]
pub(super) fn unsupported_letter(conversion: &Conversion, before: &str) -> Error {
    let letter = conversion.letter;
    let has_digits = conversion.width.or(conversion.precision).is_some() && before.ends_with(|last: char| last.is_ascii_digit());
    if !letter.is_ascii() && !has_digits {
        return Error::new(ErrorKind::Overflow, "character argument not in range(0x110000)");
    }
    let (code, index) = (u32::from(letter), before.chars().count());
    Error::value(format!(
        "unsupported format character '{letter}' (0x{code:x}) at index {index}"
    ))
}

impl<'a> Source<'_, 'a> {
    /// What an argument becomes in a conversion; None where its letter means nothing.
    pub(super) fn byte_conversion(
        &mut self,
        conversion: &Conversion,
        argument: &Value<'a>,
        max_width: usize,
    ) -> Result<Option<String>> {
        Ok(Some(match conversion.letter {
            's' | 'b' => {
                let Value::Bytes(bytes) = argument else {
                    return Err(Error::type_error(format!(
                        "%b requires a bytes-like object, or an object that implements __bytes__, not '{}'",
                        argument.ty().name()
                    )));
                };
                self.runtime.meter.charge_scan(bytes.len())?;
                let end = conversion.precision.unwrap_or(usize::MAX).min(bytes.len());
                conversion.pad_text(&characters(bytes.get(..end).unwrap_or_default()), max_width)?
            }
            'r' | 'a' => {
                let text = self.runtime.ascii(argument)?;
                let end = conversion.precision.unwrap_or(usize::MAX).min(text.len());
                conversion.pad_text(text.get(..end).unwrap_or_default(), max_width)?
            }
            'c' => {
                let mut buffer = [0; 4];
                conversion.pad_text(char::from(one_byte(argument)?).encode_utf8(&mut buffer), max_width)?
            }
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' => match number(self.runtime, conversion, argument, max_width) {
                Err(error) if error.kind() != ErrorKind::Limit => {
                    return Err(Error::type_error(format!(
                        "float argument required, not {}",
                        argument.ty().name()
                    )));
                }
                formatted => formatted?,
            },
            'd' | 'i' | 'u' | 'o' | 'x' | 'X' => {
                if let (Value::Undefined(undefined), 'd' | 'i' | 'u') = (argument, conversion.letter) {
                    return Err(undefined.error());
                }
                // To its complaints `%i` is `%d`.
                let letter = if conversion.letter == 'i' { 'd' } else { conversion.letter };
                let conversion = Conversion {
                    letter,
                    ..conversion.clone()
                };
                number(self.runtime, &conversion, argument, max_width)?
            }
            _ => return Ok(None),
        }))
    }
}

/// The byte of `%c`.
fn one_byte(argument: &Value<'_>) -> Result<u8> {
    if let Value::Bytes(bytes) = argument {
        if let [byte] = **bytes {
            return Ok(byte);
        }
    }
    if argument.as_integer().is_none() {
        return Err(Error::type_error("%c requires an integer in range(256) or a single byte"));
    }
    let byte = argument.as_int().and_then(|int| u8::try_from(int).ok());
    byte.ok_or_else(|| Error::new(ErrorKind::Overflow, "%c arg not in range(256)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use crate::limits::Limits;

    #[test]
    fn bytes_are_formatted_in_words_of_their_own() {
        let mut runtime = Runtime::new(Limits::default(), &SystemClock);
        let mut answer = |format: &[u8], argument: Value<'static>| match runtime.percent_bytes(format, &argument) {
            Ok(value) => runtime.repr(&value).unwrap(),
            Err(error) => error.message().to_owned(),
        };
        assert_eq!(answer(b"%05d|\xff", Value::Int(-3)), "b'-0003|\\xff'");
        assert_eq!(answer(b"%5.1b|", Value::Bytes(Bytes::from(&b"ab"[..]))), "b'    a|'");
        assert_eq!(answer(b"%c", Value::Int(256)), "%c arg not in range(256)");
        assert_eq!(answer(b"%f", Value::None), "float argument required, not NoneType");
        assert_eq!(answer(b"%\xff", Value::None), "character argument not in range(0x110000)");
    }
}
