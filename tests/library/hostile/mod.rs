//! Templates and requests that need too much time, memory or stack. Each must end with an output or an error of kind limit, also on a
//! thread with a small stack.

mod depths;
mod nesting;
mod reachable;
mod reached;

use chat_template::{ErrorKind, Limits, RenderOptions, Template};

/// The stack size of a test thread: the 512 KiB of a server's thread, or Rust's default of 2 MiB in a build without optimisation.
const STACK: usize = if cfg!(debug_assertions) { 2 << 20 } else { 512 << 10 };

/// The limit on the steps of a render: the default, or fewer in a build without optimisation, which is slower.
const STEPS: u64 = if cfg!(debug_assertions) { 500_000 } else { 16_000_000 };

/// Renders a template on a small stack. Returns the output, or the message of an error, which has to be of kind limit.
fn render(source: String) -> Result<String, String> {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let template = Template::compile(&source).map_err(|error| (error.kind(), error.message().to_owned()))?;
        let context = serde_json::json!({"x": 1});
        let limits: Limits = serde_json::from_str(&format!("{{\"steps\": {STEPS}}}")).expect("limits");
        let options = RenderOptions::default().with_bounds(&limits);
        let rendered = template.render(&context, &options);
        rendered
            .map(|rendered| rendered.text)
            .map_err(|error| (error.kind(), error.message().to_owned()))
    });
    let result = thread.expect("the thread starts").join().expect("nothing panics");
    result.map_err(|(kind, message)| {
        assert_eq!(kind, ErrorKind::Limit, "{message}");
        message
    })
}

#[test]
fn macros_150_deep_render() {
    let source = "{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{% endif %}{{ n }} {% endmacro %}{{ m(150) }}";
    let output = render(source.to_owned()).expect("it renders");
    assert!(output.starts_with("0 1 2 ") && output.ends_with(" 149 150 "), "{output}");
}

/// The reference renders 197 levels of each of these macros.
#[cfg(not(debug_assertions))]
#[test]
fn macros_150_deep_render_with_statements_around_the_call() {
    for body in [
        "{% for a in [n] %}{% if a > 0 %}{% set b = m(a - 1)|upper %}{{ ('a' + b)|trim }}{% endif %}{% endfor %}",
        "{% for a in [n] if a > 0 %}{{ loop.index }}{{ m(a - 1)|trim }}{% endfor %}",
        "{% for k, v in {'a': n}.items() %}{% if v > 0 %}{% if k is string %}{% set t = m(v - 1) %}{{ k ~ ': ' ~ t|trim }}{% endif %}{% endif %}{% endfor %}",
        "{% if n > 0 %}{% filter trim %}{% with a = n - 1 %}{% set b %}{{ m(a) }}{% endset %}{{ b|length }}{% endwith %}{% endfilter %}{% endif %}",
        "{% if n > 0 and m(n - 1)|trim|length == 1 %}{{ n }}{% endif %}",
        "{{ m(n - 1)|trim|upper if n > 0 else 0 }}",
        "{% if n > 0 %}{{ ['x' ~ m(n - 1)]|join|length }}{% endif %}",
        "{% if n > 0 %}{{ {'a': m(n - 1)}['a']|length }}{% endif %}",
        "{% if n > 0 %}{{ 'a'.replace('a', m(n - 1)) }}{% endif %}",
        "{% if n > 0 %}{{ nope|default(m(n - 1)) }}{% endif %}",
        "{% if n > 0 %}{{ [n]|map('default', m(n - 1))|list|length }}{% endif %}",
        "{% if n > 0 %}{{ other(m(n - 1)) + 'b' }}{% endif %}",
    ] {
        let source = format!(
            "{{% macro other(x) %}}{{{{ x|length }}}}{{% endmacro %}}{{% macro m(n) %}}{body}{{% endmacro %}}{{{{ m(150)|length < 1000 }}}}"
        );
        assert_eq!(render(source), Ok("True".to_owned()), "{body}");
    }
}

#[test]
fn recursive_loops_150_deep_render() {
    let source = "{% for a in [1] recursive %}{% if loop.depth < 150 %}{{ loop([1]) }}{% endif %}{{ loop.depth }} {% endfor %}";
    let output = render(source.to_owned()).expect("it renders");
    assert!(output.starts_with("150 149 ") && output.ends_with(" 2 1 "), "{output}");
}

#[test]
fn endless_recursion_reaches_a_limit() {
    for source in [
        "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(1) }}",
        "{% macro m(n) %}{% for a in [n] %}{% set b = m(a)|upper %}{{ ('a' + b)|trim }}{% endfor %}{% endmacro %}{{ m(1) }}",
        "{% macro m(n) %}{{ [n]|map('default', m(n))|list }}{% endmacro %}{{ m(1) }}",
        "{% macro m(n) %}{{ caller(n) }}{% endmacro %}{% macro k(n) %}{% call(a) m(n) %}{{ k(a) }}{% endcall %}{% endmacro %}{{ k(1) }}",
        "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        "{% for a in [1] recursive %}{% set b = (loop([1])|upper ~ 'x')|trim %}{{ b }}{% endfor %}",
        "{% for a in [1] if x recursive %}{{ loop([1]) }}{% endfor %}",
    ] {
        assert_eq!(
            render(source.to_owned()),
            Err("maximum recursion depth exceeded".to_owned()),
            "{source}"
        );
    }
}

#[test]
fn tall_trees_inside_deep_statements_do_not_exhaust_the_stack() {
    for (open, close) in [
        ("{% with a = x %}", "{% endwith %}"),
        ("{% filter upper %}", "{% endfilter %}"),
        ("{% set b %}", "{% endset %}"),
        ("{% macro m() %}", "{% endmacro %}"),
    ] {
        for (before, link, after) in [
            ("x", " + 1", ""),
            ("x", ".a", ""),
            ("x", "|string", ""),
            ("", "x if 0 else ", "1"),
        ] {
            for depth in [1, 20, 100, 180, 200, 230, 240, 5000] {
                let (open, close, links) = (open.repeat(depth), close.repeat(depth), link.repeat(490));
                // The template can render or fail, but the thread must survive.
                let source = format!("{open}{{{{ {before}{links}{after} }}}}{close}");
                let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || {
                    let template = Template::compile(&source);
                    template
                        .and_then(|template| template.render(&serde_json::json!({"x": 1}), &RenderOptions::default()))
                        .is_ok()
                });
                thread.expect("the thread starts").join().expect("nothing panics");
            }
        }
    }
}

#[test]
fn a_value_that_grows_in_a_loop_reaches_a_limit() {
    for (start, step) in [
        ("'ab'", "ns.a + ns.a"),
        ("'ab'", "ns.a ~ ns.a"),
        ("[1]", "ns.a + ns.a"),
        ("[1]", "[ns.a, ns.a]"),
        ("3", "ns.a * ns.a"),
        ("'ab'", "ns.a|replace('a', 'aa')"),
        ("'ab'", "'%s%s' % (ns.a, ns.a)"),
        ("[1]", "[ns.a]"),
        ("'a'", "joiner(ns.a)"),
        ("[1]", "ns.a|map('string')"),
    ] {
        let source =
            format!("{{% set ns = namespace(a={start}) %}}{{% for i in range(100000) %}}{{% set ns.a = {step} %}}{{% endfor %}}");
        let message = render(source).expect_err(step);
        assert!(message.starts_with("limit reached: "), "{step}: {message}");
    }
}

#[test]
fn a_large_result_reaches_a_limit_before_it_is_made() {
    for expression in [
        "'a' * 1000000000",
        "[1] * 1000000000",
        "'a'|center(1000000000)",
        "'a'.ljust(1000000000)",
        "'%1000000000d' % 1",
        "'{:1000000000}'.format(1)",
        "[1]|tojson(indent=1000000000)",
        "'a'|indent(1000000000)|length ~ 'a\nb'|indent(1000000000)",
        "[1]|batch(1000000000, 0)|list",
        "10 ** 1000000000",
        "'abc'.replace('', 'x' * 20000000)",
    ] {
        let message = render(format!("{{{{ {expression} }}}}")).expect_err(expression);
        assert!(!message.is_empty(), "{expression}");
    }
}
