//! Each kind of depth: of a source, of what a loop makes, of JSON, of iterators inside iterators, alone and at the bottom of many calls,
//! so that whatever goes down has little of the stack left.

use chat_template::{Error, Limits, RenderOptions, Template, json};

use super::{STACK, STEPS};

/// Sources that are twenty thousand deep or long, and one that is a million: before, what is repeated, after.
const SOURCES: &[(&str, &str, &str)] = &[
    ("{{ x", "+1", " }}"),
    ("{{ x", " ~ x", " }}"),
    ("{{ x", ".a", " }}"),
    ("{{ x", "|f", " }}"),
    ("{{ x", "[0]", " }}"),
    ("{{ x", " if x", " }}"),
    ("{{ x", " == x", " }}"),
    ("{{ x", " and x", " }}"),
    ("{{ x", " is t", " }}"),
    ("{{ ", "(", "x }}"),
    ("{{ ", "[", "x }}"),
    ("{{ ", "{x:", "x }}"),
    ("{{ ", "f(", "x }}"),
    ("{{ ", "-", "x }}"),
    ("{{ ", "not ", "x }}"),
    ("{{ ", "x ** ", "x }}"),
    ("{{ ", "x if x else ", "x }}"),
    ("{% set ", "(", "x) = 1 %}"),
    ("", "{% if x %}", ""),
    ("", "{% if x %}{% else %}", ""),
    ("", "{% for a in x recursive %}", ""),
    ("", "{% macro m() %}", ""),
    ("", "{% filter f %}", ""),
    ("{% if x %}", "{% elif x %}", "{% endif %}"),
];

/// What a loop wraps `ns.x` in, as often as the height allows.
const WRAPPED: &[&str] = &[
    "[ns.x]",
    "(ns.x,)",
    "{'a': ns.x}",
    "dict(a=ns.x)",
    "namespace(a=ns.x)",
    "cycler(ns.x)",
    "joiner(ns.x)",
    "[ns.x].copy",
    "ns.x|map('list')",
    "[ns.x]|map('list')",
    "ns.x|select",
    "ns.x|unique",
    "ns.x|batch(2)",
    "ns.x|slice(2)",
    "ns.x|reverse",
];

/// What goes down a value `v`: printing, comparing, hashing, searching, pulling, and, in the end of each, dropping.
const DOWN: &[&str] = &[
    "{{ v }}",
    "{{ v|tojson }}",
    "{{ v|string|length }}",
    "{{ v == w }}",
    "{{ v < w }}",
    "{{ [v, w]|sort|length }}",
    "{{ [v, w]|max|length }}",
    "{{ {v: 1} }}",
    "{{ [v, w]|unique|list|length }}",
    "{{ v in [w] }}",
    "{{ [v].index(w) }}",
    "{{ v|list|length }}",
    "{{ [v]|groupby(0)|length }}",
    "{{ '%r' % (v,) }}",
    "{{ '{}'.format(v) }}",
    "{{ raise_exception(v) }}",
    "{% for a in v %}{% for b in a %}{% endfor %}{% endfor %}",
];

/// Calls inside each other, at whose bottom something happens.
const CALLS: &[&str] = &[
    "{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{% else %}BOTTOM{% endif %}{% endmacro %}",
    "{% macro m(n) %}{% if n > 0 %}{% for a in [n] %}{% set b = m(a - 1)|trim %}{{ ('' + b)|trim }}{% endfor %}{% else %}BOTTOM{% endif %}{% endmacro %}",
];

#[test]
fn sources_are_long_or_a_limit() {
    let limits: Limits = serde_json::from_str("{\"source\": 100000000}").expect("limits");
    for (before, part, after) in SOURCES {
        let source = format!(
            "{before}{}{after}",
            part.repeat(if *part == "+1" { 1_000_000 } else { 100_000 })
        );
        let limits = limits.clone();
        on_a_small_stack(move || Template::compile_with(&source, &limits).map(|_| ()));
    }
}

#[test]
fn what_a_loop_wraps_is_gone_down_at_the_bottom_of_calls() {
    for (number, wrapped) in WRAPPED.iter().enumerate() {
        for (down, calls) in DOWN.iter().zip(CALLS.iter().cycle().skip(number)) {
            let wrap = |name: &str| {
                format!(
                    "{{% set ns = namespace(x=[1]) %}}{{% for i in range(190) %}}{{% set ns.x = {wrapped} %}}{{% endfor %}}{{% set {name} = ns.x %}}"
                )
            };
            let calls = calls.replace("BOTTOM", down);
            let source = format!("{}{}{calls}{{{{ m(k) }}}}", wrap("v"), wrap("w"));
            renders_or_fails(&source, "1");
        }
    }
}

#[test]
fn json_is_gone_down_at_the_bottom_of_calls() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(500), close.repeat(500));
        for down in DOWN {
            for calls in CALLS {
                renders_or_fails(&format!("{}{{{{ m(k) }}}}", calls.replace("BOTTOM", down)), &deep);
            }
        }
    }
}

/// Renders with `k` calls, few and as many as there may be: whatever comes of it, the thread survives.
fn renders_or_fails(source: &str, json: &str) {
    let (source, context) = (source.to_owned(), format!("{{\"v\": {json}, \"w\": {json}, \"k\": "));
    on_a_small_stack(move || {
        let template = Template::compile(&source)?;
        let limits: Limits = serde_json::from_str(&format!("{{\"steps\": {STEPS}}}")).expect("limits");
        let options = RenderOptions {
            limits: &limits,
            ..RenderOptions::default()
        };
        for calls in (0..200).step_by(if cfg!(debug_assertions) { 66 } else { 3 }) {
            let context = format!("{context}{calls}}}");
            let context = json::read(&context, json::DEPTH).expect("it is JSON");
            let _ = template.render_with(&context, &options);
        }
        Ok(())
    });
}

fn on_a_small_stack(run: impl FnOnce() -> Result<(), Error> + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run);
    // What failed, failed as a template may.
    let _ = thread.expect("the thread starts").join().expect("nothing panics");
}
