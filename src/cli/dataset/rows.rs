//! Reads the rows of the input in chunks.
//!
//! A chunk ends after the line with which it reaches a size, or at the end of the input. So the chunks after a place depend only on the
//! input: a run that is resumed there has the same chunks as a run that was never interrupted.

use std::fs::File;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use indicatif::ProgressBar;

use super::codec::{BUFFER, Codec};
use crate::cli::file::is_dash;
use crate::cli::lines::read_line;

/// The size in bytes at which a chunk ends.
pub const CHUNK: usize = 256 << 10;

/// A place in the decompressed input, at the start of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Place {
    /// The number of bytes before the place.
    pub offset: u64,
    /// The number of lines before the place.
    pub lines: u64,
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
    input: Box<dyn BufRead>,
    place: Place,
    max_row: u64,
    chunk_size: usize,
    /// The error that the next call of [`Rows::read_chunk`] returns.
    failure: Option<Error>,
}

impl Rows {
    /// Opens the input and skips the bytes before a place. The bar shows the number of bytes that were read from the file.
    pub fn open(path: &Path, start: Place, max_row: u64, chunk_size: usize, bar: &ProgressBar) -> Result<Self> {
        let (mut to_skip, mut is_sought) = (start.offset, false);
        let file: Box<dyn Read> = if is_dash(path) {
            Box::new(bar.wrap_read(std::io::stdin().lock()))
        } else {
            let mut file = File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(Error::new(ErrorKind::IsADirectory, "this is a folder, and must be a file"));
            }
            if metadata.is_file() {
                bar.set_length(metadata.len());
                if to_skip > 0 && Codec::of_file(&mut file)? == Codec::Plain {
                    // The last byte is left, which must be a line feed.
                    file.seek(SeekFrom::Start(to_skip.saturating_sub(1)))?;
                    bar.set_position(to_skip);
                    to_skip = 1;
                    is_sought = true;
                }
            }
            Box::new(bar.wrap_read(file))
        };
        let mut input = match is_sought {
            true => Box::new(BufReader::with_capacity(BUFFER, file)),
            false => Codec::decode(file)?,
        };
        skip(&mut input, to_skip)?;
        Ok(Self {
            input,
            place: start,
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
        chunk.end = self.place;
        chunk.is_full = is_full;
        Ok(true)
    }

    /// Returns the number of lines that were read.
    pub fn lines(&self) -> u64 {
        self.place.lines
    }
}

/// Skips bytes at the start of the input. It is an error if the last of them is not a line feed.
fn skip(input: &mut Box<dyn BufRead>, length: u64) -> Result<()> {
    let Some(before) = length.checked_sub(1) else { return Ok(()) };
    let skipped = std::io::copy(&mut input.by_ref().take(before), &mut std::io::sink())?;
    let mut last = [0];
    if skipped < before || input.read(&mut last)? == 0 || last != *b"\n" {
        let message = "no row starts where the interrupted run stopped, so this is another input";
        return Err(Error::new(ErrorKind::InvalidData, message));
    }
    Ok(())
}
