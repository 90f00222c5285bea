//! Reads the files that a command names. One of them can be `-`, which is standard input.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chat_template::json::{self, Data, JsonErrorKind};
use chat_template::{Bounds, Deadline, Limits};

use crate::conformance;

/// The contents of the files of a command by their paths, and its limits.
pub struct Texts {
    texts: BTreeMap<PathBuf, String>,
    pub limits: Limits,
    /// The time limit of the whole command.
    pub deadline: Deadline,
}

impl Texts {
    /// Reads the files.
    pub fn read<'p>(paths: impl Iterator<Item = &'p Path>, limits: Limits) -> Result<Self, String> {
        let mut texts = BTreeMap::new();
        for path in paths {
            let text = read(path)?;
            if texts.insert(path.to_owned(), text).is_some() && is_dash(path) {
                return Err("error: only one file can be - (standard input)".to_owned());
            }
        }
        Ok(Self {
            texts,
            deadline: Deadline::from(&limits),
            limits,
        })
    }

    /// Returns what a call of the command may use.
    pub fn bounds(&self) -> Bounds<'_> {
        Bounds::default()
            .with_limits(&self.limits)
            .with_deadline(&self.deadline)
            .with_cancel(None)
    }

    /// Returns the text of a file.
    pub fn get(&self, path: &Path) -> &str {
        self.texts.get(path).map_or("", String::as_str)
    }

    /// Parses the text of a file as JSON. The error shows the line that is wrong.
    pub fn parse_json(&self, path: &Path) -> Result<Data<'_>, String> {
        let text = self.get(path);
        if text.starts_with('\u{feff}') {
            let path = shown(path).display();
            return Err(format!(
                "error: {path}: the file begins with a byte order mark; save it as UTF-8 without one"
            ));
        }
        if text.trim().is_empty() {
            return Err(format!(
                "error: {}: the file is empty, and must be JSON",
                shown(path).display()
            ));
        }
        json::Data::read_within(text, &self.deadline).map_err(|error| {
            let excerpt = error.excerpt(text).map(|excerpt| format!("\n{excerpt}"));
            if error.kind() == JsonErrorKind::TimedOut {
                return format!("error: {}: {error}", shown(path).display());
            }
            let message = format!(
                "error: {}: not JSON: {error}{}",
                shown(path).display(),
                excerpt.unwrap_or_default()
            );
            if is_json_lines(text) {
                return format!("{message}\nthe file has a JSON value in each line (JSON Lines); pass a file with one of them");
            }
            message
        })
    }
}

/// Returns an error if a command would write a file that it also reads, or write a file twice. Two names of one file, such as links, count
/// as one.
pub fn check_written(
    read: impl IntoIterator<Item = impl AsRef<Path>>,
    written: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<(), String> {
    let mut used: Vec<Identity> = read.into_iter().filter_map(|path| Identity::of(path.as_ref())).collect();
    for path in written {
        let path = path.as_ref();
        let Some(identity) = Identity::of(path) else { continue };
        if used.contains(&identity) {
            let path = path.display();
            return Err(format!("{path}: the files that are read and written must be different files"));
        }
        used.push(identity);
    }
    Ok(())
}

/// What two names of one file have in common.
#[derive(PartialEq)]
enum Identity {
    File(same_file::Handle),
    /// The canonical path of a file that does not exist yet.
    New(PathBuf),
}

impl Identity {
    /// Returns `None` for a device or a pipe, which can be read and written at once.
    fn of(path: &Path) -> Option<Self> {
        match std::fs::metadata(path) {
            _ if is_dash(path) => None,
            Ok(metadata) if metadata.is_file() => same_file::Handle::from_path(path).ok().map(Self::File),
            Ok(_) => None,
            Err(_) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
                Some(Self::New(folder.join(path.file_name()?)))
            }
        }
    }
}

/// Reads limits from a JSON file. A limit that the file does not have is that of `defaults`.
pub fn read_limits(path: Option<&Path>, defaults: Limits) -> Result<Limits, String> {
    let Some(path) = path else { return Ok(defaults) };
    let read = |text: &str| {
        let given: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text)?;
        let mut limits = serde_json::to_value(defaults)?;
        limits
            .as_object_mut()
            .into_iter()
            .for_each(|limits| limits.extend(given.clone()));
        serde_json::from_value(limits)
    };
    read(&self::read(path)?).map_err(|error: serde_json::Error| {
        let path = path.display();
        format!("error: {path}: {error}; the limits are an object such as {{\"steps\": 1000000, \"milliseconds\": 500}}")
    })
}

/// Returns whether the first line is a JSON value and another line follows.
fn is_json_lines(text: &str) -> bool {
    let first = text.trim_start().split_once('\n');
    first.is_some_and(|(line, rest)| json::read(line).is_ok() && !rest.trim().is_empty())
}

/// Returns whether a path is `-`, which is standard input or standard output.
pub fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns the path of a file as messages show it.
pub fn shown(path: &Path) -> &Path {
    if is_dash(path) { Path::new("standard input") } else { path }
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = if is_dash(path) {
        conformance::read_bytes(std::io::stdin().lock(), shown(path))
    } else {
        conformance::read_file(path)
    };
    let text = bytes.and_then(|bytes| conformance::decode(bytes, shown(path)));
    text.map_err(|message| format!("error: {message}"))
}
