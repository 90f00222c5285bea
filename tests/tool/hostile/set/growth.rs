//! Loops in which a value grows with each iteration, recursion, and many iterations of each statement.

use serde_json::{Value, json};

use super::Case;

/// Expressions that make the next value from the last one, `ns.x`.
const STEPS: &[&str] = &[
    "ns.x + ns.x",
    "ns.x ~ ns.x",
    "ns.x ~ 'abcdefgh'",
    "'abcdefgh' ~ ns.x",
    "[ns.x, ns.x]",
    "(ns.x, ns.x)",
    "(ns.x,)",
    "{'a': ns.x, 'b': ns.x}",
    "{ns.x: ns.x}",
    "[ns.x]",
    "[ns.x] * 2",
    "[ns.x] * 1000",
    "[ns.x] + [ns.x]",
    "ns.x * 2",
    "ns.x * ns.x",
    "ns.x ** 2",
    "ns.x // 3 * 7",
    "-ns.x * 3",
    "ns.x|string",
    "ns.x|tojson",
    "ns.x|tojson|tojson",
    "ns.x|e",
    "ns.x|string|escape|string",
    "ns.x|list",
    "ns.x|replace('a', 'aa')",
    "ns.x|indent(4, true)",
    "'%s%s' % (ns.x, ns.x)",
    "'%r' % ns.x",
    "'{0}{0}'.format(ns.x)",
    "'{0!r}'.format(ns.x)",
    "ns.x|format(ns.x)",
    "ns.x|center(ns.i)",
    "ns.x|title ~ ns.x|upper",
    "ns.x|map('string')",
    "ns.x|map('upper')",
    "[ns.x]|map('list')",
    "ns.x|map('default', ns.x)",
    "ns.x|batch(2)",
    "ns.x|slice(2)",
    "ns.x|reverse",
    "ns.x|items",
    "ns.x|select",
    "ns.x|reject('eq', ns.x)",
    "ns.x|selectattr('a')",
    "ns.x|unique",
    "ns.x|unique|list",
    "[ns.x, 1]|sort",
    "ns.x|groupby(0)",
    "ns.x|list|reverse",
    "ns.x|batch(1)|map('list')",
    "namespace(a=ns.x)",
    "namespace(ns.x)",
    "dict(ns.x)",
    "dict(a=ns.x)",
    "joiner(ns.x)",
    "cycler(ns.x)",
    "cycler(ns.x, ns.x)",
    "[ns.x].append",
    "[ns.x].copy",
    "ns.x.split('a')",
    "ns.x.upper",
    "ns.x.join([ns.x, ns.x])",
    "ns.x.items()",
    "ns.x.values()",
    "ns.x.keys()",
    "ns.x[:]",
    "ns.x[::-1]",
    "ns.x[1:]",
    "ns",
    "[ns]",
    "loop",
    "[loop]",
    "range(ns.i)|list",
    "dict(a=ns.x, **{'b' ~ ns.i: ns.x})",
    "ns.x|join(ns.x)",
    "ns.x|wordwrap(1)",
    "ns.x|sum(start=[])",
    "[ns.x, [ns.x]]|sum(start=[])",
];

const STARTS: &[&str] = &[
    "'aa'",
    "[1]",
    "3",
    "(1,)",
    "{'a': 1}",
    "1.5",
    "10 ** 300",
    "'<a>'|safe",
    "range(3)",
];

const USES: &[&str] = &[
    "",
    "{{ ns.x }}",
    "{{ ns.x|tojson|length }}",
    "{{ [ns.x] == [ns.y] }}{{ ns.x == ns.y }}",
    "{{ {ns.x: 1} }}",
    "{{ ns.x < ns.y }}",
    "{{ ns.x in [ns.y] }}",
    "{{ ns.x|list|length }}",
    "{{ [ns.x, ns.y]|unique|list|length }}",
    "{{ ns.x|string|length }}",
    "{% for a in ns.x %}{% for b in a %}{% endfor %}{% endfor %}",
    "{{ ns.x|length }}{{ ns.x is sameas ns.y }}{{ ns.x is eq ns.y }}",
];

/// Whole templates with loops or recursion.
const LOOPS: &[&str] = &[
    "{% for m in messages %}{{ m.content }}{% for k in messages %}{% endfor %}{% endfor %}",
    "{% for i in range(99999999999) %}{% endfor %}",
    "{% for a, b in [range(100000)] * 1000 %}{% endfor %}",
    "{% for i in range(100000) %}{% for j in range(100000) %}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa{% endfor %}{% endfor %}",
    "{% for i in range(100000) %}{% for j in range(1000) %}{{ loop.changed(j) }}{{ loop.cycle('a', 'b') }}{% endfor %}{% endfor %}",
    "{% for i in range(100000) %}{% for j in range(100000) %}{% if loop.changed(1) %}{% endif %}{% endfor %}{% endfor %}",
    "{% for i in range(100000) %}{% for j in range(1) %}{% if loop.changed('a' * 1000) %}{% endif %}{% endfor %}{% endfor %}",
    "{% for i in range(100000) %}{{ loop.previtem ~ loop.nextitem ~ loop.last ~ loop.revindex }}{% endfor %}",
    "{% for i in messages|map('list')|select %}{{ loop.length }}{% for j in messages|reject('eq', 1) %}{{ loop.revindex0 }}{% endfor %}{% endfor %}",
    "{% for a in [1] recursive %}{{ loop([1, 2]) }}{% endfor %}",
    "{% for a in [1, 2, 3] recursive %}{% if loop.depth < 30 %}{{ loop([1, 2, 3]) }}{% endif %}{% endfor %}",
    "{% for a in messages if a.x.y.z is undefined recursive %}{% if loop.depth < 100 %}{{ loop(messages) }}{% endif %}{% endfor %}",
    "{% for a in [1] if loop is undefined recursive %}{{ loop([1]) }}{% endfor %}",
    "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(100) }}",
    "{% macro m(n) %}{% if n %}{{ m(n - 1) ~ m(n - 1) }}x{% endif %}{% endmacro %}{{ m(40) }}",
    "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(1) }}",
    "{% macro m(n) %}{{ k(n) }}{% endmacro %}{% macro k(n) %}{{ m(n) }}{% endmacro %}{{ m(1) }}",
    "{% macro m(n) %}{% call m(n) %}{{ caller() }}{% endcall %}{% endmacro %}{{ m(1) }}",
    "{% macro m(n) %}{{ caller(n) }}{% endmacro %}{% macro k(n) %}{% call(a) m(n) %}{{ k(a) }}{% endcall %}{% endmacro %}{{ k(1) }}",
    "{% macro m(f, n) %}{{ f(f, n) }}{% endmacro %}{{ m(m, 1) }}",
    "{% macro m() %}{{ m(*varargs, **kwargs) }}{% endmacro %}{{ m(1, 2, a=3) }}",
    "{% macro m(n) %}{{ m(n ~ n) }}{% endmacro %}{{ m('ab') }}",
    "{% macro m(n) %}{% set a = [n] %}{{ m(a) }}{% endmacro %}{{ m([1]) }}",
    "{% macro m(n=m()) %}{% endmacro %}{{ m() }}",
    "{% macro m(n) %}{{ [n]|map('default', m(n))|list }}{% endmacro %}{{ m(1) }}",
    "{% macro m(n) %}{% filter upper %}{% set a %}{{ m(n) }}{% endset %}{{ a }}{% endfilter %}{% endmacro %}{{ m(1) }}",
    "{% macro m() %}{{ caller() }}{% endmacro %}{% for i in range(100000) %}{% for j in range(100) %}{% call m() %}x{% endcall %}{% endfor %}{% endfor %}",
    "{% set ns = namespace(f=1) %}{% for i in range(100000) %}{% macro m() %}{{ i }}{% endmacro %}{% set ns.f = m %}{{ m() }}{% endfor %}",
    "{% set ns = namespace(f=[]) %}{% for i in range(100000) %}{% macro m() %}{{ i }}{{ ns }}{% endmacro %}{% set ns.f = ns.f + [m] %}{% endfor %}",
    "{% set ns = namespace(l=[]) %}{% for i in range(100000) %}{% set ns.l = ns.l + [namespace(a=i, b=i, c=i)] %}{% endfor %}",
    "{% set ns = namespace(l={}) %}{% for i in range(100000) %}{% set ns.l = dict(ns.l, **{'a' ~ i: 1}) %}{% endfor %}",
    "{% set ns = namespace(l=[]) %}{% for i in range(100000) %}{% set ns.l = [i] + ns.l %}{% endfor %}",
    "{% set ns = namespace(l=()) %}{% for i in range(100000) %}{% set ns.l = ns.l + (i,) %}{% endfor %}",
];

/// Bodies of a loop with many iterations.
const ROUNDS: &[&str] = &[
    "{% set x %}{{ i }}{% endset %}",
    "{% set n = namespace(a=i) %}",
    "{% set n = namespace() %}",
    "{% filter upper %}{{ 'a' }}{% endfilter %}",
    "{% generation %}{{ i }}{% endgeneration %}",
    "{% generation %}{% endgeneration %}",
    "{{ strftime_now('%c%c%c%c') }}",
    "{{ 1.1234567890123e300 }}",
    "{{ '%.300f' % 1.1e300 }}",
    "{{ '%.1000f' % 1.1e-300 }}",
    "{{ 5e-324 * i }}",
    "{{ 1.1e-300|round(300) }}",
    "{{ i / 3 }}",
    "{{ i ** 0.5 }}",
    "{{ x.y.z }}",
    "{{ x is undefined }}",
    "{{ 'a'|e|safe|string }}",
    "{{ ['a', 'b', 'c']|tojson(indent=1000) }}",
    "{{ 'a' in 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb' }}",
    "{{ 'a b c'.split() }}",
    "{% set a = [1, 2, 3, 4, 5, 6, 7, 8] %}",
    "{% set a = [i, i, i, i] %}",
    "{% set a = {'a': 1, 'b': i, 'c': 2} %}",
    "{% set a = 'x' ~ i %}",
    "{% set a = '%s-%s' % (i, i) %}",
    "{% set a = '{}-{}'.format(i, i) %}",
    "{% with a = i %}{% endwith %}",
    "{{ range(3)|map('string')|join }}",
    "{{ [3, 2, 1]|sort|first }}",
    "{{ {'a': [1, {'b': 2}]}|tojson }}",
    "{{ [{'a': 1}, {'a': 2}]|groupby('a') }}",
    "{{ ' x '|trim|title|truncate(3) }}",
    "{{ i|string|length }}",
    "{{ loop }}",
    "{{ range(9) }}",
    "{% continue %}",
    "{% if i %}{% break %}{% endif %}",
    "{{ cycler(1, 2).next() }}",
    "{% set c = cycler(i) %}",
    "{{ joiner()() }}",
    "{{ dict(a=i) }}",
    "{{ messages[0].content }}",
    "{{ messages[-1:] }}",
    "{{ messages|length }}",
    "{{ messages|last }}",
    "{{ messages|selectattr('role', 'eq', 'u')|first }}",
    "{% set a, b = i, i %}",
    "{% for a in messages if a.role == 'u' %}{% break %}{% endfor %}",
    "{% for a in [1] recursive %}{% endfor %}",
    "{% macro m(a, b=2, c=3) %}{{ a }}{% endmacro %}{{ m(i) }}",
    "{{ [i, i, i] == [i, i, i] }}",
    "{{ (i, i) < (i, i, i) }}",
    "{{ {i: 1, i + 1: 2}[i] }}",
    "{{ i is divisibleby 3 }}",
    "{{ 'ab'|center(80) }}",
    "{{ 'x'|replace('x', 'y' * 50) }}",
    "{{ i|filesizeformat }}",
    "{{ '{:,}'.format(i) }}",
    "{{ i|float|round(2) }}",
    "{{ '1e5'|float }}",
    "{{ '0x1f'|int(base=16) }}",
    "{{ nope.x }}",
];

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for step in STEPS {
        for start in STARTS {
            for rounds in [60, 100_000] {
                // After many iterations only two uses are tested, because the loop mostly reaches a limit.
                let uses = if rounds == 60 { USES } else { &USES[..2] };
                for after in uses {
                    let template = format!(
                        "{{% set ns = namespace(x={start}, y={start}, i=1) %}}{{% for i in range({rounds}) %}}{{% set ns.i = ns.i * 2 % 1000003 %}}\
                         {{% set ns.y = ns.x %}}{{% set ns.x = {step} %}}{{% endfor %}}{after}"
                    );
                    cases.push(Case::render(
                        format!("growth {rounds} of {start} by {step}: {after}"),
                        move || template.clone(),
                        || json!({}),
                    ));
                }
            }
        }
    }
    for template in LOOPS {
        cases.push(Case::render(format!("loop: {template}"), || (*template).to_owned(), messages));
    }
    for round in ROUNDS {
        let template = format!("{{% for k in range(100000) %}}{{% for i in range(100000) %}}{round}{{% endfor %}}{{% endfor %}}");
        cases.push(Case::render(format!("rounds: {round}"), move || template.clone(), messages));
        let kept = format!(
            "{{% for k in range(100000) %}}{{% for i in range(100000) %}}{{% set z %}}{round}{{% endset %}}{{% endfor %}}{{% endfor %}}"
        );
        cases.push(Case::render(format!("rounds kept: {round}"), move || kept.clone(), messages));
    }
    cases
}

fn messages() -> Value {
    let message = json!({"role": "u", "content": "x"});
    json!({"messages": vec![message; 20_000]})
}
