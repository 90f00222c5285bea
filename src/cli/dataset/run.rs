//! One run over a data set, from its start or from a checkpoint to its end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use rayon::ThreadPool;

use super::codec::Codec;
use super::journal::{Checkpoint, Found, Journal};
use super::output::{Output, WriteFailure, is_regular};
use super::row::Renderer;
use super::rows::{CHUNK, Chunk, Place, Rows};
use crate::cli::file::is_stdin;

/// The number of bytes of the input under way, which are read but not written, with which no further chunk is read.
const MAX_WINDOW: u64 = 32 << 20;

/// The files of a run. `-` is standard input or standard output.
pub struct Files {
    pub input: PathBuf,
    pub output: PathBuf,
    /// The file of errors, or `None` for standard error.
    pub errors: Option<PathBuf>,
}

impl Files {
    /// Returns an error if two of the files are one, or if there is no folder for the output.
    pub fn check(&self) -> Result<(), String> {
        let folder = self.output.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.exists()) {
            return Err(format!("{}: there is no folder {}", self.output.display(), folder.display()));
        }
        let journal = Journal::path(&self.output);
        let paths = [Some(&self.input), Some(&self.output), self.errors.as_ref(), Some(&journal)];
        let paths: Vec<PathBuf> = paths
            .into_iter()
            .flatten()
            .filter(|path| is_regular(path))
            .map(|path| path.canonicalize().unwrap_or_else(|_| path.clone()))
            .collect();
        for (index, path) in paths.iter().enumerate() {
            if paths.iter().skip(index).skip(1).any(|other| other == path) {
                return Err(format!(
                    "{}: the input, the output and the errors must be different files",
                    path.display()
                ));
            }
        }
        Ok(())
    }
}

/// A run over a data set.
pub struct Run {
    pub renderer: Renderer,
    pub files: Files,
    pub pool: ThreadPool,
    /// The number of bytes with which a chunk is full.
    pub chunk_size: usize,
    /// The time between two checkpoints.
    pub interval: Duration,
}

/// The place where a run starts.
#[derive(Clone, Copy, Default)]
pub struct Start {
    pub checkpoint: Checkpoint,
    /// The length to which the journal is cut, or `None` if the output is a pipe, which has no journal.
    kept: Option<u64>,
}

/// The answers to the rows of a chunk, ready to be written.
#[derive(Default)]
struct Block {
    /// The number of bytes of the input before the chunk.
    start: u64,
    output: Vec<u8>,
    errors: Vec<u8>,
    written: u64,
    failed: u64,
    end: Place,
    is_full: bool,
}

impl Run {
    /// Finds the place where the run starts. Returns `None` if the output is complete.
    pub fn find_start(&self, resumes: bool) -> Result<Option<Start>, String> {
        let output = &self.files.output;
        if !is_regular(output) {
            return match resumes {
                true => Err("--resume needs an --output that is a file".to_owned()),
                false => Ok(Some(Start::default())),
            };
        }
        let path = Journal::path(output);
        let path = path.display();
        let errors = self.files.errors.as_deref().unwrap_or(Path::new("-"));
        let description = self.renderer.describe();
        let (checkpoint, kept) = match (Journal::find(&description, output, errors)?, resumes) {
            (Found::Nothing, true) if output.exists() => return Ok(None),
            (Found::Nothing, _) => (Checkpoint::default(), 0),
            (Found::Checkpoint(checkpoint, kept), true) => (checkpoint, kept),
            (Found::Other, true) => {
                return Err(format!(
                    "{path}: the interrupted run had another template or other options; repeat them, or delete this file to start anew"
                ));
            }
            (Found::Checkpoint(..) | Found::Other, false) => {
                return Err(format!(
                    "{path}: an earlier run was interrupted; continue it with --resume, or delete this file to start anew"
                ));
            }
        };
        Ok(Some(Start {
            checkpoint,
            kept: Some(kept),
        }))
    }

    /// Renders the rows after a start, and returns the state at the end of the input with the journal, which is to be removed. Returns
    /// `None` if the reader of standard output has closed it.
    pub fn render(&self, start: &Start, bar: &ProgressBar) -> Result<Option<(Checkpoint, Option<Journal>)>, String> {
        let Start { checkpoint, kept } = start;
        let input = &self.files.input;
        let explain = |error: std::io::Error| format!("{}: {error}", input.display());
        let rows = Rows::open(input, checkpoint.place, self.renderer.max_row, self.chunk_size, bar).map_err(explain)?;
        let errors = match &self.files.errors {
            Some(path) => Output::open(path, checkpoint.errors)?,
            None => Output::stderr(),
        };
        // An output without a journal counts as complete, so the journal is created first.
        let output = &self.files.output;
        let journal = match kept {
            Some(kept) => Some(Journal::open(&self.renderer.describe(), output, *kept)?),
            None => None,
        };
        let writer = Writer {
            errors,
            output: Output::open(output, checkpoint.output)?,
            journal,
            reached: *checkpoint,
            waiting: BTreeMap::new(),
            spare: Vec::new(),
            failure: None,
            last_checkpoint: Instant::now(),
            interval: self.interval,
        };
        let (ends, started) = (Ends::new(rows, writer), Instant::now());
        self.pool.broadcast(|_| {
            let (mut chunk, mut block) = (Chunk::default(), Block::default());
            while ends.read(&mut chunk) {
                let rendered = self.render_chunk(&chunk, &mut block);
                let reached = ends.write(&mut block, rendered);
                bar.set_message(describe_progress(checkpoint, &reached, started));
            }
        });
        let (rows, mut writer) = ends.into_inner();
        let ended = match (writer.failure.take(), rows.failure) {
            (Some(failure), _) => Err(failure),
            (None, Some(error)) => Err(WriteFailure::Failed(format!(
                "{}: after line {}: {error}",
                input.display(),
                rows.place.lines
            ))),
            (None, None) => writer.finish(),
        };
        match ended {
            Ok(()) => Ok(Some((writer.reached, writer.journal))),
            Err(WriteFailure::Closed) => Ok(None),
            Err(WriteFailure::Failed(message)) => Err(format!("{message}\n{}", describe_end(&writer))),
        }
    }

    /// Replaces a block by the answers to a chunk.
    fn render_chunk(&self, chunk: &Chunk, block: &mut Block) -> std::io::Result<()> {
        let (mut output, mut errors) = (take_text(&mut block.output), take_text(&mut block.errors));
        let (mut written, mut failed) = (0_u64, 0_u64);
        for row in chunk.rows() {
            let count = match self.renderer.render(&row, &mut output, &mut errors) {
                true => &mut written,
                false => &mut failed,
            };
            *count = count.saturating_add(1);
        }
        let encode = |path: Option<&PathBuf>, text: String| match path {
            Some(path) if !text.is_empty() => Codec::of(path).encode(text.into_bytes()),
            _ => Ok(text.into_bytes()),
        };
        *block = Block {
            start: chunk.start,
            output: encode(Some(&self.files.output), output)?,
            errors: encode(self.files.errors.as_ref(), errors)?,
            written,
            failed,
            end: chunk.end,
            is_full: chunk.is_full,
        };
        Ok(())
    }
}

/// Takes the memory of a buffer for an empty text.
fn take_text(buffer: &mut Vec<u8>) -> String {
    buffer.clear();
    buffer.shrink_to(CHUNK.saturating_mul(4));
    String::from_utf8(std::mem::take(buffer)).unwrap_or_default()
}

/// The input and the outputs of a run. One thread at a time reads, and one writes.
struct Ends {
    rows: Mutex<Rows>,
    writer: Mutex<Writer>,
    /// Wakes the thread that waits until fewer bytes are under way.
    written: Condvar,
}

impl Ends {
    fn new(rows: Rows, writer: Writer) -> Self {
        Self {
            rows: Mutex::new(rows),
            writer: Mutex::new(writer),
            written: Condvar::new(),
        }
    }

    /// Replaces a chunk by the next one of the input. Returns false if there is none, or if the run has failed.
    fn read(&self, chunk: &mut Chunk) -> bool {
        let mut rows = lock(&self.rows);
        let place = rows.place.offset;
        let is_waiting =
            |writer: &mut Writer| writer.failure.is_none() && place.saturating_sub(writer.reached.place.offset) >= MAX_WINDOW;
        let writer = self.written.wait_while(lock(&self.writer), is_waiting);
        let has_failed = writer.unwrap_or_else(PoisonError::into_inner).failure.is_some();
        !has_failed && rows.read_chunk(chunk)
    }

    /// Writes a block when all blocks before it are written. Returns the state after the last block that is written.
    fn write(&self, block: &mut Block, rendered: std::io::Result<()>) -> Checkpoint {
        let mut writer = lock(&self.writer);
        let written = rendered.map_err(|error| WriteFailure::Failed(error.to_string()));
        if writer.failure.is_none() {
            writer.failure = written.and_then(|()| writer.write_next(block)).err();
        }
        self.written.notify_one();
        writer.reached
    }

    fn into_inner(self) -> (Rows, Writer) {
        let writer = self.writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        (self.rows.into_inner().unwrap_or_else(PoisonError::into_inner), writer)
    }
}

/// Locks a mutex. No thread panics while it has the lock, so the value is always complete.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the blocks in their order.
struct Writer {
    output: Output,
    errors: Output,
    journal: Option<Journal>,
    /// The state after the last block.
    reached: Checkpoint,
    /// The blocks that wait for a block before them, by their starts.
    waiting: BTreeMap<u64, Block>,
    /// Blocks that have waited and are written. Their memory is used again.
    spare: Vec<Block>,
    /// The error that ended the run.
    failure: Option<WriteFailure>,
    last_checkpoint: Instant,
    interval: Duration,
}

impl Writer {
    /// Writes a block, and those that wait for it. A block that must wait is taken, and replaced by a spare one.
    fn write_next(&mut self, block: &mut Block) -> Result<(), WriteFailure> {
        if block.start != self.reached.place.offset {
            let spare = self.spare.pop().unwrap_or_default();
            self.waiting.insert(block.start, std::mem::replace(block, spare));
            return Ok(());
        }
        self.write(block)?;
        while let Some(next) = self.waiting.remove(&self.reached.place.offset) {
            self.write(&next)?;
            self.spare.push(next);
        }
        Ok(())
    }

    fn write(&mut self, block: &Block) -> Result<(), WriteFailure> {
        self.output.write(&block.output)?;
        self.errors.write(&block.errors)?;
        self.reached = Checkpoint {
            place: block.end,
            output: self.output.length,
            errors: self.errors.length,
            written: self.reached.written.saturating_add(block.written),
            failed: self.reached.failed.saturating_add(block.failed),
        };
        // After a chunk that ends with the input, a resumed run could have other chunks.
        if block.is_full && self.last_checkpoint.elapsed() >= self.interval {
            self.add_checkpoint().map_err(WriteFailure::Failed)?;
        }
        Ok(())
    }

    fn add_checkpoint(&mut self) -> Result<(), String> {
        if let Some(journal) = &mut self.journal {
            self.output.sync()?;
            self.errors.sync()?;
            journal.add(&self.reached)?;
            self.last_checkpoint = Instant::now();
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), WriteFailure> {
        self.output.finish()?;
        self.errors.finish()
    }
}

/// Returns the rows and the rate for the progress bar.
fn describe_progress(start: &Checkpoint, reached: &Checkpoint, started: Instant) -> String {
    let rows = count_rows(reached);
    let rate = rate(rows.saturating_sub(count_rows(start)), started.elapsed());
    format!("{rows} rows, {rate} rows/s, {} failed", reached.failed)
}

/// Returns the line that ends a run.
pub fn summarize(files: &Files, start: &Start, ended: &Checkpoint, elapsed: Duration) -> String {
    let rows = count_rows(ended);
    let errors = match &files.errors {
        Some(path) if ended.failed > 0 => format!(" ({})", path.display()),
        _ => String::new(),
    };
    let start = count_rows(&start.checkpoint);
    let here = rows.saturating_sub(start);
    let resumed = match start {
        0 => String::new(),
        before => format!(", {before} of them before the interruption"),
    };
    format!(
        "{rows} rows: {} written, {} failed{errors}{resumed}; {:.1} s, {} rows/s",
        ended.written,
        ended.failed,
        elapsed.as_secs_f64(),
        rate(here, elapsed)
    )
}

/// Returns the line that ends the message of a run that ended early.
fn describe_end(writer: &Writer) -> String {
    let Checkpoint { written, failed, .. } = writer.reached;
    let hint = if writer.journal.is_some() {
        "; --resume continues the run"
    } else {
        ""
    };
    format!("the run ended early: {written} rows are written, {failed} failed{hint}")
}

fn count_rows(checkpoint: &Checkpoint) -> u64 {
    checkpoint.written.saturating_add(checkpoint.failed)
}

/// Returns the number of rows in a second.
fn rate(rows: u64, elapsed: Duration) -> u64 {
    let rate = u128::from(rows).saturating_mul(1000).checked_div(elapsed.as_millis());
    rate.and_then(|rate| u64::try_from(rate).ok()).unwrap_or(rows)
}

/// Returns the default path of the file of errors, or `None` if the output is standard output.
pub fn default_errors(output: &Path) -> Option<PathBuf> {
    if is_stdin(output) {
        return None;
    }
    let mut path = output.as_os_str().to_owned();
    path.push(".errors.jsonl");
    Some(PathBuf::from(path))
}
