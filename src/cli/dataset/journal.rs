//! The journal of a run, which is a file beside its output.
//!
//! ```text
//! {"chat-template":"0.1.0","source":"…",…}                                                 the template and the options
//! {"place":{"offset":262311,"lines":250},"output":198121,…,"failed":1,"checksum":28610307}  a checkpoint
//! ```
//!
//! A checkpoint has a place in the input, and the lengths of the output and of the file of errors that have the answers of exactly the rows
//! before that place. It is appended after these answers are on the disk, so both files always have at least these lengths. `--resume` cuts
//! both files to the lengths of the last checkpoint, and reads the input from its place. A line that is incomplete, or that is not as it
//! was written, is no checkpoint. The journal is created before the output, and removed when the output is complete, so an output without a
//! journal is complete.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Crc;

use super::output::{is_regular, length, open_cut};
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
        let mut crc = Crc::new();
        crc.update(&serde_json::to_vec(&checkpoint)?);
        let checksum = crc.sum();
        Ok(Self { checkpoint, checksum })
    }

    /// Returns the checkpoint of a line, or `None` if the line has none or is damaged.
    fn read(text: &str) -> Option<Checkpoint> {
        let line: Self = serde_json::from_str(text).ok()?;
        let written = Self::new(line.checkpoint).ok()?;
        (line.checksum == written.checksum).then_some(line.checkpoint)
    }
}

/// An open journal.
pub struct Journal {
    path: PathBuf,
    file: File,
}

/// The state of the journal at the start of a run.
pub enum Found {
    /// There is no journal.
    Nothing,
    /// A journal of this run, with the last checkpoint that the files have reached, and the length of the journal up to it.
    Checkpoint(Checkpoint, u64),
    /// A journal of a run with other options or another template.
    Other,
}

impl Journal {
    /// Returns the path of the journal of an output.
    pub fn path(output: &Path) -> PathBuf {
        let mut path = output.as_os_str().to_owned();
        path.push(".journal");
        PathBuf::from(path)
    }

    /// Reads the journal of an output. `run` is the first line that a run with these options writes.
    pub fn find(run: &str, output: &Path, errors: &Path) -> Result<Found, String> {
        let path = Self::path(output);
        // A device such as /dev/zero may have no end.
        if !is_regular(&path) {
            let path = path.display();
            return Err(format!(
                "{path}: the journal is not a file; delete it, or choose another --output"
            ));
        }
        let text = match std::fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        let lengths = (length(output), length(errors));
        let (mut found, mut kept, mut read) = (Checkpoint::default(), 0, 0);
        for line in text.split_inclusive('\n') {
            // A run that was killed before the first line was complete has written nothing else.
            let Some(content) = line.strip_suffix('\n') else { break };
            if read == 0 && content != run {
                return Ok(Found::Other);
            }
            read += line.len();
            match Line::read(content) {
                Some(checkpoint) if checkpoint.output > lengths.0 || checkpoint.errors > lengths.1 => break,
                Some(checkpoint) => found = checkpoint,
                None => {}
            }
            kept = read as u64;
        }
        Ok(Found::Checkpoint(found, kept))
    }

    /// Opens the journal of an output and cuts it to the length `kept`. If that is 0, `run` becomes its first line.
    pub fn open(run: &str, output: &Path, kept: u64) -> Result<Self, String> {
        let path = Self::path(output);
        let file = open_cut(&path, kept).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut journal = Self { path, file };
        if kept == 0 {
            journal.append(run)?;
        }
        Ok(journal)
    }

    /// Appends a checkpoint. The answers that it counts must be on the disk.
    pub fn add(&mut self, checkpoint: &Checkpoint) -> Result<(), String> {
        let line = Line::new(*checkpoint).and_then(|line| serde_json::to_string(&line));
        self.append(&line.map_err(|error| error.to_string())?)
    }

    fn append(&mut self, line: &str) -> Result<(), String> {
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        let synced = written.and_then(|()| self.file.sync_data());
        synced.map_err(|error| format!("{}: {error}", self.path.display()))
    }

    /// Removes the journal, because the output is complete.
    pub fn remove(self) -> Result<(), String> {
        std::fs::remove_file(&self.path).map_err(|error| format!("{}: {error}", self.path.display()))
    }
}
