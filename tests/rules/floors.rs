//! Checks rules of this crate's code that the compiler does not check: the order of the modules, and the length of a file.
//!
//! ```text
//! src/value/str.rs (floor 10): `crate::eval` is on floor 13
//! ```
//!
//! The modules of the crate's root are ordered by floors. A module may import only modules of lower floors. The test reads the text of
//! the files and looks for `crate::` in paths and groups. Unit tests may import any module, so the module `tests` at the end of a file
//! is skipped.

use crate::sources::{list_files, list_sources, read, read_identifier, root};

/// The folder of each crate, with the modules of its root, the lowest floor first. Each module is on one floor.
const CRATES: [(&str, &[&[&str]]); 2] = [("src", &FLOORS), ("src/tool/src", &[&["page"], &["conformance"], &["cli"]])];

/// The floors of the library.
const FLOORS: [&[&str]; 21] = [
    &["span", "limits", "clock", "setters", "unicode"],
    &["source", "text"],
    &["error", "deadline"],
    &["meter", "unsupported"],
    &["number"],
    &["json", "strftime"],
    &["trace"],
    &["ast"],
    &["lexer"],
    &["parser"],
    &["value"],
    &["builtins"],
    &["resolve"],
    &["eval"],
    &["template"],
    &["report", "response", "fuzzing"],
    &["chat"],
    &["inspect"],
    &["request"],
    &["grammar"],
    &["internal"],
];

/// The parts of `src/value` above its other files, which are the types of values and calls. The lowest part is first.
///
/// `ops` and `format` are one part, because `%` formats a string and a format looks up items.
const VALUE_PARTS: [&[&str]; 4] = [&["print"], &["markup"], &["ops", "format"], &["to_json"]];

/// The parts of `src/builtins`. The lowest part is first.
const BUILTIN_PARTS: [&[&str]; 7] = [
    &["arguments", "table"],
    &["methods"],
    &["access"],
    &["call"],
    &["globals"],
    &["filters"],
    &["jinja_tests"],
];

/// The largest number of lines of a file.
const MAX_LINES: usize = 500;

#[test]
fn a_module_imports_only_from_lower_floors() {
    let mut faults = Vec::new();
    for (folder, floors) in CRATES {
        let find_floor = |module: &str| floors.iter().position(|floor| floor.contains(&module));
        for (path, module) in list_modules(folder) {
            let Some(floor) = find_floor(&module) else { continue };
            for name in find_imports(&read(&path), "crate::") {
                let imported = find_exporter(folder, &name);
                match find_floor(&imported) {
                    Some(other) if other >= floor && imported != module => {
                        faults.push(format!("{path} (floor {floor}): `crate::{name}` is on floor {other}"));
                    }
                    Some(_) => {}
                    None => faults.push(format!("{path}: `crate::{name}` is on no floor")),
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_part_of_a_floor_imports_only_from_lower_parts() {
    let mut faults = find_upward_imports("value", &VALUE_PARTS);
    faults.extend(find_upward_imports("builtins", &BUILTIN_PARTS));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Returns the imports of a module's files from a part of the module above their own.
fn find_upward_imports(module: &str, parts: &[&[&str]]) -> Vec<String> {
    let find_part = |name: &str| parts.iter().position(|part| part.contains(&name));
    let mut faults = Vec::new();
    for path in list_sources() {
        let Some(file) = path.strip_prefix(&format!("src/{module}/")) else {
            continue;
        };
        let (name, rest) = file.split_once('/').unwrap_or((file, "mod.rs"));
        let part = find_part(name.trim_end_matches(".rs"));
        let mut imports = find_imports(&read(&path), &format!("crate::{module}::"));
        if rest == "mod.rs" {
            imports.extend(find_imports(&read(&path), "super::"));
        }
        let is_higher = |import: &&String| match find_part(import) {
            Some(other) => part.is_none_or(|part| other > part),
            None => false,
        };
        faults.extend(
            imports
                .iter()
                .filter(is_higher)
                .map(|import| format!("{path} imports `{import}`")),
        );
    }
    faults
}

#[test]
fn each_module_is_on_one_floor() {
    for (folder, floors) in CRATES {
        for (_, module) in list_modules(folder) {
            let count = floors.iter().filter(|floor| floor.contains(&module.as_str())).count();
            assert_eq!(count, 1, "the number of floors that have {folder}/{module}");
        }
        for module in floors.concat() {
            let file = root().join(folder).join(module);
            assert!(
                file.is_dir() || file.with_extension("rs").is_file(),
                "the floors have {folder}/{module}, which does not exist"
            );
        }
    }
}

#[test]
fn no_file_is_too_long() {
    let long = |path: &String| read(path).lines().count() > MAX_LINES;
    let long: Vec<String> = list_sources()
        .into_iter()
        .chain(
            ["src/python/src", "src/tool/src", "src/tool/rows/src"]
                .iter()
                .flat_map(|folder| list_files(folder, "rs")),
        )
        .chain(list_files("tests", "rs"))
        .filter(long)
        .collect();
    assert!(long.is_empty(), "more than {MAX_LINES} lines: {long:?}");
}

/// Returns each name that follows a prefix such as `crate::` outside of comments, including the names of groups.
fn find_imports(text: &str, prefix: &str) -> Vec<String> {
    let code: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .take_while(|line| !line.ends_with("mod tests {"))
        .collect();
    let code = code.join("\n");
    let mut names = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        // `$crate::` and `my_crate::` are other paths.
        let is_prefix = !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == '$');
        let rest = &code[at + prefix.len()..];
        if is_prefix {
            match rest.strip_prefix('{') {
                Some(group) => names.extend(split_group(group)),
                None => names.push(read_identifier(rest)),
            }
        }
    }
    names
}

/// Returns the first name of each member of `a, b::c, d::{e, f}}`.
fn split_group(group: &str) -> Vec<String> {
    let (mut depth, mut member, mut names) = (0, String::new(), Vec::new());
    for char in group.chars() {
        match char {
            '}' if depth == 0 => break,
            ',' if depth == 0 => names.push(read_identifier(std::mem::take(&mut member).trim_start())),
            _ => {
                depth += i32::from(char == '{') - i32::from(char == '}');
                member.push(char);
            }
        }
    }
    names.push(read_identifier(member.trim_start()));
    names.retain(|name| !name.is_empty());
    names
}

/// Returns the module that a name after `crate::` belongs to: the name itself, or the module from which the crate's root exports it.
fn find_exporter(folder: &str, name: &str) -> String {
    let root = read(&format!("{folder}/lib.rs"));
    let export = root.split("pub use ").skip(1).find(|export| {
        let names = export.split(';').next().unwrap_or_default();
        names
            .split(|char: char| !char.is_alphanumeric() && char != '_')
            .any(|word| word == name)
    });
    export.map_or_else(|| name.to_owned(), read_identifier)
}

/// Returns each source of a crate that is not its root, with the module of the root that it belongs to.
fn list_modules(folder: &str) -> Vec<(String, String)> {
    let sources = if folder == "src" {
        list_sources()
    } else {
        list_files(folder, "rs")
    };
    let modules = sources.into_iter().filter_map(|path| {
        let name = path[folder.len() + 1..].split('/').next()?.trim_end_matches(".rs").to_owned();
        (!["lib", "main"].contains(&name.as_str())).then_some((path, name))
    });
    modules.collect()
}
