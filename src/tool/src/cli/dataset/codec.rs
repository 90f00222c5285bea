//! The compression of a file. That of an output follows from its name: gzip for `.gz`, zstd for `.zst`, and none for any other name. That of an
//! input follows from its first bytes.
//!
//! Each block of an output is compressed separately, as one member of gzip or one frame of zstd. A reader joins the blocks. A file that is
//! cut between two blocks is a valid file.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::path::Path;
use std::rc::Rc;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

/// The size of the buffer of a file in bytes.
pub const BUFFER: usize = 256 << 10;

/// The largest number of decompressed bytes for each compressed one. Rows with the same long instructions have about 50.
const MAX_RATIO: u64 = 200;

/// The number of decompressed bytes that are always allowed.
const FREE: u64 = 256 << 20;

/// How a file is compressed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    Plain,
    Gzip,
    Zstd,
}

impl Codec {
    /// Returns the compression that follows from the name of a file.
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|end| end.to_str()) {
            Some("gz") => Self::Gzip,
            Some("zst" | "zstd") => Self::Zstd,
            _ => Self::Plain,
        }
    }

    /// Returns the compression that the first bytes of a file have.
    fn find(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }

    /// Returns a reader of the decompressed bytes of a file, of which the start has been read. It fails if they are much more than the
    /// compressed ones.
    pub fn decode(start: Vec<u8>, reader: Box<dyn Read>) -> Result<Box<dyn BufRead>> {
        let codec = Self::find(&start);
        let reader = std::io::Cursor::new(start).chain(reader);
        let compressed = Rc::new(Cell::new(0));
        let counted = Counted {
            inner: reader,
            bytes: Rc::clone(&compressed),
        };
        let reader = BufReader::with_capacity(BUFFER, counted);
        let decoder: Box<dyn Read> = match codec {
            Self::Plain => return Ok(Box::new(reader)),
            Self::Gzip => Box::new(MultiGzDecoder::new(reader)),
            Self::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(reader)?),
        };
        let bounded = Bounded {
            inner: decoder,
            compressed,
            bytes: 0,
        };
        Ok(Box::new(BufReader::with_capacity(BUFFER, bounded)))
    }

    /// Compresses a block.
    pub fn encode(self, block: Vec<u8>) -> Result<Vec<u8>> {
        match self {
            Self::Plain => Ok(block),
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(&block)?;
                encoder.finish()
            }
            Self::Zstd => zstd::bulk::compress(&block, zstd::DEFAULT_COMPRESSION_LEVEL),
        }
    }
}

/// A reader that counts the bytes that were read.
struct Counted<R> {
    inner: R,
    bytes: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes.set(self.bytes.get().saturating_add(read as u64));
        Ok(read)
    }
}

/// A reader of decompressed bytes that fails if they are too many for the compressed ones.
struct Bounded<R> {
    inner: R,
    compressed: Rc<Cell<u64>>,
    bytes: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes = self.bytes.saturating_add(read as u64);
        if self.bytes > self.compressed.get().saturating_mul(MAX_RATIO).max(FREE) {
            return Err(Error::new(
                ErrorKind::InvalidData,
                format!(
                    "this file has more than {MAX_RATIO} times its size when it is decompressed; decompress it first, and pass the result"
                ),
            ));
        }
        Ok(read)
    }
}
