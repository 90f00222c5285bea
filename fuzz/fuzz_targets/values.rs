//! Two expressions as values: equality is symmetric and agrees with hashes, an ordering is one, and what prints prints twice alike.
#![no_main]

use chat_template::{Limits, RenderOptions, Template};

libfuzzer_sys::fuzz_target!(|input: &str| {
    let Some((left, right)) = input.split_once('\n') else { return };
    let mut limits = Limits::default();
    limits.steps = 200_000;
    limits.value = 1 << 20;
    limits.live = 4 << 20;
    let options = RenderOptions {
        limits: &limits,
        ..RenderOptions::default()
    };
    let context = serde_json::json!({"l": [1, 2.0, true, "a"], "d": {"k": 1}, "s": "text", "i": 18446744073709551615_u64});
    for law in LAWS_OF_TWO {
        let source = format!("{{% set a = ({left}) %}}{{% set b = ({right}) %}}{law}");
        let Ok(template) = Template::compile(&source) else { return };
        if let Ok(rendered) = template.render_with(&context, &options) {
            assert!(!rendered.text.ends_with("BROKEN"), "{source}");
        }
    }
});

/// Each ends in BROKEN where a law of Python's values does not hold; what raises says nothing.
const LAWS_OF_TWO: [&str; 5] = [
    "{% if (a == b) != (b == a) %}BROKEN{% endif %}",
    "{% if a == b and {a: 1}[b] is undefined %}BROKEN{% endif %}",
    "{% if a < b and b < a and a is number and b is number %}BROKEN{% endif %}",
    "{% if a is number and b is number and a == a and b == b and not (a < b or a == b or a > b) %}BROKEN{% endif %}",
    "{% if a is string and b is string and (a ~ b)|length != a|length + b|length %}BROKEN{% endif %}",
];
