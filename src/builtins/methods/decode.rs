//! `bytes.decode`: bytes as text, by the encodings of [`super::codec`].
//!
//! ```text
//! decode(Codec::Utf8, b"\xc3\xa9", "strict")     é
//! decode(Codec::Utf8, b"a\xff", "replace")       a and U+FFFD
//! ```
//!
//! The complaints are those of CPython 3.11 `unicodeobject.c` and `codecs.c`. Where a handler would make a lone surrogate,
//! which text here cannot hold, that is the error.

use super::codec::{BYTE_ORDER_MARK, Codec, Order, unknown_handler};
use crate::error::{Error, Result};
use crate::number::NumberError;
use std::fmt::Write;

/// Bytes that are no text: how many, and why.
struct Bad {
    len: usize,
    reason: &'static str,
}

/// The text, as far as it is made.
struct Decoder<'b> {
    codec: &'static str,
    bytes: &'b [u8],
    /// The next byte.
    at: usize,
    errors: &'b str,
    text: String,
}

/// The bytes as text.
pub fn decode(codec: Codec, bytes: &[u8], errors: &str) -> Result<String> {
    let mut decoder = Decoder {
        codec: "",
        bytes,
        at: 0,
        errors,
        text: String::with_capacity(bytes.len()),
    };
    match codec {
        Codec::Utf8 | Codec::Utf8Marked => {
            decoder.codec = "utf-8";
            // Places are counted behind the mark.
            if codec == Codec::Utf8Marked {
                decoder.bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            }
            decoder.utf8()?;
        }
        Codec::Ascii => {
            decoder.codec = "ascii";
            decoder.each(1, |bytes| match bytes {
                [byte @ ..=127, ..] => Ok((char::from(*byte), 1)),
                _ => Err(Bad {
                    len: 1,
                    reason: "ordinal not in range(128)",
                }),
            })?;
        }
        Codec::Latin1 => decoder.text.extend(bytes.iter().copied().map(char::from)),
        Codec::Utf16(order) => {
            let order = order.unwrap_or_else(|| decoder.skip_mark(2));
            decoder.codec = name_of(order, ["utf-16-le", "utf-16-be"]);
            decoder.each(2, |bytes| utf16(bytes, order))?;
        }
        Codec::Utf32(order) => {
            let order = order.unwrap_or_else(|| decoder.skip_mark(4));
            decoder.codec = name_of(order, ["utf-32-le", "utf-32-be"]);
            decoder.each(4, |bytes| utf32(bytes, order))?;
        }
    }
    Ok(decoder.text)
}

fn name_of(order: Order, [little, big]: [&'static str; 2]) -> &'static str {
    match order {
        Order::Little => little,
        Order::Big => big,
    }
}

fn unit(bytes: &[u8], order: Order) -> u32 {
    let add = |number: u32, byte: &u8| (number << 8) | u32::from(*byte);
    match order {
        Order::Big => bytes.iter().fold(0, add),
        Order::Little => bytes.iter().rev().fold(0, add),
    }
}

fn utf16(bytes: &[u8], order: Order) -> Result<(char, usize), Bad> {
    let high = unit(bytes.get(..2).unwrap_or_default(), order);
    if let Some(character) = char::from_u32(high) {
        return Ok((character, 2));
    }
    if high >= 0xdc00 {
        return Err(Bad {
            len: 2,
            reason: "illegal encoding",
        });
    }
    let Some(low) = bytes.get(2..4).map(|bytes| unit(bytes, order)) else {
        return Err(Bad {
            len: bytes.len(),
            reason: "unexpected end of data",
        });
    };
    if !(0xdc00..0xe000).contains(&low) {
        return Err(Bad {
            len: 2,
            reason: "illegal UTF-16 surrogate",
        });
    }
    let code = 0x10000_u32.saturating_add((high & 0x3ff) << 10 | (low & 0x3ff));
    char::from_u32(code).map(|character| (character, 4)).ok_or(Bad {
        len: 2,
        reason: "illegal encoding",
    })
}

fn utf32(bytes: &[u8], order: Order) -> Result<(char, usize), Bad> {
    let code = unit(bytes.get(..4).unwrap_or_default(), order);
    char::from_u32(code).map(|character| (character, 4)).ok_or(Bad {
        len: 4,
        reason: if code < 0x11_0000 {
            "code point in surrogate code point range(0xd800, 0xe000)"
        } else {
            "code point not in range(0x110000)"
        },
    })
}

impl Decoder<'_> {
    /// Skips a byte order mark of that many bytes; without one the order is the machine's, which is little.
    fn skip_mark(&mut self, len: usize) -> Order {
        let first = self.bytes.get(..len).unwrap_or_default();
        for order in [Order::Little, Order::Big] {
            if first.len() == len && unit(first, order) == u32::from(BYTE_ORDER_MARK) {
                self.at = len;
                return order;
            }
        }
        Order::Little
    }

    /// Decodes characters one by one, each of at least `size` bytes.
    fn each(&mut self, size: usize, one: impl Fn(&[u8]) -> Result<(char, usize), Bad>) -> Result<()> {
        while let Some(rest) = self.bytes.get(self.at..).filter(|rest| !rest.is_empty()) {
            let taken = if rest.len() < size {
                Err(Bad {
                    len: rest.len(),
                    reason: "truncated data",
                })
            } else {
                // No character has more than four bytes.
                one(rest.get(..4).unwrap_or(rest))
            };
            match taken {
                Ok((character, len)) => {
                    self.text.push(character);
                    self.at = self.at.saturating_add(len);
                }
                Err(bad) => self.recover(&bad)?,
            }
        }
        Ok(())
    }

    fn utf8(&mut self) -> Result<()> {
        while let Some(rest) = self.bytes.get(self.at..).filter(|rest| !rest.is_empty()) {
            let error = match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.text.push_str(text);
                    return Ok(());
                }
                Err(error) => error,
            };
            let (valid, bad) = rest.split_at_checked(error.valid_up_to()).unwrap_or((rest, &[]));
            self.text.push_str(std::str::from_utf8(valid).unwrap_or_default());
            self.at = self.at.saturating_add(valid.len());
            let reason = match (error.error_len(), bad.first()) {
                (None, _) => "unexpected end of data",
                (_, Some(0xc2..=0xf4)) => "invalid continuation byte",
                _ => "invalid start byte",
            };
            self.recover(&Bad {
                len: error.error_len().unwrap_or(bad.len()),
                reason,
            })?;
        }
        Ok(())
    }

    /// Lets the error handler do what it does with bytes that are no text.
    fn recover(&mut self, bad: &Bad) -> Result<()> {
        let bytes = self.bytes.get(self.at..).unwrap_or_default();
        let bytes = bytes.get(..bad.len).unwrap_or(bytes);
        match self.errors {
            "strict" => return Err(self.not_decodable(bytes, bad.reason)),
            "ignore" => {}
            "replace" => self.text.push(char::REPLACEMENT_CHARACTER),
            "backslashreplace" => bytes.iter().for_each(|byte| {
                // A string refuses nothing.
                let _ = write!(self.text, "\\x{byte:02x}");
            }),
            errors @ ("surrogateescape" | "surrogatepass") => {
                return Err(match self.lone_surrogate(errors) {
                    Some(code) => NumberError::Surrogate(code).into(),
                    None => self.not_decodable(bytes, bad.reason),
                });
            }
            errors => return Err(unknown_handler(errors)),
        }
        self.at = self.at.saturating_add(bytes.len().max(1));
        Ok(())
    }

    /// The lone surrogate that a handler makes of the next bytes, if they are any of its business.
    fn lone_surrogate(&self, errors: &str) -> Option<u32> {
        let rest = self.bytes.get(self.at..)?;
        match (errors, self.codec, rest) {
            ("surrogateescape", _, [byte @ 0x80..=0xff, ..]) => Some(0xdc00 | u32::from(*byte)),
            ("surrogatepass", "utf-8", [0xed, high @ 0xa0..=0xbf, low @ 0x80..=0xbf, ..]) => {
                Some(0xd000 | u32::from(*high & 0x3f) << 6 | u32::from(*low & 0x3f))
            }
            ("surrogatepass", "utf-16-le", _) => Some(unit(rest.get(..2)?, Order::Little)),
            ("surrogatepass", "utf-16-be", _) => Some(unit(rest.get(..2)?, Order::Big)),
            ("surrogatepass", "utf-32-le", _) => Some(unit(rest.get(..4)?, Order::Little)),
            ("surrogatepass", "utf-32-be", _) => Some(unit(rest.get(..4)?, Order::Big)),
            _ => None,
        }
        .filter(|code| (0xd800..0xe000).contains(code))
    }

    #[cold]
    fn not_decodable(&self, bytes: &[u8], reason: &str) -> Error {
        let (codec, at) = (self.codec, self.at);
        Error::value(match bytes {
            [byte] => format!("'{codec}' codec can't decode byte 0x{byte:02x} in position {at}: {reason}"),
            _ => {
                let last = at.saturating_add(bytes.len()).saturating_sub(1);
                format!("'{codec}' codec can't decode bytes in position {at}-{last}: {reason}")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_bytes() {
        let decoded = |codec, bytes: &[u8], errors| decode(codec, bytes, errors).map_err(|error| error.message().to_owned());
        assert_eq!(decoded(Codec::Utf8, b"a\xffb", "replace").as_deref(), Ok("a\u{fffd}b"));
        assert_eq!(decoded(Codec::Utf16(None), b"\xff\xfea\0", "strict").as_deref(), Ok("a"));
        let cases: [(Codec, &[u8], &str); 4] = [
            (
                Codec::Utf8,
                b"a\xe2\x82",
                "'utf-8' codec can't decode bytes in position 1-2: unexpected end of data",
            ),
            (
                Codec::Utf8,
                b"\xff",
                "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
            ),
            (
                Codec::Ascii,
                b"a\xff",
                "'ascii' codec can't decode byte 0xff in position 1: ordinal not in range(128)",
            ),
            (
                Codec::Utf16(None),
                b"abc",
                "'utf-16-le' codec can't decode byte 0x63 in position 2: truncated data",
            ),
        ];
        for (codec, bytes, message) in cases {
            assert_eq!(decoded(codec, bytes, "strict"), Err(message.to_owned()));
        }
    }

    #[test]
    fn a_lone_surrogate_is_not_supported() {
        let refused = |codec, bytes: &[u8], errors| decode(codec, bytes, errors).map_err(|error| error.message().to_owned());
        let surrogate = |code: &str| Err(format!("lone surrogate U+{code} is not supported"));
        assert_eq!(refused(Codec::Utf8, b"a\xff", "surrogateescape"), surrogate("DCFF"));
        assert_eq!(refused(Codec::Utf8, b"\xed\xa1\x82", "surrogatepass"), surrogate("D842"));
        assert_eq!(
            refused(Codec::Utf16(Some(Order::Big)), b"\xdc\x05", "surrogatepass"),
            surrogate("DC05")
        );
        assert_eq!(
            refused(Codec::Utf32(Some(Order::Little)), b"\x05\xdc\0\0", "surrogatepass"),
            surrogate("DC05")
        );
    }
}
