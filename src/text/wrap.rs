//! Line wrapping: the filter `wordwrap`, and the part of Python's `textwrap.wrap` that it uses.
//!
//! ```text
//! write_wrapped(output, "aaa bbb ccc", "\n", Wrap { width: 7, .. })    "aaa bbb\nccc"
//! ```
//!
//! Tabs are not expanded and whitespace is not replaced. Each line of the result is a part of the text, so [`wrap_line`] borrows. The
//! rules are jinja2's `do_wordwrap` and CPython's `textwrap.py` `TextWrapper._wrap_chunks` and `_handle_long_word`.

use super::lines::split_lines;
use super::slice::{char_count, split_at_char};
use super::strip::strip_end;
use super::wrap_chunks::Chunks;
use std::fmt::{Result, Write};

/// The options of line wrapping.
#[derive(Debug, Clone, Copy)]
pub struct Wrap {
    /// The largest number of code points in a line. Zero means a fraction below one, which the reference allows: no word fits, and one code
    /// point of it is broken off for each line.
    pub width: usize,
    /// Whether a word longer than a line is broken. Otherwise it has a line to itself.
    pub breaks_long_words: bool,
    /// Whether words are split after hyphens. In the reference the argument must be `True` itself.
    pub splits_on_hyphens: bool,
    /// Whether a long word is preferably broken after a hyphen. In the reference any true argument suffices.
    pub prefers_hyphens: bool,
}

/// Writes a string with each of its lines wrapped, and `separator` between all lines. `write` writes a piece of the string.
pub fn write_wrapped<W: Write>(
    output: &mut W,
    text: &str,
    separator: &str,
    wrap: Wrap,
    write: fn(&mut W, &str) -> Result,
) -> Result {
    for (index, line) in split_lines(text, false).enumerate() {
        if index > 0 {
            output.write_str(separator)?;
        }
        for (index, piece) in wrap_line(line, wrap).enumerate() {
            if index > 0 {
                output.write_str(separator)?;
            }
            write(output, piece)?;
        }
    }
    Ok(())
}

/// Returns whether a word of the text is broken, because it is longer than a line.
pub fn breaks_word(text: &str, wrap: Wrap) -> bool {
    split_lines(text, false).any(|line| {
        let mut wrapped = wrap_line(line, wrap);
        wrapped.by_ref().for_each(drop);
        wrapped.has_broken
    })
}

/// Returns an iterator over the lines that `textwrap.wrap` makes of one line.
pub fn wrap_line(line: &str, wrap: Wrap) -> Wrapped<'_> {
    let chunks = Chunks::new(line, wrap.splits_on_hyphens);
    let mut wrapped = Wrapped {
        line,
        wrap,
        chunks,
        at: 0,
        next: None,
        has_lines: false,
        has_broken: false,
    };
    wrapped.advance();
    wrapped
}

/// An iterator over the wrapped lines of one line, created by [`wrap_line`].
#[derive(Debug, Clone)]
pub struct Wrapped<'a> {
    line: &'a str,
    wrap: Wrap,
    chunks: Chunks<'a>,
    /// The byte offset of the next chunk.
    at: usize,
    next: Option<Chunk<'a>>,
    /// Whether a line has been returned.
    has_lines: bool,
    /// Whether a word has been broken.
    has_broken: bool,
}

#[derive(Debug, Clone, Copy)]
struct Chunk<'a> {
    text: &'a str,
    chars: usize,
    /// The length in bytes without trailing whitespace. It is stored because a long word needs it again for each line that it is broken
    /// into.
    stripped_len: usize,
}

impl<'a> Chunk<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            chars: char_count(text),
            stripped_len: strip_end(text, None).len(),
        }
    }

    /// Returns whether `text.strip()` is empty. `strip` removes more kinds of whitespace than the splitting into chunks knows.
    fn is_blank(&self) -> bool {
        self.stripped_len == 0
    }

    /// Splits a chunk after its first `count` code points.
    fn split_at_char(self, count: usize) -> (Self, Self) {
        let (text, rest) = split_at_char(self.text, count);
        let rest = Self {
            text: rest,
            chars: self.chars.saturating_sub(count),
            stripped_len: self.stripped_len.saturating_sub(text.len()),
        };
        (Self::new(text), rest)
    }
}

/// The current line.
#[derive(Default)]
struct Current {
    chunks: usize,
    chars: usize,
    /// The byte offset at which the last chunk of the line begins.
    last_start: usize,
    last_is_blank: bool,
}

impl<'a> Wrapped<'a> {
    fn advance(&mut self) {
        self.next = self.chunks.next().map(Chunk::new);
    }

    /// Adds a chunk, or the first part of the next chunk, to the current line.
    fn add_chunk(&mut self, current: &mut Current, chunk: Chunk<'_>) {
        current.chunks += 1;
        current.chars += chunk.chars;
        current.last_start = self.at;
        current.last_is_blank = chunk.is_blank();
        self.at += chunk.text.len();
    }

    /// Adds as much of a chunk as the options allow to the current line, for a chunk that is longer than any line.
    fn add_long_word(&mut self, current: &mut Current, chunk: Chunk<'a>) {
        if self.wrap.breaks_long_words {
            self.has_broken = true;
            let (placed, rest) = chunk.split_at_char(self.broken_len(chunk, current.chars));
            self.add_chunk(current, placed);
            self.next = Some(rest);
        } else if current.chunks == 0 {
            self.add_chunk(current, chunk);
            self.advance();
        }
    }

    /// Returns the number of code points of a long word that go on a line with `used` code points.
    ///
    /// The text after the last hyphen in the searched part has no hyphen, so the next line takes it whole. This keeps the search linear.
    fn broken_len(&self, chunk: Chunk<'_>, used: usize) -> usize {
        let space_left = match self.wrap.width {
            0 => 1,
            width => width.saturating_sub(used),
        };
        if !self.wrap.prefers_hyphens {
            return space_left;
        }
        let (fitting, _) = split_at_char(chunk.text, space_left);
        match fitting.rsplit_once('-') {
            // A hyphen after nothing but hyphens is not a place to break.
            Some((before, _)) if !before.trim_start_matches('-').is_empty() => char_count(before) + 1,
            _ => space_left,
        }
    }
}

impl<'a> Iterator for Wrapped<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let width = self.wrap.width;
        while let Some(first) = self.next {
            // Only the first line may start with whitespace.
            if self.has_lines && first.is_blank() {
                self.at += first.text.len();
                self.advance();
            }
            let start = self.at;
            let mut current = Current::default();
            while let Some(chunk) = self.next {
                if current.chars + chunk.chars > width {
                    break;
                }
                self.add_chunk(&mut current, chunk);
                self.advance();
            }
            if let Some(chunk) = self.next.filter(|chunk| chunk.chars > width) {
                self.add_long_word(&mut current, chunk);
            }
            // A line does not end with whitespace. An empty part of a long word counts as whitespace.
            let (chunks, end) = if current.chunks > 0 && current.last_is_blank {
                (current.chunks.saturating_sub(1), current.last_start)
            } else {
                (current.chunks, self.at)
            };
            if chunks > 0 {
                self.has_lines = true;
                return self.line.get(start..end);
            }
        }
        None
    }
}
