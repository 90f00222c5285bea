//! The line of the template that an error shows, and the carets below it.

use chat_template::{RenderOptions, Template};

/// Returns the lines of the error after its message and position.
#[track_caller]
fn excerpt(source: &str) -> String {
    let template = Template::compile(source).expect("it compiles");
    let error = template
        .render(&serde_json::json!({}), &RenderOptions::default())
        .expect_err("it fails")
        .to_string();
    error.splitn(3, '\n').nth(2).expect("the error has an excerpt").to_owned()
}

#[test]
fn a_short_line_is_shown_whole() {
    assert_eq!(excerpt("a\n\tbé {{ 1 / 0 }}"), "2 |  bé {{ 1 / 0 }}\n  |        ^^^^^");
}

#[test]
fn a_long_line_is_cut_on_both_sides() {
    let [before, after] = ["-".repeat(47), "-".repeat(62)];
    let shown = format!("1 | …{before}{{{{ 1 / 0 }}}}{after}…\n  | {:51}^^^^^", "");
    assert_eq!(excerpt(&format!("é{before}{{{{ 1 / 0 }}}}{after}-")), shown);
}

#[test]
fn a_long_line_is_cut_before_its_end() {
    let source = format!("{}{{{{ 1 / 0 }}}}", "-".repeat(130));
    let shown = format!("1 | …{}{{{{ 1 / 0 }}}}\n  | {:113}^^^^^", "-".repeat(109), "");
    assert_eq!(excerpt(&source), shown);
}

#[test]
fn carets_end_with_the_shown_part() {
    let source = format!("{{{{ 1 / (0 {}) }}}}", "+ 0 ".repeat(40));
    let lines = excerpt(&source);
    let (line, carets) = lines.split_once('\n').expect("carets are below the line");
    assert_eq!(carets.chars().filter(|char| *char == '^').count(), 117);
    assert_eq!(line.chars().count() - 1, carets.chars().count());
}
