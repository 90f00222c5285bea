//! The rules of `inspect` on the source of a template.

use chat_template::{Bounds, ChatTemplate};
use serde_json::Value;

/// A template without a fault.
const CLEAN: &str = "{{ bos_token }}{% for m in messages %}<|{% if m.role == 'user' %}user|>{% else %}other|>{% endif %}\
    {{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

/// For each rule, a template that breaks it.
const PLANTED: [(&str, &str); 21] = [
    ("python-method", "{% for m in messages %}{{ m.content.strip() }}{% endfor %}"),
    ("python-literal", "{% set x = True %}{{ x }}"),
    ("printed-container", "{{ tools }}"),
    ("slice-step", "{% for m in messages[::-1] %}{{ m.content }}{% endfor %}"),
    ("percent-format", "{{ '%s' % messages[0].content }}"),
    ("tojson-argument", "{{ tools|tojson(ensure_ascii=false) }}"),
    ("iterable-test", "{% if tools is iterable and tools|length > 0 %}x{% endif %}"),
    ("generation-block", "{% generation %}x{% endgeneration %}"),
    ("stray-newline", "{% if tools %}\n\n{% endif %}"),
    ("printed-indentation", "{% if tools %}\n    {{ bos_token }}{% endif %}"),
    ("double-bos", "{{ bos_token }}{{ bos_token }}"),
    ("spelled-bos", "<s>{{ messages[0].content }}"),
    ("split-token", "{{ '<|' + messages[0].role + '|>' }}"),
    (
        "untrained-stop",
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}",
    ),
    ("unset-name", "{{ greeting }}"),
    (
        "undefined-call",
        "{% if messages|length > 90 %}{% set x = bos_token(1) %}{{ x }}{% endif %}",
    ),
    ("unknown-filter", "{% if tools %}{{ messages|sparkle }}{% endif %}"),
    ("no-generation-prompt", "{% for m in messages %}{{ m.content }}{% endfor %}"),
    (
        "untrimmed-content",
        "{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% else %}{{ m.content|trim }}{% endif %}{% endfor %}",
    ),
    ("repeated-test", "{% if tools %}a{% elif tools %}b{% endif %}"),
    (
        "dropped-role",
        "{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}",
    ),
];

fn find_rules(source: &str) -> Vec<String> {
    let template = ChatTemplate::from_source(source, &[("bos_token", "<s>")]).unwrap();
    let findings: Vec<Value> = template.inspect(Bounds::default()).unwrap().get("lint").unwrap();
    findings
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn each_rule_finds_its_planted_fault() {
    for (rule, source) in PLANTED {
        assert!(find_rules(source).iter().any(|found| found == rule), "{rule}: {source}");
    }
    let planted = PLANTED.map(|(rule, _)| rule);
    assert!(ChatTemplate::lint_rules().eq(planted));
}

#[test]
fn a_clean_template_has_no_finding() {
    assert_eq!(find_rules(CLEAN), [""; 0]);
}

#[test]
fn a_call_of_what_is_defined_or_tested_has_no_finding() {
    for call in [
        "{% macro f() %}x{% endmacro %}{{ f() }}",
        "{% macro f(g) %}{{ g() }}{{ caller() }}{% endmacro %}",
        "{% if f is defined %}{{ f() }}{% endif %}",
        "{% if tools %}{% set f = cycler %}{{ f(1) }}{% endif %}",
        "{{ raise_exception(1) if tools }}{{ strftime_now('%d') }}{{ range(3)|length }}{{ namespace(a=1).a }}",
        "{{ messages[0].f() }}",
    ] {
        assert!(!find_rules(call).iter().any(|rule| rule == "undefined-call"), "{call}");
    }
}
