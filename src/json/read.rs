//! Reads JSON text into a tree that borrows from it, exactly as CPython's `json.loads` does.
//!
//! ```text
//! read(r#" {"a": [1, 2.50, "x"]} "#)?   ->   Object[("a", List[Int(1), Float(2.5), Str("x")])]
//! read("[1,]")                          ->   Illegal trailing comma before end of array: line 1 column 3 (char 2)
//! ```
//!
//! The rules are CPython 3.13 `json/decoder.py` and `_json.c`: the set of whitespace characters, the order of the checks, the text and
//! position of each error. The open arrays and objects are kept on a stack on the heap, so deep nesting cannot overflow the thread's stack.

use std::borrow::Cow;
use std::time::Duration;

use super::error::{JsonError, JsonErrorKind};
use super::scan::Marks;
use super::tree::{Data, Object};
use super::unfinished::{Parent, Unfinished, take_members};
use crate::deadline::{Bounds, Watch};

/// The number of levels to which arrays and objects may nest.
pub const DEPTH: usize = Data::MAX_DEPTH;

/// The largest number of bytes that the values of one document may take, without the characters of borrowed strings. It is enough for three
/// million numbers. The values of an array of one-digit numbers take 16 times as much memory as their text.
pub(super) const MAX_BYTES: usize = 96 << 20;

/// The least number of bytes of a document whose reading is timed. A shorter one is always read within a millisecond.
const TIMED_TEXT: usize = 64 << 10;

/// The number of bytes of values, or of a decoded string, between two checks of the deadline. Reading so many takes about a millisecond.
pub(super) const STRIDE: usize = 256 << 10;

/// The number of bytes that an allocation takes in addition to its size.
const ALLOCATION_OVERHEAD: usize = 24;

/// The number of members and of open containers for which memory is allocated in advance. Most conversations of a few messages need no
/// more.
const INITIAL_CAPACITY: usize = 16;

/// The number of items of arrays for which memory is allocated in advance in a long document. Its longest array is usually that of the
/// messages.
const INITIAL_ITEMS: usize = 128;

/// The least number of bytes of a long document.
const LONG_TEXT: usize = 16 << 10;

/// Reads one JSON document whose arrays and objects nest at most [`Data::MAX_DEPTH`] levels.
///
/// # Errors
/// See [`JsonErrorKind`](super::JsonErrorKind).
pub fn read(text: &str) -> Result<Data<'_>, JsonError> {
    read_text(text, DEPTH, None)
}

impl<'a> Data<'a> {
    /// Reads one JSON document from a string or from bytes in UTF-8 within a time limit: that of a [`Deadline`](crate::Deadline), or
    /// [`Limits::milliseconds`](crate::Limits::milliseconds) from this call on. The flag [`Bounds::cancel`] stops it too. No other limit
    /// applies.
    ///
    /// A document of less than 64 KiB is read within a millisecond, and the clock is not checked meanwhile.
    ///
    /// ```
    /// use chat_template::Deadline;
    /// use chat_template::json::{Data, JsonErrorKind};
    ///
    /// let text = format!("[0{}]", ",0".repeat(1 << 20));
    /// let error = Data::read_within(&text, &Deadline::new(0)).unwrap_err();
    /// assert_eq!(error.kind(), JsonErrorKind::TimedOut);
    /// ```
    ///
    /// # Errors
    /// As for [`read`](super::read()), and if the bytes are not UTF-8 or begin with a byte order mark, or the time is over.
    pub fn read_within<'o, T: AsRef<[u8]> + ?Sized>(text: &'a T, bounds: impl Into<Bounds<'o>>) -> Result<Self, JsonError> {
        let bounds = bounds.into();
        read_until(decode(text.as_ref())?, bounds.watch(&bounds.start()))
    }
}

/// Reads one JSON document until a deadline or a flag stops it.
pub(crate) fn read_until<'a, 'w>(text: &'a str, watch: impl Into<Watch<'w>>) -> Result<Data<'a>, JsonError> {
    let watch = watch.into();
    let is_timed = watch.is_over() || (text.len() >= TIMED_TEXT && watch.can_stop());
    read_text(text, DEPTH, is_timed.then_some(watch))
}

/// Reads one JSON document from bytes, which must be UTF-8 without a byte order mark.
pub fn read_bytes(bytes: &[u8]) -> Result<Data<'_>, JsonError> {
    read(decode(bytes)?)
}

/// Reads one JSON document whose arrays and objects nest at most `depth_limit` levels, until a deadline or a flag stops it.
pub(super) fn read_text<'a>(text: &'a str, depth_limit: usize, watch: Option<Watch<'_>>) -> Result<Data<'a>, JsonError> {
    // The first value checks the deadline.
    let bytes_left = if watch.is_some() { 0 } else { MAX_BYTES };
    let mut reader = Reader {
        text,
        at: 0,
        marks: Marks::new(text.as_bytes()),
        depth_limit,
        bytes_left,
        bytes_reserved: MAX_BYTES - bytes_left,
        watch,
        lone_surrogate: None,
        decoded: String::new(),
    };
    reader.read_document().map_err(|error| error.located(text))
}

fn decode(bytes: &[u8]) -> Result<&str, JsonError> {
    std::str::from_utf8(bytes).map_err(|error| JsonError::encoding(bytes, error))
}

/// The state of reading a document.
pub(super) struct Reader<'a, 'd> {
    pub(super) text: &'a str,
    /// The offset of the next byte, which is always the start of a character.
    pub(super) at: usize,
    /// The positions of quotation marks, backslashes and control characters.
    pub(super) marks: Marks<'a>,
    depth_limit: usize,
    /// The number of bytes that further values may take before the next check of the deadline, without the characters of strings.
    bytes_left: usize,
    /// The number of bytes that values may take after the next check.
    bytes_reserved: usize,
    /// What can stop the reading, if the document is long.
    watch: Option<Watch<'d>>,
    /// The error of the first lone surrogate of the document.
    pub(super) lone_surrogate: Option<JsonError>,
    /// A buffer for the string that is being decoded.
    pub(super) decoded: String,
}

impl<'a> Reader<'a, '_> {
    fn read_document(&mut self) -> Result<Data<'a>, Box<JsonError>> {
        if self.text.starts_with('\u{feff}') {
            return Err(JsonError::syntax("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0));
        }
        self.skip_whitespace();
        let data = self.read_value()?;
        self.skip_whitespace();
        if self.at < self.text.len() {
            return Err(JsonError::syntax("Extra data", self.at));
        }
        self.lone_surrogate.take().map_or(Ok(data), |error| Err(Box::new(error)))
    }

    /// Reads one value with all its members.
    fn read_value(&mut self) -> Result<Data<'a>, Box<JsonError>> {
        let is_long = self.text.len() >= LONG_TEXT;
        let mut unfinished = Unfinished {
            parent: Parent::Document,
            outer: Vec::with_capacity(INITIAL_CAPACITY),
            items: Vec::with_capacity(if is_long { INITIAL_ITEMS } else { INITIAL_CAPACITY }),
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
            // The finished value may be the last member of its container, and so on.
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
                    _ => return Err(JsonError::syntax("Expecting ',' delimiter", self.at)),
                };
                self.count(ALLOCATION_OVERHEAD)?;
                self.advance(1);
            }
            let comma = self.at;
            self.advance(1);
            match (unfinished.parent, self.skip_whitespace()) {
                (Parent::List { .. }, b']') => return Err(JsonError::syntax("Illegal trailing comma before end of array", comma)),
                (Parent::Object { .. }, b'}') => {
                    return Err(JsonError::syntax("Illegal trailing comma before end of object", comma));
                }
                _ => {}
            }
        }
    }

    /// Takes an opening bracket and the whitespace after it. Returns the next byte.
    fn enter(&mut self, depth: usize) -> Result<u8, Box<JsonError>> {
        if depth >= self.depth_limit {
            return Err(Box::new(JsonError::too_deep(self.depth_limit, Some(self.at))));
        }
        self.advance(1);
        Ok(self.skip_whitespace())
    }

    /// Counts the memory of an allocation that belongs to a string or a number.
    pub(super) fn count_allocation(&mut self, bytes: usize) -> Result<(), Box<JsonError>> {
        self.count(bytes + ALLOCATION_OVERHEAD)
    }

    /// Counts bytes of memory, or fails if the values take more than [`MAX_BYTES`].
    #[inline]
    fn count(&mut self, bytes: usize) -> Result<(), Box<JsonError>> {
        let Some(bytes_left) = self.bytes_left.checked_sub(bytes) else {
            return self.refill(bytes);
        };
        self.bytes_left = bytes_left;
        Ok(())
    }

    /// Takes bytes from all that are left, reserved ones too, or fails if there are too few. Checks the deadline, and makes the next
    /// [`STRIDE`] of the reserved bytes available.
    #[cold]
    fn refill(&mut self, bytes: usize) -> Result<(), Box<JsonError>> {
        let allowed = self.bytes_left + self.bytes_reserved;
        let Some(left) = allowed.checked_sub(bytes) else {
            let total = MAX_BYTES.saturating_sub(allowed) + bytes;
            return Err(Box::new(JsonError::too_large(total, MAX_BYTES, Some(self.at))));
        };
        self.check_deadline()?;
        self.bytes_left = left.min(STRIDE);
        self.bytes_reserved = left - self.bytes_left;
        Ok(())
    }

    /// Returns an error if the time is over or the flag is set.
    pub(super) fn check_deadline(&self) -> Result<(), Box<JsonError>> {
        let checked = self.watch.map_or(Ok(()), |watch| watch.check(0, Duration::ZERO));
        checked.map_err(|reached| Box::new(JsonError::of_limit(JsonErrorKind::TimedOut, reached, Some(self.at))))
    }

    /// Takes a key, its colon, and the whitespace after it. It is inlined because it runs once for each entry of an object.
    #[inline(always)]
    fn read_key(&mut self) -> Result<Cow<'a, str>, Box<JsonError>> {
        if self.next_byte() != b'"' {
            return Err(JsonError::syntax(
                "Expecting property name enclosed in double quotes",
                self.at,
            ));
        }
        let key = self.read_string()?;
        if self.skip_whitespace() != b':' {
            return Err(JsonError::syntax("Expecting ':' delimiter", self.at));
        }
        self.advance(1);
        self.skip_whitespace();
        Ok(key)
    }

    /// Returns the next byte, or NUL at the end of the text. NUL is not valid anywhere in JSON outside of strings.
    #[inline]
    pub(super) fn next_byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or_default()
    }

    /// Skips whitespace and returns the next byte.
    #[inline]
    fn skip_whitespace(&mut self) -> u8 {
        loop {
            match self.next_byte() {
                b' ' | b'\t' | b'\n' | b'\r' => self.advance(1),
                byte => return byte,
            }
        }
    }

    /// Returns the bytes that have not been taken.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Takes a number of bytes, which are present and end a character.
    #[inline]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Takes a word if the text continues with it. Returns whether it does.
    fn eat(&mut self, word: &[u8]) -> bool {
        let is_next = self.rest().starts_with(word);
        if is_next {
            self.advance(word.len());
        }
        is_next
    }
}
