//! The notes of errors: the type, the keys and the place in the input of the value that caused an error.

use chat_template::{Error, ErrorKind, RenderOptions, Template};

const INPUT: &str = r#"{"messages": [{"content": "hi", "n": 1}, {"content": [{"text": "a/b"}], "n": [2, 3], "a/b~": null}]}"#;

fn find_error(source: &str) -> Error {
    let rendered = Template::compile(source).and_then(|template| template.render_json(INPUT, &RenderOptions::default()));
    rendered.expect_err(source)
}

fn assert_note(source: &str, note: Option<&str>) {
    assert_eq!(find_error(source).note(), note, "{source}");
}

#[test]
fn a_note_describes_the_operand_and_its_place_in_the_input() {
    let cases = [
        (
            "{{ messages[1].content + 1 }}",
            "`messages[1].content` is of type list, at `/messages/1/content` of the input",
        ),
        (
            "{{ messages[0].n + 'a' }}",
            "`messages[0].n` is of type int, at `/messages/0/n` of the input",
        ),
        (
            "{{ messages[-1].n[-2] + 'a' }}",
            "`messages[-1].n[-2]` is of type int, at `/messages/1/n/0` of the input",
        ),
        (
            "{{ messages[1]['a/b~'] + 1 }}",
            "`messages[1]['a/b~']` is of type NoneType, at `/messages/1/a~1b~0` of the input",
        ),
        (
            "{% set x = messages[1].content %}{{ x + 1 }}",
            "`x` is of type list, at `/messages/1/content` of the input",
        ),
        (
            "{{ messages[0].keys + 1 }}",
            "`messages[0].keys` is of type builtin_function_or_method",
        ),
        (
            "{{ messages[0].content.lstrip + 1 }}",
            "`messages[0].content.lstrip` is of type builtin_function_or_method",
        ),
        (
            "{{ messages.index + 1 }}",
            "`messages.index` is of type builtin_function_or_method",
        ),
        ("{% set x = 5 %}{{ x + 'a' }}", "`x` is of type int"),
        (
            "{% for k, v in messages[0].content|items %}{% endfor %}",
            "`messages[0].content` is of type str, at `/messages/0/content` of the input",
        ),
        (
            "{% for k, v in messages[0].content|items if v %}{% endfor %}",
            "`messages[0].content` is of type str, at `/messages/0/content` of the input",
        ),
        (
            "{% for x in messages[0].n %}{{ loop.index }}{% endfor %}",
            "`messages[0].n` is of type int, at `/messages/0/n` of the input",
        ),
        (
            "{% for x in messages[0].n if x %}{% endfor %}",
            "`messages[0].n` is of type int, at `/messages/0/n` of the input",
        ),
    ];
    for (source, note) in cases {
        assert_note(source, Some(note));
    }
    assert_note("{{ 1 + 'a' }}", None);
}

#[test]
fn the_note_on_an_undefined_attribute_lists_the_keys_of_the_dict() {
    let keys = "`messages[1]` is of type dict, at `/messages/1` of the input; its keys are 'content', 'n', 'a/b~'";
    for source in [
        "{{ messages[1].role.x }}",
        "{{ messages[1]['role'] + 'a' }}",
        "{{ messages[1].strip() }}",
        "{{ messages[1].role|tojson }}",
        "{{ messages[1].role.strip() }}",
        "{{ messages[1]['role'].strip().upper() }}",
        "{% set m = messages[1] %}{% for x in m.role.y %}{% endfor %}",
    ] {
        let (error, keys) = (find_error(source), keys.replace("messages[1]`", "m`"));
        let note = error.note().map(|note| note.replace("messages[1]`", "m`"));
        assert_eq!(note, Some(keys), "{source}");
        assert_eq!(error.input_path(), Some("/messages/1"));
    }
    assert_note(
        "{{ messages[7].x }}",
        Some("`messages` is of type list, at `/messages` of the input"),
    );
    assert_note("{{ nope.x }}", None);
    let long: String = (0..20).map(|index| format!("'{}{index:02}': 1,", "k".repeat(50))).collect();
    let note = find_error(&format!("{{% set d = {{{long}}} %}}{{{{ d.x.y }}}}"));
    let note = note.note().unwrap_or_default();
    assert!(note.ends_with("k…' and 12 more") && note.len() < 500, "{note}");
}

#[test]
fn the_path_is_that_of_the_value_that_does_not_fit() {
    for (source, path) in [
        ("{{ messages[0].content + messages[1].content }}", "/messages/1/content"),
        ("{{ messages[1].content + messages[0].content }}", "/messages/1/content"),
        ("{{ messages[0].content + messages[1].role }}", "/messages/1"),
        ("{{ messages[1].n + messages[1].role }}", "/messages/1"),
    ] {
        assert_eq!(find_error(source).input_path(), Some(path), "{source}");
    }
}

#[test]
fn a_character_is_at_the_place_of_its_text() {
    let error = find_error("{{ messages[0].content[0].text + 'a' }}");
    assert_eq!(error.input_path(), Some("/messages/0/content"));
}

#[test]
fn an_error_in_a_later_round_or_at_another_place_has_no_note_on_the_loop() {
    assert_note(
        "{% for x in messages if x.n > 0 %}{% endfor %}",
        Some("`x.n` is of type list, at `/messages/1/n` of the input"),
    );
    assert_note("{% for x in [messages[0]] recursive %}{{ loop(x.n) }}{% endfor %}", None);
    assert_note("{% for a, b in [1] %}{% endfor %}", None);
    assert_note("{% for x in [1, 2]|map('abs')|list + 1 %}{% endfor %}", None);
}

#[test]
fn a_failed_loop_is_shown_where_it_iterates() {
    let source = "a\n{%- for k, v in\n messages[0].content|items %}{% endfor %}";
    let error = find_error(source);
    assert_eq!(
        (error.kind(), error.line(), error.position()),
        (ErrorKind::Type, Some(2), Some((3, 2)))
    );
}
