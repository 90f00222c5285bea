//! Reads the sources of this crate, for tests of rules that the compiler does not check.

use std::path::{Path, PathBuf};

/// Returns the identifier at the start of a text.
pub fn read_identifier(text: &str) -> String {
    text.chars()
        .take_while(|char| char.is_alphanumeric() || *char == '_')
        .collect()
}

/// Returns the sources of this crate. The Python package is a crate of its own.
pub fn list_sources() -> Vec<String> {
    let sources = list_files("src", "rs").into_iter();
    sources.filter(|path| !path.starts_with("src/python/")).collect()
}

/// Returns the files of a folder and its subfolders with a file extension, as paths from the crate's root.
pub fn list_files(folder: &str, extension: &str) -> Vec<String> {
    let (mut folders, mut found) = (vec![PathBuf::from(folder)], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).expect("the folder is readable") {
            let entry = entry.expect("the folder is readable");
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|other| other == extension) {
                found.push(path.to_str().expect("the path is UTF-8").to_owned());
            }
        }
    }
    found.sort();
    found
}

pub fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
