//! What the prompt of a row does not show, and what it has in another form than the model expects.

use super::Folder;

/// A line of the file of errors: the line of the row, the kind or the warning, and the pointer.
type Cause = (u64, String, String);

pub fn expect_causes(causes: &[(u64, &str, &str)]) -> Vec<Cause> {
    let own = |(line, cause, pointer): &(u64, &str, &str)| (*line, (*cause).to_owned(), (*pointer).to_owned());
    causes.iter().map(own).collect()
}

/// Returns the lines of the file of errors of a run, its exit status and its standard error.
pub fn list_causes(folder: &Folder, arguments: &str, rows: &str) -> (Vec<Cause>, i32, String) {
    let (_, error, status) = folder.run(&format!("{arguments} --output o.jsonl --errors e.jsonl"), rows);
    let causes = folder.rows("e.jsonl").into_iter().map(|row| {
        let cause = row["warning"].as_str().or(row["kind"].as_str()).expect("a cause").to_owned();
        let pointer = row["pointer"].as_str().expect("a pointer").to_owned();
        (row["line"].as_u64().expect("a line"), cause, pointer)
    });
    (causes.collect(), status, error)
}

#[test]
fn what_a_prompt_does_not_show_is_a_warning_or_with_strict_a_failure() {
    let folder = Folder::new("losses");
    folder.write("t.jinja", LOSSY);
    let rows = r#"{"messages": [{"role": "assistant"}, {"role": "user", "content": "a"}]}
{"messages": [{"role": "user", "content": "a"}, {"role": "tool", "content": "21"}]}
{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}]}
{"messages": [{"role": "user", "content": "a"}], "tools": [{"name": "f"}]}
{"messages": [{"role": "user", "content": [{"type": "text", "text": "a", "url": null}]}]}
{"messages": [{"role": "user", "content": "a"}]}"#;
    let expected = expect_causes(&[
        (1, "lost_message", "/messages/0"),
        (2, "lost_message", "/messages/1"),
        (3, "lost_call", "/messages/1/tool_calls/0"),
        (4, "lost_tool", "/tools/0"),
        (5, "null_key", "/messages/0/content/0/url"),
    ]);
    let (causes, status, error) = list_causes(&folder, "", rows);
    assert_eq!((causes, status), (expected.clone(), 0), "{error}");
    assert!(
        error.contains("\nwarnings with the cause lost_message: 2\n") && error.starts_with("6 rows: 6 written"),
        "{error}"
    );
    let (causes, status, error) = list_causes(&folder, "--strict", rows);
    assert_eq!((causes, status), (expected, 1), "{error}");
    assert!(
        error.contains("\nrows that failed with the cause lost_message: 2\n") && error.starts_with("6 rows: 1 written"),
        "{error}"
    );
    let (causes, _, _) = list_causes(&folder, "--strict --remove-null", rows);
    assert!(causes.iter().all(|(_, cause, _)| cause != "null_key"));
    let (causes, status, error) = list_causes(
        &folder,
        "--strict --assistant",
        r#"{"messages": [{"role": "user", "content": "a"}]}"#,
    );
    assert_eq!((causes, status), (expect_causes(&[(1, "nothing_trained", "")]), 0), "{error}");
}

#[test]
fn a_prompt_that_has_a_value_in_another_form_than_the_model_expects_is_a_warning() {
    let folder = Folder::new("printed");
    folder.write(
        "t.jinja",
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls %}{{ c.function.arguments | tojson }}\
        {{ c.function.name ~ c.function.arguments if c.type }}{% endfor %}{% endfor %}",
    );
    let call = |call: &str| format!(r#"{{"messages": [{{"role": "assistant", "content": "a", "tool_calls": [{call}]}}]}}"#);
    let rows = [
        r#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}]}"#,
        &call(r#"{"type": "function", "function": {"name": "f", "arguments": {"x": "1"}}}"#),
        &call(r#"{"function": {"name": "f", "arguments": "{\"x\": 1}"}}"#),
        &call(r#"{"function": {"name": "f", "arguments": {"x": 1}}}"#),
        r#"{"system": "Be kind.", "messages": [{"role": "user", "content": "{'x': 1}"}]}"#,
        r#"{"system": "Be kind.", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "a"}]}"#,
    ];
    let expected = expect_causes(&[
        (1, "python_repr", "/messages/0/content"),
        (2, "python_repr", "/messages/0/tool_calls/0/function/arguments"),
        (3, "double_json", "/messages/0/tool_calls/0/function/arguments"),
        (5, "lost_system", "/system"),
    ]);
    let (causes, status, error) = list_causes(&folder, "", &rows.join("\n"));
    assert_eq!((causes, status), (expected, 0), "{error}");
    let (causes, ..) = list_causes(&folder, "--json-arguments", rows[2]);
    assert_eq!(causes, [], "the arguments are read");
}

#[test]
fn media_that_the_prompt_does_not_have_are_warnings() {
    let folder = Folder::new("media");
    let image = r#"{"type": "image"}"#;
    let row = |parts: &[&str]| format!(r#"{{"messages": [{{"role": "user", "content": [{}]}}]}}"#, parts.join(", "));
    let text = r#"{"type": "text", "text": "a"}"#;
    for (template, lost) in [
        (
            "{% for p in messages[0].content %}{{ p.text }}{{ '<image>' if p.type == 'image' }}{% endfor %}",
            0,
        ),
        ("{% for p in messages[0].content %}{{ p.text }}{% endfor %}", 40),
        (
            "{% for p in messages[0].content %}{{ p.text }}{{ '<image>' if p.type == 'image' and loop.index0 == 1 }}{% endfor %}",
            39,
        ),
    ] {
        folder.write("t.jinja", template);
        let parts = [&[text], [image; 40].as_slice()].concat();
        let (causes, status, error) = list_causes(&folder, "", &row(&parts));
        assert_eq!((causes.len(), status), (lost, 0), "{error}");
        assert!(causes.iter().all(|(_, cause, _)| cause == "lost_media"), "{error}");
    }
}

/// Prints messages of users and assistants that have content.
const LOSSY: &str = "{% for m in messages if m.role != 'tool' and m.content %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}\
    {{ m.content[0].text }}{% endif %}{% endfor %}";
