//! Reads the rows of the input in chunks.
//!
//! A chunk ends after the line with which it reaches a size, or at the end of a file. So the chunks after a place depend only on the
//! input: a run that is resumed there has the same chunks as a run that was never interrupted.

use std::collections::VecDeque;
use std::io::{BufRead, Error, ErrorKind, Read, Result};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indicatif::ProgressBar;

use super::input::Opened;
use crate::cli::file::shown;
use crate::cli::lines::read_line;

/// The size in bytes at which a chunk ends.
pub const CHUNK: usize = 256 << 10;

/// A place in the decompressed input, at the start of a line or at the end of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Place {
    /// The number of bytes before the place.
    pub offset: u64,
    /// The number of lines before the place in its file.
    pub lines: u64,
    /// The number of files before that file.
    pub files: usize,
    /// The CRC-32 of the bytes before the place.
    pub hash: u32,
}

/// Consecutive rows of a file of the input.
#[derive(Default)]
pub struct Chunk {
    text: Vec<u8>,
    /// The line number of each row, and its place in the text, or `None` if the row is too long.
    rows: Vec<(u64, Option<Range<usize>>)>,
    /// The name of the file, if the input has several.
    file: Option<Arc<str>>,
    /// The place after the chunk.
    pub end: Place,
    /// Whether more of the input follows. If false, the input ends after the chunk or cannot be read further.
    pub is_full: bool,
}

/// A row of the input.
pub struct Row<'c> {
    /// The name of the file, if the input has several.
    pub file: Option<&'c str>,
    /// The line number in its file, which starts at 1.
    pub line: u64,
    /// The line, or `None` if it is too long.
    pub text: Option<&'c [u8]>,
}

impl Chunk {
    /// Returns the rows of the chunk, without blank lines.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|(line, range)| Row {
            file: self.file.as_deref(),
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
pub struct Rows<'b> {
    /// The file that is read.
    path: PathBuf,
    /// Its name, if the input has several files.
    name: Option<Arc<str>>,
    /// The files after it.
    files: VecDeque<PathBuf>,
    input: Hashed,
    place: Place,
    max_row: u64,
    chunk_size: usize,
    bar: &'b ProgressBar,
    /// The error that the next call of [`Rows::read_chunk`] returns.
    failure: Option<Error>,
}

impl<'b> Rows<'b> {
    /// Opens the input and skips the bytes before a place, which must have the hash of the place. `first` is the first file, if it is open
    /// already. The bar shows the number of bytes that were read from the files.
    pub fn open(
        files: &[PathBuf],
        first: Option<Opened>,
        start: Place,
        (max_row, chunk_size): (u64, usize),
        bar: &'b ProgressBar,
    ) -> Result<Self> {
        let lengths = files.iter().filter_map(|file| std::fs::metadata(file).ok());
        let lengths: Vec<u64> = lengths.filter(std::fs::Metadata::is_file).map(|file| file.len()).collect();
        if lengths.len() == files.len() {
            bar.set_length(lengths.iter().sum());
        }
        let mut files: VecDeque<PathBuf> = files.iter().cloned().collect();
        let has_several = files.len() > 1;
        let path = files.pop_front().unwrap_or_default();
        let opened = first.map_or_else(|| Opened::open(&path, bar), Ok)?;
        let mut rows = Self {
            name: has_several.then(|| path.to_string_lossy().into()),
            path,
            files,
            input: Hashed {
                inner: opened.lines,
                crc: crc32fast::Hasher::new(),
                last: b'\n',
            },
            place: Place::default(),
            max_row,
            chunk_size,
            bar,
            failure: None,
        };
        rows.skip(start)?;
        Ok(rows)
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
                Ok(None) if rows.is_empty() && !self.files.is_empty() => {
                    self.open_next()?;
                    continue;
                }
                Ok(None) => {
                    is_full = !self.files.is_empty();
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
                Ok(rest) => is_full = !rest.is_empty() || !self.files.is_empty(),
                Err(failure) => (is_full, self.failure) = (false, Some(failure)),
            }
        }
        if rows.is_empty() && !is_full {
            return self.failure.take().map_or(Ok(false), Err);
        }
        chunk.file.clone_from(&self.name);
        chunk.end = Place {
            hash: self.input.crc.clone().finalize(),
            ..self.place
        };
        chunk.is_full = is_full;
        Ok(true)
    }

    /// Begins the next file.
    fn open_next(&mut self) -> Result<()> {
        let Some(path) = self.files.pop_front() else { return Ok(()) };
        self.name = Some(path.to_string_lossy().into());
        self.path = path;
        self.place.files = self.place.files.saturating_add(1);
        self.place.lines = 0;
        self.input.inner = Opened::open(&self.path, self.bar)?.lines;
        self.input.last = b'\n';
        Ok(())
    }

    /// Returns the file and the number of lines that were read of it, for a message.
    pub fn describe(&self) -> String {
        format!("{}: after line {}", self.path().display(), self.place.lines)
    }

    /// Returns the file that is read.
    pub fn path(&self) -> &Path {
        shown(&self.path)
    }

    /// Skips the bytes before a place.
    fn skip(&mut self, start: Place) -> Result<()> {
        let refuse = |message| Err(Error::new(ErrorKind::InvalidData, message));
        let mut skipped = 0;
        loop {
            let rest = start.offset.saturating_sub(skipped);
            skipped = skipped.saturating_add(std::io::copy(&mut self.input.by_ref().take(rest), &mut std::io::sink())?);
            if self.place.files >= start.files || self.files.is_empty() {
                break;
            }
            self.open_next()?;
        }
        if skipped < start.offset || self.input.crc.clone().finalize() != start.hash {
            return refuse("the rows that the earlier run read have changed, so this is another input");
        }
        self.place = start;
        // The last row of an earlier input need not have a line feed, and rows were appended after one.
        if self.input.last != b'\n' {
            match self.input.fill_buf()?.first() {
                None => {}
                Some(b'\n') => {
                    self.input.consume(1);
                    self.place.offset = self.place.offset.saturating_add(1);
                }
                Some(_) => return refuse("the last row that the earlier run read goes on, so this is another input"),
            }
        }
        Ok(())
    }
}

/// The decompressed input, with the hash of what was read of it.
struct Hashed {
    inner: Box<dyn BufRead>,
    crc: crc32fast::Hasher,
    /// The last byte that was read of a file, or a line feed at its start.
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
