//! Reads the rows of the input in chunks.
//!
//! A chunk ends after the line with which it reaches a size, or at the end of the input. So the chunks after a place depend only on the
//! input: a run that is resumed there has the same chunks as a run that was never interrupted.

use std::fs::File;
use std::io::{BufRead, Error, ErrorKind, Read, Result};
use std::ops::Range;
use std::path::Path;

use flate2::Crc;
use indicatif::ProgressBar;

use super::codec::Codec;
use crate::cli::file::is_dash;
use crate::cli::lines::read_line;

/// The size in bytes at which a chunk ends.
pub const CHUNK: usize = 256 << 10;

/// A place in the decompressed input, at the start of a line or at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Place {
    /// The number of bytes before the place.
    pub offset: u64,
    /// The number of lines before the place.
    pub lines: u64,
    /// The CRC-32 of the bytes before the place.
    pub hash: u32,
}

/// Consecutive rows of the input.
#[derive(Default)]
pub struct Chunk {
    text: Vec<u8>,
    /// The line number of each row, and its place in the text, or `None` if the row is too long.
    rows: Vec<(u64, Option<Range<usize>>)>,
    /// The place after the chunk.
    pub end: Place,
    /// Whether the chunk ends because of its size. If false, the input ends after it or cannot be read further.
    pub is_full: bool,
}

/// A row of the input.
pub struct Row<'c> {
    /// The line number, which starts at 1.
    pub line: u64,
    /// The line, or `None` if it is too long.
    pub text: Option<&'c [u8]>,
}

impl Chunk {
    /// Returns the rows of the chunk, without blank lines.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|(line, range)| Row {
            line: *line,
            text: range.clone().map(|range| self.text.get(range).unwrap_or_default()),
        })
    }

    /// Returns the number of bytes that the chunk can hold without more memory.
    pub fn capacity(&self) -> usize {
        self.text.capacity()
    }

    /// Returns the size of the chunk in bytes.
    pub fn size(&self) -> usize {
        self.text.len()
    }
}

/// The input of a run.
pub struct Rows {
    input: Hashed,
    place: Place,
    max_row: u64,
    chunk_size: usize,
    /// The error that the next call of [`Rows::read_chunk`] returns.
    failure: Option<Error>,
}

impl Rows {
    /// Opens the input and skips the bytes before a place, which must have the hash of the place. The bar shows the number of bytes that were
    /// read from the file.
    pub fn open(path: &Path, start: Place, max_row: u64, chunk_size: usize, bar: &ProgressBar) -> Result<Self> {
        let file: Box<dyn Read> = if is_dash(path) {
            Box::new(bar.wrap_read(std::io::stdin().lock()))
        } else {
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.is_file() {
                bar.set_length(metadata.len());
            }
            Box::new(bar.wrap_read(file))
        };
        let mut input = Hashed {
            inner: Codec::decode(file)?,
            crc: Crc::new(),
            last: b'\n',
        };
        let place = skip(&mut input, start)?;
        Ok(Self {
            input,
            place,
            max_row,
            chunk_size,
            failure: None,
        })
    }

    /// Replaces a chunk with the next one. Returns false at the end of the input. If reading fails, the lines before the failure are the
    /// last chunk, and the next call returns the error.
    pub fn read_chunk(&mut self, chunk: &mut Chunk) -> Result<bool> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let Chunk { text, rows, .. } = chunk;
        text.clear();
        text.reserve(self.chunk_size.saturating_mul(5) / 4);
        rows.clear();
        let mut is_full = true;
        while text.len() < self.chunk_size {
            // Many blank lines in a row would take long one by one.
            let blank = match self.input.fill_buf() {
                Ok(bytes) => bytes.iter().take_while(|byte| **byte == b'\n').count(),
                Err(_) => 0,
            };
            self.input.consume(blank);
            self.place.lines = self.place.lines.saturating_add(blank as u64);
            self.place.offset = self.place.offset.saturating_add(blank as u64);
            if blank > 0 {
                continue;
            }
            let start = text.len();
            // The line feed is not part of a row.
            let limit = self.max_row.saturating_add(1);
            let length = match read_line(&mut self.input, limit, text) {
                Ok(Some(length)) => length,
                Ok(None) => {
                    is_full = false;
                    break;
                }
                Err(failure) => {
                    text.truncate(start);
                    self.failure = Some(failure);
                    is_full = false;
                    break;
                }
            };
            self.place.lines = self.place.lines.saturating_add(1);
            self.place.offset = self.place.offset.saturating_add(length);
            let range = start..text.len();
            if length > limit {
                rows.push((self.place.lines, None));
            } else if text.get(range.clone()).is_some_and(|line| line.trim_ascii().is_empty()) {
                text.truncate(start);
            } else {
                rows.push((self.place.lines, Some(range)));
            }
        }
        if is_full {
            match self.input.fill_buf() {
                Ok(rest) => is_full = !rest.is_empty(),
                Err(failure) => (is_full, self.failure) = (false, Some(failure)),
            }
        }
        if rows.is_empty() && !is_full {
            return self.failure.take().map_or(Ok(false), Err);
        }
        chunk.end = Place {
            hash: self.input.crc.sum(),
            ..self.place
        };
        chunk.is_full = is_full;
        Ok(true)
    }

    /// Returns the number of lines that were read.
    pub fn lines(&self) -> u64 {
        self.place.lines
    }
}

/// Skips the bytes before a place, and returns the place at which the next line starts.
fn skip(input: &mut Hashed, mut place: Place) -> Result<Place> {
    let refuse = |message| Err(Error::new(ErrorKind::InvalidData, message));
    let skipped = std::io::copy(&mut input.by_ref().take(place.offset), &mut std::io::sink())?;
    if skipped < place.offset || input.crc.sum() != place.hash {
        return refuse("the rows that the earlier run read have changed, so this is another input");
    }
    // The last row of an earlier input need not have a line feed, and rows were appended after one.
    if input.last != b'\n' {
        match input.fill_buf()?.first() {
            None => {}
            Some(b'\n') => {
                input.consume(1);
                place.offset = place.offset.saturating_add(1);
            }
            Some(_) => return refuse("the last row that the earlier run read goes on, so this is another input"),
        }
    }
    Ok(place)
}

/// The decompressed input, with the hash of what was read of it.
struct Hashed {
    inner: Box<dyn BufRead>,
    crc: Crc,
    /// The last byte that was read, or a line feed at the start.
    last: u8,
}

impl Read for Hashed {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut available = self.fill_buf()?;
        let read = available.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Hashed {
    fn fill_buf(&mut self) -> Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // The buffer has these bytes, so this reads nothing.
        let available = self.inner.fill_buf().unwrap_or_default();
        let read = available.get(..amount).unwrap_or_default();
        self.crc.update(read);
        self.last = read.last().copied().unwrap_or(self.last);
        self.inner.consume(amount);
    }
}
