//! Checks that work is charged where it is done: each traversal of data charges the meter, or `bounded.txt` says why it need not.
//!
//! ```text
//! src/builtins/filters/sort.rs sort: `for item in items` is not charged
//! ```
//!
//! A traversal is a loop, a method that goes through an iterator or a text, or a call of a function below the meter that does so. It is
//! charged if its own statement uses the meter, or if an earlier charge in the function names the data that it goes through. One charge
//! in a function does not allow another traversal of other data. The test reads the text of the files; unit tests are left out.
//!
//! Bounds have a rule too: only a public function begins to count, and the functions that it calls go on with its meter, so that no work has
//! limits of its own, a deadline that starts again, or no flag.

use crate::sources::{list_files, list_sources, read, read_identifier};

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

/// The file of the package for Python that goes through objects.
const READER: &str = "src/python/src/reader.rs";

/// Words that are no name of data.
#[rustfmt::skip]
const COMMON: [&str; 17] = [
    "as", "as_str", "at", "error", "iter", "len", "let", "map_err", "meter", "runtime", "saturating_add", "saturating_mul", "self",
    "span", "u64", "unwrap_or", "usize",
];

#[test]
fn each_traversal_of_data_is_charged() {
    // A row that begins with blanks continues the row before.
    let table = read("tests/rules/bounded.txt").replace("\n  ", " ");
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
    let checked = list_sources()
        .into_iter()
        .filter(|path| path != "src/fuzzing.rs" && !path.ends_with("_test.rs"));
    for path in &checked.chain([READER.to_owned()]).collect::<Vec<_>>() {
        for function in list_functions(&read(path)) {
            let uncharged = function.find_uncharged(path);
            let Some(traversal) = uncharged.first() else {
                continue;
            };
            match rows.iter().position(|row| row.covers(path, &function.name)) {
                Some(index) => {
                    if !rows[index].allows(&function.name, uncharged.len()) {
                        faults.push(format!(
                            "{path} {}: {} are not charged: {uncharged:?}",
                            function.name,
                            uncharged.len()
                        ));
                    }
                    needed[index].push(function.name);
                }
                None => faults.push(format!("{path} {}: `{traversal}` is not charged", function.name)),
            }
        }
    }
    for (row, needed) in rows.iter().zip(needed) {
        let is_needed = |name: &str| needed.iter().any(|other| other == name);
        let names = row.names.iter().filter(|(name, _)| !is_needed(name));
        faults.extend(names.map(|(name, _)| format!("tests/rules/bounded.txt: {} {name}: is charged, or is not there", row.path)));
        if needed.is_empty() && row.names.is_empty() {
            faults.push(format!("tests/rules/bounded.txt: {}: has nothing to charge", row.path));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// The folders whose work is for a caller with bounds.
const BOUNDED: [&str; 5] = ["src/chat/", "src/grammar/", "src/inspect/", "src/request/", "src/response/"];

/// How a function begins to count from zero.
#[rustfmt::skip]
const BEGINNINGS: [&str; 9] = [
    "bounds.start()", "bounds().start()", "into().start()", "Bounds::default()", "Limits::default()", "Deadline::new(", "Deadline::from(",
    "Meter::new(", "Meter::within(",
];

/// Functions that only read limits.
const READERS: [&str; 2] = ["for_trees(", "list_limits("];

/// Functions that begin to count although they are not public, with the reason. None of them calls another one.
#[rustfmt::skip]
const OWN_BOUNDS: [(&str, &str, &str); 8] = [
    ("src/grammar/options.rs", "default", "makes the default of options"),
    ("src/grammar/prepared.rs", "grammar", "sets the bounds of the caller"),
    ("src/grammar/written.rs", "render", "renders a few short messages, within the deadline of the caller"),
    ("src/chat/model/files.rs", "default", "makes the default of options"),
    ("src/chat/model/tokenizer_json.rs", "read_entries", "shares the deadline of the folder"),
    ("src/request/options.rs", "default", "makes the default of options"),
    ("src/inspect/experiments.rs", "usual_limits", "is what a limit of the caller is compared with"),
    ("src/inspect/report.rs", "read", "is what each public method of a report calls"),
];

#[test]
fn only_a_public_function_begins_to_count() {
    let files: Vec<(String, Vec<(String, Function)>)> = list_sources()
        .into_iter()
        .map(|path| (path.clone(), list_methods(&read(&path))))
        .collect();
    let all = || files.iter().flat_map(|(_, methods)| methods);
    // A method whose name another function has too is not recognized by its name.
    let is_unique = |name: &str| all().filter(|(_, function)| function.name == name).count() == 1;
    let calls: Vec<String> = all()
        .filter(|(ty, function)| !ty.is_empty() && function.begins())
        .filter_map(|(ty, function)| match function.has_receiver {
            false => Some(format!("{ty}::{}(", function.name)),
            true => is_unique(&function.name).then(|| format!(".{}(", function.name)),
        })
        .chain(["json::Data::read_within(".to_owned()])
        .collect();
    let mut faults = Vec::new();
    let mut own = OWN_BOUNDS.to_vec();
    for (path, methods) in files
        .iter()
        .filter(|(path, _)| BOUNDED.iter().any(|folder| path.starts_with(folder)))
    {
        for (_, function) in methods {
            for sign in function.find_new_bounds(&calls) {
                match own.iter().position(|(file, name, _)| file == path && *name == function.name) {
                    Some(index) => drop(own.remove(index)),
                    None if OWN_BOUNDS
                        .iter()
                        .any(|(file, name, _)| file == path && *name == function.name) => {}
                    None => faults.push(format!("{path} {}: `{sign}` begins to count anew", function.name)),
                }
            }
        }
    }
    faults.extend(
        own.iter()
            .map(|(path, name, _)| format!("{path} {name}: has no bounds of its own")),
    );
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn bounds_of_its_own_are_found() {
    let find = |text: &str| {
        let functions = list_functions(text);
        functions[0].find_new_bounds(&["Template::compile(".to_owned()])
    };
    for passed in [
        "pub fn f(bounds: Bounds) { let deadline = bounds.start(); let meter = Meter::within(bounds, &deadline); g(&meter) }",
        "pub fn f() { Self::f_with(Bounds::default()) }",
        "fn f(meter: &mut Meter) { json::read_until(text, DEPTH, meter.watch()) }",
        "fn f(meter: &mut Meter) { let bits = meter.limits().bits; g(bits, &mut meter.renew()) }",
    ] {
        assert_eq!(find(passed), Vec::<String>::new(), "{passed}");
    }
    for begun in [
        "fn f(meter: &mut Meter) { json::Data::read_within(text, DEPTH, meter.limits()) }",
        "pub(crate) fn f(bounds: Bounds) { let deadline = bounds.start(); }",
        "fn f() { g(&mut Meter::new(Limits::default())) }",
        "fn f(meter: &mut Meter) { Template::compile(text) }",
        "pub fn f(bounds: Bounds) { let deadline = bounds.start(); Template::compile(text) }",
    ] {
        assert!(!find(begun).is_empty(), "{begun}");
    }
}

/// An object of Python can be endless, and its length can be wrong. The reader charges each item.
#[test]
fn only_the_reader_goes_through_objects_of_python() {
    for path in list_files("src/python/src", "rs").iter().filter(|path| *path != READER) {
        let text = read(path);
        for sign in [
            "try_iter()?",
            "for item in value",
            "size_hint",
            "PySequence",
            "extract::<Vec",
            "with_capacity(value",
        ] {
            assert!(!text.contains(sign), "{path}: {sign}");
        }
        let is_list = |line: &&str| {
            let (_, kind) = line.split_once(": ").unwrap_or_default();
            // The fields of a struct have less space before them.
            line.starts_with("        ")
                && kind.ends_with(',')
                && ["Vec<", "Pairs", "Option<Vec<"].iter().any(|list| kind.starts_with(list))
        };
        let lists = text.split("#[pymethods]").skip(1).flat_map(str::lines).filter(is_list);
        assert_eq!(lists.collect::<Vec<_>>(), [""; 0], "{path}: PyO3 trusts the length of a list");
    }
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
        assert_eq!(find(charged), Vec::<String>::new(), "{charged}");
    }
    for forgotten in [
        "for item in items { list.push(item); }",
        "meter.charge_items(items.len())?; for item in others { list.push(item); }",
        "for item in items { meter.charge(1)?; } let count = text.chars().count();",
        "match value { A => { meter.charge(1)?; } B => list.iter().any(is_long), C => meter.steps() }",
        "let escaped = escape::escape(text);",
    ] {
        assert!(!find(forgotten).is_empty(), "{forgotten}");
    }
}

/// A row of `bounded.txt`: functions of a file or a folder, and the reason why they need no charge. A name can say how many traversals of the
/// function that are: `find*2`. A row of a folder below the meter names none.
struct Row<'t> {
    path: &'t str,
    names: Vec<(&'t str, Option<usize>)>,
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
            names: words
                .map(|word| match word.split_once('*') {
                    Some((name, count)) => (name, Some(count.parse().expect("a count"))),
                    None => (word, None),
                })
                .collect(),
        })
    }

    fn allows(&self, name: &str, count: usize) -> bool {
        let row = self.names.iter().find(|(other, _)| *other == name);
        row.and_then(|(_, allowed)| *allowed).is_none_or(|allowed| allowed == count)
    }

    fn covers(&self, path: &str, name: &str) -> bool {
        match self.names.is_empty() {
            true => path.starts_with(self.path),
            false => path.starts_with(self.path) && self.names.iter().any(|(other, _)| *other == name),
        }
    }
}

/// A function, without comments, strings and unit tests. A function within another is a part of it.
struct Function {
    name: String,
    body: String,
    /// Whether callers of the crate may call it.
    is_public: bool,
    has_receiver: bool,
}

impl Function {
    /// Returns whether the function begins to count from zero.
    fn begins(&self) -> bool {
        BEGINNINGS.iter().any(|sign| self.body.contains(sign))
    }

    /// Returns how the function begins to count although its caller, or it itself, has begun: limits that are passed without the deadline, a
    /// beginning in a function that is not public, or a call of a public function that begins.
    fn find_new_bounds(&self, calls: &[String]) -> Vec<String> {
        let body = self.body.as_str();
        let mut signs: Vec<&str> = Vec::new();
        if !self.is_public {
            signs.extend(BEGINNINGS.iter().filter(|sign| body.contains(**sign)));
        }
        if !self.is_public || BEGINNINGS[..3].iter().any(|sign| body.contains(sign)) {
            signs.extend(calls.iter().map(String::as_str).filter(|call| body.contains(call)));
        }
        let is_read = |at: usize| READERS.iter().any(|reader| body[..at].ends_with(reader));
        let is_passed = |(at, sign): (usize, &str)| body[at + sign.len()..].starts_with([')', ',']) && !is_read(at);
        if body.match_indices("meter.limits()").any(is_passed) {
            signs.push("meter.limits()");
        }
        signs.into_iter().map(str::to_owned).collect()
    }

    /// Returns the traversals that are not charged.
    fn find_uncharged(&self, path: &str) -> Vec<String> {
        let body = self.body.as_str();
        let folders = METERED.iter().filter(|(folder, _)| path.starts_with(folder));
        let signs: Vec<&str> = folders.flat_map(|(_, signs)| signs.iter().copied()).collect();
        let mut places: Vec<usize> = TRAVERSALS.iter().flat_map(|sign| find_sign(body, sign)).collect();
        places.sort_unstable();
        let uncharged = places.into_iter().filter_map(|at| {
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
        });
        uncharged.collect()
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

/// Returns the functions of a file, each with the type that it belongs to.
fn list_methods(text: &str) -> Vec<(String, Function)> {
    let blocks = text.split("\nimpl").enumerate();
    let blocks = blocks.flat_map(|(index, block)| {
        let header = block.split('{').next().unwrap_or_default();
        // The type is after `for`, or after the parameters of the block.
        let ty = header.rsplit(" for ").next().unwrap_or_default().trim_start();
        let ty = if ty.starts_with('<') {
            ty.split_once("> ").map_or(ty, |(_, ty)| ty)
        } else {
            ty
        };
        let ty = if index == 0 { String::new() } else { read_identifier(ty) };
        list_functions(block).into_iter().map(move |function| (ty.clone(), function))
    });
    blocks.collect()
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
        let is_public = rest[..at].ends_with("pub ");
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
            is_public,
            has_receiver: function[..open].contains("self"),
        });
        rest = after;
    }
    functions
}
