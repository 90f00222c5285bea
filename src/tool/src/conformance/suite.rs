//! The suite: the cases that are in the binary, or those of a file.
//!
//! ```text
//! FILE:7: loops/first: unknown key "tempalte"; did you mean "template"?
//! ```

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::case::Case;
use super::families::{FAMILIES, Shared};
use super::read_file::read_file;
use super::versions::SUITE_VERSION;
use chat_template::internal::describe_fault;

/// The licence of the cases, as an SPDX expression.
pub const LICENCE: &str = env!("CARGO_PKG_LICENSE");

/// Embeds files of tests/cases with their names.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$((concat!($name, ".jsonl"), include_str!(concat!("../../cases/", $name, ".jsonl")))),*]
    };
}

/// The cases in the form of the protocol. Those of `contract/folders` and `contract/models` are about reading folders, which the
/// protocol has no request for.
const FILES: &[(&str, &str)] = &files! {
    "everyday", "access", "chat", "containers", "errors", "filters", "formats", "generation", "globals", "lexing",
    "literals", "loops", "macros", "markup", "numbers", "operators", "python_artefacts", "repr", "response", "scope",
    "statements", "str_methods", "strings", "tests", "time", "tojson", "trace", "undefined", "unsupported",
    "whitespace", "contract/apply",
};

/// Cases with different ids.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The version of the suite, followed by the file if the suite is not the embedded one.
    pub version: String,
    /// The SHA-256 of [`Suite::to_lines`] before cases were selected.
    pub hash: String,
    /// The cases, in order.
    pub cases: Vec<Case>,
}

impl Suite {
    /// Returns the suite that is embedded in the binary.
    ///
    /// # Errors
    /// Returns a message if a file is not valid. A test checks that all are.
    pub fn embedded() -> Result<Self, String> {
        let shared = Shared::embedded()?;
        let spelled_out = |line: &str| Case::read_with(line, |case| shared.spell_out(case));
        let mut cases = read(FILES.iter().copied(), Case::read)?;
        cases.extend(read(FAMILIES.iter().copied(), spelled_out)?);
        Ok(Self::new(SUITE_VERSION.to_owned(), cases))
    }

    /// Reads the suite of a file with a case on each line, or of the files of a folder whose names end in `.jsonl`.
    ///
    /// # Errors
    /// Returns a message that names the file and the line if a file cannot be read, there are no cases, or a line is not a case.
    pub fn open(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        let texts: Vec<(String, String)> = files_of(path)?.iter().map(|path| read_text(path)).collect::<Result<_, _>>()?;
        let cases = read(texts.iter().map(|(name, text)| (name.as_str(), text.as_str())), Case::read)?;
        let Some(first) = cases.first() else {
            return Err(format!("{name}: no cases in it"));
        };
        let version = first.suite.as_deref().unwrap_or("without a version");
        let version = format!("{version} ({name})");
        Ok(Self::new(version, cases))
    }

    fn new(version: String, cases: Vec<Case>) -> Self {
        let mut suite = Self {
            version,
            hash: String::new(),
            cases,
        };
        suite.hash = sha256(suite.to_lines().as_bytes());
        suite
    }

    /// Removes the cases that one of these names matches.
    ///
    /// # Errors
    /// Returns a message if a name matches no case.
    pub fn exclude(&mut self, names: &[String]) -> Result<(), String> {
        self.check_names(names)?;
        self.cases.retain(|case| !names.iter().any(|name| case.matches_name(name)));
        Ok(())
    }

    /// Removes all cases but those that an area, an id or a pattern names. Without names, all remain.
    ///
    /// # Errors
    /// Returns a message if a name matches no case.
    pub fn select(&mut self, names: &[String]) -> Result<(), String> {
        self.check_names(names)?;
        self.cases
            .retain(|case| names.is_empty() || names.iter().any(|name| case.matches_name(name)));
        Ok(())
    }

    fn check_names(&self, names: &[String]) -> Result<(), String> {
        for name in names {
            if !self.cases.iter().any(|case| case.matches_name(name)) {
                return Err(format!(
                    "no case and no area is called {name:?}; areas are {}",
                    self.areas().join(", ")
                ));
            }
        }
        Ok(())
    }

    /// Returns the areas, in the order of their first cases.
    pub fn areas(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        self.cases.iter().map(Case::area).filter(|area| seen.insert(*area)).collect()
    }

    /// Returns the whole suite as JSON lines.
    pub fn to_lines(&self) -> String {
        self.cases.iter().map(|case| case.to_line() + "\n").collect()
    }
}

/// Returns the SHA-256 of data in hexadecimal digits.
pub fn sha256(data: &[u8]) -> String {
    Sha256::digest(data).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the file itself, or the files of cases of a folder in the order of their names.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let fault = |error: std::io::Error| format!("{}: {error}", path.display());
    let entries = std::fs::read_dir(path).map_err(fault)?;
    let paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(fault))
        .collect::<Result<_, _>>()?;
    let mut paths: Vec<PathBuf> = paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    paths.sort();
    Ok(paths)
}

/// Returns the name of a file and its text.
fn read_text(path: &Path) -> Result<(String, String), String> {
    let name = path.display().to_string();
    let text = String::from_utf8(read_file(path)?).map_err(|error| {
        let valid = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        let lines = valid.filter(|byte| **byte == b'\n').count();
        format!("{name}:{}: {}", lines + 1, describe_fault(&error))
    })?;
    Ok((name, text))
}

/// Reads the cases of several files, which are given by their names and contents.
fn read<'t>(
    files: impl IntoIterator<Item = (&'t str, &'t str)>,
    case: impl Fn(&str) -> Result<Case, String>,
) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    let mut places = std::collections::HashMap::new();
    for (name, text) in files {
        for (place, line) in text.split('\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let place = format!("{name}:{}", place + 1);
            let case = case(line).map_err(|fault| format!("{place}: {fault}"))?;
            if let Some(other) = places.insert(case.id.clone(), place.clone()) {
                return Err(format!("{place}: {}: another case has this id, at {other}", case.id));
            }
            cases.push(case);
        }
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_unique() {
        let line = r#"{"id": "a/b", "template": "", "context": {}, "expect": {"output": ""}}"#;
        let fault = read([("F", format!("{line}\n\n{line}\n").as_str())], Case::read)
            .map(|cases| cases.len())
            .unwrap_err();
        assert_eq!(fault, "F:3: a/b: another case has this id, at F:1");
    }
}
