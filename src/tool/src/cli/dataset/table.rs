//! Reads Parquet and Arrow files as JSON Lines.

use std::fs::File;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Seek};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_json::LineDelimitedWriter;
use arrow_json::writer::{LineDelimited, WriterBuilder};
use arrow_schema::ArrowError;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::codec::BUFFER;

/// The number of rows that are converted at once.
const ROWS: usize = 256;

type Batches = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>>>;

/// Returns the rows of a file as JSON Lines, with what the file is, or `None` if it is neither Parquet nor Arrow.
pub fn open(file: &File) -> Result<Option<(Box<dyn BufRead>, &'static str)>> {
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut start = Vec::new();
    file.take(6).read_to_end(&mut start)?;
    let mut file = file.try_clone()?;
    file.rewind()?;
    let (batches, what): (Batches, _) = match start.as_slice() {
        [b'P', b'A', b'R', b'1', ..] => {
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(refuse)?;
            (Box::new(reader.with_batch_size(ROWS).build().map_err(refuse)?), "Parquet")
        }
        b"ARROW1" => (
            Box::new(FileReader::try_new(BufReader::new(file), None).map_err(refuse)?),
            "Arrow",
        ),
        [0xff, 0xff, 0xff, 0xff, ..] => (
            Box::new(StreamReader::try_new(BufReader::new(file), None).map_err(refuse)?),
            "Arrow",
        ),
        _ => return Ok(None),
    };
    let table = Table {
        batches,
        rest: None,
        lines: Vec::new(),
        read: 0,
    };
    Ok(Some((Box::new(BufReader::with_capacity(BUFFER, table)), what)))
}

fn refuse(error: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::InvalidData,
        format!("this is a Parquet file or an Arrow file that cannot be read: {error}"),
    )
}

/// The rows of a table, written as JSON Lines a few at a time.
struct Table {
    batches: Batches,
    /// The rows of a batch that are still to be written.
    rest: Option<RecordBatch>,
    lines: Vec<u8>,
    /// The number of bytes of the lines that were read.
    read: usize,
}

impl Table {
    /// Writes the next rows. Returns false at the end.
    fn write(&mut self) -> Result<bool> {
        let batch = match self.rest.take() {
            Some(batch) => batch,
            None => match self.batches.next() {
                Some(batch) => batch.map_err(refuse)?,
                None => return Ok(false),
            },
        };
        let count = batch.num_rows().min(ROWS);
        if count < batch.num_rows() {
            self.rest = Some(batch.slice(count, batch.num_rows().saturating_sub(count)));
        }
        self.lines.clear();
        self.read = 0;
        let mut writer: LineDelimitedWriter<_> = WriterBuilder::new()
            .with_explicit_nulls(true)
            .build::<_, LineDelimited>(&mut self.lines);
        writer.write(&batch.slice(0, count)).map_err(refuse)?;
        writer.finish().map_err(refuse)?;
        Ok(true)
    }
}

impl Read for Table {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while self.read >= self.lines.len() {
            if !self.write()? {
                return Ok(0);
            }
        }
        let mut rest = self.lines.get(self.read..).unwrap_or_default();
        let read = rest.read(buffer)?;
        self.read = self.read.saturating_add(read);
        Ok(read)
    }
}
