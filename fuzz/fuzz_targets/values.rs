//! Evaluates three expressions, one on each line. Equality must be symmetric and transitive, and must agree with hashes and containers;
//! numbers and strings must be totally ordered.
#![no_main]

use chat_template::internal::fuzzing::assert_usable;
use chat_template::{Limits, RenderOptions, Template};

libfuzzer_sys::fuzz_target!(init: assert_usable(), |input: &str| {
    let mut lines = input.splitn(3, '\n');
    let (Some(a), Some(b)) = (lines.next(), lines.next()) else {
        return;
    };
    let c = lines.next().unwrap_or("0");
    let mut limits = Limits::default();
    limits.steps = 200_000;
    limits.value = 1 << 20;
    limits.live = 4 << 20;
    let options = RenderOptions::default().with_bounds(&limits);
    let context = serde_json::json!({"l": [1, 2.0, true, "a"], "d": {"k": 1}, "s": "text", "i": 18446744073709551615_u64});
    for law in LAWS {
        let source = format!("{{% set a = ({a}) %}}{{% set b = ({b}) %}}{{% set c = ({c}) %}}{law}");
        let Ok(template) = Template::compile(&source) else { return };
        if let Ok(rendered) = template.render(&context, &options) {
            assert!(!rendered.text.ends_with("BROKEN"), "{source}");
        }
    }
});

/// Templates whose output ends in BROKEN if a law of Python's values does not hold for `a`, `b` and `c`. A template that raises an error
/// proves nothing. The laws of order leave out NaN, which is not equal to itself.
const LAWS: [&str; 10] = [
    "{% if (a == b) != (b == a) %}BROKEN{% endif %}",
    "{% if (a != b) == (a == b) %}BROKEN{% endif %}",
    "{% if a == b and {a: 1}[b] is undefined %}BROKEN{% endif %}",
    "{% if a == b and ([a] != [b] or (0, a) != (0, b) or {'k': a} != {'k': b} or a not in [b]) %}BROKEN{% endif %}",
    "{% if a == b and b == c and a != c %}BROKEN{% endif %}",
    "{% if a < b and b < a and a is number and b is number %}BROKEN{% endif %}",
    "{% if a is number and b is number and a == a and b == b and not (a < b or a == b or a > b) %}BROKEN{% endif %}",
    "{% if (a is number and b is number or a is string and b is string) and (a <= b) != (a < b or a == b) %}BROKEN{% endif %}",
    "{% if (a is number and b is number and c is number or a is string and b is string and c is string) and a < b and b < c and not a < c %}BROKEN{% endif %}",
    "{% if a is string and b is string and (a ~ b)|length != a|length + b|length %}BROKEN{% endif %}",
];
