//! A template's source as the lexer sees it: line ends normalised, one trailing newline dropped.
//!
//! The rule is jinja2 3.1.6 `lexer.py`, `Lexer.tokeniter`: `\r\n`, `\r` and `\n` each end a line and become `\n`; of the text's
//! last line, when empty, the newline before it goes. Nothing else is touched.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::span::Span;

/// The normalised text, and where its lines begin, which is counted when someone asks.
#[derive(Clone, Debug)]
pub struct Source<'s> {
    text: Cow<'s, str>,
    line_starts: OnceLock<Box<[u32]>>,
}

/// A place as people count it: both from 1, the column in code points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in code points, from 1.
    pub column: u32,
}

impl<'s> Source<'s> {
    /// Normalises `text`; offsets fit `u32` because the caller has checked the template's size against its limit.
    pub fn new(text: &'s str) -> Self {
        let text = match contains_byte(text.as_bytes(), b'\r') {
            true => Cow::Owned(normalise_line_ends(text)),
            false => Cow::Borrowed(text),
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

    /// The same, borrowing from nothing.
    pub fn into_owned(self) -> Source<'static> {
        Source {
            text: Cow::Owned(self.text.into_owned()),
            line_starts: self.line_starts,
        }
    }

    /// The normalised text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line, from 1, that holds the byte at `offset`.
    pub fn line(&self, offset: u32) -> u32 {
        let lines = self.line_starts().partition_point(|start| *start <= offset);
        u32::try_from(lines).unwrap_or(u32::MAX)
    }

    /// Line and column of the byte at `offset`.
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

    /// The text of a line without its line feed.
    pub fn line_text(&self, line: u32) -> &str {
        let start = self.line_start(line) as usize;
        let rest = self.text.get(start..).unwrap_or_default();
        rest.split('\n').next().unwrap_or_default()
    }

    /// The text that a span covers.
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

/// Tells the lines of places that are asked for one after the other, by the lines between one and the next.
#[derive(Debug)]
pub struct LineCounter<'s> {
    source: &'s Source<'s>,
    offset: u32,
    line: u32,
}

impl<'s> LineCounter<'s> {
    /// A counter at the beginning of a source.
    pub fn new(source: &'s Source<'_>) -> Self {
        Self {
            source,
            offset: 0,
            line: 1,
        }
    }

    /// The line, from 1, that holds the byte at `offset`: [`Source::line`].
    pub fn line(&mut self, offset: u32) -> u32 {
        let [start, end] = [self.offset.min(offset), self.offset.max(offset)];
        let between = self.source.text.as_bytes().get(start as usize..end as usize);
        let newlines = count_newlines(between.unwrap_or_default());
        self.line = match offset < self.offset {
            true => self.line.saturating_sub(newlines),
            false => self.line.saturating_add(newlines),
        };
        self.offset = offset;
        self.line
    }
}

/// How many lines end. As long as a count fits into a byte, the processor counts many bytes at once.
fn count_newlines(text: &[u8]) -> u32 {
    const BLOCK: usize = 255;
    let of_block = |block: &[u8]| {
        block
            .iter()
            .fold(0_u8, |count, byte| count.wrapping_add(u8::from(*byte == b'\n')))
    };
    text.chunks(BLOCK).map(|block| u32::from(of_block(block))).sum()
}

/// The text with one line feed for each line's end.
fn normalise_line_ends(text: &str) -> String {
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

/// Whether a byte occurs. Blocks of bytes are asked as a whole, which the processor does at once.
fn contains_byte(text: &[u8], byte: u8) -> bool {
    const BLOCK: usize = 256;
    let mut blocks = text.chunks(BLOCK);
    blocks.any(|block| block.iter().fold(false, |found, other| found | (*other == byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_normalised_and_one_trailing_newline_goes() {
        assert_eq!(Source::new("a\r\nb\rc\n\n").text(), "a\nb\nc\n");
        assert_eq!(Source::new("\r").text(), "");
    }

    #[test]
    fn columns_count_code_points() {
        let source = Source::new("a\né=x");
        assert_eq!(source.position(5), Position { line: 2, column: 3 });
        assert_eq!(source.line_text(2), "é=x");
        let text = "123456\n".repeat(10);
        let source = Source::new(&text);
        let lines: Vec<u32> = [0, 6, 7, 13, 14, 48, 49, 62, 63].map(|offset| source.line(offset)).to_vec();
        assert_eq!(lines, [1, 1, 2, 2, 3, 7, 8, 9, 10]);
        let mut counter = LineCounter::new(&source);
        let counted = [0, 14, 13, 63, 6, 7, 69].map(|offset| counter.line(offset));
        assert_eq!(counted, [1, 3, 2, 10, 1, 2, 10]);
    }
}
