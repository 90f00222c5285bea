//! Deep, long and wide sources: each construct of the language nested in itself, each operator in a chain, and many copies of each
//! construct.

use serde_json::json;

use super::Case;

/// Constructs that nest: the text before them, the part that is repeated, and the text after them.
const NESTED: &[(&str, &str, &str)] = &[
    ("{{ ", "[", "] }}"),
    ("{{ ", "(", ") }}"),
    ("{{ ", "{1:", "} }}"),
    ("{{ ", "f(", ") }}"),
    ("{{ ", "x[", "] }}"),
    ("{{ ", "x|f(", ") }}"),
    ("{{ ", "not ", "x }}"),
    ("{{ ", "-", "1 }}"),
    ("{{ ", "+", "1 }}"),
    ("{{ ", "1 if x else ", "1 }}"),
    ("{{ ", "1 if ", "1 }}"),
    ("{{ ", "x is t(", " }}"),
    ("{{ ", "(x,", " }}"),
    ("{{ ", "-(", " }}"),
    ("{{ ", "2 ** ", "1 }}"),
    ("{{ ", "x[1:", "] }}"),
    ("{{ ", "f(a=", ") }}"),
    ("{{ ", "f(*", ") }}"),
    ("{{ ", "f(**", ") }}"),
    ("{% set ", "(", "x) = 1 %}"),
    ("{% for ", "(a,", " in x %}{% endfor %}"),
    ("{% call ", "f(", ") %}{% endcall %}"),
    ("{% set x = ", "[", " %}"),
    ("{% if ", "(", ") %}{% endif %}"),
    ("", "{% if x %}", ""),
    ("", "{% for a in x %}", ""),
    ("", "{% for a in x recursive %}", ""),
    ("", "{% with %}", ""),
    ("", "{% with a = x %}", ""),
    ("", "{% set a %}", ""),
    ("", "{% filter upper %}", ""),
    ("", "{% macro m() %}", ""),
    ("", "{% call x() %}", ""),
    ("", "{% block a %}", ""),
    ("", "{% generation %}", ""),
    ("", "{% raw %}", ""),
    ("", "{#", ""),
    ("", "{{", ""),
    ("", "{%", ""),
    ("", "{% if x %}{% else %}", ""),
    ("", "{% if x %}{% elif x %}", ""),
    ("{{ ", "\"", ""),
    ("{{ ", "'\\", ""),
];

/// The text that closes a repeated part, by the beginning of the part.
const ENDS: &[(&str, &str)] = &[
    ("{% if", "{% endif %}"),
    ("{% for", "{% endfor %}"),
    ("{% with", "{% endwith %}"),
    ("{% set a %}", "{% endset %}"),
    ("{% filter", "{% endfilter %}"),
    ("{% macro", "{% endmacro %}"),
    ("{% call", "{% endcall %}"),
    ("{% block", "{% endblock %}"),
    ("{% gen", "{% endgeneration %}"),
    ("[", "]"),
    ("(", ")"),
    ("{1:", "1}"),
    ("f(", ")"),
    ("x[", "]"),
    ("x|f(", ")"),
    ("-(", "1)"),
    ("(x,", ")"),
];

/// The links of chains that begin with `{{ x`.
const LINKS: &[&str] = &[
    " + 1",
    " - 1",
    " * 1",
    " / 1",
    " // 1",
    " % 1",
    " ** 1",
    " ~ 1",
    " ~ x",
    " == 1",
    " < 1",
    " in x",
    " not in x",
    " is defined",
    " is not eq 1",
    " and x",
    " or x",
    " if x",
    " if x else x",
    ".a",
    ".0",
    "['a']",
    "[0]",
    "[1:]",
    "()",
    "(1)",
    "|f",
    "|upper",
    "|default(1)",
    ", 1",
    " \"a\"",
    ".upper()",
    "|list",
];

/// Pieces that are repeated until the source is as long as allowed. The number of the copy replaces `@`.
const PIECES: &[&str] = &[
    "{{ 1 }}",
    "{{ x }}",
    "{{ x }}a",
    "{{ 'a' }}",
    "{{ 'a'|e }}",
    "{{ y@ }}",
    "{{ x.y@ }}",
    "{{ 'a@'|upper }}",
    "{{ [1, 2, @] }}",
    "{{ {'a': @} }}",
    "{{ '%s' % @ }}",
    "{{ x|default('@') }}",
    "{{ nope@() }}",
    "{{ 2 ** @ }}",
    "{{ 'a' * @ }}",
    "{{ [1] * 1000 }}",
    "{{ ('a' * 9000)|length }}",
    "{{ ('a' * 4000)|upper|lower }}",
    "{{ range(@) }}",
    "{{ 1 if x else @ }}",
    "{{ x == @ }}",
    "{% set a = 1 %}",
    "{% set a@ = 1 %}",
    "{% set a@, b@ = 1, 2 %}",
    "{% set a@ %}{% endset %}",
    "{% if x %}{% endif %}",
    "{% if x %}{% set a@ = 1 %}{% endif %}",
    "{% if x %}{% set a = 1 %}{% else %}{% set b = 1 %}{% endif %}",
    "{% set a@ = 1 %}{% if a@ %}{% set b@ = 1 %}{% endif %}",
    "{% for a in x %}{% endfor %}",
    "{% for a@ in x %}{{ a@ }}{% endfor %}",
    "{% for a in x %}{% set b@ = 1 %}{% endfor %}",
    "{% macro m@() %}{{ x@ }}{% endmacro %}",
    "{% macro m@(a, b=1) %}{% endmacro %}{{ m@(1) }}",
    "{% block b@ %}{% endblock %}",
    "{% with a@ = 1 %}{% endwith %}",
    "{% filter upper %}a{% endfilter %}",
    "{% call x() %}{% endcall %}",
    "{% generation %}a{% endgeneration %}",
    "{% raw %}{{{% endraw %}",
    "{# a #}",
    "{#",
    "\n",
    " ",
    "{",
    "{{'\\n'}}",
    "{{-",
    "-%}",
    "%}",
    "}}",
    "{% set ns.a = 1 %}",
    "é",
    "\r\n",
    "\u{2028}",
    "{{ é@ }}",
    "{% break %}",
    "{% else %}",
    "{% endif %}",
    "{% elif x %}",
    "\\",
    "\u{0}",
    "{{ 0x1f@ }}",
    "{{ 1_0@ }}",
    "{{ '\\x41\\u00e9' }}",
];

/// Constructs with a part that is repeated: the text before it, the part, and the text after it.
const WIDE: &[(&str, &str, &str)] = &[
    ("{{ [", "1,", "] }}"),
    ("{{ (", "1,", ") }}"),
    ("{{ [", "x,", "]|length }}"),
    ("{{ {", "@: 1,", "}|length }}"),
    ("{{ {", "'k@': x,", "}|length }}"),
    ("{{ {", "[]: 1,", "} }}"),
    ("{{ f(", "1,", ") }}"),
    ("{{ f(", "a@=1,", "b=1) }}"),
    ("{{ dict(", "a@=1,", "b=1)|length }}"),
    ("{{ namespace(", "a@=1,", "b=1).b }}"),
    ("{% macro m() %}{{ kwargs|length }}{% endmacro %}{{ m(", "a@=1,", "b=1) }}"),
    ("{% macro m(", "a@,", "b) %}{% endmacro %}{{ m() }}"),
    ("{% macro m() %}{{ varargs|length }}{% endmacro %}{{ m(", "1,", "1) }}"),
    ("{% macro m(", "a@=1,", "b=1) %}{{ b }}{% endmacro %}{{ m(b=2) }}"),
    ("{% set ", "a@,", "b = x %}"),
    ("{% for ", "a@,", "b in x %}{% endfor %}"),
    ("{% with ", "a@=1,", "b=1 %}{% endwith %}"),
    ("{% if x %}", "{% elif x %}", "{% endif %}"),
    ("{% if 0 %}", "{% elif x %}{% set a@ = 1 %}", "{% endif %}"),
    ("{{ \"", "a", "\" }}"),
    ("{{ \"", "\\n", "\" }}"),
    ("{{ \"", "\\N{X}", "\" }}"),
    ("{{ ", "9", " }}"),
    ("{{ 1.", "9", " }}"),
    ("{{ 1e", "9", " }}"),
    ("{{ 0x", "f", " }}"),
    ("{{ 1", "_1", " }}"),
    ("{{ ", "a", " }}"),
    ("{{ ", "é", " }}"),
    ("{{ ", "\u{ff21}", " }}"),
    ("{{ x", " ", " }}"),
    ("{{ x", "\n", " }}"),
    ("{{ x ", "+", " }}"),
    ("{% ", "-", " %}"),
    ("{{ ", "'a' ", " }}"),
    ("{{ 'a'", " ~ ('a' * 1000)", " }}"),
    ("{{ ['a'", ", 'a' * 1000", "]|length }}"),
    ("{# ", "#", " #}"),
    ("{% raw %}", "{% endraw", "%}"),
    ("{{ x.", "a", " }}"),
    ("{{ 1 if x else ", "(1 if x else 2),", "1 }}"),
    ("{% for i in x %}", "{% set a@ = 1 %}", "{% endfor %}"),
    ("{% macro m() %}", "{{ a@ }}", "{% endmacro %}{{ m() }}{{ m() }}"),
    ("{% filter ", "upper|", "lower %}a{% endfilter %}"),
    ("{% set x | ", "upper|", "lower %}a{% endset %}"),
    (
        "{% set a = [1] %}{% for i in a %}",
        "{% for j in a %}{% endfor %}",
        "{% endfor %}",
    ),
];

/// Bodies of loops with a part that is repeated until the source is as long as allowed. They test the cost of what an iteration skips.
const LONG_ROUNDS: &[(&str, &str, &str)] = &[
    ("{% if y %}", "{{ a@ }}", "{% endif %}"),
    ("{% if y %}", "{% set a@ = 1 %}", "{% endif %}"),
    ("{% with %}{% if y %}", "{% set a@ = 1 %}", "{% endif %}{% endwith %}"),
    (
        "{% macro m() %}{% if y %}",
        "{% set a@ = 1 %}",
        "{% endif %}{% endmacro %}{{ m() }}",
    ),
    ("{% macro m(", "a@,", "b) %}{% endmacro %}"),
    ("{% call(", "a@,", "b) x() %}{% endcall %}"),
    ("{% for a in [1] if y %}", "{{ a@ }}", "{% endfor %}"),
    ("{% set z %}{% if y %}", "{% set a@ = 1 %}", "{% endif %}{% endset %}"),
    ("{{ d.", "a", " }}"),
    ("{{ d['", "a", "'] }}"),
    ("{{ ns.", "a", " }}"),
    ("{{ ", "a", " }}"),
    ("{{ '", "a", "' in d }}"),
    ("{{ '", "a", "' == t }}"),
    ("{{ t == '", "a", "' }}"),
    ("{{ '", "a", "' is eq t }}"),
    ("{{ {'", "a", "': 1} }}"),
    ("{{ d|attr('", "a", "') }}"),
    ("{{ d|map(attribute='", "a.", "a')|list }}"),
    ("{{ x|", "a", " }}"),
    ("{{ t in ['", "', 'b", "'] }}"),
    ("{% if y %}", "a", "{% endif %}"),
    ("{% if y == ", "1 or y == ", "2 %}{% endif %}"),
    ("{{ x if y else 1 if y else ", "[1, 2], ", "3 }}"),
];

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (before, open, after) in NESTED {
        let close = ENDS
            .iter()
            .find(|(start, _)| open.starts_with(start))
            .map_or("", |(_, close)| close);
        for depth in [60, 100, 127, 500, 5000, 1_000_000 / open.len()] {
            for (form, close) in [("open", ""), ("whole", close)] {
                if (form, close) == ("whole", "") || close.len() * depth > 500_000 {
                    continue;
                }
                cases.push(render(format!("nested {form} {depth}: {before}{open}{after}"), move || {
                    format!("{before}{}1{}{after}", open.repeat(depth), close.repeat(depth))
                }));
            }
        }
    }
    for link in LINKS {
        for count in [400, 480, 5000, 1_000_000 / link.len()] {
            cases.push(render(format!("chain {count}: {link}"), move || {
                format!("{{{{ x{} }}}}", link.repeat(count))
            }));
            cases.push(render(format!("chain in statements {count}: {link}"), move || {
                let (open, close) = ("{% with a = x %}".repeat(90), "{% endwith %}".repeat(90));
                format!("{open}{{% set a = x{} %}}{close}", link.repeat(count.min(400_000)))
            }));
        }
    }
    for piece in PIECES {
        for (name, before, after) in [
            ("alone", "", ""),
            ("in a loop", "{% for q in [1] %}", "{% endfor %}"),
            ("in a macro", "{% macro q() %}", "{% endmacro %}{{ q() }}"),
            (
                "in deep loops",
                "{% for q in [1] %}{% if x %}{% for r in [1] %}{% with %}",
                "{% endwith %}{% endfor %}{% endif %}{% endfor %}",
            ),
        ] {
            cases.push(render(format!("many {name}: {piece}"), move || {
                format!("{before}{}{after}", many(piece))
            }));
        }
    }
    for piece in PIECES {
        cases.push(render(format!("many after sets: {piece}"), move || {
            numbered("{% set s@ = 1 %}", 15_000) + &as_many_as(piece, 700_000)
        }));
    }
    for (before, part, after) in LONG_ROUNDS {
        cases.push(render(format!("long rounds: {before}{part}{after}"), move || {
            let values = "{% set d = {'a': 1} %}{% set ns = namespace() %}{% set t = ('a' * 1000000)[:1039000 // 1] %}";
            let before = format!("{values}{{% for p in range(100000) %}}{{% for q in range(100000) %}}{before}");
            format!("{before}{}{after}{{% endfor %}}{{% endfor %}}", many(part))
        }));
    }
    for (before, part, after) in WIDE {
        cases.push(render(format!("wide: {before}{part}{after}"), move || {
            format!("{before}{}{after}", many(part))
        }));
        cases.push(render(format!("wide in a loop: {before}{part}{after}"), move || {
            format!(
                "{{% for q in range(100000) %}}{before}{}{after}{{% endfor %}}",
                numbered(part, 1000)
            )
        }));
    }
    cases
}

fn render(name: String, template: impl Fn() -> String + 'static) -> Case {
    Case::render(name, template, || json!({"x": 1}))
}

/// Repeats a piece until a source is about as long as allowed.
fn many(piece: &str) -> String {
    as_many_as(piece, 1_040_000)
}

/// Repeats a piece so that the copies have about `bytes` bytes.
fn as_many_as(piece: &str, bytes: usize) -> String {
    numbered(piece, bytes / (piece.len() + 5 * piece.matches('@').count()))
}

/// Repeats a piece, and replaces `@` by the number of the copy.
fn numbered(piece: &str, count: usize) -> String {
    if piece.contains('@') {
        (0..count).map(|number| piece.replace('@', &number.to_string())).collect()
    } else {
        piece.repeat(count)
    }
}
