//! Templates that make a million objects of each kind and keep them all in lists.

use serde_json::{Value, json};

use super::Case;

/// Expressions that make an object.
const OBJECTS: &[&str] = &[
    "x|map('abs')",
    "x|map(attribute='a.b.c.d')",
    "x|select('eq', 1)",
    "x|selectattr('a', 'b', 'c', 'd', 'e')",
    "x|slice(2)",
    "x|batch(3)",
    "x|unique",
    "[k]|reverse",
    "cycler(1)",
    "joiner(1)",
    "namespace()",
    "namespace(a=1, b=2, c=3, d=4)",
    "x.foo",
    "x['foo' ~ k]",
    "[][k]",
    "'a'.upper",
    "loop",
    "loop.changed",
    "m",
    "m.name",
    "range(k)",
    "range(k, 1000)[1:]",
    "2 ** 70 + k",
    "-(2 ** 70) // k",
    "7 ** 300 + k",
    "big",
    "unsigned",
    "('9' * 4000)|int",
    "'a' ~ k",
    "'a'|e",
    "('a' ~ k)[1:]",
    "[k]",
    "[[k]]",
    "(k,)",
    "{'a': k}",
    "dict(a=k)",
    "dict(a=k).items()",
    "dict(a=k).keys()",
    "[{'a': k}]|groupby('a')",
    "'a,b,c'.split(',')",
    "k / 3",
];

pub(super) fn cases() -> Vec<Case> {
    OBJECTS
        .iter()
        .map(|object| {
            let grow = |name: &str, inner: &str, item: &str| {
                format!("{{% set {name} = namespace(a=[]) %}}{{% for k in range(100) %}}{inner}{{% set {name}.a = {name}.a + [{item}] %}}{{% endfor %}}")
            };
            let inner = grow("o", "", object);
            let middle = grow("ms", &inner, "o.a");
            let outer = grow("ns", &middle, "ms.a");
            let before = "{% macro m() %}{% endmacro %}";
            Case::render(format!("objects: {object}"), move || format!("{before}{outer}"), context)
        })
        .collect()
}

fn context() -> Value {
    json!({"x": 1, "unsigned": u64::MAX, "big": 1e300})
}
