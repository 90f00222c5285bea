//! Reads JSON text into a tree that borrows from it, exactly as CPython's `json.loads` does.
//!
//! ```text
//! read(r#" {"a": [1, 2.50, "x"]} "#, DEPTH)?   ->   Object[("a", List[Int(1), Float(2.5), Str("x")])]
//! read("[1,]", DEPTH)                          ->   Expecting value: line 1 column 4 (char 3)
//! ```
//!
//! The rules are CPython 3.11 `json/decoder.py` and `_json.c`: which white space counts, what is looked at first, and what each error
//! says of which place. The open arrays and objects are a stack on the heap, so that no text can exhaust the thread's.

use std::borrow::Cow;

use super::error::{Fault, JsonError};
use super::scan::Marks;
use crate::data::{Data, Entry, Object};

/// How deep arrays and objects may nest where nobody says otherwise.
///
/// A tool's schema has some 20 levels, and CPython gives up at about 1000. What is read is compared, cloned and dropped by recursion:
/// at 512 levels the hungriest of these takes 300 KiB of a thread's usual 2 MiB, and 1.2 MiB where nothing was optimised.
pub const DEPTH: usize = 512;

/// Bytes that the values of one text may take, without the characters of strings that borrow from it: three million numbers. A text of
/// commas takes 16 times its own length, so that 100 MB of them would not fit into the memory of a small server; and a render needs
/// room beside it.
const MAX_BYTES: usize = 96 << 20;

/// Bytes that the allocator takes for any piece of memory, besides what is asked for.
const PIECE: usize = 24;

/// Arrays and objects with fewer members are copied out of those around them.
const LONG: usize = 4096;

/// Reads one JSON document.
///
/// # Errors
/// As [`JsonErrorKind`](super::JsonErrorKind) says.
pub fn read(text: &str, depth_limit: usize) -> Result<Data<'_>, JsonError> {
    let mut reader = Reader {
        text,
        at: 0,
        marks: Marks::new(text.as_bytes()),
        depth_limit,
        bytes: 0,
        lone_surrogate: None,
        decoded: String::new(),
    };
    reader.document().map_err(|fault| fault.into_error(text))
}

/// Reads one JSON document from bytes, which must be UTF-8 without a byte order mark.
///
/// # Errors
/// As [`read`], and when the bytes are not UTF-8.
pub fn read_bytes(bytes: &[u8], depth_limit: usize) -> Result<Data<'_>, JsonError> {
    let text = std::str::from_utf8(bytes).map_err(|error| JsonError::encoding(bytes, error))?;
    read(text, depth_limit)
}

/// A text and how far it has been read.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    /// The next byte; only whole characters are ever taken.
    pub(super) at: usize,
    /// Where strings end, and their escapes.
    pub(super) marks: Marks<'a>,
    depth_limit: usize,
    /// What the values so far take, without the characters of strings.
    bytes: usize,
    /// The first one, if any.
    pub(super) lone_surrogate: Option<Fault>,
    /// Room for the string that is being decoded.
    pub(super) decoded: String,
}

/// An array or object that is still open, by where its members begin among those of all open ones.
enum Open {
    List { start: usize },
    Object { start: usize },
}

/// What has been read so far.
#[derive(Default)]
struct Unfinished<'a> {
    open: Vec<Open>,
    /// The items of all open arrays, the outermost first. They are moved into a vector of the right size when their array ends.
    items: Vec<Data<'a>>,
    /// The entries of all open objects likewise.
    entries: Vec<Entry<'a>>,
    /// The key of the next entry of each open object.
    keys: Vec<Cow<'a, str>>,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Data<'a>, Fault> {
        if self.text.starts_with('\u{feff}') {
            return Err(Fault::syntax("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0));
        }
        self.skip_white_space();
        let data = self.value()?;
        self.skip_white_space();
        if self.at < self.text.len() {
            return Err(Fault::syntax("Extra data", self.at));
        }
        self.lone_surrogate.map_or(Ok(data), Err)
    }

    /// Reads one value with all that it holds.
    fn value(&mut self) -> Result<Data<'a>, Fault> {
        let mut unfinished = Unfinished::default();
        loop {
            let mut value = match self.byte() {
                Some(b'"') => {
                    self.advance(1);
                    Data::Str(self.string()?)
                }
                Some(b'{') => {
                    self.open(&unfinished)?;
                    if self.byte() != Some(b'}') {
                        let start = unfinished.entries.len();
                        unfinished.keys.push(self.key()?);
                        unfinished.open.push(Open::Object { start });
                        continue;
                    }
                    self.advance(1);
                    Data::Object(Object::default())
                }
                Some(b'[') => {
                    self.open(&unfinished)?;
                    if self.byte() != Some(b']') {
                        let start = unfinished.items.len();
                        unfinished.open.push(Open::List { start });
                        continue;
                    }
                    self.advance(1);
                    Data::List(Vec::new())
                }
                Some(b'n') if self.take(b"null") => Data::None,
                Some(b't') if self.take(b"true") => Data::Bool(true),
                Some(b'f') if self.take(b"false") => Data::Bool(false),
                _ => self.number()?,
            };
            // A finished value may be the last member of those around it.
            loop {
                let Some(innermost) = unfinished.open.last() else {
                    return Ok(value);
                };
                self.skip_white_space();
                let follower = self.byte();
                match innermost {
                    Open::List { start } => {
                        unfinished.items.push(value);
                        self.count(size_of::<Data<'_>>())?;
                        match follower {
                            Some(b',') => {
                                self.advance(1);
                                self.skip_white_space();
                                break;
                            }
                            Some(b']') => {
                                self.count(PIECE)?;
                                value = Data::List(members(&mut unfinished.items, *start));
                            }
                            _ => return Err(Fault::syntax("Expecting ',' delimiter", self.at)),
                        }
                    }
                    Open::Object { start } => {
                        if let Some(key) = unfinished.keys.pop() {
                            unfinished.entries.push((key, value));
                        }
                        self.count(size_of::<Entry<'_>>())?;
                        match follower {
                            Some(b',') => {
                                self.advance(1);
                                self.skip_white_space();
                                unfinished.keys.push(self.key()?);
                                break;
                            }
                            Some(b'}') => {
                                self.count(PIECE)?;
                                value = Data::Object(Object::new(members(&mut unfinished.entries, *start)));
                            }
                            _ => return Err(Fault::syntax("Expecting ',' delimiter", self.at)),
                        }
                    }
                }
                self.advance(1);
                unfinished.open.pop();
            }
        }
    }

    /// Takes an opening bracket and the white space behind it.
    fn open(&mut self, unfinished: &Unfinished<'a>) -> Result<(), Fault> {
        if unfinished.open.len() >= self.depth_limit {
            return Err(Fault::TooDeep {
                limit: self.depth_limit,
                at: self.at,
            });
        }
        self.advance(1);
        self.skip_white_space();
        Ok(())
    }

    /// Counts a piece of memory that a string or a number takes beside its place.
    pub(super) fn count_piece(&mut self, bytes: usize) -> Result<(), Fault> {
        self.count(bytes.saturating_add(PIECE))
    }

    /// Counts what a member takes beside the pieces of memory that it holds.
    #[inline]
    fn count(&mut self, bytes: usize) -> Result<(), Fault> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_BYTES {
            return Err(Fault::TooLarge {
                limit: MAX_BYTES,
                bytes: self.bytes,
                at: self.at,
            });
        }
        Ok(())
    }

    /// Takes a key, its colon, and the white space behind it.
    #[inline]
    fn key(&mut self) -> Result<Cow<'a, str>, Fault> {
        if self.byte() != Some(b'"') {
            return Err(Fault::syntax("Expecting property name enclosed in double quotes", self.at));
        }
        self.advance(1);
        let key = self.string()?;
        self.skip_white_space();
        if self.byte() != Some(b':') {
            return Err(Fault::syntax("Expecting ':' delimiter", self.at));
        }
        self.advance(1);
        self.skip_white_space();
        Ok(key)
    }

    /// The next byte.
    #[inline]
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The bytes from the next one on.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Takes so many bytes, which are there and are whole characters.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a text is never longer than a number of bytes can say"
    )]
    #[inline]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    fn take(&mut self, word: &[u8]) -> bool {
        let is_next = self.rest().starts_with(word);
        if is_next {
            self.advance(word.len());
        }
        is_next
    }

    #[inline]
    fn skip_white_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte() {
            self.advance(1);
        }
    }
}

/// Takes what stands from there on, in a vector of its own. The shorter part is the one that is copied, so that a long array is never in
/// memory twice.
fn members<T>(all: &mut Vec<T>, start: usize) -> Vec<T> {
    if start >= all.len() / 2 || all.len() < LONG {
        return all.split_off(start);
    }
    let before = all.drain(..start).collect();
    let mut members = std::mem::replace(all, before);
    members.shrink_to_fit();
    members
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::JsonErrorKind;

    fn debug(text: &str) -> String {
        match read(text, DEPTH) {
            Ok(data) => format!("{data:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn numbers_are_python_s() {
        let cases = [
            ("-0", "Int(0)"),
            ("-0.0", "Float(-0.0)"),
            ("9223372036854775807", "Int(9223372036854775807)"),
            ("-9223372036854775808", "Int(-9223372036854775808)"),
            ("9223372036854775808", "BigInt(9223372036854775808)"),
            ("1e999", "Float(inf)"),
            ("-Infinity", "Float(-inf)"),
            ("NaN", "Float(NaN)"),
            ("01", "Extra data: line 1 column 2 (char 1)"),
            ("1.", "Extra data: line 1 column 2 (char 1)"),
            ("1e+", "Extra data: line 1 column 2 (char 1)"),
            ("-NaN", "Expecting value: line 1 column 1 (char 0)"),
        ];
        for (text, expected) in cases {
            assert_eq!(debug(text), expected, "{text}");
        }
        assert!(debug(&"9".repeat(4300)).starts_with("BigInt"));
        assert_eq!(
            debug(&format!("-{}", "9".repeat(4301))),
            "Exceeds the limit (4300 digits) for integer string conversion: value has 4301 digits; \
             use sys.set_int_max_str_digits() to increase the limit"
        );
    }

    #[test]
    fn strings_borrow_until_an_escape() {
        assert!(matches!(
            read("\"ab\u{e9}\"", DEPTH),
            Ok(Data::Str(Cow::Borrowed("ab\u{e9}")))
        ));
        let escaped = read(r#""\"\\\/\b\f\n\r\t\u00E9\ud83d\ude00""#, DEPTH);
        assert_eq!(escaped, Ok(Data::Str("\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}".into())));
    }

    #[test]
    fn errors_are_python_s() {
        let cases = [
            ("", "Expecting value: line 1 column 1 (char 0)"),
            (
                "\u{feff}1",
                "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)",
            ),
            ("[1,]", "Expecting value: line 1 column 4 (char 3)"),
            (
                "{\"a\":1,}",
                "Expecting property name enclosed in double quotes: line 1 column 8 (char 7)",
            ),
            ("[\u{e9}\n", "Expecting value: line 1 column 2 (char 1)"),
            ("\"\u{e9}\u{1}\"", "Invalid control character at: line 1 column 3 (char 2)"),
            ("[\"ab", "Unterminated string starting at: line 1 column 2 (char 1)"),
            (r#""\u12""#, "Invalid \\uXXXX escape: line 1 column 3 (char 2)"),
            (r#""\x""#, "Invalid \\escape: line 1 column 2 (char 1)"),
            (r#"{"a" 1}"#, "Expecting ':' delimiter: line 1 column 6 (char 5)"),
            ("{} x", "Extra data: line 1 column 4 (char 3)"),
        ];
        for (text, expected) in cases {
            assert_eq!(debug(text), expected, "{text}");
        }
    }

    #[test]
    fn a_lone_surrogate_is_an_error_unless_python_has_one_of_its_own() {
        assert_eq!(
            debug(r#"["\ud83d\u0041"]"#),
            "Lone surrogate \\ud83d is not supported: line 1 column 3 (char 2)"
        );
        assert_eq!(debug(r#"["\ude00""#), "Expecting ',' delimiter: line 1 column 10 (char 9)");
    }

    #[test]
    fn depth_is_bounded() {
        assert!(read("[[[]]]", 3).is_ok());
        let error = read("[[[]]]", 2).unwrap_err();
        assert_eq!(error.kind(), JsonErrorKind::TooDeep);
        assert_eq!(
            error.to_string(),
            "limit reached: json_depth: 3 levels, at most 2: line 1 column 3 (char 2)"
        );
        assert!(read(&"[".repeat(1 << 20), DEPTH).is_err());
    }
}
