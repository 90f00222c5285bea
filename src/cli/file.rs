//! The files that a command names, read once and before anything else; `-` is standard input, for one of them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use chat_template::Limits;
use chat_template::json::{self, Data};

/// A file of more bytes is an error, so that one without end is one too.
const MAX_FILE: u64 = 256 << 20;

/// The texts by path.
pub struct Texts(BTreeMap<PathBuf, String>);

impl Texts {
    /// Reads all of them.
    pub fn read<'p>(paths: impl Iterator<Item = &'p Path>) -> Result<Self, String> {
        let mut texts = BTreeMap::new();
        for path in paths {
            let text = read(path)?;
            if texts.insert(path.to_owned(), text).is_some() && is_stdin(path) {
                return Err("error: only one file can be standard input".to_owned());
            }
        }
        Ok(Self(texts))
    }

    /// The text of a file that was read.
    pub fn of(&self, path: &Path) -> &str {
        self.0.get(path).map_or("", String::as_str)
    }

    /// The JSON value in a file that was read. The error of a text that is not JSON shows its line.
    pub fn json(&self, path: &Path) -> Result<Data<'_>, String> {
        let text = self.of(path);
        json::read(text, json::DEPTH).map_err(|error| {
            let excerpt = error.excerpt(text).map(|excerpt| format!("\n{excerpt}"));
            let message = format!("error: {}: not JSON: {error}{}", path.display(), excerpt.unwrap_or_default());
            match is_several(text) {
                true => {
                    format!("{message}\nthe file holds more than one JSON value, as JSON Lines does; pass a file with one of them")
                }
                false => message,
            }
        })
    }
}

/// The limits that a file of JSON sets; the defaults without one.
pub fn limits(path: Option<&Path>) -> Result<Limits, String> {
    match path {
        None => Ok(Limits::default()),
        Some(path) => serde_json::from_str(&read(path)?).map_err(|error| format!("error: {}: {error}", path.display())),
    }
}

/// Whether the first line is a JSON value on its own, and another follows.
fn is_several(text: &str) -> bool {
    let first = text.trim_start().split_once('\n');
    first.is_some_and(|(line, rest)| json::read(line, json::DEPTH).is_ok() && !rest.trim().is_empty())
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn read(path: &Path) -> Result<String, String> {
    let fault = |error: std::io::Error| format!("error: {}: {error}", path.display());
    let reader: Box<dyn Read> = match is_stdin(path) {
        true => Box::new(std::io::stdin().lock()),
        false => Box::new(std::fs::File::open(path).map_err(fault)?),
    };
    let mut bytes = Vec::new();
    reader
        .take(MAX_FILE.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(fault)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(format!(
            "error: {}: more than {} MiB, which is the most",
            path.display(),
            MAX_FILE >> 20
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("error: {}: invalid UTF-8 at byte {at}", path.display())
    })
}
