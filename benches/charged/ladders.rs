//! Programs in which something grows that belongs to no single built-in: names, nesting, keys, cycles, common prefixes, errors.

use serde_json::{Value, json};

/// Templates over texts `s` and `u`, a list `l`, an object `d`, an object `e` with long keys, and pairs `p`, whose sizes grow with `n`.
const TEMPLATES: &[&str] = &[
    // Attributes by long paths, cycles and long names.
    "{% set ns = namespace() %}{% set ns.a = ns %}{% for x in ([ns] * n)|map(attribute='a.' * n ~ 'a') %}{% endfor %}",
    "{% set ns = namespace() %}{% set ns.a = ns %}{% set x = ('{0' ~ '.a' * n ~ '}').format(ns) %}",
    "{% for q in range(n) %}{% if x[s] is defined %}{% endif %}{% if q[s] %}{% endif %}{% if x|attr(s) is defined %}{% endif %}{% endfor %}",
    "{% for q in range(n) %}{% if q.__z__ or q._a %}{% endif %}{% endfor %}",
    "{% for q in range(n) %}{% if x.nope or q.nope or s.nope or l.nope %}{% endif %}{% endfor %}",
    "{% for k in e %}{% if e[k] %}{% endif %}{% endfor %}",
    "{% for q in range(n) %}{% if e[s] %}{% endif %}{% if d['12'] %}{% endif %}{% endfor %}",
    "{% for k in d %}{% if d[k] and d.get(k) and k in d %}{% endif %}{% endfor %}",
    "{% set f = dict(**d) %}{% for k in d %}{% if f[k] and f.get(k) and k in f %}{% endif %}{% endfor %}",
    "{% macro m(a, b, c, d, e, f, g, h) %}{% endmacro %}{% for q in range(n) %}{{ m(h=1, g=1, f=1, e=1, d=1, c=1, b=1, a=1) }}{% endfor %}",
    "{% macro m() %}{{ kwargs|length }}{% endmacro %}{% for q in range(9) %}{{ m(**e) }}{{ dict(**e)|length }}{% endfor %}",
    "{{ ('{' ~ e.keys()|join('}{') ~ '}').format(**e)|length }}",
    // Objects as keys and in comparisons.
    "{% set z = range(n)|map('batch', 2)|list %}{% for a in z %}{% set y = {a: 1} %}{% endfor %}{% set y = z|unique|list %}",
    "{% set z = range(n)|map('range') %}{% set y = ([range(1, 9)] * n)|unique|list %}{% set y = [d.values()] * n %}{{ y|unique|list|length }}",
    "{% set t = namespace(t=()) %}{% for q in range(150) %}{% set t.t = (t.t,) %}{% endfor %}{% for q in range(n) %}{% set z = {t.t: q} %}{% endfor %}",
    "{% for q in range(n) %}{% if [s ~ 'a', s ~ 'b'] == [s ~ 'a', s ~ 'c'] %}{% endif %}{% endfor %}",
    "{{ ([s ~ 'a', s ~ 'b'] * n)|sort|length }}{{ ([s ~ 'a', s ~ 'b'] * n)|groupby(0)|length }}",
    "{{ s.startswith((s[1:],) * n) }}{{ s.startswith((s ~ 'q',) * n, 1) }}{{ u.endswith(('x',) * n, n) }}",
    "{{ s.find(s[1:] ~ 'q') }}{{ s.count(s[:9] * 9) }}{{ s.replace(s[1:] ~ 'q', 'z')|length }}{{ s.split(s[1:])|length }}",
    "{{ ('a' * n * 99).find('a' * n ~ 'b') }}{{ ('a' * n * 99).count('a' * n ~ 'b') }}{{ ('a' * n * 99).rfind('b' ~ 'a' * n) }}",
    "{% for q in range(n) %}{% set z = s.split(s)[-1] %}{% set z = s.split(s)[0] %}{% endfor %}",
    "{% for q in range(n) %}{% set z = s * 0 %}{% set z = u * -1 %}{% set z = l * 0 %}{% endfor %}",
    // Many arguments.
    "{% for q in range(n)|map('map', 'upper', *l) %}{% endfor %}",
    "{% for q in range(n) %}{% set z = cycler(*l) %}{% endfor %}",
    "{{ [1]|sort(attribute='a,' * n)|length }}{{ (l|list)|sort(attribute='a,' * 99)|length }}",
    // Cycles and nested values.
    "{% set ns = namespace(l=[]) %}{% for q in range(100) %}{% set ns.l = [ns.l, ns] %}{% endfor %}{{ ns|string|length }}",
    "{% set a = namespace(b=[[]] * n) %}{% for q in range(60) %}{% set z = namespace() %}{% set z.a = a.c %}{% set a.c = z %}{% endfor %}{{ a|string|length }}",
    "{% set ns = namespace(t=[1]) %}{% for q in range(17) %}{% set ns.t = [ns.t, ns.t] %}{% endfor %}{{ ns.t|string|length }}{{ ns.t == ns.t }}",
    // Numbers.
    "{% for q in range(n) %}{% set z = b|int %}{% set z = b|abs %}{% set z = -b %}{% set z = +b %}{% if b == b %}{% endif %}{% endfor %}",
    "{% for q in range(n) %}{% set z = range(b, b) if q < 0 %}{% set z = b|round if q < 0 %}{% set z = 1 // b %}{% set z = b % 7 %}{% endfor %}",
    "{{ b * b > b }}{{ b ** 3 > b }}{{ b // (b - 1) }}{{ b % (b - 1) > 3 }}",
    // Captures, generations and calls.
    "{% for q in range(n) %}{% set z %}{{ s }}{% endset %}{% endfor %}",
    "{% macro m(x) %}{{ x }}{{ s }}{% if x %}{{ m(x - 1)|length }}{% endif %}{% endmacro %}{{ m(99)|length }}",
    "{% for q in l recursive %}{% if loop.depth < 2 %}{{ loop([1, 2]) }}{% endif %}{{ loop.changed(l) }}{{ loop.cycle(*l[:9]) }}{% endfor %}",
    "{% for q in l|map('abs') %}{{ loop.last }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.length }}{% endfor %}",
    "{% for q in l if q in l[:9] and q is sameas 3 %}{{ q }}{% endfor %}",
    "{% set ns = namespace(**many) %}{% for q in range(n) %}{% set ns.k9 = ns.k999 %}{% set ns.k9 = ns.k9 ~ 'a' %}{% endfor %}",
];

/// Returns programs with a name and inputs of growing size.
pub fn ladders() -> impl Iterator<Item = (String, String, Vec<Value>)> {
    let contexts: Vec<Value> = [10, 30, 100, 300, 1000, 3000, 10_000].map(context).to_vec();
    let templates = TEMPLATES.iter().map(|template| {
        let source = if template.contains(" b") || template.contains("b ") {
            format!("{{% set b = 3 ** n ** 1 * 7 ** n %}}{template}")
        } else {
            (*template).to_owned()
        };
        (format!("ladder {template}"), source)
    });
    let nested = [10, 30, 60, 90].into_iter().flat_map(|levels| {
        [
            format!(
                "{}x{}",
                "{% for a in [1, 2] %}{% if a < 2 %}".repeat(levels / 2),
                "{% endif %}{% endfor %}".repeat(levels / 2)
            ),
            format!(
                "{{% for q in range(999) %}}{{{{ {}1{} }}}}{{% endfor %}}",
                "(1 + ".repeat(levels),
                ")".repeat(levels)
            ),
            format!(
                "{{% for q in range(999) %}}{{% set z = {}1{} %}}{{% endfor %}}",
                "[".repeat(levels),
                "]".repeat(levels)
            ),
            {
                let macros: String = (0..levels / 2).map(|level| format!("{{% macro m{level}() %}}")).collect();
                let calls: String = (0..levels / 2)
                    .rev()
                    .map(|level| format!("{{% endmacro %}}{{{{ m{level}() }}}}"))
                    .collect();
                format!("{{% set v = 1 %}}{macros}{{% for q in range(999) %}}{{{{ v }}}}{{% endfor %}}{calls}")
            },
        ]
        .map(|template| (format!("nested {levels}"), template))
    });
    let all: Vec<(String, String)> = templates.chain(nested).collect();
    all.into_iter()
        .map(move |(name, template)| (name, template, contexts.clone()))
}

fn context(size: usize) -> Value {
    let object = |key: &dyn Fn(usize) -> String| -> Value {
        Value::Object((0..size * 8).map(|number| (key(number), json!(number + 1))).collect())
    };
    let long = "k".repeat(200);
    let many: serde_json::Map<String, Value> = (0..1000).map(|number| (format!("k{number}"), json!(number))).collect();
    json!({
        "n": size,
        "x": {"y": 1},
        "s": "abcd ".repeat(size * 8),
        "u": "é".repeat(size * 8),
        "l": (0..size).collect::<Vec<_>>(),
        "p": (0..size).map(|number| [number % 7, number]).collect::<Vec<_>>(),
        "d": object(&|number| number.to_string()),
        "e": object(&|number| format!("{long}{number}")),
        "many": many,
    })
}
