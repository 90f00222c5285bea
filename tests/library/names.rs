//! The names that a template reads from its context.

use chat_template::Template;

#[test]
fn names_that_the_template_sets_first_are_its_own() {
    for (source, expected) in [
        ("{% if a %}{% set n = 1 %}{% endif %}{{ n }}", &["a"][..]),
        ("{% if n is not defined %}{% set n = true %}{% endif %}{{ n }}", &["n"]),
        (
            "{% if a %}{% set n = a %}{% endif %}{% if not n is defined %}{% set n = none %}{% endif %}{{ n }}",
            &["a", "n"],
        ),
        (
            "{% if a %}{% set n = a %}{% endif %}{% if n is defined %}{{ n }}{% endif %}",
            &["a"],
        ),
        (
            "{% macro m() %}{% endmacro %}{% if a %}{% set n = false %}{% endif %}{% if n is defined %}{{ n }}{% endif %}",
            &["a", "n"],
        ),
        ("{% set n = n or 1 %}{{ n }}", &["n"]),
        ("{% set n %}{{ n }}{% endset %}{{ n }}", &[]),
        (
            "{% for x in a %}{% if x.y %}{% set x = x.y %}{% endif %}{{ x }}{% endfor %}",
            &["a"],
        ),
        ("{% for x in a %}{% set n = x %}{% endfor %}{{ n }}", &["a", "n"]),
        (
            "{% macro m(p) %}{% if p %}{% set n = 1 %}{% endif %}{{ n }}{{ p }}{% endmacro %}{{ m(1) }}",
            &[],
        ),
        (
            "{% macro m() %}{{ n }}{% endmacro %}{% if a %}{% set n = 1 %}{% endif %}{{ m() }}",
            &["a"],
        ),
        (
            "{% macro m() %}{{ n }}{% endmacro %}{% if n is not defined %}{% set n = 1 %}{% endif %}{{ m() }}",
            &["n"],
        ),
        ("{% with n = n %}{{ n }}{% endwith %}", &["n"]),
    ] {
        let template = Template::compile(source).unwrap();
        assert_eq!(template.variables(), expected, "{source}");
    }
}
