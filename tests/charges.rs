//! Checks that work is charged where it is done: each traversal of data charges the meter, or `bounded.txt` says why it need not.
//!
//! ```text
//! src/builtins/filters/sort.rs sort: `for item in items` is not charged
//! ```
//!
//! A traversal is a loop, a method that goes through an iterator or a text, or a call of a function below the meter that does so. It is
//! charged if its own statement uses the meter, or if an earlier charge in the function names the data that it goes through. One charge
//! in a function does not allow another traversal of other data. The test reads the text of the files; unit tests are left out.
#![allow(clippy::restriction, clippy::pedantic, reason = "a test says what it expects by failing")]

mod sources;

use sources::{list_sources, read, read_identifier};

/// How code goes through data. A path must lead to a call.
#[rustfmt::skip]
const TRAVERSALS: [&str; 58] = [
    "for ", "while ", "loop {", ".collect(", ".collect::", ".count()", ".sum()", ".max()", ".min()", ".max_by", ".min_by", ".nth(",
    ".fold(", ".any(", ".all(", ".find(", ".rfind(", ".find_map(", ".position(", ".rposition(", ".for_each(", ".try_for_each(", ".extend(",
    ".retain(", ".sort", ".reverse()", ".repeat(", ".concat()", ".join(", ".contains(", ".to_vec()", ".into_owned()", ".split_once(",
    ".rsplit_once(", "char_count(", "nfkc(", "parse_int(", "parse_float(", "read_int(", "read_float(", "arithmetic::", "escape::",
    "find_nearest(", "indent::", "json::read", "lines::", "pad::", "quote::", "replace::", "round::", "search::", "split::",
    "strftime::", "strip::", "text::slice::", "title::", "unicode::", "wrap::",
];

/// How a statement uses the meter, and in some folders what takes the meter with it.
#[rustfmt::skip]
const METERED: [(&str, &[&str]); 5] = [
    ("src/", &["meter", "runtime", "charge", "budget"]),
    ("src/eval/", &["self.expr(", "self.truth(", "self.assign(", "self.pack(", "self.write_expr(", "evaluator"]),
    ("src/inspect/", &["experiments", ".spend("]),
    ("src/request/read/", &["reader.", "self.visit(", "self.push", "self.read_", "self.item(", "self.key("]),
    ("src/resolve/", &["self.expr(", "self.stmt(", "self.body(", "self.target(", "self.whole_expr(", "self.spend(", "self.constant("]),
];

/// Words that are no name of data.
#[rustfmt::skip]
const COMMON: [&str; 17] = [
    "as", "as_str", "at", "error", "iter", "len", "let", "map_err", "meter", "runtime", "saturating_add", "saturating_mul", "self",
    "span", "u64", "unwrap_or", "usize",
];

#[test]
fn each_traversal_of_data_is_charged() {
    // A row that begins with blanks continues the row before.
    let table = read("tests/bounded.txt").replace("\n  ", " ");
    let rows: Vec<Row> = table.lines().filter_map(Row::read).collect();
    let mut needed = vec![Vec::new(); rows.len()];
    let mut faults = Vec::new();
    let bench = read("benches/charged/requests.rs");
    for kind in table
        .split("`bench charged ")
        .skip(1)
        .filter_map(|rest| rest.split('`').next())
    {
        assert!(
            bench.contains(&format!("\"{kind} ")),
            "the bench has no requests of the kind {kind}"
        );
    }
    for path in list_sources()
        .iter()
        .filter(|path| *path != "src/fuzzing.rs" && !path.ends_with("_test.rs"))
    {
        for function in list_functions(&read(path)) {
            let Some(traversal) = function.find_uncharged(path) else {
                continue;
            };
            match rows.iter().position(|row| row.covers(path, &function.name)) {
                Some(index) => needed[index].push(function.name),
                None => faults.push(format!("{path} {}: `{traversal}` is not charged", function.name)),
            }
        }
    }
    for (row, needed) in rows.iter().zip(needed) {
        let is_needed = |name: &&str| needed.iter().any(|other| other == name);
        let names = row.names.iter().filter(|name| !is_needed(name));
        faults.extend(names.map(|name| format!("tests/bounded.txt: {} {name}: is charged, or is not there", row.path)));
        if needed.is_empty() && row.names.is_empty() {
            faults.push(format!("tests/bounded.txt: {}: has nothing to charge", row.path));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_traversal_needs_a_charge_of_its_own() {
    let find = |body: &str| list_functions(&format!("fn f() {{ {body} }}"))[0].find_uncharged("src/value/f.rs");
    for charged in [
        "for item in items { meter.charge(1)?; }",
        "while let Some(item) = items.next(runtime)? { list.push(item); }",
        "meter.charge_items(items.len())?; let list: Vec<_> = items.iter().collect();",
        "meter.charge_scan(text.len())?; if is_long { return search::find(text, wanted); }",
    ] {
        assert_eq!(find(charged), None, "{charged}");
    }
    for forgotten in [
        "for item in items { list.push(item); }",
        "meter.charge_items(items.len())?; for item in others { list.push(item); }",
        "for item in items { meter.charge(1)?; } let count = text.chars().count();",
        "match value { A => { meter.charge(1)?; } B => list.iter().any(is_long), C => meter.steps() }",
        "let escaped = escape::escape(text);",
    ] {
        assert!(find(forgotten).is_some(), "{forgotten}");
    }
}

/// A row of `bounded.txt`: functions of a file or a folder, and the reason why they need no charge. A row of a folder below the meter names
/// none.
struct Row<'t> {
    path: &'t str,
    names: Vec<&'t str>,
}

impl<'t> Row<'t> {
    fn read(line: &'t str) -> Option<Self> {
        if line.starts_with('#') || line.is_empty() {
            return None;
        }
        let (place, reason) = line.split_once(": ").unwrap_or_else(|| panic!("no reason: {line}"));
        assert!(!reason.is_empty(), "no reason: {line}");
        let mut words = place.split(' ');
        let path = words.next().expect("a path");
        Some(Self {
            path,
            names: words.collect(),
        })
    }

    fn covers(&self, path: &str, name: &str) -> bool {
        match self.names.is_empty() {
            true => path.starts_with(self.path),
            false => path.starts_with(self.path) && self.names.contains(&name),
        }
    }
}

/// A function, without comments, strings and unit tests. A function within another is a part of it.
struct Function {
    name: String,
    body: String,
}

impl Function {
    /// Returns the first traversal that is not charged.
    fn find_uncharged(&self, path: &str) -> Option<String> {
        let body = self.body.as_str();
        let folders = METERED.iter().filter(|(folder, _)| path.starts_with(folder));
        let signs: Vec<&str> = folders.flat_map(|(_, signs)| signs.iter().copied()).collect();
        let mut places: Vec<usize> = TRAVERSALS.iter().flat_map(|sign| find_sign(body, sign)).collect();
        places.sort_unstable();
        places.into_iter().find_map(|at| {
            let statement = find_statement(body, at);
            let named = names_of(statement);
            let before = &body[..at];
            // A charge can name a size that was counted before: `let size = text.len();`.
            let definition = |name: &&str| Some(find_statement(before, before.rfind(&format!("let {name} "))?));
            let is_named = |charge: &str| {
                let names = names_of(charge);
                let defined: Vec<&str> = names.iter().filter_map(definition).flat_map(names_of).collect();
                names.iter().chain(&defined).any(|name| named.contains(name))
            };
            let mut charges = before.match_indices("charge").map(|(at, _)| find_statement(body, at));
            let is_charged = signs.iter().any(|sign| statement.contains(sign)) || charges.any(is_named);
            (!is_charged).then(|| {
                statement
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ")
                    .chars()
                    .take(90)
                    .collect()
            })
        })
    }
}

/// Returns the places of a sign that does not continue a word.
fn find_sign(text: &str, sign: &'static str) -> impl Iterator<Item = usize> {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let places = text.match_indices(sign).filter(move |(at, _)| {
        let (before, after) = (&text[..*at], &text[at + sign.len()..]);
        let is_start = sign.starts_with('.') || !before.ends_with(is_word);
        is_start && (!sign.contains("::") || sign.starts_with('.') || after.trim_start_matches(is_word).starts_with('('))
    });
    places.map(|(at, _)| at)
}

/// Returns the statement, the arm of a match or the field that a place is in, with the block of a loop.
fn find_statement(text: &str, at: usize) -> &str {
    let bytes = text.as_bytes();
    let (mut start, mut depth) = (at, 0);
    let mut comma = None;
    while start > 0 {
        match bytes[start - 1] {
            b')' | b']' => depth += 1,
            b'(' | b'[' if depth > 0 => depth -= 1,
            b'(' | b'[' => comma = None,
            b',' if depth == 0 && comma.is_none() => comma = Some(start),
            b';' | b'{' | b'}' if depth == 0 => break,
            _ => {}
        }
        start -= 1;
    }
    let start = comma.unwrap_or(start);
    let has_block = ["for ", "while ", "loop ", "if ", "match "]
        .iter()
        .any(|word| text[start..].trim_start().starts_with(word));
    let (mut end, mut depth) = (start, 0);
    while end < bytes.len() {
        match bytes[end] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth -= 1;
                if depth < 0 || (depth == 0 && bytes[end] == b'}' && has_block) {
                    break;
                }
            }
            b';' | b',' if depth == 0 && end >= at => break,
            _ => {}
        }
        end += 1;
    }
    &text[start..end]
}

/// Returns the names in a text that can be data.
fn names_of(text: &str) -> Vec<&str> {
    let words = text.split(|char: char| !char.is_alphanumeric() && char != '_');
    words
        .filter(|word| word.starts_with(char::is_lowercase) && !COMMON.contains(word) && !word.starts_with("charge"))
        .collect()
}

/// Returns the functions of a file.
fn list_functions(text: &str) -> Vec<Function> {
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
        let is_function = rest[..at].ends_with(['\n', ' ']) || at == 0;
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
        functions.push(Function {
            // In a macro, a name can be a parameter.
            name: read_identifier(function.trim_start_matches('$')),
            body: function[open..].to_owned(),
        });
        rest = after;
    }
    functions
}
