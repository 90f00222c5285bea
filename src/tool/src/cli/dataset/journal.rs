//! The journal of a run, which is a file beside its output.
//!
//! ```text
//! {"run":{"chat-template":"0.1.0","source":"…",…},…}                                                 the template and the options
//! {"place":{"offset":262311,"lines":250,"hash":7},"output":198121,…,"failed":1,"checksum":28610307}  a checkpoint
//! ```
//!
//! A checkpoint has a place in the input with a hash of what is before it, and the lengths of the output and of the file of errors that have
//! the answers of exactly the rows before that place. It is appended after these answers are on the disk, so both files always have at least
//! these lengths. `--resume` cuts both files to the lengths of the last checkpoint, and reads the input from its place. A line that is
//! incomplete, or that is not as it was written, is no checkpoint. The journal is created before the output. The last checkpoint of a
//! complete output says so, and stays beside the output.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::output::{is_regular, length, lock};
use super::rows::Place;

/// The state of a run between two chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Checkpoint {
    /// The place in the input before which all rows are answered.
    pub place: Place,
    /// The length of the output in bytes.
    pub output: u64,
    /// The length of the file of errors in bytes.
    pub errors: u64,
    /// The number of rows in the output.
    pub written: u64,
    /// The number of rows in the file of errors.
    pub failed: u64,
    /// Whether the input ends at the place.
    pub is_complete: bool,
}

/// A line of the journal with a checkpoint.
#[derive(serde::Serialize, serde::Deserialize)]
struct Line {
    #[serde(flatten)]
    checkpoint: Checkpoint,
    /// The CRC-32 of the checkpoint's JSON.
    checksum: u32,
}

impl Line {
    fn new(checkpoint: Checkpoint) -> Result<Self, serde_json::Error> {
        let checksum = crc32fast::hash(&serde_json::to_vec(&checkpoint)?);
        Ok(Self { checkpoint, checksum })
    }

    /// Returns the checkpoint of a line, or `None` if the line has none or is damaged.
    fn read(text: &str) -> Option<Checkpoint> {
        let line: Self = serde_json::from_str(text).ok()?;
        let written = Self::new(line.checkpoint).ok()?;
        (line.checksum == written.checksum).then_some(line.checkpoint)
    }
}

/// An open journal. No other process can have it open.
pub struct Journal {
    path: PathBuf,
    file: File,
}

/// The state of the journal at the start of a run.
pub enum Found {
    /// The journal is empty.
    Nothing,
    /// A journal of this run, with the last checkpoint that the files have reached, and the length of the journal up to it.
    Checkpoint(Checkpoint, u64),
    /// A journal of a run with other options or another template, and whether that run is complete.
    Other(bool),
}

impl Journal {
    /// Returns the path of the journal of an output.
    pub fn path(output: &Path) -> PathBuf {
        let mut path = output.as_os_str().to_owned();
        path.push(".journal");
        PathBuf::from(path)
    }

    /// Opens the journal of an output, or creates it. It is an error if another process has it open.
    pub fn open(output: &Path) -> Result<Self, String> {
        let path = Self::path(output);
        // A device such as /dev/zero may have no end.
        if !is_regular(&path) {
            let path = path.display();
            return Err(format!(
                "{path}: the journal is not a file; delete it, or choose another --output"
            ));
        }
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|error| format!("{}: {error}", path.display()))?;
        lock(&file).map_err(|message| format!("{}: {message}", output.display()))?;
        Ok(Self { path, file })
    }

    /// Reads the journal. `run` is the first line that a run with these options writes.
    pub fn find(&mut self, run: &str, output: &Path, errors: &Path) -> Result<Found, String> {
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes).map_err(|error| self.explain(&error))?;
        let text = String::from_utf8_lossy(&bytes);
        let lengths = (length(output), length(errors));
        let (mut found, mut kept, mut read) = (Checkpoint::default(), 0, 0);
        for line in text.split_inclusive('\n') {
            // A run that was killed before the first line was complete has written nothing else.
            let Some(content) = line.strip_suffix('\n') else { break };
            if read == 0 && content != run {
                let last = text.lines().rev().find_map(Line::read);
                return Ok(Found::Other(last.is_some_and(|last| last.is_complete)));
            }
            read += line.len();
            match Line::read(content) {
                Some(checkpoint) if checkpoint.output > lengths.0 || checkpoint.errors > lengths.1 => break,
                Some(checkpoint) => found = checkpoint,
                None => {}
            }
            kept = read as u64;
        }
        if kept == 0 {
            return Ok(Found::Nothing);
        }
        Ok(Found::Checkpoint(found, kept))
    }

    /// Cuts the journal to the length `kept`. If that is 0, `run` becomes its first line.
    pub fn cut(&mut self, run: &str, kept: u64) -> Result<(), String> {
        let cut = self.file.set_len(kept).and_then(|()| self.file.seek(SeekFrom::Start(kept)));
        cut.map_err(|error| self.explain(&error))?;
        if kept == 0 {
            self.append(run)?;
        }
        Ok(())
    }

    /// Appends a checkpoint. The answers that it counts must be on the disk.
    pub fn add(&mut self, checkpoint: &Checkpoint) -> Result<(), String> {
        let line = Line::new(*checkpoint).and_then(|line| serde_json::to_string(&line));
        self.append(&line.map_err(|error| error.to_string())?)
    }

    fn append(&mut self, line: &str) -> Result<(), String> {
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        let synced = written.and_then(|()| self.file.sync_data());
        synced.map_err(|error| self.explain(&error))
    }

    fn explain(&self, error: &std::io::Error) -> String {
        format!("{}: {error}", self.path.display())
    }
}
