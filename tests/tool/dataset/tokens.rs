//! The tokens of rows and their labels.

use serde_json::{Value, json};

use super::Folder;

const TOKENIZER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/outside/tokenizers/tokenizer.json");

/// Returns the rows with the answers of transformers, and a folder with their template.
fn make_cases(name: &str) -> (Folder, Vec<Value>) {
    let cases: Value = serde_json::from_str(include_str!("tokens.json")).expect("the file is JSON");
    let folder = Folder::new(name);
    folder.write("t.jinja", cases["template"].as_str().expect("it is a string"));
    (folder, cases["rows"].as_array().expect("it is a list").clone())
}

fn render(folder: &Folder, arguments: &str, rows: &[Value]) -> (Vec<Value>, String, i32) {
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let (out, error, status) = folder.run(&format!("--tokenizer {TOKENIZER} {arguments}"), lines);
    let parse = |line: &str| serde_json::from_str(line).expect("a line is JSON");
    (out.lines().map(parse).collect(), error, status)
}

#[test]
fn the_tokens_and_labels_are_those_of_transformers() {
    let (folder, rows) = make_cases("tokens");
    let messages: Vec<Value> = rows.iter().map(|row| json!({"messages": row["messages"]})).collect();
    let (answers, error, status) = render(&folder, "", &messages);
    assert_eq!((answers.len(), status), (rows.len(), 0), "{error}");
    for (row, answer) in rows.iter().zip(answers) {
        assert_eq!(answer["input_ids"], row["input_ids"]);
        assert_eq!(answer["labels"], row["labels"]);
    }
}

#[test]
fn a_long_prompt_is_cut_where_a_turn_ends() {
    let (folder, rows) = make_cases("cut");
    let row = rows.iter().max_by_key(|row| row["messages"].as_array().map(Vec::len));
    let messages = row.expect("there are rows")["messages"].as_array().expect("it is a list");
    let starts: Vec<Value> = (1..=messages.len())
        .map(|count| json!({"messages": messages[..count]}))
        .collect();
    let (starts, ..) = render(&folder, "", &starts);
    let count = |answer: &Value| answer["input_ids"].as_array().expect("it is a list").len();
    let whole = starts.last().expect("there are messages");
    for most in (1..=count(whole) + 1).step_by(5) {
        let expected = starts.iter().rfind(|start| count(start) <= most);
        let (answers, error, status) = render(&folder, &format!("--max-length {most}"), &[json!({"messages": messages})]);
        let keys = |answer: &Value| [answer["input_ids"].clone(), answer["labels"].clone()];
        assert_eq!(answers.first().map(keys), expected.map(keys), "{most}: {error}");
        assert_eq!(status, i32::from(expected.is_none()), "{most}: {error}");
        let is_cut = expected.is_none_or(|expected| expected != whole);
        let cause = if status == 0 {
            "\"warning\":\"cut\""
        } else {
            "\"kind\":\"cut\""
        };
        assert_eq!(error.contains(cause), is_cut, "{most}: {error}");
    }
    let most = count(whole) - 1;
    let (_, error, status) = render(
        &folder,
        &format!("--strict --max-length {most}"),
        &[json!({"messages": messages})],
    );
    assert!(status == 1 && error.contains("\"kind\":\"cut\""), "{error}");
}

/// Returns a file `tokenizer.json` with a part in place of its own.
fn make_tokenizer(part: &str, value: Value) -> String {
    let mut file = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1}, "unk_token": "[UNK]"},
    });
    file[part] = value;
    file.to_string()
}

#[cfg(target_os = "linux")]
#[test]
fn a_tokenizer_that_fails_or_asks_for_too_much_is_an_error_of_its_rows() {
    let (folder, _) = make_cases("hostile");
    let row = |content: &str| json!({"messages": [{"role": "user", "content": content}]}).to_string() + "\n";
    let replace = json!({"type": "Replace", "pattern": {"String": "a"}, "content": "b".repeat(1_000_000)});
    for (part, value) in [
        ("normalizer", replace),
        ("pre_tokenizer", json!({"type": "FixedLength", "length": 0})),
    ] {
        folder.write("hostile.json", make_tokenizer(part, value));
        let rows = row(&"a".repeat(1000)) + &row("");
        let (_, error, status) = folder.run("--tokenizer hostile.json", rows);
        assert_eq!((status, error.contains("panicked")), (1, false), "{error}");
        let message = "the tokenizer fails on this prompt, or needs too much memory or time";
        assert!(
            error.contains(&format!(
                "\"line\":1,\"kind\":\"tokenizer\",\"pointer\":\"\",\"error\":\"{message}\""
            )),
            "{error}"
        );
    }
}

#[test]
fn a_file_that_is_no_tokenizer_ends_the_run() {
    let (folder, _) = make_cases("none");
    folder.write("none.json", "{}");
    let (_, error, status) = folder.run("--tokenizer none.json", "");
    assert_eq!(
        (status, error.contains("none.json: not a tokenizer.json")),
        (2, true),
        "{error}"
    );
}
