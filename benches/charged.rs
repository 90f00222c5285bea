//! Whether work is charged by what it costs: the time that a step takes, for each filter, test, method, global function, operator and
//! statement, while the input doubles from a thousand to a million.
//!
//! ```text
//! cargo bench --bench charged [-- NAME]
//! ```
//!
//! The names are those of grammar/reachable.md, which a test keeps complete; each is tried on values of all kinds and with several
//! arguments, so that a new one needs no line here, but where nothing fits. Prints the dearest, and fails where a step of one takes more
//! than 20 times the median, or where a name could not be tried.
#![allow(clippy::restriction, clippy::pedantic, reason = "a bench that cannot run shall stop")]

use std::collections::BTreeMap;

use chat_template::{Limits, RenderOptions, Template};
use cpu_time::ThreadTime;
use serde_json::{Value, json};

/// How much dearer than the median a step may be.
const MOST: f64 = 20.0;

/// Shorter renders say more about the clock than about the work, in seconds.
const SHORTEST: f64 = 0.000_2;

/// A longer one ends the doubling.
const LONGEST: f64 = 0.05;

/// Values whose size is `n`, by the name of their variable; the loops and sets around them are charged apart.
const VALUES: &[(&str, &str)] = &[
    ("text", "s"),
    ("accents", "u"),
    ("markup", "(s|safe)"),
    ("bytes", "b"),
    ("integer", "i"),
    ("float", "1.5"),
    ("list", "l"),
    ("texts", "t"),
    ("lists", "p"),
    ("tuple", "k"),
    ("dict", "d"),
    ("keys", "d.keys()"),
    ("values", "d.values()"),
    ("items", "d.items()"),
    ("set", "e"),
    ("range", "r"),
    ("generator", "(l|map('abs'))"),
    ("group", "g"),
];

/// Arguments to try, the value itself among them as X.
const ARGUMENTS: &[&str] = &[
    "",
    "X",
    "'a'",
    "2",
    "n",
    "s",
    "l",
    "'a', 'bb'",
    "'', 'b'",
    "'ab'",
    "2, 'big'",
    "1, 0",
    "s, s",
    "[1, 2]",
    "'upper'",
    "'string'",
    "'eq', 1",
    "0, true",
    "s[1:] ~ 'q'",
    "d",
    "attribute=0",
    "{97: 'bb'}",
    "indent=2",
    "true, true",
    "2, true, true",
];

const OPERATORS: &[&str] = &[
    "+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or", "if",
];

/// Expressions around a value X.
const AROUND: &[&str] = &[
    "-X",
    "+X",
    "not X",
    "X[0]",
    "X[-1]",
    "X[1:]",
    "X[::2]",
    "X[::-1]",
    "X['a']",
    "X.a",
    "X.nope",
    "[X]",
    "(X,)",
    "{'a': X}",
    "{X: 1}",
    "X is sameas X",
    "[X, X] == [X, X]",
    "'%s' % (X,)",
    "'%r' % (X,)",
    "'{}'.format(X)",
    "'{:>9}'.format(X)",
    "[X, X]|unique|list",
    "[X, X]|sort",
    "dict(a=X)",
    "namespace(a=X)",
    "cycler(X)",
    "[X][0]",
    "dict(**X)",
    "dict(X)",
    "m(X)",
    "m(*X)",
    "m(**X)",
    "[X]|tojson",
    "[X]|pprint",
    "[X]|string",
    "(X, X) < (X, X)",
    "[X]|sum(start=X)",
    "'%d' % X",
    "'%x' % X",
    "'{:,}'.format(X)",
    "'{:x}'.format(X)",
    "'%.3f' % X",
    "'%.*f' % (n, 1.5)",
    "'%*d' % (n, 1)",
    "'{:>{}}'.format(1, n)",
    "'{:é>{}}'.format(1, n)",
    "'{:.{}f}'.format(1.5, n)",
    "strftime_now(X)",
    "strftime_now('%c' * (n // 10))",
    "strftime_now('%Y' * (n // 10))",
    "X|default(1)",
    "joiner(X)()",
    "loop.changed(X)",
    "loop.cycle(X)",
    "ns.x ~ X",
    "ns.k9 ~ ''",
];

/// Statements, as often as N says.
const STATEMENTS: &[&str] = &[
    "{% set z = q %}",
    "{% set z %}a{% endset %}",
    "{% set ns.x = q %}",
    "{% set a, b = q, q %}",
    "{% if q %}a{% elif x %}{% endif %}",
    "{% with a = q %}{{ a }}{% endwith %}",
    "{{ m(q) }}",
    "{% call m(q) %}a{% endcall %}",
    "{% filter upper %}a{% endfilter %}",
    "{% autoescape true %}{{ q }}{% endautoescape %}",
    "{% generation %}a{% endgeneration %}",
    "{% block a scoped %}{{ q }}{% endblock %}",
    "{% for a in [1] %}{% endfor %}",
    "{% for a in [1] recursive %}{% endfor %}",
    "{% for a in [q] if a %}{{ loop.index }}{% endfor %}",
    "{% macro o() %}{{ q }}{% endmacro %}{{ o() }}",
    "{{ q }}",
    "a",
    "{{ ns.x }}",
    "{{ ns.k999 }}",
    "{% set ns.k999 = q %}",
    "{{ loop.last }}{{ loop.nextitem }}",
    "{{ x.y }}",
    "{{ self.c() }}",
    "{{ nope|default(1) }}",
    "{{ namespace(a=1).a }}",
    "{{ [1, 2, 3] }}",
    "{{ {'a': 1} }}",
    "{{ cycler(1, 2).next() }}",
    "{{ q if q else 1 }}",
    "{{ 'a' ~ q }}",
    "{{ q == 1 }}",
];

/// What templates share, by the word that asks for it.
const PRELUDE: &[(&str, &str)] = &[
    ("m", "{% macro m() %}{{ varargs|length }}{{ kwargs|length }}{% endmacro %}"),
    ("self", "{% block c %}{% endblock %}"),
    ("ns", "{% set ns = namespace(**many) %}{% set ns.x = 'a' %}"),
    ("b", "{% set b = s.encode() %}"),
    ("i", "{% set i = 3 ** n %}"),
    ("k", "{% set k = (0,) * n %}"),
    ("e", "{% set e = d.keys() - [0] %}"),
    ("r", "{% set r = range(n // 16) %}"),
    ("g", "{% set g = (p|groupby(0)|first) %}"),
];

/// What one expression or statement took in one size.
struct Sample {
    size: usize,
    seconds: f64,
    /// What the values alone took.
    around: f64,
    steps: u64,
}

impl Sample {
    fn nanoseconds_a_step(&self) -> f64 {
        self.seconds * 1e9 / self.steps.max(1) as f64
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let wanted = arguments.iter().find(|argument| !argument.starts_with("--"));
    let contexts: Vec<(usize, Value)> = (0..11)
        .map(|doublings| 1000 << doublings)
        .map(|size| (size, context(size)))
        .collect();
    let mut rows: Vec<(String, Vec<Sample>)> = Vec::new();
    let mut untried = Vec::new();
    for (name, tries) in subjects() {
        if wanted.is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        let measured: Vec<_> = tries
            .into_iter()
            .filter_map(|template| Some((template.clone(), samples(&template, &contexts)?)))
            .collect();
        if measured.is_empty() {
            untried.push(name.clone());
        }
        rows.extend(
            measured
                .into_iter()
                .map(|(template, samples)| (format!("{name}: {template}"), samples)),
        );
    }
    let dearest = |samples: &[Sample]| {
        let long = samples
            .iter()
            .filter(|sample| sample.seconds >= SHORTEST && sample.seconds >= sample.around / 2.0);
        long.map(Sample::nanoseconds_a_step).fold(0.0, f64::max)
    };
    let mut figures: Vec<(f64, &String, &Vec<Sample>)> = rows
        .iter()
        .map(|(name, samples)| (dearest(samples), name, samples))
        .filter(|row| row.0 > 0.0)
        .collect();
    figures.sort_by(|one, other| other.0.total_cmp(&one.0));
    let median = figures.get(figures.len() / 2).map_or(0.0, |row| row.0);
    println!(
        "{} expressions and statements, {} of them long enough to be timed; a step takes {median:.1} ns in the median\n",
        rows.len(),
        figures.len()
    );
    println!("| ns a step | times the median | size | what |\n|--:|--:|--:|---|");
    for (figure, name, samples) in figures.iter().take(60) {
        let size = samples
            .iter()
            .find(|sample| sample.nanoseconds_a_step() == *figure)
            .map_or(0, |sample| sample.size);
        println!(
            "| {figure:.1} | {:.1} | {size} | {} |",
            figure / median,
            name.replace('|', "\\|")
        );
    }
    let over = figures.iter().filter(|row| row.0 > MOST * median).count();
    println!("\n{over} take more than {MOST} times the median");
    if !untried.is_empty() {
        println!("nothing could be tried of {untried:?}");
    }
    std::process::exit(i32::from(over > 0 || !untried.is_empty()));
}

/// Each name with the templates that try it.
fn subjects() -> BTreeMap<String, Vec<String>> {
    let document = include_str!("../grammar/reachable.md");
    let mut subjects: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut section = "";
    for line in document.lines() {
        section = line.strip_prefix("## ").unwrap_or(section);
        let row = line.rsplit_once("`: ").map_or(line, |(_, names)| names);
        if !line.starts_with('`') && !line.starts_with("- ") {
            continue;
        }
        for name in row.split('`').skip(1).step_by(2) {
            // Chance, and what only calls or fails.
            if matches!(name, "random" | "lipsum" | "raise_exception") {
                continue;
            }
            for (_, value) in VALUES {
                for arguments in ARGUMENTS {
                    let arguments = arguments.replace('X', value);
                    let with = if arguments.is_empty() {
                        String::new()
                    } else {
                        format!("({arguments})")
                    };
                    let (key, expression) = match section {
                        "Filters" => (format!("filter {name}"), format!("{value}|{name}{with}")),
                        "Tests" => (format!("test {name}"), format!("{value} is {name}{with}")),
                        "Global names" => (
                            format!("global {name}"),
                            format!("{name}({})", if arguments.is_empty() { *value } else { &arguments }),
                        ),
                        _ => (format!("method {name}"), format!("{value}.{name}({arguments})")),
                    };
                    if section == "Tests" && !name.starts_with(char::is_alphabetic) {
                        continue;
                    }
                    subjects.entry(key).or_default().push(drained(&expression));
                }
            }
        }
    }
    // Parts of values are no calls.
    for part in [
        "start",
        "stop",
        "step",
        "real",
        "imag",
        "numerator",
        "denominator",
        "mapping",
        "grouper",
        "list",
    ] {
        let tries = VALUES.iter().map(|(_, value)| drained(&format!("{value}.{part}")));
        subjects.insert(format!("method {part}"), tries.collect());
    }
    for part in [
        "arguments",
        "caller",
        "catch_kwargs",
        "catch_varargs",
        "explicit_caller",
        "name",
    ] {
        subjects.insert(format!("method {part}"), vec![drained(&format!("m.{part}"))]);
    }
    for part in "changed cycle depth depth0 first index0 last length nextitem previtem revindex revindex0".split(' ') {
        subjects.insert(format!("method {part}"), vec![drained(&format!("loop.{part}"))]);
    }
    for (part, expression) in [
        ("current", "cycler(1)"),
        ("pos", "cycler(1)"),
        ("next", "cycler(1)"),
        ("reset", "cycler(1)"),
        ("sep", "joiner()"),
        ("used", "joiner()"),
        ("super", "self.c"),
    ] {
        subjects.insert(format!("method {part}"), vec![drained(&format!("{expression}.{part}"))]);
    }
    for operator in OPERATORS {
        for (_, left) in VALUES {
            for (_, right) in VALUES.iter().chain(&[("number", "3"), ("letter", "'a'")]) {
                subjects
                    .entry(format!("operator {operator}"))
                    .or_default()
                    .push(drained(&format!("{left} {operator} {right}")));
            }
        }
    }
    for around in AROUND {
        let tries = VALUES.iter().map(|(_, value)| drained(&around.replace('X', value)));
        subjects.entry(format!("expression {around}")).or_default().extend(tries);
    }
    for statement in STATEMENTS {
        subjects.insert(
            format!("statement {statement}"),
            vec![format!("{{% for q in r %}}{statement}{{% endfor %}}")],
        );
    }
    subjects
}

/// A statement that makes a value, and goes over it where that is what does the work.
fn drained(expression: &str) -> String {
    format!(
        "{{% set z = {expression} %}}{{% if z is iterable and z is not sequence and z is not string %}}{{% for a in z %}}{{% endfor %}}{{% endif %}}"
    )
}

/// What a template takes while its input doubles; none where it fails.
fn samples(template: &str, contexts: &[(usize, Value)]) -> Option<Vec<Sample>> {
    let limits: Limits = serde_json::from_value(json!({
        "steps": 1_u64 << 40, "value": 1_u64 << 30, "live": 4_u64 << 30, "output": 1_u64 << 30, "bits": 1_u64 << 30, "width": 1 << 30,
    }))
    .expect("limits");
    let words: Vec<&str> = template.split(|letter: char| !letter.is_alphanumeric()).collect();
    let prelude: String = PRELUDE
        .iter()
        .filter(|(word, _)| words.contains(word))
        .map(|(_, set)| *set)
        .collect();
    let whole = Template::compile(&format!("{prelude}{{% for q in [1] %}}{template}{{% endfor %}}")).ok()?;
    let around = Template::compile(&format!("{prelude}{{% for q in [1] %}}{{% endfor %}}")).expect("the prelude compiles");
    let mut samples = Vec::new();
    let options = RenderOptions {
        limits: &limits,
        ..RenderOptions::default()
    };
    for (size, context) in contexts {
        let (seconds, steps) = timed(&whole, context, &options)?;
        let (seconds_around, steps_around) = timed(&around, context, &options)?;
        samples.push(Sample {
            size: *size,
            seconds: seconds - seconds_around,
            around: seconds_around,
            steps: steps.saturating_sub(steps_around),
        });
        if seconds > LONGEST {
            break;
        }
    }
    Some(samples)
}

/// The shortest of three, or the first where that is long.
fn timed(template: &Template, context: &Value, options: &RenderOptions<'_>) -> Option<(f64, u64)> {
    let mut best: Option<(f64, u64)> = None;
    for _ in 0..3 {
        let start = ThreadTime::now();
        let rendered = template.render_with(context, options).ok()?;
        let seconds = start.elapsed().as_secs_f64();
        if best.is_none_or(|(least, _)| seconds < least) {
            best = Some((seconds, rendered.steps));
        }
        if seconds > 0.002 {
            break;
        }
    }
    best
}

fn context(size: usize) -> Value {
    let dict: serde_json::Map<String, Value> = (0..size / 8).map(|number| (number.to_string(), json!(number))).collect();
    let many: serde_json::Map<String, Value> = (0..1000).map(|number| (format!("k{number}"), json!(number))).collect();
    json!({
        "n": size,
        "x": {"y": 1},
        "s": "ab <&%s{} ".repeat(size / 10),
        "u": "é".repeat(size / 2),
        "l": (0..size / 4).collect::<Vec<_>>(),
        "t": (0..size / 8).map(|number| number.to_string()).collect::<Vec<_>>(),
        "p": (0..size / 16).map(|number| vec![number % 7, number]).collect::<Vec<_>>(),
        "d": dict,
        "many": many,
    })
}
