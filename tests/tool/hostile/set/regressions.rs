//! Templates for which the crate once used more time than it charged, or more memory than it counted.

use serde_json::{Value, json};

use super::Case;

/// Templates over a text `s` of a million characters, a text `u` of ten thousand that are not ASCII, a list `l`, a dict `d`.
const TEMPLATES: &[&str] = &[
    "{{ strftime_now('%' * 1000000)|length }}",
    "{% for i in range(100000) %}{% set x = strftime_now('%_20000S' * 1000) %}{% endfor %}",
    "{{ ([s ~ 'a', s ~ 'b'] * 10000)|sort|length }}",
    "{{ ([s ~ 'a', s ~ 'b'] * 10000)|unique|list|length }}",
    "{{ s|list|sort|length }}",
    "{{ [1]|map(attribute='.' * 30000000)|list }}",
    "{{ [1]|sort(attribute=',' * 30000000) }}",
    "{% for i in range(100000) %}{{ d == d }}{% endfor %}",
    "{% for i in range(100000) %}{% set c = cycler(*l) %}{% endfor %}",
    "{% for i in l %}{{ loop.cycle(*l) }}{% endfor %}",
    "{% for i in range(100000) %}{{ d.get(s) }}{{ i|replace(s, s) }}{{ 1.5|tojson(s, (s, s)) }}{% endfor %}",
    "{% for i in range(100000) %}{{ 'a'|attr(s) is defined }}{% endfor %}",
    "{% for i in range(100000) %}{{ s.startswith((s[1:],) * 1000) }}{{ s.rfind(s[1:] ~ 'q') }}{% endfor %}",
    "{% for i in range(100000) %}{{ (3 ** 8000)|string|length }}{{ (3 ** 8000) ~ '' }}{% endfor %}",
    "{% for i in range(100000) %}{% set x = namespace(**d) %}{% endfor %}",
    "{% for i in range(100000) %}{% for j in range(100) %}{% set x = u.swapcase() %}{% endfor %}{% endfor %}",
    "{% for i in range(100000) %}{% for j in range(100) %}{% set x = u.title() %}{% endfor %}{% endfor %}",
    "{% for i in range(100000) %}{% for j in range(100) %}{% set x = u|title ~ u|upper %}{% endfor %}{% endfor %}",
    "{% for i in range(100000) %}{% for j in range(100) %}{% set x = u.islower() %}{% endfor %}{% endfor %}",
    "{% for i in range(100000) %}{% for j in range(100) %}{% set x = u.casefold() %}{% endfor %}{% endfor %}",
    "{% set w = 'aB cD ' * 3000 %}{% for i in range(100000) %}{% for j in range(100) %}{% set x = w|title %}{% endfor %}{% endfor %}",
    "{{ (('%d' * 999)|safe) % ((' ' * 30000000 ~ '1',) * 999) }}",
    "{{ (('%e' * 3000)|safe) % ((' ' * 1000000 ~ '1',) * 3000) }}",
    "{% for i in range(99999) %}{% set x = i|round(315000, 'ceil') %}{% endfor %}",
    "{% for i in range(99999) %}{% set x = i|round(30000, 'floor') %}{% endfor %}",
    "{% for i in range(99999) %}{% set x = 443 ** 9806 < 100.0 %}{% endfor %}",
    "{% set t = '\\x01' * 8000000 %}{% for i in range(7) %}{% set x = [t]|string %}{% endfor %}{{ ['\\x01' * 33500000] }}",
    "{% set t = '\\x01' * 33400000 %}{{ 'x' * 33000000 }}{% set b = 'b' * 33000000 %}{% set c = 'c' * 32000000 %}{{ t|tojson }}",
    "{% set t = '\\x01' * 33400000 %}{{ 'x' * 33000000 }}{% set b = 'b' * 33000000 %}{% set c = 'c' * 32000000 %}{{ '%a' % t }}",
    "{{ ('\\n' * 33000000)|indent(0)|length }}",
    "{{ (' ' * 33000000)|title|length }}",
    "{% set b = [1] * 1045000 %}{% set t = 'a' * 33000000 %}{% set u = 'b' * 32000000 %}\
     {{ dict(*b, **{'a': dict(*b, **{'a': dict(*b, **{'a': dict(*b, **{'a': 1 / 0})})})}) }}",
    "{% set t = 'a' * 33000000 %}{{ 'b' * 33000000 }}{{ range(99999)|list|groupby('a')|length }}",
    "{% set t = ('\\x00' * 40)|safe %}{% for i in range(100000) %}{% for j in range(100) %}{% set x = {}[t] %}{% endfor %}{% endfor %}",
    "{% set t = ('\\x00' * 60000)|safe %}{% for i in range(100000) %}{% set x = [][t] %}{% endfor %}",
    "{% set f = 1e300 %}{% for i in range(100000) %}{% for j in range(100) %}{% set x = f|round(2) %}{% endfor %}{% endfor %}",
    "{% set f = 1.1e-200 %}{% for i in range(100000) %}{% for j in range(100) %}{% set x = f|round(323) %}{% endfor %}{% endfor %}",
    "{% set f = 1e300 %}{% for i in range(100000) %}{% for j in range(100) %}{% set x = '%f' % f %}{% endfor %}{% endfor %}",
    "{% set f = 1e300 %}{% for i in range(100000) %}{% for j in range(100) %}{% set x = '{:.300e}'.format(f) %}{% endfor %}{% endfor %}",
    "{% set f = 1e300 %}{% for i in range(100000) %}{% for j in range(100) %}{% set x = f|filesizeformat %}{% endfor %}{% endfor %}",
    "{% set t = (1e300,) * 1000 %}{% for i in range(100000) %}{% for j in range(100) %}{% set x = {t: 1} %}{% endfor %}{% endfor %}",
    "{% set t = 'a' * 100000 %}{% set w = 'a' * 40000 ~ 'b' ~ 'a' * 10000 %}{% for i in range(100000) %}{% set x = w in t %}{% endfor %}",
    "{% set t = 'a' * 1000 %}{% set r = range(3) %}{% for i in range(100000) %}{% set x = t.translate(r) %}{% endfor %}",
    "{% for i in range(100000) %}{% for j in range(100) %}{% set x = none[0] %}{% endfor %}{% endfor %}",
    "{% set t = ['\\x01' * 64] * 1000 %}{% for i in range(100000) %}{% set x = t|tojson %}{% endfor %}",
    "{% set t = ['é' * 32] * 1000 %}{% for i in range(100000) %}{% set x = t|tojson(true) %}{% endfor %}",
    "{% set t = [1e16 / 3] * 1000 %}{% for i in range(100000) %}{% set x = t|string %}{% endfor %}",
    "{% set n = '\\n' * 1000 %}{% for i in range(100000) %}{% set x = n|indent %}{% endfor %}",
    "{% set n = 2 ** 14000 %}{% for i in range(100000) %}{% for j in range(100) %}{% set x = {n: 1} %}{% endfor %}{% endfor %}",
    "{% for i in range(100000) %}{% for j in range(100) %}{% set x = - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - j %}{% endfor %}{% endfor %}",
    "{% for i in range(100000) %}{% for j in range(100) %}{% set x = j * j * j * j * j * j * j * j * j * j * j * j * j * j * j * j * j * j * j * j %}{% endfor %}{% endfor %}",
];

/// Templates that hold as much memory as they may, and take more in ways that were not counted: lists that are collected while others are,
/// variables that macros close over, unpacked arguments of macros that call each other, short strings, and nodes of the template.
const HOLDING: &[(&str, &str)] = &[
    (
        "lists that are collected",
        "{% macro m() %}{% for x in base if x or m() %}{{ loop.length }}{% endfor %}{% endmacro %}{{ m() }}",
    ),
    (
        "variables that macros close over",
        "{% macro m() %}{% set a, b, c = 1, 1, 1 %}{% macro k() %}{{ a ~ b ~ c }}{% endmacro %}{% endmacro %}\
         {% for i in range(100000) %}{{ m() }}{{ m() }}{{ m() }}{% endfor %}",
    ),
    (
        "unpacked arguments",
        "{% set few = base[:100000] %}{% set base = 1 %}{% set a = 1 %}{% macro m(n) %}{% if n %}{{ m(n - 1, *few) }}{% endif %}\
         {% if varargs %}{% endif %}{% endmacro %}{{ m(25) }}",
    ),
    (
        "short strings",
        "{% set base = 1 %}{% set a = 1 %}{% set b = 1 %}{{ (range(99999)|list * 9)|map('center', 9)|list|length }}",
    ),
    ("a sorted list", "{% set a, b = 1, 1 %}{{ base|sort|length }}"),
    (
        "a text that grows in upper case",
        "{% set base = 1 %}{% set t = '\u{390}' * 14500000 %}{{ t|upper }}",
    ),
    (
        "a translation",
        "{% set base = 1 %}{% set t = 'c' * 33000000 %}{{ 'aa'.translate({97: t}) }}",
    ),
    (
        "parts of a text",
        "{% set b = 1 %}{% set t = 'a ' * 8000000 %}{{ t.split()|length }}",
    ),
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = TEMPLATES
        .iter()
        .map(|template| {
            Case::request(
                format!("regression: {template}"),
                move || json!({"template": template, "context": context()}),
            )
        })
        .collect();
    for (name, expression) in [
        ("a chain of keys", format!("d{}", ".k".repeat(190))),
        ("quotients of large integers", format!("[{}]", "k / n,".repeat(100))),
        ("powers of large integers", format!("[{}]", "k ** 2,".repeat(100))),
        ("short concatenations", format!("[{}]", "t ~ t,".repeat(100))),
        ("short sums", format!("[{}]", "t + 'a',".repeat(100))),
        ("short formats", format!("[{}]", "'a' % (),".repeat(100))),
        ("calls of an empty macro", format!("[{}]", "m(),".repeat(100))),
        ("items of a loop", format!("[{}]", "loop.previtem,".repeat(100))),
    ] {
        let template = format!(
            "{{% macro m() %}}{{% endmacro %}}{{% set ns = namespace(d={{'k': 1}}) %}}{{% for i in range(190) %}}{{% set ns.d = dict(k=ns.d) %}}\
             {{% endfor %}}{{% set d = ns.d %}}{{% set k = 9223372036854775807 %}}{{% set n = 9007199254740993 %}}{{% set t = 'abc' %}}\
             {{% for i in range(100000) %}}{{% for j in range(100) %}}{{% set x = {expression} %}}{{% endfor %}}{{% endfor %}}"
        );
        cases.push(Case::render(
            format!("regression: {name}"),
            move || template.clone(),
            || json!({}),
        ));
    }
    for (name, after) in HOLDING {
        // The tree of the template is the largest that does not count as live.
        let unused = "a(b=a),".repeat(9_300);
        let template = format!(
            "{{% if nope %}}{{{{ [{unused}] }}}}{{% endif %}}{{% set base = [1] * 950000 + [0] %}}{{% set a = 'x' * 33500000 %}}\
             {{% set b = 'y' * 33500000 %}}{{{{ a }}}}{{{{ a }}}}{after}"
        );
        cases.push(Case::render(
            format!("regression: {name} beside much else"),
            move || template.clone(),
            || json!({}),
        ));
    }
    cases.push(Case::request(
        "regression: 45 000 keywords in reverse order".to_owned(),
        || {
            let names = |suffix: &str, numbers: &mut dyn Iterator<Item = usize>| -> String {
                numbers.map(|number| format!("a{number}{suffix},")).collect()
            };
            let (parameters, keywords) = (names("", &mut (0..45_000)), names("=1", &mut (0..45_000).rev()));
            let template = format!("{{% macro m({parameters}) %}}{{% endmacro %}}{{{{ m({keywords}) }}}}");
            json!({"template": template, "context": {}})
        },
    ));
    cases.push(Case::request("regression: sameas beside many outputs".to_owned(), || {
        let template = "{% for i in range(99999) %}{% set x = [1, 2] is sameas [1, 2] %}{% endfor %}".to_owned();
        json!({"template": template + &"{{x}}".repeat(150_000), "context": {}})
    }));
    let parameters = || (0..50_000).map(|number| format!("a{number}")).collect::<Vec<_>>().join(",");
    cases.push(Case::render(
        "regression: many parameters that are not given".to_owned(),
        move || {
            let parameters = parameters();
            format!("{{% macro m({parameters}) %}}{{% endmacro %}}{{% for i in range(100000) %}}{{{{ m() }}}}{{% endfor %}}")
        },
        || json!({}),
    ));
    cases.push(Case::request("regression: many named templates".to_owned(), || {
        let templates: serde_json::Map<String, Value> = (0..50_000).map(|number| (number.to_string(), json!("x"))).collect();
        json!({"apply": {"template": templates, "messages": [{"role": "user", "content": "a"}]}})
    }));
    cases
}

fn context() -> Value {
    let dict: serde_json::Map<String, Value> = (0..100_000).map(|number| (number.to_string(), json!(number))).collect();
    json!({"s": "ab <&%s{} ".repeat(100_000), "u": "é".repeat(10_000), "l": (0..200_000).collect::<Vec<_>>(), "d": dict})
}
