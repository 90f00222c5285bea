//! Checks rules of this crate's code that the compiler does not check: the order of the modules, the length of a file, and that a function
//! which goes through data charges the meter.
//!
//! ```text
//! src/value/str.rs (floor 8): `crate::eval` is on floor 11
//! src/builtins/filters/sort.rs sort: has `for` and charges nothing
//! ```
//!
//! The modules of the crate's root are ordered by floors. A module may import only modules of lower floors. The test reads the text of
//! the files and looks for `crate::` in paths and groups. Unit tests may import any module, so the module `tests` at the end of a file
//! is skipped.
#![allow(clippy::restriction, clippy::pedantic, reason = "a test says what it expects by failing")]

use std::path::{Path, PathBuf};

/// The modules of the crate's root, the lowest floor first. Each module is on one floor.
const FLOORS: [&[&str]; 19] = [
    &["span", "limits", "clock", "unicode", "ebnf"],
    &["source", "text"],
    &["number", "error", "deadline"],
    &["meter", "unsupported", "strftime", "json"],
    &["trace"],
    &["ast"],
    &["lexer"],
    &["parser"],
    &["value"],
    &["builtins"],
    &["resolve"],
    &["eval"],
    &["template"],
    &["report", "fuzzing"],
    &["chat"],
    &["inspect"],
    &["door"],
    &["conformance"],
    &["cli", "main"],
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

/// The largest number of lines of a file that is written by hand.
const MAX_LINES: usize = 500;

/// Files that a program writes, which may be longer.
const GENERATED: [&str; 1] = ["src/unicode/tables.rs"];

#[test]
fn a_module_imports_only_from_lower_floors() {
    let mut faults = Vec::new();
    for path in list_sources() {
        let text = read(&path);
        let Some(module) = find_module(&path) else { continue };
        let Some(floor) = find_floor(&module) else { continue };
        for name in find_imports(&text, "crate::") {
            let imported = find_exporter(&name);
            match find_floor(&imported) {
                Some(other) if other >= floor && imported != module => {
                    faults.push(format!("{path} (floor {floor}): `crate::{name}` is on floor {other}"));
                }
                Some(_) => {}
                None => faults.push(format!("{path}: `crate::{name}` is on no floor")),
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
    for module in list_sources().iter().filter_map(|path| find_module(path)) {
        let count = FLOORS.iter().filter(|floor| floor.contains(&module.as_str())).count();
        assert_eq!(count, 1, "the number of floors that have src/{module}");
    }
    for module in FLOORS.concat() {
        let file = root().join("src").join(module);
        assert!(
            file.is_dir() || file.with_extension("rs").is_file(),
            "the floors have src/{module}, which does not exist"
        );
    }
}

/// What a function does to go through data whose size a template or its input decides.
#[rustfmt::skip]
const ITERATIONS: [&str; 58] = [
    "for ", "while ", "loop {", ".iter()", ".iter_mut()", ".into_iter()", ".chars()", ".char_indices()", ".bytes()", ".lines()",
    ".find(", ".rfind(", ".find_map(", ".position(", ".contains(", ".starts_with(", ".ends_with(", ".strip_prefix(", ".strip_suffix(",
    ".split(", ".rsplit(", ".split_once(", ".rsplit_once(", ".matches(", ".any(", ".all(", ".fold(", ".sum()", ".count()", ".max()",
    ".repeat(", ".extend(", ".sort_by", ".reverse()", ".retain(", ".collect(", ".collect::", ".to_vec()", ".into_owned()", ".concat()",
    "char_count(", "escape::", "indent::", "lines::", "pad::", "quote::", "replace::", "search::", "split::", "strip::", "unicode::",
    "arithmetic::", "parse_int(", "parse_float(", "read_int(", "read_float(", "round::", "title::",
];

/// What a function calls to charge for going through data: the meter, or a primitive that charges it.
#[rustfmt::skip]
const CHARGES: [&str; 23] = [
    ".charge", "charge_", ".next(runtime)", ".next(self.runtime)", "next_item(runtime)", ".drain(runtime)", "collect(runtime",
    "find_key(", "find_str(", "Key::new(", "write_piece(", "write_items(", "follow(runtime", "identical_or_equal(runtime", "less(runtime",
    "dump_between(", "runtime.insert(", "to_values(runtime", "build_str(runtime", "check_repetition(runtime",
    "_scanned(", "arithmetic(runtime", "arithmetic::add(runtime",
];

/// The built-ins and the operations on values. The types of values have no meter; their loops are in the functions that these files call.
const METERED: [&str; 5] = [
    "src/builtins/",
    "src/value/format/",
    "src/value/ops/",
    "src/value/print/",
    "src/value/to_json.rs",
];

#[test]
fn a_function_that_goes_through_data_charges_for_it() {
    let bounded = read("tests/bounded.txt");
    let is_entry = |line: &&str| !line.starts_with('#') && !line.is_empty();
    let mut bounded: Vec<&str> = bounded.lines().filter(is_entry).collect();
    let mut faults = Vec::new();
    for path in list_sources() {
        if !METERED.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        for (name, body) in list_functions(&read(&path)) {
            let iterates = ITERATIONS.iter().find(|sign| contains_sign(&body, sign));
            let charges = CHARGES.iter().any(|sign| body.contains(sign));
            let (Some(sign), false) = (iterates, charges) else { continue };
            let entry = format!("{path} {name}: ");
            match bounded
                .iter()
                .position(|line| line.starts_with(&entry) && line.len() > entry.len())
            {
                Some(index) => drop(bounded.remove(index)),
                None => faults.push(format!("{entry}has `{}` and charges nothing", sign.trim())),
            }
        }
    }
    faults.extend(
        bounded
            .iter()
            .map(|line| format!("tests/bounded.txt has a line for nothing: {line}")),
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Returns whether a text has a sign that does not continue a word. A path must lead to a call.
fn contains_sign(text: &str, sign: &str) -> bool {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    text.match_indices(sign).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + sign.len()..]);
        let is_start = sign.starts_with('.') || !before.ends_with(is_word);
        is_start && (!sign.ends_with("::") || after.trim_start_matches(is_word).starts_with('('))
    })
}

/// Returns the name and the body of each function, without comments, texts and unit tests. A function within another is a part of it.
fn list_functions(text: &str) -> Vec<(String, String)> {
    let code: Vec<&str> = text
        .lines()
        .take_while(|line| !line.ends_with("mod tests {"))
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    // In these literals, the characters are neither braces nor quotes of the code.
    let code = code.join("\n").replace("'{'", "").replace("'}'", "").replace("'\"'", "");
    let code: String = code.split('"').step_by(2).collect::<Vec<_>>().join("\"\"");
    let mut functions = Vec::new();
    let mut rest = code.as_str();
    while let Some(at) = rest.find("fn ") {
        let is_function = rest[..at].ends_with(['\n', ' ']);
        rest = &rest[at + 3..];
        let signature = rest.find(['{', ';']).filter(|_| is_function);
        let Some(open) = signature.filter(|open| rest[*open..].starts_with('{')) else {
            continue;
        };
        let mut depth = 0;
        let end = rest[open..].find(|char| {
            depth += i32::from(char == '{') - i32::from(char == '}');
            depth == 0
        });
        let (function, after) = rest.split_at(end.map_or(rest.len(), |end| open + end));
        functions.push((read_identifier(function), function[open..].to_owned()));
        rest = after;
    }
    functions
}

#[test]
fn no_file_is_too_long() {
    let long = |path: &String| !GENERATED.contains(&path.as_str()) && read(path).lines().count() > MAX_LINES;
    let long: Vec<String> = list_sources()
        .into_iter()
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

/// Returns the identifier at the start of a text.
fn read_identifier(text: &str) -> String {
    text.chars()
        .take_while(|char| char.is_alphanumeric() || *char == '_')
        .collect()
}

/// Returns the index of a module's floor.
fn find_floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

/// Returns the module that a name after `crate::` belongs to: the name itself, or the module from which the crate's root exports it.
fn find_exporter(name: &str) -> String {
    let root = read("src/lib.rs");
    let export = root.split("pub use ").skip(1).find(|export| {
        let names = export.split(';').next().unwrap_or_default();
        names
            .split(|char: char| !char.is_alphanumeric() && char != '_')
            .any(|word| word == name)
    });
    export.map_or_else(|| name.to_owned(), read_identifier)
}

/// Returns the module of the crate's root that a file belongs to, or `None` for the root itself.
fn find_module(path: &str) -> Option<String> {
    let name = path.strip_prefix("src/")?.split('/').next()?.trim_end_matches(".rs");
    (name != "lib").then(|| name.to_owned())
}

fn list_sources() -> Vec<String> {
    list_files("src", "rs")
}

/// Returns the files of a folder and its subfolders with a file extension, as paths from the crate's root.
fn list_files(folder: &str, extension: &str) -> Vec<String> {
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

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
