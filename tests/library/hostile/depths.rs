//! Deep sources, values, JSON and iterators. They are traversed at the top level and inside many nested calls, which leave little stack.

use chat_template::{Error, Limits, RenderOptions, Template, json};

use super::{STACK, STEPS};

/// Sources with a part that is repeated a hundred thousand times: the text before it, the part, and the text after it.
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

/// The expressions with which a loop wraps `ns.x`, about as often as the limit on height allows.
const WRAPPERS: &[&str] = &[
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

/// The statements that put the value `ns.x` into a value of another kind. `h` is a namespace from which a lazy iterator reads.
const WRAPPINGS: &[&str] = &[
    "{% set ns.x = [ns.x] %}",
    "{% set ns.x = (ns.x, 1)[:1] %}",
    "{% set ns.x = {'a': ns.x} %}",
    "{% set ns.x = {ns.x: 1} %}",
    "{% set ns.x = {'a': ns.x}.values() %}",
    "{% set ns.x = dict(a=ns.x).items() %}",
    "{% set ns.x = namespace(a=ns.x) %}",
    "{% set ns.x = cycler(ns.x) %}",
    "{% set ns.x = joiner(ns.x) %}",
    "{% set ns.x = [ns.x].copy %}",
    "{% set ns.x = [ns.x]|map('list') %}",
    "{% set ns.x = [ns.x]|unique %}",
    "{% set ns.x = [1]|select('eq', ns.x) %}",
    "{% set ns.x = [ns.x]|reverse %}",
    "{% set ns.x = [[1, ns.x]]|groupby(0) %}",
    "{% set ns.x = ns.x|default(1) %}",
    "{% macro m(a=ns.x) %}{{ caller() }}{% endmacro %}{% set ns.x = m %}",
    "{% for y in [ns.x] %}{% set ns.x = loop %}{% endfor %}",
    "{% for y in [1, ns.x] %}{% set ns.x = [loop.nextitem, loop.previtem, loop] %}{% break %}{% endfor %}",
    "{% for y in [ns.x] recursive %}{% set ns.x = loop %}{% endfor %}",
    "{% for y in [ns.x]|select %}{% set z = loop.last %}{% set ns.x = loop.changed %}{% endfor %}",
    "{% for y in [ns.x] if y is defined %}{% set ns.x = loop %}{% break %}{% endfor %}",
    "{% if ns.x is iterable and ns.x is not sequence %}{% for y in ns.x %}{% set ns.x = loop %}{% break %}{% endfor %}{% endif %}",
    // Iterators that read their items after they were made.
    "{% set h.x = ns.x %}{% for y in [h, h, h]|map(attribute='x') %}{% set z = loop.nextitem %}{% set ns.x = loop %}{% break %}{% endfor %}",
    "{% set g = [h, h, h]|map(attribute='x')|batch(1) %}{% set h.x = ns.x %}{% set z = g|first %}{% set ns.x = g %}",
    "{% set g = [h, h, h]|map(attribute='x')|slice(1) %}{% set h.x = ns.x %}{% set z = g|first %}{% set ns.x = g %}",
    "{% set g = [h, h, h]|unique(attribute='x') %}{% set h.x = (ns.x,) %}{% set z = g|first %}{% set ns.x = g %}",
    "{% set g = [h, h, h]|map(attribute='x')|select %}{% set h.x = ns.x %}{% set z = g|first %}{% set ns.x = [g, z] %}",
];

/// Templates that traverse a value `v`, and compare it with an equal value `w`.
const TRAVERSALS: &[&str] = &[
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

/// Macros that call themselves `n` times and then do what replaces `INNERMOST`.
const CALLS: &[&str] = &[
    "{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{% else %}INNERMOST{% endif %}{% endmacro %}",
    "{% macro m(n) %}{% if n > 0 %}{% for a in [n] %}{% set b = m(a - 1)|trim %}{{ ('' + b)|trim }}{% endfor %}{% else %}INNERMOST{% endif %}{% endmacro %}",
];

#[test]
fn deep_sources_do_not_exhaust_the_stack() {
    let limits: Limits = serde_json::from_str("{\"source\": 100000000}").expect("limits");
    for (before, part, after) in SOURCES {
        let source = format!(
            "{before}{}{after}",
            part.repeat(if *part == "+1" { 1_000_000 } else { 100_000 })
        );
        let limits = limits.clone();
        run_on_small_stack(move || Template::compile_with(&source, &limits).map(|_| ()));
    }
}

#[test]
fn deep_values_are_traversed_inside_nested_calls() {
    for (index, wrapper) in WRAPPERS.iter().enumerate() {
        for (traversal, calls) in TRAVERSALS.iter().zip(CALLS.iter().cycle().skip(index)) {
            let wrap = |name: &str| {
                format!(
                    "{{% set ns = namespace(x=[1]) %}}{{% for i in range(190) %}}{{% set ns.x = {wrapper} %}}{{% endfor %}}{{% set {name} = ns.x %}}"
                )
            };
            let calls = calls.replace("INNERMOST", traversal);
            let source = format!("{}{}{calls}{{{{ m(k) }}}}", wrap("v"), wrap("w"));
            render_at_depths(&source, "1");
        }
    }
}

#[test]
fn each_pair_of_wrappings_is_made_and_dropped_a_hundred_thousand_times() {
    // The limit on steps ends each render soon. The limit on the height of a value is reached after some hundred rounds.
    for (one, other) in WRAPPINGS
        .iter()
        .flat_map(|one| WRAPPINGS.iter().map(move |other| (one, other)))
    {
        let source = format!(
            "{{% set ns = namespace(x=(1,)) %}}{{% set h = namespace(x=1) %}}{{% for i in range(50000) %}}{one}{other}{{% endfor %}}ok"
        );
        run_on_small_stack(move || {
            let template = Template::compile(&source).expect("it compiles");
            let limits = Limits::default().with_steps(STEPS);
            let options = RenderOptions::default().with_bounds(&limits);
            template.render(&serde_json::json!({}), &options).map(drop)
        });
    }
}

#[test]
fn deep_json_is_traversed_inside_nested_calls() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(500), close.repeat(500));
        for traversal in TRAVERSALS {
            for calls in CALLS {
                render_at_depths(&format!("{}{{{{ m(k) }}}}", calls.replace("INNERMOST", traversal)), &deep);
            }
        }
    }
}

/// Renders with `k` nested calls, for `k` from 0 to the limit. A render can succeed or fail, but the thread must survive.
fn render_at_depths(source: &str, json: &str) {
    let (source, context) = (source.to_owned(), format!("{{\"v\": {json}, \"w\": {json}, \"k\": "));
    run_on_small_stack(move || {
        let template = Template::compile(&source)?;
        let limits: Limits = serde_json::from_str(&format!("{{\"steps\": {STEPS}}}")).expect("limits");
        let options = RenderOptions::default().with_bounds(&limits);
        for calls in (0..200).step_by(if cfg!(debug_assertions) { 66 } else { 3 }) {
            let context = format!("{context}{calls}}}");
            let context = json::read(&context).expect("it is JSON");
            let _ = template.render(&context, &options);
        }
        Ok(())
    });
}

fn run_on_small_stack(run: impl FnOnce() -> Result<(), Error> + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run);
    // An error is allowed.
    let _ = thread.expect("the thread starts").join().expect("nothing panics");
}
