//! Turns the text of a file into JSON Lines in UTF-8: without a byte order mark, from UTF-16, and from one JSON array.
//!
//! ```text
//! [                                   {"messages": []}
//!   {"messages": []},           ->    {"messages": [] }
//!   {"messages": []
//!   }]
//! ```

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result};

use super::codec::BUFFER;

/// The bytes of white space in JSON.
const BLANKS: &[u8] = b" \t\r\n";

/// Returns the text of a file as JSON Lines, with what the file was.
pub fn to_lines(mut reader: Box<dyn BufRead>) -> Result<(Box<dyn BufRead>, Vec<&'static str>)> {
    let mut found = Vec::new();
    let start = reader.fill_buf()?;
    let mark = match start {
        [0xef, 0xbb, 0xbf, ..] => Some((3, None)),
        // UTF-32 has the same first bytes.
        [0xff, 0xfe, 0, 0, ..] => None,
        [0xff, 0xfe, ..] => Some((2, Some(u16::from_le_bytes as fn([u8; 2]) -> u16))),
        [0xfe, 0xff, ..] => Some((2, Some(u16::from_be_bytes as fn([u8; 2]) -> u16))),
        _ => None,
    };
    if let Some((length, decode)) = mark {
        reader.consume(length);
        match decode {
            None => found.push("a byte order mark"),
            Some(decode) => {
                found.push("UTF-16");
                let text = Utf16 {
                    inner: reader,
                    decode,
                    high: None,
                    ready: VecDeque::new(),
                };
                reader = Box::new(BufReader::with_capacity(BUFFER, text));
            }
        }
    }
    if is_array(reader.fill_buf()?.trim_ascii_start()) {
        found.push("one JSON array");
        let array = Array {
            inner: reader,
            depth: 0,
            in_string: false,
            is_escaped: false,
            is_complete: false,
        };
        reader = Box::new(BufReader::with_capacity(BUFFER, array));
    }
    Ok((reader, found))
}

/// Returns whether text begins one array of objects. In a file with an array in each line, another array follows the first line.
fn is_array(start: &[u8]) -> bool {
    let item = start.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    let mut lines = start.splitn(2, |byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let is_line = lines.next().is_some_and(|line| line.ends_with(b"]")) && lines.next().is_some_and(|rest| rest.starts_with(b"["));
    item.is_some_and(|item| !item.starts_with(b"[")) && !is_line
}

fn refuse<T>(message: &str) -> Result<T> {
    Err(Error::new(ErrorKind::InvalidData, message))
}

/// Text in UTF-16, read as UTF-8.
struct Utf16 {
    inner: Box<dyn BufRead>,
    decode: fn([u8; 2]) -> u16,
    /// The first half of a surrogate pair.
    high: Option<u16>,
    /// The bytes that are still to be returned.
    ready: VecDeque<u8>,
}

impl Read for Utf16 {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.ready.is_empty() {
            let mut bytes = Vec::new();
            self.inner.by_ref().take(BUFFER as u64).read_to_end(&mut bytes)?;
            let units = bytes.chunks(2).map(|unit| unit.try_into().map(self.decode));
            let Ok(mut units) = units.collect::<std::result::Result<VecDeque<u16>, _>>() else {
                return refuse("the text in UTF-16 ends in the middle of a character");
            };
            let is_last = units.is_empty();
            if let Some(high) = self.high.take() {
                units.push_front(high);
            }
            if !is_last && units.back().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
                self.high = units.pop_back();
            }
            for char in char::decode_utf16(units) {
                let Ok(char) = char else {
                    return refuse("the text in UTF-16 has half a surrogate pair");
                };
                self.ready.extend(char.encode_utf8(&mut [0; 4]).bytes());
            }
        }
        self.ready.read(buffer)
    }
}

/// The items of one JSON array, read as lines. Line breaks within an item become blanks.
struct Array {
    inner: Box<dyn BufRead>,
    /// The number of open arrays and objects.
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// Whether the array has ended.
    is_complete: bool,
}

impl Read for Array {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && !buffer.is_empty() && !self.is_complete {
            return refuse("the JSON array has no end, so the file is incomplete");
        }
        for byte in buffer.iter_mut().take(read) {
            *byte = self.next(*byte)?;
        }
        Ok(read)
    }
}

impl Array {
    /// Returns the byte in place of the next one.
    fn next(&mut self, byte: u8) -> Result<u8> {
        if self.in_string {
            self.in_string = byte != b'"' || self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            return Ok(byte);
        }
        if self.is_complete && !BLANKS.contains(&byte) {
            return refuse("there is more after the end of the JSON array");
        }
        match byte {
            b'"' => self.in_string = true,
            b'[' | b'{' => {
                self.depth = self.depth.saturating_add(1);
                if self.depth == 1 {
                    return Ok(b' ');
                }
            }
            b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.is_complete = true;
                    return Ok(b'\n');
                }
            }
            b',' if self.depth == 1 => return Ok(b'\n'),
            b'\n' | b'\r' => return Ok(b' '),
            _ => {}
        }
        Ok(byte)
    }
}
