//! What a file is that has no rows, and the command that converts it.
//!
//! ```text
//! id,question,answer   ->   this is a CSV file; convert it with: python3 -c '…' IN.csv > OUT.jsonl
//! ```

use chat_template::json::{self, Data, Object};
use chat_template_rows::Format;

/// Commands that print JSON Lines.
const FROM_CSV: &str =
    "python3 -c 'import csv, json, sys; [print(json.dumps(row)) for row in csv.DictReader(open(sys.argv[1]))]' IN.csv > OUT.jsonl";
const FROM_TSV: &str = "python3 -c 'import csv, json, sys; [print(json.dumps(row)) for row in csv.DictReader(open(sys.argv[1]), delimiter=\"\\t\")]' IN.tsv > OUT.jsonl";
const FROM_LITERALS: &str =
    "python3 -c 'import ast, json, sys; [print(json.dumps(ast.literal_eval(line))) for line in open(sys.argv[1])]' IN > OUT.jsonl";
const FROM_PARQUET: &str =
    "python3 -c 'import datasets, sys; datasets.Dataset.from_parquet(sys.argv[1]).to_json(sys.argv[2])' IN.parquet OUT.jsonl";
const FROM_ARROW: &str =
    "python3 -c 'import datasets, sys; datasets.Dataset.from_file(sys.argv[1]).to_json(sys.argv[2])' IN.arrow OUT.jsonl";
const FROM_FEATHER: &str = "python3 -c 'import pandas, sys; pandas.read_feather(sys.argv[1]).to_json(sys.argv[2], orient=\"records\", lines=True)' IN.feather OUT.jsonl";
const FROM_EXCEL: &str = "python3 -c 'import pandas, sys; pandas.read_excel(sys.argv[1]).to_json(sys.argv[2], orient=\"records\", lines=True)' IN.xlsx OUT.jsonl";
const FROM_YAML: &str = "python3 -c 'import json, sys, yaml; [print(json.dumps(row)) for row in yaml.safe_load(open(sys.argv[1]))]' IN.yaml > OUT.jsonl";

/// The first bytes of files that are no text, each with what the file is and a command.
const BINARY: &[(&[u8], &str, &str)] = &[
    (b"PAR1", "a Parquet file", FROM_PARQUET),
    (b"ARROW1", "an Arrow file (Feather)", FROM_FEATHER),
    (b"FEA1", "a file of Feather 1", FROM_FEATHER),
    (b"\xff\xff\xff\xff", "an Arrow stream", FROM_ARROW),
    (b"BZh", "a bzip2 file", "bzip2 -dc IN > OUT.jsonl"),
    (b"\xfd7zXZ\0", "an xz file", "xz -dc IN > OUT.jsonl"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "7z e -so IN > OUT.jsonl"),
    (b"\x04\x22\x4d\x18", "an lz4 file", "lz4 -dc IN > OUT.jsonl"),
    (
        b"SQLite format 3\0",
        "an SQLite database",
        "sqlite3 -json IN 'SELECT * FROM rows' > OUT.json",
    ),
    (b"\xff\xfe\0\0", "text in UTF-32", "iconv -f UTF-32 -t UTF-8 IN > OUT.jsonl"),
    (b"\0\0\xfe\xff", "text in UTF-32", "iconv -f UTF-32 -t UTF-8 IN > OUT.jsonl"),
    (
        b"{\0",
        "text in UTF-16 without a byte order mark",
        "iconv -f UTF-16LE -t UTF-8 IN > OUT.jsonl",
    ),
    (
        b"\0{",
        "text in UTF-16 without a byte order mark",
        "iconv -f UTF-16BE -t UTF-8 IN > OUT.jsonl",
    ),
    (b"version https://git-lfs", "the pointer of a file in Git LFS", "git lfs pull"),
];

/// Describes a file by its first bytes if it is no text. The message has a command that converts it.
pub fn find_binary(start: &[u8]) -> Result<(), String> {
    if let Some((_, what, command)) = BINARY.iter().find(|(magic, ..)| start.starts_with(magic)) {
        return Err(explain(what, command));
    }
    let has = |name: &[u8]| start.windows(name.len()).any(|part| part == name);
    if start.starts_with(b"PK\x03\x04") {
        let is_excel = has(b"[Content_Types].xml") || has(b"xl/");
        return Err(match is_excel {
            true => explain("an Excel file", FROM_EXCEL),
            false => explain("a zip archive", "unzip -p IN.zip > OUT.jsonl"),
        });
    }
    if start.get(257..262) == Some(b"ustar") {
        return Err(explain("a tar archive", "tar -xf IN.tar"));
    }
    let is_marked = start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff");
    if start.contains(&0) && !is_marked {
        return Err("this is a binary file, and must be JSON Lines, one JSON array, or a compressed file of either".to_owned());
    }
    Ok(())
}

/// Returns the message about a file, with the command that converts it.
fn explain(what: &str, command: &str) -> String {
    let feature = match what.contains("Parquet") || what.contains("Arrow") {
        true => "; build this command with `--features parquet` to read it, or",
        false => ", and must be JSON Lines;",
    };
    format!("this is {what}{feature} convert it with\n  {command}")
}

/// What the first rows of a file show.
pub struct Shape {
    pub format: Format,
    /// The key of the messages, if it is not that of the format.
    pub messages_key: Option<&'static str>,
}

/// Finds the format of a file by its first lines. Returns `None` if there are none.
///
/// # Errors
/// If no line is an object with a conversation. The message says what the file is instead, and how it is converted.
pub fn find_shape(start: &[u8], messages_key: Option<&str>) -> Result<Option<Shape>, String> {
    let lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).collect();
    let mut other = None;
    for line in &lines {
        match json::Data::read_within(*line, chat_template::Bounds::default()) {
            Ok(Data::Object(row)) => match Format::find(&row, messages_key) {
                Some((format, messages_key)) => return Ok(Some(Shape { format, messages_key })),
                None => other = other.or_else(|| Some(describe_row(&row))),
            },
            Ok(Data::List(items)) => {
                let (what, command) = match items.first() {
                    Some(Data::List(_)) => (
                        "one JSON array of lists of messages",
                        "jq -c '.[] | {messages: .}' IN > OUT.jsonl",
                    ),
                    _ => (
                        "a file with a list of messages in each line",
                        "jq -c '{messages: .}' IN > OUT.jsonl",
                    ),
                };
                other = other.or_else(|| Some(explain(what, command)));
            }
            _ => {}
        }
    }
    match (lines.first(), other) {
        (None, _) => Ok(None),
        (_, Some(message)) => Err(message),
        (Some(first), None) => Err(describe_text(start, first)),
    }
}

/// Describes a row that has no conversation.
fn describe_row(row: &Object<'_>) -> String {
    let rows = row.entries().iter().find(|(_, value)| match value {
        Data::List(items) => matches!(items.first(), Some(Data::Object(item)) if Format::find(item, None).is_some()),
        _ => false,
    });
    if let Some((key, _)) = rows {
        return explain(
            &format!("one JSON object with the rows under {key:?}"),
            &format!("jq -c '.{key}[]' IN > OUT.jsonl"),
        );
    }
    if row.get("role").is_some() && row.get("content").is_some() {
        return explain(
            "one conversation, as a JSON array of messages",
            "jq -c '{messages: .}' IN > OUT.jsonl",
        );
    }
    let keys: Vec<String> = row.entries().iter().take(8).map(|(key, _)| format!("{key:?}")).collect();
    let find = |keys: &[&'static str], default| keys.iter().copied().find(|key| row.get(key).is_some()).unwrap_or(default);
    let asked = find(&["question", "query", "instruction", "problem", "input"], "QUESTION");
    let answer = find(&["answer", "response", "output", "solution", "completion"], "ANSWER");
    let system = find(&["system", "system_prompt"], "");
    let question = format!("{{role: \"user\", content: .{asked}}}, {{role: \"assistant\", content: .{answer}}}");
    let messages = match system {
        "" => format!("[{question}]"),
        system => format!("([.{system} // empty | select(. != \"\") | {{role: \"system\", content: .}}] + [{question}])"),
    };
    format!(
        "the rows have the keys {}, and no conversation: messages, conversations, prompt, chosen and rejected as messages, or instruction and \
         output; name the key of the messages by --messages-key, or convert the file, for example with\n  jq -c '{{messages: {messages}}}' IN > OUT.jsonl",
        keys.join(", ")
    )
}

/// Describes text of which no line is JSON.
fn describe_text(start: &[u8], first: &[u8]) -> String {
    let Ok(line) = std::str::from_utf8(first) else {
        return explain("text that is not UTF-8", "iconv -f WINDOWS-1252 -t UTF-8 IN > OUT.jsonl");
    };
    let commas = line.matches(',').count();
    match line {
        _ if line.to_ascii_lowercase().starts_with("<!doctype html") || line.starts_with("<html") => {
            explain("a page of a web site", "curl -L https://huggingface.co/datasets/NAME/resolve/main/FILE > OUT.jsonl")
        }
        _ if line.starts_with("{'") || line.starts_with("[{'") => explain("a file with Python's literals", FROM_LITERALS),
        _ if line.starts_with(['{', '[']) && is_json(start) => explain("JSON over several lines", "jq -c . IN > OUT.jsonl"),
        _ if line.starts_with('{') => {
            let error = json::read(line).err().map_or(String::new(), |error| format!(": {error}"));
            format!("no row is a JSON object; the first is not JSON{error}")
        }
        _ if line.contains('\t') => explain("a file of values separated by tabs", FROM_TSV),
        _ if line.starts_with("- ") || line == "---" => explain("a YAML file", FROM_YAML),
        _ if commas > 0 => explain("a CSV file", FROM_CSV),
        _ => "this is text, and must be JSON Lines: a JSON object in each line, such as {\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}"
            .to_owned(),
    }
}

/// Returns whether text has the beginning of JSON that goes on after its first line.
fn is_json(start: &[u8]) -> bool {
    let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.next().unwrap_or_default();
    let second = lines.find(|line| !line.is_empty()).unwrap_or_default();
    matches!(first, b"{" | b"[")
        || first.ends_with(b"[")
        || first.ends_with(b"{")
        || (first.ends_with(b",") && second.starts_with(b"\""))
}
