//! The programs that are measured: every name in grammar/reachable.md, every operator and every statement, on values of all types.

use std::collections::BTreeMap;

/// Expressions for values of size `n`, each with a name.
const VALUES: &[(&str, &str)] = &[
    ("text", "s"),
    ("accents", "u"),
    ("markup", "(s|safe)"),
    ("integer", "i"),
    ("float", "1.5"),
    ("long float", "1.7976931348623157e308"),
    ("short float", "5e-324"),
    // Its float is just above the middle of two others, which takes the slowest algorithm.
    ("text of a float", "'1.7000000000000000386e308'"),
    ("list", "l"),
    ("texts", "t"),
    ("lists", "p"),
    ("tuple", "k"),
    ("dict", "d"),
    ("keys", "d.keys()"),
    ("values", "d.values()"),
    ("items", "d.items()"),
    ("range", "r"),
    ("generator", "(l|map('abs'))"),
    ("group", "g"),
];

/// The arguments that are tried. The value itself replaces `X`.
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

/// Expressions that contain a value, which replaces `X`.
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

/// The statements, which are executed in a loop.
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
    "{% generation %}a{% endgeneration %}",
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
    "{{ nope|default(1) }}",
    "{{ namespace(a=1).a }}",
    "{{ [1, 2, 3] }}",
    "{{ {'a': 1} }}",
    "{{ cycler(1, 2).next() }}",
    "{{ q if q else 1 }}",
    "{{ 'a' ~ q }}",
    "{{ q == 1 }}",
];

/// Statements that make values, by the variable name. A program begins with those whose variable it reads.
const PRELUDE: &[(&str, &str)] = &[
    ("m", "{% macro m() %}{{ varargs|length }}{{ kwargs|length }}{% endmacro %}"),
    ("ns", "{% set ns = namespace(**many) %}{% set ns.x = 'a' %}"),
    ("i", "{% set i = 3 ** n %}"),
    ("k", "{% set k = (0,) * n %}"),
    ("r", "{% set r = range(n // 16) %}"),
    ("g", "{% set g = (p|groupby(0)|first) %}"),
];

/// Returns the programs that measure each name, operator and statement. Each repeats what it measures.
pub fn subjects() -> BTreeMap<String, Vec<String>> {
    let document = include_str!("../../grammar/reachable.md");
    let mut subjects: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut section = "";
    for line in document.lines() {
        section = line.strip_prefix("## ").unwrap_or(section);
        let row = line.rsplit_once("`: ").map_or(line, |(_, names)| names);
        let is_row = line.starts_with('`') || line.starts_with("- ");
        if section.is_empty() || !is_row {
            continue;
        }
        for name in row.split('`').skip(1).step_by(2) {
            // A call of this function always fails.
            if name == "raise_exception" {
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
                    subjects.entry(key).or_default().push(drain(&expression));
                }
            }
        }
    }
    // These attributes are not methods.
    for part in ["grouper", "list"] {
        let tries = VALUES.iter().map(|(_, value)| drain(&format!("{value}.{part}")));
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
        subjects.insert(format!("method {part}"), vec![drain(&format!("m.{part}"))]);
    }
    for part in "changed cycle depth depth0 first index0 last length nextitem previtem revindex revindex0".split(' ') {
        subjects.insert(format!("method {part}"), vec![drain(&format!("loop.{part}"))]);
    }
    for (part, expression) in [
        ("current", "cycler(1)"),
        ("pos", "cycler(1)"),
        ("next", "cycler(1)"),
        ("reset", "cycler(1)"),
        ("sep", "joiner()"),
        ("used", "joiner()"),
    ] {
        subjects.insert(format!("method {part}"), vec![drain(&format!("{expression}.{part}"))]);
    }
    for operator in OPERATORS {
        for (_, left) in VALUES {
            for (_, right) in VALUES.iter().chain(&[("number", "3"), ("letter", "'a'")]) {
                subjects
                    .entry(format!("operator {operator}"))
                    .or_default()
                    .push(drain(&format!("{left} {operator} {right}")));
            }
        }
    }
    for around in AROUND {
        let tries = VALUES.iter().map(|(_, value)| drain(&around.replace('X', value)));
        subjects.entry(format!("expression {around}")).or_default().extend(tries);
    }
    for tries in subjects.values_mut() {
        tries.sort();
        tries.dedup();
    }
    for statement in STATEMENTS {
        subjects.insert(
            format!("statement {statement}"),
            vec![format!("{{% for q in r %}}{statement}{{% endfor %}}")],
        );
    }
    for tries in subjects.values_mut() {
        *tries = tries.iter().map(|body| repeat(body)).collect();
    }
    subjects
}

/// Returns a program that makes the values that a body reads, and repeats the body.
fn repeat(body: &str) -> String {
    let words: Vec<&str> = body.split(|letter: char| !letter.is_alphanumeric()).collect();
    let needed = PRELUDE.iter().filter(|(word, _)| words.contains(word));
    let prelude: String = needed.map(|(_, set)| *set).collect();
    format!("{prelude}{{% for q in range(8) %}}{body}{{% endfor %}}")
}

/// Returns a statement that evaluates an expression, and iterates over its value if the expression is lazy.
fn drain(expression: &str) -> String {
    let lazy = [
        "|map", "|select", "|reject", "|batch", "|slice", "|unique", "|reverse", "|items",
    ];
    if lazy.iter().any(|word| expression.contains(word)) {
        format!(
            "{{% set z = {expression} %}}{{% if z is iterable and z is not sequence and z is not string %}}{{% for a in z %}}{{% endfor %}}{{% endif %}}"
        )
    } else {
        format!("{{% set z = {expression} %}}")
    }
}
