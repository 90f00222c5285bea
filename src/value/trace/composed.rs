//! The pieces of strings that are composed of parts of other strings: escaped, indented, wrapped, replaced.

use std::fmt;
use std::ops::Range;

use super::{PieceOrigin, Str, Value};
use crate::error::Result;
use crate::meter::Claim;
use crate::trace::Pieces;
use crate::value::Runtime;

/// The maximum size in bytes of the pieces of an unfinished string that are not claimed.
const FREE_BYTES: usize = 16 << 10;

/// How characters of a string are escaped.
#[derive(Clone, Copy, Debug)]
pub enum Escapes {
    /// As in JSON and in a `repr`: `\n`, `\u00e9`.
    Backslash,
    /// As in HTML: `&lt;`.
    Html,
}

impl Escapes {
    /// Returns the character at the start of each escape, which is nowhere else in the escaped form.
    fn mark(self) -> char {
        match self {
            Self::Backslash => '\\',
            Self::Html => '&',
        }
    }

    /// Returns the length in bytes of the escape of a character, which is at the start of `written`.
    fn len(self, written: &str, char: char) -> usize {
        match (self, written.as_bytes().get(1)) {
            (Self::Html, _) => written.find(';').map_or(1, |end| end.saturating_add(1)),
            (Self::Backslash, Some(b'u')) if char > '\u{ffff}' => 12,
            (Self::Backslash, Some(b'u')) => 6,
            (Self::Backslash, Some(b'x')) => 4,
            (Self::Backslash, Some(b'U')) => 10,
            (Self::Backslash, _) => 2,
        }
    }
}

/// Appends what a function writes to a string, and records which parts of it are parts of other strings, by the addresses of what is
/// written.
struct Composer<'w, 'r, 'a> {
    runtime: &'r mut Runtime<'a>,
    /// The strings of which parts are written.
    sources: &'w [&'w Str<'a>],
    /// The origin of the bytes that are not a part of `sources`.
    rest: PieceOrigin,
    /// The byte range of the output that is the last part, with the index of its text and its first byte there.
    last: Option<(Range<usize>, usize, usize)>,
    text: &'w mut String,
    recorded: Result<()>,
}

impl fmt::Write for Composer<'_, '_, '_> {
    fn write_str(&mut self, chunk: &str) -> fmt::Result {
        let range = self.text.len()..self.text.len().saturating_add(chunk.len());
        self.text.push_str(chunk);
        if let (Some((index, at)), false) = (self.find(chunk, range.start), chunk.is_empty()) {
            self.recorded = self.record(&range, index, at);
            self.last = Some((range, index, at));
        }
        self.recorded.as_ref().map_err(|_| fmt::Error).copied()
    }
}

impl Composer<'_, '_, '_> {
    /// Returns the index of the source that a chunk is a part of, and the first byte of the chunk in it. `start` is the place of the chunk
    /// in the output.
    fn find(&self, chunk: &str, start: usize) -> Option<(usize, usize)> {
        let address = chunk.as_ptr().addr();
        let find = |text: &&Str<'_>| {
            let at = address.checked_sub(text.as_str().as_ptr().addr())?;
            (at.saturating_add(chunk.len()) <= text.as_str().len()).then_some(at)
        };
        let found = self
            .sources
            .iter()
            .enumerate()
            .find_map(|(index, text)| Some((index, find(text)?)));
        // A chunk from another place in memory, such as a line break, continues the last part if the text goes on with the same bytes.
        found.or_else(|| {
            let (last, index, at) = self.last.as_ref().filter(|(last, ..)| last.end == start)?;
            let next = at.saturating_add(last.len());
            let rest = self.sources.get(*index)?.as_str().get(next..)?;
            rest.starts_with(chunk).then_some((*index, next))
        })
    }

    /// Records the pieces of a part, and the origin of what was written before it.
    fn record(&mut self, range: &Range<usize>, index: usize, at: usize) -> Result<()> {
        self.runtime.meter.charge(1)?;
        self.runtime.fill(range.start, self.rest);
        let Some(text) = self.sources.get(index) else { return Ok(()) };
        self.runtime
            .record(&text.slice(at..at.saturating_add(range.len())), range.start)
    }
}

impl<'a> Runtime<'a> {
    /// Makes a string of `length` bytes that a function writes. In a render that is traced, the parts of these strings that it writes keep
    /// their origin; the rest is made from all arguments of the running function.
    pub fn composed_text(
        &mut self,
        length: usize,
        sources: &[&Str<'a>],
        write: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result,
    ) -> Result<Str<'a>> {
        let mut text = String::with_capacity(length);
        if self.tape.is_none() {
            // Writing to a string cannot fail.
            let _ = write(&mut text);
            return self.text(text);
        }
        self.meter.charge_scan(length)?;
        let rest = self.source_of_arguments()?;
        let pieces = self.record_apart(|runtime| {
            let mut composer = Composer {
                runtime,
                sources,
                rest,
                last: None,
                text: &mut text,
                recorded: Ok(()),
            };
            // The writer fails only if a part is not recorded.
            let _ = write(&mut composer);
            composer.recorded?;
            runtime.fill(text.len(), rest);
            Ok(())
        })?;
        self.text_with_pieces(text, pieces)
    }

    /// Makes a string that is the escaped form of another one.
    pub fn escaped_text(&mut self, text: &Str<'a>, escaped: String, escapes: Escapes) -> Result<Str<'a>> {
        if self.tape.is_none() {
            return self.text(escaped);
        }
        let pieces = self.record_apart(|runtime| runtime.record_escaped(text, 0, &escaped, escapes))?;
        self.text_with_pieces(escaped, pieces)
    }

    /// Records the pieces of the escaped form of a string, which was written at a byte of the text that is being written.
    pub fn record_escaped(&mut self, text: &Str<'a>, start: usize, written: &str, escapes: Escapes) -> Result<()> {
        self.meter.charge_scan(written.len())?;
        let (mut at, mut written_at) = (0_usize, 0_usize);
        loop {
            let rest = written.get(written_at..).unwrap_or_default();
            // Up to the first escape, the characters are those of the string.
            let plain = rest.find(escapes.mark()).unwrap_or(rest.len());
            let (escaped, escape_at) = (at.saturating_add(plain), written_at.saturating_add(plain));
            self.record(&text.slice(at..escaped), start.saturating_add(written_at))?;
            let Some(char) = text.as_str().get(escaped..).and_then(|rest| rest.chars().next()) else {
                return Ok(());
            };
            let length = escapes.len(rest.get(plain..).unwrap_or_default(), char);
            (at, written_at) = (escaped.saturating_add(char.len_utf8()), escape_at.saturating_add(length));
            let escape_start = start.saturating_add(escape_at);
            self.record_changed(&text.slice(escaped..at), escape_start..escape_start.saturating_add(length))?;
        }
    }

    /// Records that a byte range of the text that is being written is made from a string. The address of a string of the input or the template
    /// says where it is from, and its pieces that of another one.
    pub fn record_changed(&mut self, text: &Str<'a>, range: Range<usize>) -> Result<()> {
        let Some(tape) = self.tape.as_mut().filter(|_| text.borrowed().is_some()) else {
            return self.record_made_from(&Value::Str(*text), range);
        };
        let source = match tape.map(&mut self.meter)? {
            Some(map) => {
                let source = map.mark_changed(text.as_str());
                map.claim(&mut self.meter)?;
                source
            }
            None => PieceOrigin::Made,
        };
        self.fill(range.start, PieceOrigin::Made);
        self.fill(range.end, source);
        self.meter.charge(1)?;
        self.check_pieces()
    }

    /// Records that a byte range of the text that is being written is made from a value.
    pub fn record_made_from(&mut self, value: &Value<'a>, range: Range<usize>) -> Result<()> {
        let source = self.with_sources(&[value], Self::source_of_arguments)?;
        self.fill(range.start, PieceOrigin::Made);
        self.fill(range.end, source);
        self.check_pieces()
    }

    /// Makes a string that contains another one at a byte offset, and keeps the pieces of that one. The rest has the origin of the running
    /// function's arguments.
    pub fn framed_text(&mut self, whole: String, text: &Str<'a>, at: usize) -> Result<Str<'a>> {
        if self.tape.is_none() {
            return self.text(whole);
        }
        let rest = self.source_of_arguments()?;
        let pieces = self.record_apart(|runtime| {
            runtime.fill(at, rest);
            runtime.record(text, at)?;
            runtime.fill(whole.len(), rest);
            Ok(())
        })?;
        self.text_with_pieces(whole, pieces)
    }

    /// Runs a function that records the pieces of a string of its own, and returns them.
    pub(in crate::value) fn record_apart(&mut self, record: impl FnOnce(&mut Self) -> Result<()>) -> Result<Pieces> {
        let outer = std::mem::take(&mut self.pieces);
        let recorded = record(self);
        let pieces = std::mem::replace(&mut self.pieces, outer);
        recorded.map(|()| pieces)
    }

    /// Runs a function that writes to a string of its own. The pieces of that string are discarded.
    pub fn with_own_text<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::take(&mut self.pieces);
        let result = run(self);
        self.pieces = outer;
        result
    }

    /// Records one origin for everything that was written since the last piece, up to a byte.
    fn fill(&mut self, end: usize, source: PieceOrigin) {
        if let Some(tape) = &self.tape {
            self.pieces.fill(end, source, tape.owner);
        }
    }

    /// Claims the memory of the pieces of the text that is being written, before a string within it is begun. A small list is not claimed.
    pub fn claim_pieces(&mut self) -> Result<Option<Claim>> {
        match self.pieces.bytes() {
            ..=FREE_BYTES => Ok(None),
            bytes => self.meter.claim(bytes).map(Some),
        }
    }

    /// Returns the origin of a string that is made from the arguments of the running function.
    fn source_of_arguments(&mut self) -> Result<PieceOrigin> {
        let Some(mut tape) = self.tape.take() else {
            return Ok(PieceOrigin::Made);
        };
        let source = self.unite_arguments(&mut tape);
        self.tape = Some(tape);
        source
    }

    /// Returns whether one of these values is or contains a string of the input.
    pub fn has_input(&mut self, values: &[&Value<'a>]) -> Result<bool> {
        Ok(self.tape.is_some() && matches!(self.with_sources(values, Self::source_of_arguments)?, PieceOrigin::Changed(_)))
    }

    /// Makes a string that has the origin of all strings among the running function's arguments.
    #[inline(never)]
    pub(in crate::value) fn text_of_arguments(&mut self, text: String) -> Result<Str<'a>> {
        let source = self.source_of_arguments()?;
        self.text_from(text, source)
    }

    /// Makes a string that has the time of the clock, in a format among the running function's arguments.
    pub fn text_of_clock(&mut self, text: String) -> Result<Str<'a>> {
        match self.source_of_arguments()? {
            source @ PieceOrigin::Changed(_) => self.text_from(text, source),
            _ => self.text_from(text, PieceOrigin::Clock),
        }
    }

    /// Makes a string all of which has one origin.
    fn text_from(&mut self, text: String, source: PieceOrigin) -> Result<Str<'a>> {
        let mut pieces = Pieces::default();
        if let Some(tape) = &self.tape {
            pieces.fill(text.len(), source, tape.owner);
        }
        self.text_with_pieces(text, pieces)
    }
}
