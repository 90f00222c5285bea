//! The files that a run writes.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, IsTerminal, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::codec::Codec;
use crate::cli::file::is_dash;
use crate::cli::terminal::JsonOutput;

/// A file that a run writes block by block.
pub struct Output {
    path: PathBuf,
    target: Target,
    /// The length of the file in bytes.
    pub length: u64,
}

enum Target {
    File(File),
    Stdout,
    Stderr,
}

/// The reason why a block was not written.
pub enum WriteFailure {
    /// The reader of standard output has closed it.
    Closed,
    /// Any other failure, with its message.
    Failed(String),
}

impl Output {
    /// Opens and locks a file, which keeps its content until [`Output::cut`]. `-` is standard output.
    pub fn open(path: &Path, length: u64) -> Result<Self, String> {
        let target = if is_dash(path) {
            Target::Stdout
        } else {
            Target::File(open(path).map_err(|message| format!("{}: {message}", path.display()))?)
        };
        let path = match target {
            Target::Stdout => Path::new("standard output"),
            _ => path,
        };
        Ok(Self {
            path: path.to_owned(),
            target,
            length,
        })
    }

    /// Cuts a file to the length with which it was opened. A device or a pipe stays as it is.
    pub fn cut(&mut self) -> Result<(), String> {
        match &mut self.target {
            Target::File(file) if is_regular(&self.path) => {
                let cut = file
                    .set_len(self.length)
                    .and_then(|()| file.seek(SeekFrom::Start(self.length)));
                cut.map(drop).map_err(|error| format!("{}: {error}", self.path.display()))
            }
            _ => Ok(()),
        }
    }

    /// Returns standard error as an output.
    pub fn stderr() -> Self {
        Self {
            path: PathBuf::from("standard error"),
            target: Target::Stderr,
            length: 0,
        }
    }

    /// Writes a block. If a file has no space for the whole block, the part that was written is removed.
    pub fn write(&mut self, block: &[u8]) -> Result<(), WriteFailure> {
        let written = match &mut self.target {
            Target::File(file) => file.write_all(block),
            Target::Stdout => {
                let is_terminal = std::io::stdout().is_terminal();
                let mut out = JsonOutput::new(std::io::stdout().lock(), is_terminal);
                out.write_all(block).and_then(|()| out.flush())
            }
            Target::Stderr => JsonOutput::new(std::io::stderr().lock(), std::io::stderr().is_terminal()).write_all(block),
        };
        match written {
            Ok(()) => {
                self.length = self.length.saturating_add(block.len() as u64);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::BrokenPipe && matches!(self.target, Target::Stdout) => {
                Err(WriteFailure::Closed)
            }
            Err(error) => {
                if let Target::File(file) = &self.target {
                    // This fails for a device. The first failure is the one to report.
                    let _ = file.set_len(self.length);
                }
                Err(WriteFailure::Failed(format!("{}: {error}", self.path.display())))
            }
        }
    }

    /// Ends the output, and waits until it is on the disk. An output without rows gets an empty block, so that it is a valid compressed
    /// file.
    pub fn finish(&mut self) -> Result<(), WriteFailure> {
        if self.length == 0 {
            let empty = Codec::of(&self.path).encode(Vec::new());
            let empty = empty.map_err(|error| WriteFailure::Failed(error.to_string()))?;
            self.write(&empty)?;
        }
        self.sync().map_err(WriteFailure::Failed)
    }

    /// Waits until the file is on the disk.
    pub fn sync(&self) -> Result<(), String> {
        match &self.target {
            Target::File(file) if is_regular(&self.path) => {
                file.sync_data().map_err(|error| format!("{}: {error}", self.path.display()))
            }
            _ => Ok(()),
        }
    }
}

/// Opens a file, and locks it under any of its names, so that no other run writes it through a link. A device or a pipe is only opened.
fn open(path: &Path) -> Result<File, String> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).open(path);
    let file = file.map_err(|error| error.to_string())?;
    if is_regular(path) {
        lock(&file)?;
    }
    Ok(file)
}

/// Returns whether a path is a regular file, or does not exist yet.
pub fn is_regular(path: &Path) -> bool {
    !is_dash(path) && std::fs::metadata(path).map_or(true, |metadata| metadata.is_file())
}

/// Returns the length of a file, which is 0 if the file does not exist. A device or a pipe has no length; the result is the largest number.
pub fn length(path: &Path) -> u64 {
    match std::fs::metadata(path) {
        _ if !is_regular(path) => u64::MAX,
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    }
}

/// Locks a file until this process ends or closes it. The error names the process that has the lock.
#[cfg(unix)]
pub fn lock(file: &File) -> Result<(), String> {
    use rustix::fs::{FlockOperation, fcntl_lock};
    use rustix::io::Errno;
    use rustix::process::{Flock, FlockType, fcntl_getlk};

    match fcntl_lock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::AGAIN | Errno::ACCESS) => {
            let holder = fcntl_getlk(file, &Flock::from(FlockType::WriteLock)).ok().flatten();
            let holder = match holder.and_then(|holder| holder.pid) {
                Some(pid) => format!("the process {}", pid.as_raw_nonzero()),
                None => "another process".to_owned(),
            };
            Err(format!("{holder} is writing this output"))
        }
        // Some file systems have no locks.
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
pub fn lock(_: &File) -> Result<(), String> {
    Ok(())
}
