//! The files that a command names, read once and before anything else; `-` is standard input, for one of them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use chat_template::Limits;
use chat_template::json::{self, Data};

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

    /// What a file that was read holds as JSON.
    pub fn json(&self, path: &Path) -> Result<Data<'_>, String> {
        json::read(self.of(path), json::DEPTH).map_err(|error| format!("error: {}: {error}", path.display()))
    }
}

/// The limits that a file of JSON sets; the defaults without one.
pub fn limits(path: Option<&Path>) -> Result<Limits, String> {
    match path {
        None => Ok(Limits::default()),
        Some(path) => serde_json::from_str(&read(path)?).map_err(|error| format!("error: {}: {error}", path.display())),
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn read(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let result = match is_stdin(path) {
        true => std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes),
        false => std::fs::read(path),
    };
    let bytes = result.map_err(|error| format!("error: {}: {error}", path.display()))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("error: {}: invalid UTF-8 at byte {at}", path.display())
    })
}
