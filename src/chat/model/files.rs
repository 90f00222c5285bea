//! Reads the files of a model's folder, which may come from a stranger.
//!
//! ```text
//! chat_template.jinja -> ../../blobs/1a2b      read: a link into the blobs of the Hugging Face cache
//! chat_template.jinja -> /proc/self/environ    refused: a link that leaves the folder
//! ```
//!
//! [`LoadOptions::max_file_size`] bounds each file, and all files that are kept in memory together.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind as IoErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::cache;
use super::roots::{self, Root};
use crate::chat::templates;
use crate::deadline::{Bounds, Deadline};
use crate::error::{Error, ErrorClass, Result};
use crate::limits::{Limit, LimitExceeded};
use crate::setters::setters;
use crate::text::message;

/// How [`ChatTemplate::from_dir`](crate::ChatTemplate::from_dir) reads a folder.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LoadOptions<'o> {
    /// The largest size in bytes of a file, and of all files together except `tokenizer.json`, which is read as a stream. The default is
    /// 64 MiB; the largest known `tokenizer.json` has about 35 MiB.
    pub max_file_size: u64,
    /// Whether the templates are those of a processor: `processor_config.json`, else the older `chat_template.json`, else
    /// `chat_template.jinja` and `additional_chat_templates`. The default is those of a tokenizer: `chat_template.jinja` and
    /// `additional_chat_templates`, else `tokenizer_config.json`. The special tokens are those of the tokenizer.
    pub processor: bool,
    /// Whether to load a folder whose tokenizer is Python code in that folder (`auto_map`). The code is never run: the special tokens are
    /// those that the files name. The default is an error, as in transformers without `trust_remote_code`.
    pub ignore_remote_code: bool,
    /// Whether to read files through symbolic links that leave the folder. The default is an error, because a folder from a stranger could
    /// link to any file of the machine. The links of the Hugging Face cache into its folder `blobs` are always followed.
    pub follow_links: bool,
    /// The bounds on reading the files and compiling the templates together.
    pub bounds: Bounds<'o>,
}

setters! { LoadOptions<'o>:
    with_max_file_size(u64) = @max_file_size;
    with_processor(bool) = @processor;
    with_ignore_remote_code(bool) = @ignore_remote_code;
    with_follow_links(bool) = @follow_links;
    with_bounds(impl Into<Bounds<'o>>) = @bounds;
}

impl Default for LoadOptions<'_> {
    fn default() -> Self {
        Self {
            max_file_size: MAX_FILE_SIZE,
            processor: false,
            ignore_remote_code: false,
            follow_links: false,
            bounds: Bounds::default(),
        }
    }
}

/// The files of a folder.
pub struct Files<'p> {
    /// The folder.
    pub path: &'p Path,
    /// The deadline of loading.
    pub deadline: &'p Deadline,
    cancel: Option<&'p AtomicBool>,
    max_file_size: u64,
    /// The total size of the files that were kept in memory, in bytes.
    bytes: Cell<u64>,
    /// The folders in which a file must be after all links are followed, or `None` if it may be anywhere.
    roots: Option<Vec<Root>>,
}

impl<'p> Files<'p> {
    /// Returns the files of a folder. `given` is the path that the caller passed: the folder, or a model's folder of the cache around it.
    pub fn new(path: &'p Path, given: &Path, options: &LoadOptions<'p>, deadline: &'p Deadline) -> Result<Self> {
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(at(path, "is not a folder")),
            Err(error) if error.kind() == IoErrorKind::NotFound => {
                let message = "there is no such folder; models are read from disk and not downloaded";
                return Err(at(path, message).with_source(error));
            }
            Err(error) => return Err(failed(path, error)),
        }
        let mut files = Self {
            path,
            deadline,
            cancel: options.bounds.cancel,
            max_file_size: options.max_file_size,
            bytes: Cell::new(0),
            roots: None,
        };
        if !options.follow_links {
            let open = |root: &Path| Root::open(root.to_owned()).map_err(|error| failed(root, error));
            let outer = resolve(given)?;
            files.roots = Some(vec![open(&outer)?]);
            let root = resolve(path)?;
            files.open_resolved(path, &root)?;
            let blobs = cache::find_blobs(&root).and_then(|blobs| Root::open(blobs).ok());
            files.roots = Some(blobs.into_iter().chain([open(&root)?]).collect());
        }
        Ok(files)
    }

    /// Returns an error if the time is over or the call is cancelled.
    fn check(&self) -> Result<()> {
        check(self.cancel, self.deadline)
    }

    /// Returns the text of a file, or `None` if it does not exist.
    pub fn text(&self, file: impl AsRef<Path>) -> Result<Option<String>> {
        let path = self.path.join(file);
        self.check()?;
        let Some(file) = self.open(&path)? else {
            return Ok(None);
        };
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        let (used, limit) = (self.bytes.get(), self.max_file_size);
        let mut bytes = Vec::new();
        // The size that the file system reports can be wrong, so one byte more than the limit is read.
        let read = file
            .take(limit.saturating_sub(used).saturating_add(1))
            .read_to_end(&mut bytes);
        read.map_err(|error| failed(&path, error))?;
        let used = used.saturating_add(bytes.len() as u64);
        if used > limit {
            let size = size.saturating_add(self.bytes.get()).max(used);
            return Err(too_large(&path, size, limit));
        }
        self.bytes.set(used);
        let text = String::from_utf8(bytes);
        text.map(Some)
            .map_err(|error| in_file(&path, Error::value(message::describe_fault(&error))))
    }

    /// Returns the bytes of a file up to the size limit as a stream, or `None` if it does not exist. Reading fails when the time is over.
    pub fn stream(&self, file: &str) -> Result<Option<impl BufRead>> {
        let file = self.open(&self.path.join(file))?;
        let timed = |file: File| Timed::new(file.take(self.max_file_size), self.cancel, self.deadline);
        Ok(file.map(|file| BufReader::with_capacity(BLOCK, timed(file))))
    }

    /// Returns whether a file contains `wanted`. A file that does not exist contains nothing.
    pub fn contains(&self, file: &str, wanted: &[u8]) -> Result<bool> {
        let path = self.path.join(file);
        let Some(mut file) = self.open(&path)? else {
            return Ok(false);
        };
        let (mut window, mut block) = (Vec::new(), vec![0; BLOCK]);
        let mut size = 0_u64;
        loop {
            self.check()?;
            let read = file.read(&mut block).map_err(|error| failed(&path, error))?;
            size = size.saturating_add(read as u64);
            if size > self.max_file_size {
                return Err(too_large(&path, size, self.max_file_size));
            }
            window.extend_from_slice(block.get(..read).unwrap_or_default());
            if window.windows(wanted.len().max(1)).any(|bytes| bytes == wanted) {
                return Ok(true);
            }
            if read == 0 {
                return Ok(false);
            }
            // The bytes may be found across the border of two blocks.
            window.drain(..window.len().saturating_sub(wanted.len()));
        }
    }

    /// Returns the names of the files in a folder that end in `suffix`, without it and sorted. A folder that does not exist has none.
    pub fn names(&self, folder: &str, suffix: &str) -> Result<Vec<String>> {
        let path = self.path.join(folder);
        let failed = |error| failed(&path, error);
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == IoErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        self.open_resolved(&path, &resolve(&path)?)?;
        let mut names = Vec::new();
        for (index, entry) in entries.enumerate() {
            templates::check_count(index + 1).map_err(|error| in_file(&path, error))?;
            let entry = entry.map_err(failed)?;
            let Ok(file) = entry.file_name().into_string() else {
                return Err(at(&entry.path(), "the name of this file is not UTF-8"));
            };
            names.extend(file.strip_suffix(suffix).map(str::to_owned));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Opens a regular file. Returns `None` if the path does not exist.
    fn open(&self, path: &Path) -> Result<Option<File>> {
        let target = match path.canonicalize() {
            Ok(target) => target,
            Err(error) if error.kind() == IoErrorKind::NotFound => {
                return match path.symlink_metadata() {
                    Ok(_) => Err(at(path, "is a link to a file that does not exist")),
                    Err(_) => Ok(None),
                };
            }
            Err(error) => return Err(failed(path, error)),
        };
        let failed = |error| failed(path, error);
        let file = self.open_resolved(path, &target)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(at(path, "is a folder, and must be a file"));
        }
        if !metadata.is_file() {
            return Err(at(path, "is not a regular file"));
        }
        Ok(Some(file))
    }

    /// Opens a path by its target, to which all links in the path lead. The target must be in one of the roots.
    fn open_resolved(&self, path: &Path, target: &Path) -> Result<File> {
        let opened = match &self.roots {
            Some(roots) => roots.iter().find_map(|root| root.find(target)),
            None => Some(roots::open(target)),
        };
        match opened {
            Some(opened) => opened.map_err(|error| failed(path, error)),
            None => Err(at(
                path,
                "is a link that leaves the model's folder; to read it, set LoadOptions::follow_links",
            )),
        }
    }
}

/// The default of [`LoadOptions::max_file_size`].
pub(super) const MAX_FILE_SIZE: u64 = 64 << 20;

/// The number of bytes that are read at once.
pub(super) const BLOCK: usize = 64 << 10;

/// A reader that fails when the time is over or the call is cancelled.
pub(super) struct Timed<'p, R> {
    inner: R,
    cancel: Option<&'p AtomicBool>,
    deadline: &'p Deadline,
}

impl<'p, R> Timed<'p, R> {
    pub fn new(inner: R, cancel: Option<&'p AtomicBool>, deadline: &'p Deadline) -> Self {
        Self { inner, cancel, deadline }
    }
}

impl<R: Read> Read for Timed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        check(self.cancel, self.deadline).map_err(std::io::Error::other)?;
        self.inner.read(buffer)
    }
}

impl<R: Seek> Seek for Timed<'_, R> {
    fn seek(&mut self, position: SeekFrom) -> std::io::Result<u64> {
        self.inner.seek(position)
    }
}

/// Returns an error if the time is over or the call is cancelled.
fn check(cancel: Option<&AtomicBool>, deadline: &Deadline) -> Result<()> {
    if cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
        return Err(Error::limit(LimitExceeded::new(Limit::Cancel, 0, 0)));
    }
    Ok(deadline.check(Duration::ZERO)?)
}

/// Returns a path without symbolic links.
fn resolve(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(|error| failed(path, error))
}

fn too_large(path: &Path, size: u64, limit: u64) -> Error {
    in_file(path, Error::limit(LimitExceeded::new(Limit::File, size, limit)))
}

/// Returns the error of reading a path.
pub(super) fn failed(path: &Path, error: std::io::Error) -> Error {
    at(path, &error.to_string()).with_source(error)
}

/// Returns an error about a path.
pub(super) fn at(path: &Path, message: &str) -> Error {
    of_model(Error::runtime(format!("{}: {message}", path.display())))
}

/// Returns an error about the content of a file, with the path before its message.
pub(super) fn in_file(path: &Path, error: Error) -> Error {
    let message = format!("{}: {}", path.display(), error.message());
    let named = of_model(match error.reached() {
        Some(reached) => Error::limit_with_message(reached, message),
        None => Error::new(error.kind(), message),
    });
    match error.note() {
        Some(note) => named.with_note(note),
        None => named,
    }
}

/// Returns an error of the class [`ErrorClass::Template`]: the caller of a server cannot mend the model's files.
pub(super) fn of_model(error: Error) -> Error {
    error.with_class(ErrorClass::Template).without_line()
}
