//! One run over a data set, from its start or from a checkpoint to its end.

use std::cell::Cell;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use rayon::{ScopeFifo, ThreadPool};

use super::codec::Codec;
use super::input::Opened;
use super::journal::{Checkpoint, Found, Journal};
use super::lines::Lines;
use super::output::{Output, WriteFailure, is_regular};
use super::row::Renderer;
use super::rows::{Chunk, Rows};
use crate::cli::file::{check_written, is_dash, shown};

/// The largest number of bytes of the input that are under way, unless one chunk has more.
const MAX_WINDOW: usize = 32 << 20;

/// The capacity of a buffer in bytes from which the buffer is freed instead of used again.
const MAX_SPARE: usize = 2 << 20;

/// The size in bytes at which the answers to the rows of a chunk are written without waiting for the rest of the chunk. Most chunks stay
/// below it.
pub const ANSWERS: usize = 8 << 20;

/// The files of a run. `-` is standard input or standard output.
pub struct Files {
    pub input: Vec<PathBuf>,
    pub output: PathBuf,
    /// The file of errors, or `None` for standard error.
    pub errors: Option<PathBuf>,
}

impl Files {
    /// Returns an error if a file that the run writes is also one that it reads, such as one of `read`, or if a file of the input or the
    /// folder of the output does not exist.
    pub fn check(&self, read: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<(), String> {
        for input in self.input.iter().filter(|input| !is_dash(input)) {
            std::fs::metadata(input).map_err(|error| format!("{}: {error}", input.display()))?;
        }
        let folder = self.output.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.exists()) {
            return Err(format!("{}: there is no folder {}", self.output.display(), folder.display()));
        }
        let journal = Journal::path(&self.output);
        let written = [Some(&self.output), self.errors.as_ref(), Some(&journal)];
        let read = read.into_iter().map(|path| path.as_ref().to_owned());
        check_written(read.chain(self.input.iter().cloned()), written.into_iter().flatten())
    }
}

/// A run over a data set.
pub struct Run {
    pub renderer: Renderer,
    pub files: Files,
    pub pool: ThreadPool,
    /// The size in bytes at which a chunk is full.
    pub chunk_size: usize,
    /// The size in bytes at which the answers to the rows of a chunk are written without waiting for the rest of the chunk.
    pub answers_size: usize,
    /// The time between two checkpoints.
    pub interval: Duration,
}

/// The place where a run starts.
#[derive(Default)]
pub struct Start {
    pub checkpoint: Checkpoint,
    /// The journal and the length to which it is cut, or `None` if the output is a pipe, which has no journal.
    journal: Option<(Journal, u64)>,
}

/// A chunk and the answers to its rows, ready to be written. The memory of a block that was written is used for a later chunk. Memory that
/// one thread allocates and another frees would cost more than a copy.
#[derive(Default)]
struct Block {
    chunk: Chunk,
    /// The answers that have not been sent to be written.
    answers: Answers,
    written: u64,
    failed: u64,
}

/// Answers to consecutive rows, ready to be written.
#[derive(Default)]
struct Answers {
    output: Vec<u8>,
    errors: Vec<u8>,
}

impl Run {
    /// Finds the place where the run starts, and locks its journal.
    pub fn find_start(&self, resumes: bool) -> Result<Start, String> {
        let output = &self.files.output;
        if !is_regular(output) {
            return if resumes {
                Err("--resume needs an --output that is a file".to_owned())
            } else {
                Ok(Start::default())
            };
        }
        let path = Journal::path(output);
        let path = path.display();
        let errors = self.files.errors.as_deref().unwrap_or(Path::new("-"));
        let is_unknown = resumes && output.exists() && std::fs::metadata(Journal::path(output)).is_err();
        if is_unknown {
            let output = output.display();
            return Err(format!(
                "{output}: this file has no journal, so no run can continue it; repeat the command without --resume to replace the file"
            ));
        }
        let mut journal = Journal::open(output)?;
        let (checkpoint, kept) = match (journal.find(&self.describe(), output, errors)?, resumes) {
            (Found::Nothing, _) => (Checkpoint::default(), 0),
            (Found::Checkpoint(checkpoint, kept), true) => (checkpoint, kept),
            (Found::Other(_), true) => {
                return Err(format!(
                    "{path}: the earlier run had another template or other options; repeat them, or delete this file to start anew"
                ));
            }
            (Found::Checkpoint(Checkpoint { is_complete: true, .. }, _) | Found::Other(true), false) => (Checkpoint::default(), 0),
            (Found::Checkpoint(..) | Found::Other(_), false) => {
                return Err(format!(
                    "{path}: an earlier run was interrupted; continue it with --resume, or delete this file to start anew"
                ));
            }
        };
        Ok(Start {
            checkpoint,
            journal: Some((journal, kept)),
        })
    }

    /// Returns the first line of the journal.
    fn describe(&self) -> String {
        let errors = self.files.errors.as_ref().map(|path| path.display().to_string());
        serde_json::json!({"run": self.renderer.describe(), "errors": errors}).to_string()
    }

    /// Renders the rows after a start, and returns the state at the end of the input. `first` is the first file of the input, if it is open
    /// already. Returns `None` if the reader of standard output has closed it.
    pub fn render(&self, start: Start, first: Option<Opened>, bar: &ProgressBar) -> Result<Option<Checkpoint>, String> {
        let Start { checkpoint, journal } = start;
        let input = &self.files.input;
        let explain = |error: std::io::Error| match &**input {
            [input] => format!("{}: {error}", shown(input).display()),
            _ => error.to_string(),
        };
        let sizes = (self.renderer.max_row, self.chunk_size);
        let mut rows = Rows::open(input, first, checkpoint.place, sizes, bar).map_err(explain)?;
        let mut errors = match &self.files.errors {
            Some(path) => Output::open(path, checkpoint.errors)?,
            None => Output::stderr(),
        };
        let mut output = Output::open(&self.files.output, checkpoint.output)?;
        let journal = match journal {
            Some((mut journal, kept)) => {
                journal.cut(&self.describe(), kept)?;
                Some(journal)
            }
            None => None,
        };
        output.cut()?;
        errors.cut()?;
        let mut writer = Writer {
            errors,
            output,
            journal,
            reached: checkpoint,
            last_checkpoint: Instant::now(),
            interval: self.interval,
        };
        let started = Instant::now();
        let ended = self.pool.in_place_scope_fifo(|scope| {
            let mut window = Window::new(self.pool.current_num_threads());
            loop {
                while window.has_place() {
                    let mut block = window.spare.pop().unwrap_or_default();
                    match rows.read_chunk(&mut block.chunk) {
                        Ok(true) => window.push(self, scope, block),
                        Ok(false) => window.is_last = true,
                        Err(error) => {
                            window.is_last = true;
                            window.failure = Some(format!("{}: {error}", rows.describe()));
                        }
                    }
                }
                let Some(block) = window.pop(&mut writer)? else { break };
                writer.write(&block)?;
                window.keep(block);
                bar.set_message(describe_progress(&checkpoint, &writer.reached, started));
            }
            match window.failure {
                Some(failure) => Err(WriteFailure::Failed(failure)),
                None => writer.finish(),
            }
        });
        match ended {
            Ok(()) => Ok(Some(writer.reached)),
            Err(WriteFailure::Closed) => Ok(None),
            Err(WriteFailure::Failed(message)) => Err(format!("{message}\n{}", describe_end(&writer))),
        }
    }

    /// Renders the rows of a block's chunk. Whenever the answers are large, they are sent to be written, even in the middle of a line.
    fn render_block(&self, block: &mut Block, large: &SyncSender<Answers>) -> std::io::Result<()> {
        let Block {
            chunk,
            answers,
            written,
            failed,
        } = block;
        (*written, *failed) = (0, 0);
        let failure = Cell::new(None);
        let send = |answers: std::io::Result<Answers>| match answers {
            // There is no receiver if the run has ended early.
            Ok(answers) => drop(large.send(answers)),
            Err(error) => failure.set(Some(error)),
        };
        let send_output = |part| send(self.encode(part, Vec::new()));
        let send_errors = |part| send(self.encode(Vec::new(), part));
        let mut output = Lines::new(std::mem::take(&mut answers.output), self.answers_size, &send_output);
        let mut errors = Lines::new(std::mem::take(&mut answers.errors), self.answers_size, &send_errors);
        output.reserve(chunk.size());
        for row in chunk.rows() {
            let count = if self.renderer.render(&row, &mut output, &mut errors) {
                &mut *written
            } else {
                &mut *failed
            };
            *count = count.saturating_add(1);
            if let Some(failure) = failure.take() {
                return Err(failure);
            }
        }
        *answers = self.encode(output.into_text(), errors.into_text())?;
        Ok(())
    }

    fn encode(&self, output: Vec<u8>, errors: Vec<u8>) -> std::io::Result<Answers> {
        let encode = |path: Option<&PathBuf>, text: Vec<u8>| match path {
            Some(path) if !text.is_empty() => Codec::of(path).encode(text),
            _ => Ok(text),
        };
        Ok(Answers {
            output: encode(Some(&self.files.output), output)?,
            errors: encode(self.files.errors.as_ref(), errors)?,
        })
    }
}

/// A block that is under way.
struct Pending {
    /// The size of the chunk.
    size: usize,
    /// The channel that brings large answers before the block is complete. It has no capacity, so that the block waits until they are
    /// written.
    large: Receiver<Answers>,
    /// The channel that brings the block when it is rendered.
    block: Receiver<std::io::Result<Block>>,
}

/// The blocks that are under way, in the order of the input.
struct Window {
    blocks: VecDeque<Pending>,
    /// The blocks that were written.
    spare: Vec<Block>,
    /// The number of bytes of the chunks.
    bytes: usize,
    most: usize,
    /// Whether the last chunk was read.
    is_last: bool,
    /// The error of reading the input. It is reported after the rows before it are written.
    failure: Option<String>,
}

impl Window {
    fn new(threads: usize) -> Self {
        Self {
            blocks: VecDeque::new(),
            spare: Vec::new(),
            bytes: 0,
            most: threads.saturating_mul(2).saturating_add(2),
            is_last: false,
            failure: None,
        }
    }

    fn has_place(&self) -> bool {
        !self.is_last && self.blocks.len() < self.most && self.bytes < MAX_WINDOW
    }

    /// Gives a block to the pool of threads, which renders it.
    fn push<'s>(&mut self, run: &'s Run, scope: &ScopeFifo<'s>, mut block: Block) {
        let (large_sender, large) = sync_channel(0);
        let (sender, receiver) = sync_channel(1);
        let size = block.chunk.size();
        self.bytes += size;
        self.blocks.push_back(Pending {
            size,
            large,
            block: receiver,
        });
        // The pool begins the blocks in their order, so the one that is written next never waits for another.
        scope.spawn_fifo(move |_| {
            let rendered = run.render_block(&mut block, &large_sender);
            drop(large_sender);
            // There is no receiver if the run has ended early.
            let _ = sender.send(rendered.map(|()| block));
        });
    }

    /// Keeps the memory of a block that was written, unless a long row made it large.
    fn keep(&mut self, block: Block) {
        let Answers { output, errors } = &block.answers;
        let buffers = [block.chunk.capacity(), output.capacity(), errors.capacity()];
        if buffers.iter().all(|bytes| *bytes < MAX_SPARE) {
            self.spare.push(block);
        }
    }

    /// Waits for the first block, and writes its large answers. Returns `None` if none is under way.
    fn pop(&mut self, writer: &mut Writer) -> Result<Option<Block>, WriteFailure> {
        let Some(pending) = self.blocks.pop_front() else {
            return Ok(None);
        };
        self.bytes = self.bytes.saturating_sub(pending.size);
        for answers in pending.large {
            writer.write_answers(&answers)?;
        }
        let block = pending
            .block
            .recv()
            .map_err(|error| WriteFailure::Failed(error.to_string()))?;
        block.map(Some).map_err(|error| WriteFailure::Failed(error.to_string()))
    }
}

/// Writes the blocks in their order.
struct Writer {
    output: Output,
    errors: Output,
    journal: Option<Journal>,
    /// The state after the last block.
    reached: Checkpoint,
    last_checkpoint: Instant,
    interval: Duration,
}

impl Writer {
    fn write_answers(&mut self, answers: &Answers) -> Result<(), WriteFailure> {
        self.output.write(&answers.output)?;
        self.errors.write(&answers.errors)
    }

    /// Writes the rest of a block's answers, and counts its rows.
    fn write(&mut self, block: &Block) -> Result<(), WriteFailure> {
        self.write_answers(&block.answers)?;
        self.reached = Checkpoint {
            place: block.chunk.end,
            output: self.output.length,
            errors: self.errors.length,
            written: self.reached.written.saturating_add(block.written),
            failed: self.reached.failed.saturating_add(block.failed),
            is_complete: false,
        };
        // After a chunk that ends with the input, a resumed run could have other chunks.
        if block.chunk.is_full && self.last_checkpoint.elapsed() >= self.interval {
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
        if self.reached.is_complete {
            return Ok(());
        }
        self.output.finish()?;
        self.errors.finish()?;
        self.reached.output = self.output.length;
        self.reached.errors = self.errors.length;
        self.reached.is_complete = true;
        self.add_checkpoint().map_err(WriteFailure::Failed)
    }
}

/// Returns the rows and the rate for the progress bar.
fn describe_progress(start: &Checkpoint, reached: &Checkpoint, started: Instant) -> String {
    let rows = count_rows(reached);
    let rate = rate(rows.saturating_sub(count_rows(start)), started.elapsed());
    format!("{rows} rows, {rate} rows/s, {} failed", reached.failed)
}

/// Returns the line that ends a run.
pub fn summarize(files: &Files, start: &Checkpoint, ended: &Checkpoint, elapsed: Duration) -> String {
    let rows = count_rows(ended);
    let errors = match &files.errors {
        Some(path) if ended.failed > 0 => format!(" ({})", path.display()),
        _ => String::new(),
    };
    let start = count_rows(start);
    let here = rows.saturating_sub(start);
    let resumed = match start {
        0 => String::new(),
        before => format!(", {before} of them by an earlier run"),
    };
    format!(
        "{rows} {}: {} written, {} failed{errors}{resumed}; {:.1} s, {} rows/s",
        if rows == 1 { "row" } else { "rows" },
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
    if is_dash(output) {
        return None;
    }
    let mut path = output.as_os_str().to_owned();
    path.push(".errors.jsonl");
    Some(PathBuf::from(path))
}
