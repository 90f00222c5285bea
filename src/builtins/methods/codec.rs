//! The encodings of `str.encode` and `bytes.decode`.
//!
//! ```text
//! Codec::find("UTF-8")?.encode("é", "strict")            C3 A9
//! Codec::find("ascii")?.encode("é", "backslashreplace")  \xe9
//! ```
//!
//! UTF-8, with a mark and without, ASCII, Latin-1, UTF-16 and UTF-32 under all the names that CPython 3.11 has for them
//! (`encodings/aliases.py`); every other encoding is unknown here. Bytes become text in [`super::decode`]. The complaints are those of
//! `codecs.c` and `exceptions.c`.

use crate::error::{Error, Result};
use crate::text::measure::written;
use crate::text::quote::write_code;
use crate::unicode;

/// An encoding of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// `utf-8`
    Utf8,
    /// `utf-8-sig`: a mark goes before the text.
    Utf8Marked,
    /// `ascii`
    Ascii,
    /// `latin-1`
    Latin1,
    /// `utf-16`, with a byte order or with a mark that says it.
    Utf16(Option<Order>),
    /// `utf-32`, the same.
    Utf32(Option<Order>),
}

/// Which byte of a number comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The lowest.
    Little,
    /// The highest.
    Big,
}

/// The character that begins a text to say its byte order.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

impl Codec {
    /// The encoding of that name, however it is spelled.
    pub fn find(name: &str) -> Result<Self> {
        let codec = match normalized(name).as_str() {
            "utf_8" | "utf8" | "u8" | "utf" | "utf8_ucs2" | "utf8_ucs4" | "cp65001" => Self::Utf8,
            "utf_8_sig" => Self::Utf8Marked,
            "ascii" | "us_ascii" | "us" | "646" | "iso646_us" | "iso_646.irv_1991" | "iso_ir_6" | "cp367" | "ibm367"
            | "csascii" | "ansi_x3.4_1968" | "ansi_x3.4_1986" | "ansi_x3_4_1968" => Self::Ascii,
            "latin_1" | "latin1" | "latin" | "l1" | "iso_8859_1" | "iso8859_1" | "iso8859" | "8859" | "cp819" | "ibm819"
            | "csisolatin1" | "iso_8859_1_1987" | "iso_ir_100" => Self::Latin1,
            "utf_16" | "utf16" | "u16" => Self::Utf16(None),
            "utf_16_le" | "utf_16le" | "unicodelittleunmarked" => Self::Utf16(Some(Order::Little)),
            "utf_16_be" | "utf_16be" | "unicodebigunmarked" => Self::Utf16(Some(Order::Big)),
            "utf_32" | "utf32" | "u32" => Self::Utf32(None),
            "utf_32_le" | "utf_32le" => Self::Utf32(Some(Order::Little)),
            "utf_32_be" | "utf_32be" => Self::Utf32(Some(Order::Big)),
            _ => return Err(Error::runtime(format!("unknown encoding: {name}"))),
        };
        Ok(codec)
    }

    /// The text as bytes. What has no bytes goes to the error handler of that name.
    pub fn encode(self, text: &str, errors: &str) -> Result<Vec<u8>> {
        match self {
            Self::Utf8 => Ok(text.as_bytes().to_vec()),
            Self::Utf8Marked => Ok(format!("{BYTE_ORDER_MARK}{text}").into_bytes()),
            Self::Ascii => encode_bytes(text, errors, "ascii", 128),
            Self::Latin1 => encode_bytes(text, errors, "latin-1", 256),
            Self::Utf16(order) => {
                let mut bytes = Vec::with_capacity(text.len().saturating_mul(2).saturating_add(2));
                let mut units = [0; 2];
                for character in marked(text, order) {
                    for unit in character.encode_utf16(&mut units) {
                        bytes.extend(if order == Some(Order::Big) {
                            unit.to_be_bytes()
                        } else {
                            unit.to_le_bytes()
                        });
                    }
                }
                Ok(bytes)
            }
            Self::Utf32(order) => {
                let mut bytes = Vec::with_capacity(text.len().saturating_mul(4).saturating_add(4));
                for code in marked(text, order).map(u32::from) {
                    bytes.extend(if order == Some(Order::Big) {
                        code.to_be_bytes()
                    } else {
                        code.to_le_bytes()
                    });
                }
                Ok(bytes)
            }
        }
    }
}

/// The text behind a byte order mark, unless the order is said.
fn marked(text: &str, order: Option<Order>) -> impl Iterator<Item = char> + '_ {
    let mark = order.is_none().then_some(BYTE_ORDER_MARK);
    mark.into_iter().chain(text.chars())
}

/// CPython `encodings/__init__.py` `normalize_encoding`: what is neither a letter nor a digit nor a point is one underscore between
/// others.
fn normalized(name: &str) -> String {
    let mut normalized = String::new();
    let mut is_gap = false;
    for character in name.chars() {
        if character.is_ascii_alphanumeric() || character == '.' {
            if is_gap && !normalized.is_empty() {
                normalized.push('_');
            }
            is_gap = false;
            normalized.push(character.to_ascii_lowercase());
        } else {
            is_gap = true;
        }
    }
    normalized
}

/// An encoding of one byte for each of the first `limit` characters.
fn encode_bytes(text: &str, errors: &str, codec: &str, limit: u32) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    for (position, character) in text.chars().enumerate() {
        let code = u32::from(character);
        match u8::try_from(code).ok().filter(|_| code < limit) {
            Some(byte) => bytes.push(byte),
            None => match errors {
                "strict" | "surrogateescape" | "surrogatepass" => return Err(not_encodable(text, codec, limit, position)),
                "ignore" => {}
                "replace" => bytes.push(b'?'),
                "xmlcharrefreplace" => bytes.extend(format!("&#{code};").into_bytes()),
                "backslashreplace" => bytes.extend(escaped(character).into_bytes()),
                "namereplace" => bytes.extend(named(character).into_bytes()),
                _ => return Err(unknown_handler(errors)),
            },
        }
    }
    Ok(bytes)
}

/// The complaint about an error handler that does not exist.
#[cold]
pub(super) fn unknown_handler(name: &str) -> Error {
    Error::runtime(format!("unknown error handler name '{name}'"))
}

/// The character by its name, as an escape.
fn named(character: char) -> String {
    unicode::official_name(character).map_or_else(|| escaped(character), |name| format!("\\N{{{name}}}"))
}

/// The character as an escape.
fn escaped(character: char) -> String {
    written(|output| write_code(output, character))
}

#[cold]
fn not_encodable(text: &str, codec: &str, limit: u32, position: usize) -> Error {
    let run = text
        .chars()
        .skip(position)
        .take_while(|character| u32::from(*character) >= limit)
        .count();
    let what = match (run, text.chars().nth(position)) {
        (..=1, Some(character)) => format!("character '{}' in position {position}", escaped(character)),
        _ => format!(
            "characters in position {position}-{}",
            position.saturating_add(run).saturating_sub(1)
        ),
    };
    Error::value(format!("'{codec}' codec can't encode {what}: ordinal not in range({limit})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_they_are_spelled() {
        for name in ["utf-8", "UTF8", "u8", "UTF--8"] {
            assert_eq!(Codec::find(name).ok(), Some(Codec::Utf8), "{name}");
        }
        assert_eq!(Codec::find("nope").unwrap_err().message(), "unknown encoding: nope");
    }

    #[test]
    fn what_has_no_bytes_goes_to_the_handler() {
        let encoded = |text, errors| Codec::Ascii.encode(text, errors).map_err(|error| error.message().to_owned());
        assert_eq!(encoded("é€", "backslashreplace").as_deref(), Ok(&b"\\xe9\\u20ac"[..]));
        let message = "'ascii' codec can't encode characters in position 1-2: ordinal not in range(128)";
        assert_eq!(encoded("aéé", "strict"), Err(message.to_owned()));
    }
}
