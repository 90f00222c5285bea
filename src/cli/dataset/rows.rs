//! Reading the rows of the input in chunks.
//!
//! A chunk ends after the line with which it reaches a size, or at the end of the input. So the chunks after the end of a chunk depend only
//! on the input: a run that is resumed there has the same chunks as a run that was never interrupted.

use std::fs::File;
use std::io::{BufRead, Error, ErrorKind, Read, Result, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use indicatif::ProgressBar;

use super::codec::Codec;
use crate::cli::file::is_stdin;
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

/// Consecutive rows of the input. The memory of a chunk is used again for the next one.
#[derive(Default)]
pub struct Chunk {
    /// The number of bytes of the input before the chunk.
    pub start: u64,
    text: Vec<u8>,
    /// The line number of each row, and its place in the text, or `None` if the row is too long.
    rows: Vec<(u64, Option<Range<usize>>)>,
    /// The place after the chunk.
    pub end: Place,
    /// Whether the chunk ends because of its size. If false, it ends with the input.
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
}

/// The input of a run.
pub struct Rows {
    input: Box<dyn BufRead + Send>,
    /// The place after the last chunk.
    pub place: Place,
    max_row: u64,
    chunk_size: usize,
    /// Whether the last chunk was read.
    is_ended: bool,
    /// The error that ended the input.
    pub failure: Option<Error>,
}

impl Rows {
    /// Opens the input and skips the bytes before a place. The bar shows the number of bytes that were read from the file.
    pub fn open(path: &Path, start: Place, max_row: u64, chunk_size: usize, bar: &ProgressBar) -> Result<Self> {
        let codec = Codec::of(path);
        let mut to_skip = start.offset;
        let file: Box<dyn Read + Send> = if is_stdin(path) {
            Box::new(bar.wrap_read(std::io::stdin()))
        } else {
            let mut file = File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(Error::new(ErrorKind::IsADirectory, "this is a folder, and must be a file"));
            }
            if metadata.is_file() {
                bar.set_length(metadata.len());
                if codec == Codec::Plain && to_skip > 0 {
                    // The last byte is left, which must be a line feed.
                    file.seek(SeekFrom::Start(to_skip.saturating_sub(1)))?;
                    bar.set_position(to_skip);
                    to_skip = 1;
                }
            }
            Box::new(bar.wrap_read(file))
        };
        let mut input = codec.decode(file)?;
        skip(&mut input, to_skip)?;
        Ok(Self {
            input,
            place: start,
            max_row,
            chunk_size,
            is_ended: false,
            failure: None,
        })
    }

    /// Replaces a chunk by the next one. Returns whether there was one. If reading fails, the last chunk has the lines before the failure.
    pub fn read_chunk(&mut self, chunk: &mut Chunk) -> bool {
        if self.is_ended {
            return false;
        }
        let Chunk { text, rows, .. } = chunk;
        text.clear();
        // The memory of a very long row is not kept.
        text.shrink_to(self.chunk_size.saturating_mul(2));
        rows.clear();
        chunk.start = self.place.offset;
        while text.len() < self.chunk_size && !self.is_ended {
            let start = text.len();
            // The line feed is not part of a row.
            let limit = self.max_row.saturating_add(1);
            let length = match read_line(&mut self.input, limit, text) {
                Ok(Some(length)) => length,
                Ok(None) => {
                    self.is_ended = true;
                    break;
                }
                Err(failure) => {
                    text.truncate(start);
                    self.fail(failure);
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
        if !self.is_ended {
            match self.input.fill_buf() {
                Ok(rest) => self.is_ended = rest.is_empty(),
                Err(failure) => self.fail(failure),
            }
        }
        chunk.end = self.place;
        chunk.is_full = !self.is_ended;
        chunk.is_full || !chunk.rows.is_empty()
    }

    fn fail(&mut self, failure: Error) {
        self.failure = Some(failure);
        self.is_ended = true;
    }
}

/// Skips bytes at the start of the input. It is an error if the last of them is not a line feed.
fn skip(input: &mut impl BufRead, length: u64) -> Result<()> {
    let Some(before) = length.checked_sub(1) else { return Ok(()) };
    let skipped = std::io::copy(&mut input.by_ref().take(before), &mut std::io::sink())?;
    let mut last = [0];
    if skipped < before || input.read(&mut last)? == 0 || last != *b"\n" {
        let message = "no row starts where the interrupted run stopped, so this is another input";
        return Err(Error::new(ErrorKind::InvalidData, message));
    }
    Ok(())
}
