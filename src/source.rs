//! A template's source as the lexer sees it: line breaks are normalised, and one trailing newline is removed.
//!
//! The rule is jinja2 3.1.6 `lexer.py` `Lexer.tokeniter`: `\r\n`, `\r` and `\n` each end a line and become `\n`. A `\n` at the end of the
//! text is removed.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::span::Span;

/// The normalised text, and the offsets of its lines, which are computed when they are first needed.
#[derive(Clone, Debug)]
pub struct Source<'s> {
    text: Cow<'s, str>,
    line_starts: OnceLock<Box<[u32]>>,
}

/// A position in a template for people to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in code points, from 1.
    pub column: u32,
}

impl<'s> Source<'s> {
    /// Normalises a string. The caller has checked the text's size against its limit, so offsets fit into `u32`.
    pub fn new(text: &'s str) -> Self {
        let text = if contains_byte(text.as_bytes(), b'\r') {
            Cow::Owned(normalise_line_breaks(text))
        } else {
            Cow::Borrowed(text)
        };
        Self {
            text: match text {
                Cow::Borrowed(text) => Cow::Borrowed(text.strip_suffix('\n').unwrap_or(text)),
                Cow::Owned(mut text) => {
                    text.truncate(text.strip_suffix('\n').unwrap_or(&text).len());
                    Cow::Owned(text)
                }
            },
            line_starts: OnceLock::new(),
        }
    }

    /// Converts the source to one that owns its text.
    pub fn into_owned(self) -> Source<'static> {
        Source {
            text: Cow::Owned(self.text.into_owned()),
            line_starts: self.line_starts,
        }
    }

    /// Returns the normalised text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the line, from 1, of the byte at `offset`.
    pub fn line(&self, offset: u32) -> u32 {
        let lines = self.line_starts().partition_point(|start| *start <= offset);
        u32::try_from(lines).unwrap_or(u32::MAX)
    }

    /// Returns the line and column of the byte at `offset`.
    pub fn position(&self, offset: u32) -> Position {
        let line = self.line(offset);
        let start = self.line_start(line);
        let before = self.text.get(start as usize..offset as usize);
        let column = before.unwrap_or_default().chars().count();
        Position {
            line,
            column: u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1),
        }
    }

    /// Returns the text of a line without its newline.
    pub fn line_text(&self, line: u32) -> &str {
        let start = self.line_start(line) as usize;
        let rest = self.text.get(start..).unwrap_or_default();
        rest.split('\n').next().unwrap_or_default()
    }

    /// Returns the text of a span.
    pub fn slice(&self, span: Span) -> &str {
        let range = span.start as usize..span.end as usize;
        self.text.get(range).unwrap_or_default()
    }

    fn line_start(&self, line: u32) -> u32 {
        let index = line.saturating_sub(1) as usize;
        self.line_starts().get(index).copied().unwrap_or_default()
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let newlines = (1..).zip(self.text.bytes()).filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(newlines.map(|(start, _)| start)).collect()
        })
    }
}

/// Finds the lines of many offsets. It counts the newlines between an offset and the previous one.
#[derive(Debug)]
pub struct LineCounter<'s> {
    source: &'s Source<'s>,
    offset: u32,
    line: u32,
}

impl<'s> LineCounter<'s> {
    /// Returns a counter at the start of a source.
    pub fn new(source: &'s Source<'_>) -> Self {
        Self {
            source,
            offset: 0,
            line: 1,
        }
    }

    /// Returns the line, from 1, of the byte at `offset`, like [`Source::line`].
    pub fn line(&mut self, offset: u32) -> u32 {
        let [start, end] = [self.offset.min(offset), self.offset.max(offset)];
        let between = self.source.text.as_bytes().get(start as usize..end as usize);
        let newlines = count_newlines(between.unwrap_or_default());
        self.line = if offset < self.offset {
            self.line.saturating_sub(newlines)
        } else {
            self.line.saturating_add(newlines)
        };
        self.offset = offset;
        self.line
    }
}

/// Returns the number of newlines. The compiler vectorises the inner loop, whose counts fit into a byte.
fn count_newlines(text: &[u8]) -> u32 {
    const BLOCK: usize = 255;
    let of_block = |block: &[u8]| {
        block
            .iter()
            .fold(0_u8, |count, byte| count.wrapping_add(u8::from(*byte == b'\n')))
    };
    text.chunks(BLOCK).map(|block| u32::from(of_block(block))).sum()
}

/// Returns the text with `\n` for each line break.
fn normalise_line_breaks(text: &str) -> String {
    let mut normalised = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\r') {
        let (before, after) = rest.split_at(at);
        normalised.push_str(before);
        normalised.push('\n');
        let after = after.strip_prefix('\r').unwrap_or(after);
        rest = after.strip_prefix('\n').unwrap_or(after);
    }
    normalised.push_str(rest);
    normalised
}

/// Returns whether a byte occurs. Each block is scanned to its end, because the compiler vectorises such a loop.
fn contains_byte(text: &[u8], byte: u8) -> bool {
    const BLOCK: usize = 256;
    let mut blocks = text.chunks(BLOCK);
    blocks.any(|block| block.iter().fold(false, |found, other| found | (*other == byte)))
}
