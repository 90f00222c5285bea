//! The limits on the nesting of a template and on the height of its tree.

use chat_template::Template;

fn is_accepted(text: &str) -> bool {
    match Template::compile(text) {
        Ok(_) => true,
        Err(error) => !error.message().contains("recursion") && error.line().is_some(),
    }
}

/// Returns the message and the line of the error of a source. The line is 0 if the error has none.
fn syntax_error(text: &str) -> (String, u32) {
    let error = Template::compile(text).expect_err("the source has an error");
    (error.message().to_owned(), error.line().unwrap_or(0))
}

fn nested(open: &str, close: &str, count: usize) -> String {
    format!("{{{{ {}1{} }}}}", open.repeat(count), close.repeat(count))
}

#[test]
fn brackets_nest_as_deep_as_in_the_reference() {
    for (open, close, most) in [
        ("(", ")", 69),
        ("[", "]", 75),
        ("{1:", "}", 75),
        ("f(", ")", 69),
        ("a[", "]", 69),
        ("a|f(", ")", 69),
    ] {
        assert!(is_accepted(&nested(open, close, most)), "{open}");
        let message = "maximum recursion depth exceeded";
        assert_eq!(syntax_error(&nested(open, close, most + 1)), (message.into(), 0), "{open}");
    }
}

#[test]
fn statements_nest_deeper_than_the_reference_compiles() {
    assert!(is_accepted(&("{% if a %}".repeat(100) + &"{% endif %}".repeat(100))));
    assert_eq!(
        syntax_error(&"{% if a %}".repeat(100_000)).0,
        "maximum recursion depth exceeded"
    );
}

#[test]
fn chains_grow_trees_of_a_bounded_height() {
    for link in [" + 1", " or 1", ".a", "[0]", "()", "|f", " is t(1)", " if 1", " ** 1"] {
        let chain = |count| format!("{{{{ 1{} }}}}", link.repeat(count));
        assert!(is_accepted(&chain(491)), "{link}");
        assert_eq!(syntax_error(&chain(20_000)).0, "maximum recursion depth exceeded", "{link}");
    }
    for link in ["not ", "- ", "1 if 1 else "] {
        let chain = |count| format!("{{{{ {}1 }}}}", link.repeat(count));
        assert!(is_accepted(&chain(491)), "{link}");
        assert_eq!(syntax_error(&chain(20_000)).0, "maximum recursion depth exceeded", "{link}");
    }
    for link in [" ~ 1", " < 1", ", 1"] {
        assert!(is_accepted(&format!("{{{{ 1{} }}}}", link.repeat(20_000))), "{link}");
    }
    assert!(is_accepted(&format!(
        "{{% if a %}}{}{{% endif %}}",
        "{% elif a %}".repeat(20_000)
    )));
}

#[test]
fn an_error_after_a_tall_expression_comes_first() {
    let source = format!("{{{{ 1{} }}}}{{{{ }}}}", " + 1".repeat(1000));
    assert_eq!(
        syntax_error(&source).0,
        "Expected an expression, got 'end of print statement'"
    );
}
