//! What a file can be: it is read, or there is one error that says what it is. `kinds.jsonl` has the files, and `tables` those of Parquet
//! and Arrow, as pyarrow 26.0.1 and `datasets` 5.2.0 write them.

use serde_json::Value;

use super::{Folder, make_rows};

/// Prints calls of tools too.
const TEMPLATE: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls %}({{ c.function.name }}){% endfor %}{% endfor %}\
    {% for tool in tools or [] %}[{{ tool.name or tool.function.name }}]{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

/// Returns the bytes of a case.
fn make_bytes(case: &Value) -> Vec<u8> {
    if let Some(hex) = case["hex"].as_str() {
        let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("two digits");
        return (0..hex.len()).step_by(2).map(digits).collect();
    }
    let file = case["file"].as_str().expect("a name");
    if case["table"] == true {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/dataset/tables")
            .join(file);
        let mut bytes = std::fs::read(path).expect("the file exists");
        if let Some(byte) = case["byte"].as_array() {
            let number = |index: usize| byte[index].as_u64().expect("a number");
            bytes[usize::try_from(number(0)).expect("a place")] = u8::try_from(number(1)).expect("a byte");
        }
        let length = case["length"]
            .as_u64()
            .map(|length| usize::try_from(length).expect("a length"));
        bytes.truncate(length.unwrap_or(usize::MAX));
        return bytes;
    }
    let text = case["text"].as_str().expect("a text");
    let units = |to_bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(to_bytes).collect::<Vec<_>>();
    match case["encoding"].as_str() {
        None => text.into(),
        Some("utf-8") => format!("\u{feff}{text}").into(),
        Some("utf-16le") => [vec![0xff, 0xfe], units(u16::to_le_bytes)].concat(),
        Some("utf-16be") => [vec![0xfe, 0xff], units(u16::to_be_bytes)].concat(),
        Some("utf-16le-unmarked") => units(u16::to_le_bytes),
        Some("latin-1") => text
            .chars()
            .map(|char| u8::try_from(u32::from(char)).expect("in Latin-1"))
            .collect(),
        Some(other) => panic!("{other}"),
    }
}

#[test]
fn a_file_is_read_or_has_one_error() {
    let folder = Folder::new("kinds");
    folder.write("t.jinja", TEMPLATE);
    for line in include_str!("kinds.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("a line is JSON");
        let (what, file) = (&case["what"], case["file"].as_str().expect("a name"));
        folder.write(file, make_bytes(&case));
        let options = case["options"].as_str().unwrap_or_default();
        let (out, error, status) = folder.run(&format!("{file} {options}"), "");
        if case["table"] == true && !cfg!(feature = "parquet") {
            assert!(status == 2 && error.contains("`--features parquet`"), "{what}: {error}");
        } else if let Some(expected) = case["error"].as_str() {
            assert!(error.starts_with("error: ") && error.contains(expected), "{what}: {error}");
            assert!(
                (status, out.as_str()) == (2, "") && error.lines().count() <= 3,
                "{what}: {error}"
            );
        } else {
            let rows = out
                .lines()
                .map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
            let prompts: Vec<_> = rows.map(|row| row.get("text").unwrap_or(&row["chosen"]).clone()).collect();
            assert_eq!(Value::from(prompts), case["prompts"], "{what}: {error}");
            let note = error.lines().find(|line| line.starts_with(file)).unwrap_or_default();
            assert_eq!(note, case["note"].as_str().unwrap_or_default(), "{what}");
        }
        std::fs::remove_file(folder.0.join(file)).expect("it exists");
    }
}

#[test]
fn an_array_is_complete() {
    let folder = Folder::new("array");
    let row = r#"{"messages": [{"role": "user", "content": "a"}]}"#;
    for (text, rows, part) in [
        (
            format!("[{row},"),
            1,
            "after line 1: the JSON array has no end, so the file is incomplete",
        ),
        (format!("[{row}] {row}"), 0, "there is more after the end of the JSON array"),
        (format!("[{row}, x]"), 1, "the row is not JSON"),
        ("[]".to_owned(), 0, "0 rows: 0 written"),
    ] {
        let (out, error, _) = folder.run("", &text);
        assert!(out.lines().count() == rows && error.contains(part), "{text}: {out}{error}");
    }
}

#[test]
fn a_damaged_first_row_is_an_error_of_this_row() {
    let folder = Folder::new("damaged");
    let row = r#"{"messages": [{"role": "user", "content": "a"}]}"#;
    for length in [1, 100_000] {
        folder.write("in.jsonl", format!("{{\"messages\": {}\n{row}\n", "[".repeat(length)));
        let (out, error, status) = folder.run("in.jsonl", "");
        assert_eq!((out.lines().count(), status), (1, 1), "{error}");
    }
}

#[test]
fn several_files_are_one_input() {
    let folder = Folder::new("several");
    std::fs::create_dir_all(folder.0.join("data/train")).expect("a folder can be made");
    let rows = make_rows(4000);
    let (first, rest) = rows.split_at(rows.match_indices('\n').nth(1499).expect("there are more").0);
    folder.write("data/part-00000.json", first);
    folder.write("data/part-00001.json", format!("bad{rest}"));
    for name in ["_SUCCESS", ".part-00000.json.crc", "dataset_info.json", "README.md"] {
        folder.write(&format!("data/{name}"), "no rows");
    }
    folder.write("all.jsonl", &rows);
    assert_eq!(folder.run("all.jsonl --output all.out", "").2, 0);
    for input in ["data", "data/part-*", "data/part-00000.json data/part-00001.json"] {
        let (_, error, status) = folder.run(&format!("{input} --output out.jsonl"), "");
        assert_eq!(status, 1, "{error}");
        assert_eq!(folder.read("out.jsonl"), folder.read("all.out"));
        let errors = folder.rows("out.jsonl.errors.jsonl");
        assert_eq!((errors.len(), &errors[0]["line"]), (1, &Value::from(1)));
        assert_eq!(errors[0]["file"], "data/part-00001.json");
    }
    // The run was interrupted after the first file.
    let journal = folder.read("out.jsonl.journal");
    let checkpoint = journal.lines().last().expect("a checkpoint");
    assert!(checkpoint.contains("\"files\":1"), "{checkpoint}");
    let (_, error, status) = folder.run("data --output out.jsonl --resume", "");
    assert!(status == 1 && error.contains("the output is complete"), "{error}");
    for (input, part) in [
        ("data/*.csv", "no file matches this pattern"),
        ("data/train", "this folder has no files that end in"),
        ("data/part-00000.json -", "standard input cannot be one of several files"),
    ] {
        let (_, error, status) = folder.run(input, "");
        assert!(status == 2 && error.contains(part), "{error}");
    }
}
