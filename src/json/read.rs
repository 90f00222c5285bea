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
use super::tree::{Data, Entry, Object};

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
const ALLOCATION_OVERHEAD: usize = 24;

/// Room for so many members of open arrays and objects, and for so many of these, is there from the beginning: most conversations of
/// a few messages need no more.
const INITIAL_CAPACITY: usize = 16;

/// Arrays and objects with fewer members are copied out of those around them.
const MIN_LONG: usize = 4096;

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
        bytes_left: MAX_BYTES,
        lone_surrogate: None,
        decoded: String::new(),
    };
    reader.read_document().map_err(|fault| fault.into_error(text))
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
    /// What the values may still take, without the characters of strings.
    bytes_left: usize,
    /// The first one, if any.
    pub(super) lone_surrogate: Option<Fault>,
    /// Room for the string that is being decoded.
    pub(super) decoded: String,
}

/// Where a value belongs.
#[derive(Clone, Copy)]
enum Parent {
    /// Nowhere: it is the document.
    Document,
    /// Into an array, by where its items begin among those of all that are open.
    List { start: usize },
    /// Into an object, by where its entries begin likewise.
    Object { start: usize },
}

/// What has been read so far of the arrays and objects that are open.
struct Unfinished<'a> {
    /// The place of the value that comes next.
    parent: Parent,
    /// The places of the arrays and objects that are open, the outermost first.
    outer: Vec<Parent>,
    /// The keys of those among them that belong into objects.
    keys: Vec<Cow<'a, str>>,
    /// The items of all open arrays, the outermost first. They are moved into a vector of the right size when their array ends.
    items: Vec<Data<'a>>,
    /// The entries of all open objects likewise.
    entries: Vec<Entry<'a>>,
}

impl<'a> Unfinished<'a> {
    /// Begins an array or object, whose members belong there.
    #[inline(always)]
    fn open(&mut self, key: Cow<'a, str>, parent: Parent) {
        if let Parent::Object { .. } = self.parent {
            push_with(&mut self.keys, || key);
        }
        self.outer.push(self.parent);
        self.parent = parent;
    }

    /// Puts a value into its place, and says how many bytes it takes there.
    #[inline(always)]
    fn add(&mut self, key: Cow<'a, str>, value: impl FnOnce() -> Data<'a>) -> usize {
        match self.parent {
            Parent::Object { .. } => {
                push_with(&mut self.entries, || (key, value()));
                size_of::<Entry<'_>>()
            }
            _ => {
                push_with(&mut self.items, value);
                size_of::<Data<'_>>()
            }
        }
    }

    /// Ends an array or object, and says the key that it belongs to.
    #[inline(always)]
    fn close(&mut self) -> Cow<'a, str> {
        self.parent = self.outer.pop().unwrap_or(Parent::Document);
        let key = match self.parent {
            Parent::Object { .. } => self.keys.pop(),
            _ => None,
        };
        key.unwrap_or_default()
    }
}

impl<'a> Reader<'a> {
    fn read_document(&mut self) -> Result<Data<'a>, Box<Fault>> {
        if self.text.starts_with('\u{feff}') {
            return Err(Fault::syntax("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0));
        }
        self.skip_whitespace();
        let data = self.read_value()?;
        self.skip_whitespace();
        if self.at < self.text.len() {
            return Err(Fault::syntax("Extra data", self.at));
        }
        self.lone_surrogate.map_or(Ok(data), |fault| Err(Box::new(fault)))
    }

    /// Reads one value with all that it holds.
    fn read_value(&mut self) -> Result<Data<'a>, Box<Fault>> {
        let mut unfinished = Unfinished {
            parent: Parent::Document,
            outer: Vec::with_capacity(INITIAL_CAPACITY),
            keys: Vec::with_capacity(INITIAL_CAPACITY),
            items: Vec::with_capacity(INITIAL_CAPACITY),
            entries: Vec::with_capacity(INITIAL_CAPACITY),
        };
        loop {
            let key = match unfinished.parent {
                Parent::Object { .. } => self.read_key()?,
                _ => Cow::Borrowed(""),
            };
            let mut bytes = match self.next_byte() {
                b'"' => {
                    let text = self.read_string()?;
                    unfinished.add(key, || Data::Str(text))
                }
                b'{' => {
                    if self.enter(unfinished.outer.len())? != b'}' {
                        let start = unfinished.entries.len();
                        unfinished.open(key, Parent::Object { start });
                        continue;
                    }
                    self.advance(1);
                    unfinished.add(key, || Data::Object(Object::default()))
                }
                b'[' => {
                    if self.enter(unfinished.outer.len())? != b']' {
                        let start = unfinished.items.len();
                        unfinished.open(key, Parent::List { start });
                        continue;
                    }
                    self.advance(1);
                    unfinished.add(key, || Data::List(Vec::new()))
                }
                byte => {
                    let leaf = match byte {
                        b'n' if self.eat(b"null") => Data::None,
                        b't' if self.eat(b"true") => Data::Bool(true),
                        b'f' if self.eat(b"false") => Data::Bool(false),
                        _ => self.read_number()?,
                    };
                    unfinished.add(key, || leaf)
                }
            };
            // A finished value may be the last member of those around it.
            loop {
                let follower = self.skip_whitespace();
                self.count(bytes)?;
                bytes = match (unfinished.parent, follower) {
                    (Parent::Document, _) => return Ok(unfinished.items.pop().unwrap_or(Data::None)),
                    (_, b',') => break,
                    (Parent::List { start }, b']') => {
                        let items = take_members(&mut unfinished.items, start);
                        let key = unfinished.close();
                        unfinished.add(key, || Data::List(items))
                    }
                    (Parent::Object { start }, b'}') => {
                        let is_small_and_distinct =
                            Object::is_small_and_distinct(unfinished.entries.get(start..).unwrap_or_default());
                        let entries = take_members(&mut unfinished.entries, start);
                        let key = unfinished.close();
                        if is_small_and_distinct {
                            unfinished.add(key, || Data::Object(Object::from_distinct(entries)))
                        } else {
                            let object = Object::new(entries);
                            unfinished.add(key, || Data::Object(object))
                        }
                    }
                    _ => return Err(Fault::syntax("Expecting ',' delimiter", self.at)),
                };
                self.count(ALLOCATION_OVERHEAD)?;
                self.advance(1);
            }
            self.advance(1);
            self.skip_whitespace();
        }
    }

    /// Takes an opening bracket, and says what follows.
    fn enter(&mut self, depth: usize) -> Result<u8, Box<Fault>> {
        if depth >= self.depth_limit {
            return Err(Box::new(Fault::TooDeep {
                limit: self.depth_limit,
                at: self.at,
            }));
        }
        self.advance(1);
        Ok(self.skip_whitespace())
    }

    /// Counts a piece of memory that a string or a number takes beside its place.
    pub(super) fn count_allocation(&mut self, bytes: usize) -> Result<(), Box<Fault>> {
        self.count(bytes.saturating_add(ALLOCATION_OVERHEAD))
    }

    /// Counts what a member takes beside the pieces of memory that it holds.
    #[inline]
    fn count(&mut self, bytes: usize) -> Result<(), Box<Fault>> {
        let Some(bytes_left) = self.bytes_left.checked_sub(bytes) else {
            let bytes = MAX_BYTES.saturating_sub(self.bytes_left).saturating_add(bytes);
            return Err(Fault::too_large(MAX_BYTES, bytes, self.at));
        };
        self.bytes_left = bytes_left;
        Ok(())
    }

    /// Takes a key, its colon, and the white space behind it.
    #[inline]
    fn read_key(&mut self) -> Result<Cow<'a, str>, Box<Fault>> {
        if self.next_byte() != b'"' {
            return Err(Fault::syntax("Expecting property name enclosed in double quotes", self.at));
        }
        let key = self.read_string()?;
        if self.skip_whitespace() != b':' {
            return Err(Fault::syntax("Expecting ':' delimiter", self.at));
        }
        self.advance(1);
        self.skip_whitespace();
        Ok(key)
    }

    /// The next byte, and a NUL at the end of the text, which has a meaning nowhere either.
    #[inline]
    pub(super) fn next_byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or_default()
    }

    /// The next byte that is no white space; what is goes.
    #[inline]
    fn skip_whitespace(&mut self) -> u8 {
        loop {
            match self.next_byte() {
                b' ' | b'\t' | b'\n' | b'\r' => self.advance(1),
                byte => return byte,
            }
        }
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

    fn eat(&mut self, word: &[u8]) -> bool {
        let is_next = self.rest().starts_with(word);
        if is_next {
            self.advance(word.len());
        }
        is_next
    }
}

/// Pushes what `make` makes. Where there is room nothing can go wrong once it is made, so that its parts are written straight to their
/// place: written to the stack and copied from there as a whole, the processor waits for them.
#[inline(always)]
fn push_with<T>(all: &mut Vec<T>, make: impl FnOnce() -> T) {
    if all.len() < all.capacity() {
        all.push(make());
    } else {
        push_growing(all, make());
    }
}

#[cold]
#[inline(never)]
fn push_growing<T>(all: &mut Vec<T>, one: T) {
    all.push(one);
}

/// Takes what stands from there on, in a vector of its own. The shorter part is the one that is copied, so that a long array is never in
/// memory twice.
fn take_members<T>(all: &mut Vec<T>, start: usize) -> Vec<T> {
    if start >= all.len() / 2 || all.len() < MIN_LONG {
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
