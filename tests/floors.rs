//! The house rules that a compiler does not know: a file imports only from its own floor or those below, and can be read in one sitting.
//!
//! ```text
//! src/value/text.rs (floor 3): `crate::eval` is on floor 6
//! ```
//!
//! Read off the text of the files: what stands behind `crate::`, in paths and in groups. Unit tests may look up, so that the module
//! `tests` at a file's end is left out.
#![allow(clippy::restriction, clippy::pedantic, reason = "a test says what it expects by failing")]

use std::path::{Path, PathBuf};

/// The modules of the crate's root, the ground floor first. A new one needs a floor.
const FLOORS: [&[&str]; 11] = [
    &[
        "span",
        "source",
        "error",
        "limits",
        "clock",
        "unicode",
        "text",
        "number",
        "strftime",
        "data",
        "json",
        "ebnf",
        "unsupported",
    ],
    &["lexer", "ast"],
    &["parser"],
    &["value"],
    &["builtins"],
    &["resolve"],
    &["eval"],
    &["template", "fuzzing"],
    &["chat"],
    &["conformance"],
    &["cli", "main"],
];

/// The most lines of a file that is written by hand.
const MOST_LINES: usize = 500;

/// Written by a program; nobody reads them in one sitting.
const GENERATED: [&str; 1] = ["src/unicode/tables.rs"];

#[test]
fn a_file_imports_from_its_own_floor_or_below() {
    let mut faults = Vec::new();
    for path in sources() {
        let text = read(&path);
        let Some(floor) = own_floor(&path) else { continue };
        for name in imported(&text) {
            match floor_of(&name) {
                Some(other) if other > floor => faults.push(format!("{path} (floor {floor}): `crate::{name}` is on floor {other}")),
                Some(_) => {}
                None => faults.push(format!("{path}: `crate::{name}` is on no floor")),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_module_has_a_floor() {
    let modules: Vec<String> = sources().iter().filter_map(|path| module_of(path)).collect();
    for module in &modules {
        assert!(floor_of(module).is_some(), "src/{module} is on no floor");
    }
}

#[test]
fn a_file_can_be_read_in_one_sitting() {
    let long = |path: &String| !GENERATED.contains(&path.as_str()) && read(path).lines().count() > MOST_LINES;
    let long: Vec<String> = sources().into_iter().chain(files("tests", "rs")).filter(long).collect();
    assert!(long.is_empty(), "more than {MOST_LINES} lines: {long:?}");
}

/// Whatever follows `crate::` outside of comments: one name, or those of a group.
fn imported(text: &str) -> Vec<String> {
    let code: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .take_while(|line| !line.ends_with("mod tests {"))
        .collect();
    let code = code.join("\n");
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        // `$crate::` and the like belong to other names.
        let stands_alone = !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == '$');
        let rest = &code[at + "crate::".len()..];
        if stands_alone {
            match rest.strip_prefix('{') {
                Some(group) => names.extend(group_members(group)),
                None => names.push(first_name(rest)),
            }
        }
    }
    names
}

/// The first name of each member of `a, b::c, d::{e, f}}`.
fn group_members(group: &str) -> Vec<String> {
    let (mut depth, mut member, mut names) = (0, String::new(), Vec::new());
    for char in group.chars() {
        match char {
            '}' if depth == 0 => break,
            ',' if depth == 0 => names.push(first_name(std::mem::take(&mut member).trim_start())),
            _ => {
                depth += i32::from(char == '{') - i32::from(char == '}');
                member.push(char);
            }
        }
    }
    names.push(first_name(member.trim_start()));
    names.retain(|name| !name.is_empty());
    names
}

fn first_name(text: &str) -> String {
    text.chars()
        .take_while(|char| char.is_alphanumeric() || *char == '_')
        .collect()
}

/// The floor of a module, or of what the crate's root exports from one.
fn floor_of(name: &str) -> Option<usize> {
    let floor = |module: &str| FLOORS.iter().position(|floor| floor.contains(&module));
    floor(name).or_else(|| {
        let root = read("src/lib.rs");
        let export = root.split("pub use ").skip(1).find(|export| {
            let names = export.split(';').next().unwrap_or_default();
            names
                .split(|char: char| !char.is_alphanumeric() && char != '_')
                .any(|word| word == name)
        });
        floor(&first_name(export?))
    })
}

fn own_floor(path: &str) -> Option<usize> {
    floor_of(&module_of(path)?)
}

/// The module of the crate's root that a file belongs to; none for the root itself.
fn module_of(path: &str) -> Option<String> {
    let name = path.strip_prefix("src/")?.split('/').next()?.trim_end_matches(".rs");
    (name != "lib").then(|| name.to_owned())
}

fn sources() -> Vec<String> {
    files("src", "rs")
}

/// The files of a folder and those in it, as paths from the crate's root.
fn files(folder: &str, end: &str) -> Vec<String> {
    let (mut folders, mut found) = (vec![PathBuf::from(folder)], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).expect("a folder can be read") {
            let entry = entry.expect("a folder can be read");
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == end) {
                found.push(path.to_str().expect("our names are UTF-8").to_owned());
            }
        }
    }
    found.sort();
    found
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
