//! The command `parity`. `parity.jsonl` has templates and rows, and what the command says of them.

use serde_json::Value;

use super::Folder;

#[test]
fn the_first_difference_of_a_row_is_shown() {
    let folder = Folder::new("parity");
    folder.write("tokens.json", include_str!("../../outside/tokenizers/tokenizer.json"));
    for line in include_str!("parity.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("a line is JSON");
        let options = case["options"].as_str().unwrap_or_default();
        if options.contains("--tokenizer") && !cfg!(feature = "tokenizer") {
            continue;
        }
        folder.write("t.jinja", case["template"].as_str().expect("a template"));
        let (out, error, status) = folder.run_as("parity", options, case["row"].to_string());
        let lines: Vec<&str> = out.lines().map(str::trim_start).collect();
        assert_eq!(Value::from(lines), case["says"], "{}: {error}", case["what"]);
        assert_eq!(
            i64::from(status),
            case["says"].as_array().map_or(0, |says| i64::from(says.len() > 1)),
            "{error}"
        );
    }
}
