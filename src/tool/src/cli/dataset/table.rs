//! Reads Parquet and Arrow files as JSON Lines.
//!
//! The crates `parquet` and `arrow` trust their files, so a child process reads one and writes its rows to a pipe.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Error, ErrorKind, Read, Result, Seek, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_json::LineDelimitedWriter;
use arrow_json::writer::{LineDelimited, WriterBuilder};
use arrow_schema::ArrowError;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::codec::BUFFER;
use crate::cli::child;

/// The number of rows that are converted at once.
const ROWS: usize = 256;

/// The seconds of processor time that a child has for a small file.
const SECONDS: u64 = 10;

/// The characters of an error that a child says.
const SAID: usize = 1000;

type Batches = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>>>;

/// What a file is by its first bytes.
#[derive(Clone, Copy)]
enum Kind {
    Parquet,
    ArrowFile,
    ArrowStream,
}

impl Kind {
    fn find(file: &File) -> Result<Option<Self>> {
        if !file.metadata()?.is_file() {
            return Ok(None);
        }
        let mut start = Vec::new();
        file.take(6).read_to_end(&mut start)?;
        let mut file = file;
        file.rewind()?;
        Ok(match start.as_slice() {
            [b'P', b'A', b'R', b'1', ..] => Some(Self::Parquet),
            b"ARROW1" => Some(Self::ArrowFile),
            [0xff, 0xff, 0xff, 0xff, ..] => Some(Self::ArrowStream),
            _ => None,
        })
    }
}

/// Returns the rows of a file as JSON Lines, with what the file is, or `None` if it is neither Parquet nor Arrow.
pub fn open(path: &Path, file: &File) -> Result<Option<(Box<dyn BufRead>, &'static str)>> {
    let what = match Kind::find(file)? {
        None => return Ok(None),
        Some(Kind::Parquet) => "Parquet",
        Some(Kind::ArrowFile | Kind::ArrowStream) => "Arrow",
    };
    let mut child = child::start(|command| {
        command.args(["table", "--"]).arg(path).stderr(Stdio::piped());
    })?;
    let rows = child.stdout.take().ok_or(ErrorKind::BrokenPipe)?;
    Ok(Some((Box::new(BufReader::with_capacity(BUFFER, Rows { rows, child })), what)))
}

/// The rows that a child writes.
struct Rows {
    rows: ChildStdout,
    child: Child,
}

impl Rows {
    /// Returns the error of a child that ended before its last row.
    fn end(&mut self) -> Result<()> {
        let status = self.child.wait()?;
        let mut message = String::new();
        if let Some(said) = self.child.stderr.as_mut().filter(|_| status.code() == Some(1)) {
            said.read_to_string(&mut message)?;
        }
        match message.trim_end() {
            _ if status.success() => Ok(()),
            "" => Err(refuse("it is damaged, or needs too much memory or time")),
            message => Err(refuse(message)),
        }
    }
}

impl Read for Rows {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.rows.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            self.end()?;
        }
        Ok(read)
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        child::end(&mut self.child);
    }
}

fn refuse(error: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::InvalidData,
        format!("this is a Parquet file or an Arrow file that cannot be read: {error}"),
    )
}

/// Writes the rows of a file to standard output: the command `table`.
pub fn write(path: &Path) -> std::result::Result<(), String> {
    // A parent reads messages, and not panics.
    std::panic::set_hook(Box::new(|_| {}));
    let mut out = BufWriter::with_capacity(BUFFER, std::io::stdout().lock());
    let written = write_rows(path, &mut out).and_then(|()| out.flush().map_err(ArrowError::from));
    written.map_err(|error| error.to_string().chars().take(SAID).collect())
}

fn write_rows(path: &Path, out: &mut impl Write) -> std::result::Result<(), ArrowError> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    child::limit_memory(length);
    child::limit_time(SECONDS, length);
    let batches: Batches = match Kind::find(&file)? {
        Some(Kind::Parquet) => Box::new(
            ParquetRecordBatchReaderBuilder::try_new(file)?
                .with_batch_size(ROWS)
                .build()?,
        ),
        Some(Kind::ArrowFile) => Box::new(FileReader::try_new(BufReader::new(file), None)?),
        Some(Kind::ArrowStream) => Box::new(StreamReader::try_new(BufReader::new(file), None)?),
        None => return Ok(()),
    };
    for batch in batches {
        let batch = batch?;
        for start in (0..batch.num_rows()).step_by(ROWS) {
            let count = batch.num_rows().saturating_sub(start).min(ROWS);
            let mut writer: LineDelimitedWriter<_> = WriterBuilder::new()
                .with_explicit_nulls(true)
                .build::<_, LineDelimited>(&mut *out);
            writer.write(&batch.slice(start, count))?;
            writer.finish()?;
        }
    }
    Ok(())
}
