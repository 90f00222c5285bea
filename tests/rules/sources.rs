//! Reads the sources of this crate, for tests of rules that the compiler does not check.

use std::path::{Path, PathBuf};

/// Returns the identifier at the start of a text.
pub fn read_identifier(text: &str) -> String {
    text.chars()
        .take_while(|char| char.is_alphanumeric() || *char == '_')
        .collect()
}

/// Returns the sources of the library. The command line and the packages for JavaScript and Python are crates of their own.
pub fn list_sources() -> Vec<String> {
    let is_of_library = |path: &String| {
        !["src/js/", "src/python/", "src/tool/"]
            .iter()
            .any(|folder| path.starts_with(folder))
    };
    list_files("src", "rs").into_iter().filter(is_of_library).collect()
}

/// Returns the files of a folder and its subfolders with a file extension, as paths from the crate's root.
pub fn list_files(folder: &str, extension: &str) -> Vec<String> {
    let (mut folders, mut found) = (vec![PathBuf::from(folder)], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).expect("the folder is readable") {
            let entry = entry.expect("the folder is readable");
            let path = folder.join(entry.file_name());
            // A link leads to files that are listed at their own place.
            if entry.file_type().expect("the folder is readable").is_dir() {
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
