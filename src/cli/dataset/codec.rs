//! The compression of a file, which follows from its name: gzip for `.gz`, zstd for `.zst`, and none for any other name.
//!
//! Each block of an output is compressed separately, as one member of gzip or one frame of zstd. A reader joins the blocks. A file that is
//! cut between two blocks is a valid file.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

/// The size of the buffer of a file in bytes.
const BUFFER: usize = 256 << 10;

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

    /// Returns a reader of the decompressed bytes.
    pub fn decode(self, reader: Box<dyn Read>) -> Result<Box<dyn BufRead>> {
        let reader = BufReader::with_capacity(BUFFER, reader);
        Ok(match self {
            Self::Plain => Box::new(reader),
            Self::Gzip => Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(reader))),
            Self::Zstd => {
                let decoder = zstd::stream::read::Decoder::with_buffer(reader)?;
                Box::new(BufReader::with_capacity(BUFFER, decoder))
            }
        })
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
