//! Renders that are traced: deep unions, cycles of namespaces, long keys, many pieces, and answers much longer than the request.

use serde_json::{Value, json};

use super::Case;

/// The number of characters of a key that each pointer repeats.
const LONG: usize = 500_000;

/// The number of nested blocks, each with many pieces.
const NESTED: usize = 12;

/// A loop with a million rounds.
const ROUNDS: &str = "{% for j in range(10) %}{% for i in range(100000) %}";

/// Templates over a text `s`, a list `wide` of 150 values that are 440 levels deep, and an object `keyed` with a long key.
const TEMPLATES: &[&str] = &[
    "{% set ns = namespace() %}{% set ns.l = [ns] * 900000 %}{{ ns|upper|length }}",
    "{% set l = [0] * 900000 %}{% set m = [l] * 100000 %}{{ 'a'|replace('a', 'b')|default(m)|upper }}{{ 'a'.format(m) }}",
    "{% for i in range(100000) %}{% set z = wide|string|upper %}{% endfor %}",
    "{% for i in range(100000) %}{% set z = [wide]|join|upper %}{% endfor %}",
    "{% for i in range(100000) %}{% set z = [wide]|tojson|upper %}{% endfor %}",
    "{% macro w(x) %}{% if x is string %}{{ x }}{% elif x is mapping %}{{ w(x.k) }}{% else %}{{ w(x[0]) }}{% endif %}{% endmacro %}\
     {% for i in range(100000) %}{% set z = wide|map('tojson')|join|upper %}{% endfor %}",
    "{% set l = [[{}] * 64] * 100000 %}{% for i in range(100) %}{% for a in l %}{% endfor %}{% endfor %}",
    "{% set o = dict(range(128)|map('string')|batch(2)) %}{% set l = [o] * 100000 %}{% for i in range(100) %}{% for a in l %}{% endfor %}{% endfor %}",
    "{{ ('a' * 33000000)|length }}{{ ('b' * 33000000)|length }}",
    "{{ (s * 330000)|length }}{{ (s * 3300000)|length }}",
    "{{ '\\x01' * 33000000 }}{{ '\\x01' * 33000000 }}",
    "{% for i in range(100000) %}{% for v in keyed.values() %}{{ v }},{% endfor %}{% endfor %}",
    "{% for i in range(100000) %}{% for v in keyed.values() %}{{ v|upper }},{% endfor %}{% endfor %}",
    "{{ ('ab' * 9000000)|replace('b', 'c')|length }}",
    "{{ ('a\\n' * 8000000)|indent(0)|length }}",
    "{% set s %}{% for j in range(500) %}{% for i in range(1000) %}{{ i % 10 }}{% endfor %}{% endfor %}{% endset %}\
     {% for i in range(100000) %}{% set x %}{{ s }}{% endset %}{% endfor %}",
    "{% macro m(n) %}{% for j in range(3) %}{% for i in range(100000) %}{{ i }},{% endfor %}{% endfor %}{{ m(n - 1) }}{% endmacro %}{{ m(30) }}",
];

/// Templates with many pieces of text or many blocks, in a render that also returns the blocks.
const BLOCKS: &[&str] = &[
    "{% set s %}{% generation %}{% endgeneration %}{% for j in range(500) %}{% for i in range(1000) %}{{ i }},{% endfor %}{% endfor %}\
     {% endset %}{% for c in s %}{{ c }}{% endfor %}",
    "{% set s %}x{% for j in range(500) %}{% for i in range(1000) %}{% generation %}{% endgeneration %}{% endfor %}{% endfor %}y\
     {% endset %}{% for i in range(100000) %}{% set z = s|upper %}{% endfor %}",
];

/// Bodies of a loop that write many pieces.
const BODIES: &[&str] = &[
    "{{ i }},",
    "{{ s }},",
    "{% set ns.x = ns.x ~ i ~ 'a' %}",
    "{% generation %}{{ i }}{% endgeneration %}",
    "{% generation %}{% endgeneration %}",
    "{% set ns.x %}{{ ns.x }}{{ i }},{% endset %}",
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = TEMPLATES.iter().map(|template| trace((*template).to_owned())).collect();
    for body in BODIES {
        cases.push(trace(format!(
            "{{% set ns = namespace(x='') %}}{ROUNDS}{body}{{% endfor %}}{{% endfor %}}{{{{ ns.x }}}}"
        )));
        let nested = format!("{{% set b %}}{ROUNDS}{body}{{% endfor %}}{{% endfor %}}").repeat(NESTED);
        let close = "{% endset %}".repeat(NESTED);
        cases.push(trace(format!("{{% set ns = namespace(x='') %}}{nested}{close}{{{{ b }}}}")));
    }
    cases.extend(BLOCKS.iter().map(|template| {
        Case::request(
            format!("trace blocks: {template}"),
            move || json!({"template": template, "context": context(), "trace": true, "generation": true}),
        )
    }));
    let rows = "{% for j in range(500) %}{% for i in range(1000) %}{{ i }},{% endfor %}{% endfor %}";
    let two = "{% for a in [messages[0]] %}{% for b in [messages[1]] %}";
    for (open, close, count, calls) in [
        ("{% if s %}", "{% endif %}", 110, 20),
        (two, "{% endfor %}{% endfor %}", 20, 9),
    ] {
        let (open, close) = (open.repeat(count), close.repeat(count));
        cases.push(trace(format!(
            "{{% macro m(x) %}}{open}{{% if x %}}{{{{ m(x - 1) }}}}{{% else %}}{rows}{{% endif %}}{close}{{% endmacro %}}{{{{ m({calls})|length }}}}"
        )));
    }
    cases.push(Case::request("trace: control tokens under a long key".to_owned(), || {
        json!({
            "apply": {
                "template": "{% for m in messages %}{% for v in m.values() %}{{ v }}{% endfor %}{% endfor %}",
                "messages": [{"role": "user", "k".repeat(LONG): "<a>".repeat(100_000)}],
            },
            "trace": true,
            "turns": true,
            "control_tokens": ["<a>"],
        })
    }));
    for first in ["", "é"] {
        cases.push(turns(format!(
            "{first}{{% set j = (messages[0]|string|upper)[:1] %}}{{% for k in range(5) %}}{{% for i in range(100000) %}}{{{{ j }}}},{{% endfor \
             %}}{{% endfor %}}"
        )));
    }
    cases.push(turns("{% for m in messages %}{{ '<['*16500000 }}{% endfor %}".to_owned()));
    cases.push(Case::request("trace: values under a long key".to_owned(), || {
        let values: serde_json::Map<String, Value> = (0..30_000).map(|number| (number.to_string(), json!("a"))).collect();
        let template = "{% for v in x.values() %}{% for w in v.values() %}{{ w }},{% endfor %}{% endfor %}";
        json!({"template": template, "context": {"x": {"k".repeat(LONG): values}}, "trace": true})
    }));
    cases
}

/// Returns a request for the turns of a message with eight fields.
fn turns(template: String) -> Case {
    Case::request(format!("turns: {template}"), move || {
        let message: serde_json::Map<String, Value> = ('a'..='h').map(|key| (key.into(), json!("v"))).collect();
        json!({"apply": {"template": template, "messages": [message]}, "turns": true})
    })
}

/// Returns a request to render a template with a trace.
fn trace(template: String) -> Case {
    let name = format!("trace: {template}");
    Case::request(
        name,
        move || json!({"template": template, "context": context(), "trace": true}),
    )
}

fn context() -> Value {
    let deep = |number: usize| {
        (0..440).fold(json!(number.to_string()), |inner, level| match level % 2 {
            0 => json!([inner]),
            _ => json!({"k": inner}),
        })
    };
    // Many messages take long to be searched.
    let messages: Vec<Value> = (0..50_000)
        .map(|index| json!({"role": (["user", "assistant"][index % 2])}))
        .collect();
    let wide: Vec<Value> = (0..150).map(deep).collect();
    json!({"s": "ab", "messages": messages, "wide": wide, "keyed": {"k".repeat(LONG): "a"}})
}
