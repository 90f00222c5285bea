//! The command `dataset`: its rows and its errors.
#![allow(clippy::restriction, clippy::pedantic, reason = "a test says what it expects by failing")]

mod files;
mod kinds;
mod losses;
mod parity;
#[cfg(feature = "tokenizer")]
mod tokens;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use losses::{expect_causes, list_causes};

/// A folder for one test, which is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("chat-template-dataset-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder can be made");
        std::fs::write(path.join("t.jinja"), TEMPLATE).expect("a file can be written");
        Self(path)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), content).expect("a file can be written");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn rows(&self, name: &str) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).expect("a line is JSON");
        self.read(name).lines().map(parse).collect()
    }

    fn command(&self, arguments: &str) -> Command {
        self.command_of("dataset", arguments)
    }

    fn command_of(&self, name: &str, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chat-template"));
        command
            .args([name, "--template", "t.jinja"])
            .args(arguments.split_whitespace());
        command.current_dir(&self.0);
        command
    }

    /// Runs the command and returns its standard output, its standard error and its exit status.
    fn run(&self, arguments: &str, input: impl AsRef<[u8]>) -> (String, String, i32) {
        self.run_as("dataset", arguments, input)
    }

    /// Runs a command as [`Folder::run`] does.
    fn run_as(&self, name: &str, arguments: &str, input: impl AsRef<[u8]>) -> (String, String, i32) {
        let mut command = self.command_of(name, arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command runs");
        let mut stdin = child.stdin.take().expect("it is piped");
        let input = input.as_ref().to_vec();
        // A command that ends early closes the pipe.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().expect("the command ends");
        writer.join().expect("the thread ends");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            text(&output.stdout),
            text(&output.stderr),
            output.status.code().expect("it exits"),
        )
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const TEMPLATE: &str = "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}\
    {% else %}{{ m.content }}{% endif %}{% endfor %}{% for tool in tools or [] %}[{{ tool.name }}]{% endfor %}{{ mood }}\
    {% if add_generation_prompt %}<assistant>{% endif %}";

/// Returns `count` rows, which fill several chunks.
fn make_rows(count: usize) -> String {
    let row = |id: usize| json!({"id": id, "messages": [{"role": "user", "content": "word ".repeat(id % 90)}]}).to_string();
    (0..count).map(|id| row(id) + "\n").collect()
}

#[test]
fn the_rows_can_be_an_argument_without_an_option() {
    let folder = Folder::new("argument");
    folder.write("in.jsonl", make_rows(2));
    let (named, ..) = folder.run("--input in.jsonl", "");
    assert_eq!(
        (folder.run("in.jsonl", "").0.lines().count(), folder.run("in.jsonl", "").0),
        (2, named)
    );
    let (_, error, status) = folder.run("in.jsonl --input in.jsonl", "");
    assert!(status == 2 && error.contains("cannot be used with"), "{error}");
}

#[test]
fn the_order_of_the_rows_does_not_depend_on_the_number_of_threads() {
    let folder = Folder::new("order");
    folder.write("in.jsonl", make_rows(5000));
    for jobs in ["1", "4"] {
        let (_, error, status) = folder.run(&format!("--input in.jsonl --output {jobs}.jsonl --jobs {jobs}"), "");
        assert_eq!(status, 0, "{error}");
        assert!(error.starts_with("5000 rows: 5000 written, 0 failed; "), "{error}");
        let rows = folder.rows(&format!("{jobs}.jsonl"));
        assert!(rows.iter().enumerate().all(|(id, row)| row["id"] == id));
    }
    assert_eq!(folder.read("1.jsonl"), folder.read("4.jsonl"));
    assert_eq!(folder.read("1.jsonl.errors.jsonl"), "");
}

#[test]
fn a_row_has_tools_and_variables_and_keeps_its_other_keys() {
    let folder = Folder::new("keys");
    let rows = [
        r#"{"b": 1.0, "messages": [{"role": "user", "content": "é"}], "tools": [{"name": "f"}], "a": [null], "text": "old"}"#,
        r#"{"messages": [], "tools": "[{\"name\": \"g\"}]", "chat_template_kwargs": {"mood": "glad", "moood": 1}}"#,
        r#"{"messages": [], "tools": null, "chat_template_kwargs": {"add_generation_prompt": false}}"#,
        r#"{"messages": [{"role": "assistant", "content": "é"}], "chat_template_kwargs": null}"#,
    ];
    let (out, error, status) = folder.run("--var mood=\"sad\" --add-generation-prompt --spans", rows.join("\r\n"));
    assert_eq!(status, 1, "{error}");
    let spans = r#"{"code_points":[],"bytes":[]}"#;
    let lines = [
        format!(r#"{{"b":1.0,"a":[null],"text":"<user>é[f]sad<assistant>","generation":{spans}}}"#),
        r#"{"text":"<assistant>ésad<assistant>","generation":{"code_points":[[11,12]],"bytes":[[11,13]]}}"#.to_owned(),
    ];
    assert_eq!(out.lines().collect::<Vec<_>>(), lines, "{error}");
    let warning = "warning: the template does not read the variable moood; did you mean mood?";
    assert!(error.contains(warning), "{error}");
    // An empty conversation is an error of transformers.
    assert_eq!(error.lines().filter(|line| line.contains("\"error\":")).count(), 2, "{error}");
}

#[test]
fn a_row_has_the_spans_of_the_assistant_and_the_turns() {
    let folder = Folder::new("assistant");
    folder.write(
        "t.jinja",
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
    );
    let rows = [
        r#"{"messages": [{"role": "user", "content": "é"}, {"role": "assistant", "content": "Hé"}], "turns": 7, "assistant": 8}"#,
        r#"{"messages": [{"role": "user", "content": "é"}]}"#,
    ];
    let (out, error, status) = folder.run("--assistant --turns --spans", rows.join("\n"));
    assert_eq!(status, 0, "{error}");
    let turn = |message: usize, header: [usize; 2], body: [usize; 2], close: [usize; 2]| {
        let fields = json!([{"name": "content", "spans": [[header[1].max(body[0]), body[1]]]}]);
        json!({"message": message, "header": [header], "body": [body], "close": [close], "fields": fields})
    };
    let spans = json!({"code_points": [], "bytes": []});
    let first = turn(0, [0, 6], [6, 7], [7, 12]);
    let lines = [
        json!({"text": "<user>é</s>\n<assistant>Hé</s>\n", "generation": spans, "assistant": [[23, 29]],
            "turns": [first, turn(1, [12, 23], [23, 25], [25, 30])]}),
        json!({"text": "<user>é</s>\n", "generation": spans, "assistant": [], "turns": [first]}),
    ];
    let parse = |line: &str| -> Value { serde_json::from_str(line).expect("a line is JSON") };
    assert_eq!(out.lines().map(parse).collect::<Vec<_>>(), lines, "{error}");
    assert!(
        error.contains("warning: the template has no {% generation %} blocks, so all spans are empty"),
        "{error}"
    );
    for warning in [
        "warnings with the cause nothing_trained: 1",
        "warning: rows whose own text, spans or turns the output replaces: 1",
    ] {
        assert!(error.contains(warning), "{error}");
    }
}

#[test]
fn conversations_of_sharegpt_have_roles() {
    let folder = Folder::new("sharegpt");
    let rows = r#"{"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}, {"from": "tool", "value": "1"}]}
        {"system": "Be kind.", "conversations": [{"from": "human", "value": "Hi"}], "source": "x"}
        {"system": "Be kind.", "conversations": [{"from": "system", "value": "Be brief."}]}"#;
    let (out, error, status) = folder.run("", rows);
    assert_eq!(status, 0, "{error}");
    let expected = r#"{"text":"<user>Hi<assistant>Ho<tool>1"}
{"source":"x","text":"<system>Be kind.<user>Hi"}
{"text":"<system>Be brief."}
"#;
    assert_eq!(out, expected);
    let rows = r#"{"chat": [{"from": "human", "value": "Hi"}], "system": null}"#;
    let (out, error, _) = folder.run("--format sharegpt --messages-key chat", rows);
    assert_eq!(out, "{\"text\":\"<user>Hi\"}\n", "{error}");
    folder.write("t.jinja", "{{ tools | tojson }}");
    let row = r#"{"conversations": [{"from": "human", "value": "Hi"}], "tools": "[{\"name\": \"f\"}, {\"type\": \"function\", \"function\": {}}]"}"#;
    let (out, error, _) = folder.run("--format sharegpt", row);
    let tools = r#"[{\"type\": \"function\", \"function\": {\"name\": \"f\"}}, {\"type\": \"function\", \"function\": {}}]"#;
    assert_eq!(out, format!("{{\"text\":\"{tools}\"}}\n"), "{error}");
}

#[test]
fn messages_of_other_forms_fail() {
    let folder = Folder::new("forms");
    let rows = r#"{"messages": [{"role": "user", "content": "a"}, {"content": "a"}]}
{"messages": [{"role": "chatgpt", "content": "a"}]}
{"messages": [{"role": "user", "content": 7}]}
{"messages": "[{\"role\": \"user\", \"content\": \"a\"}]"}
{"messages": "[{"}"#;
    let (causes, status, error) = list_causes(&folder, "", rows);
    let expected = expect_causes(&[
        (1, "message", "/messages/1"),
        (2, "message", "/messages/0/role"),
        (3, "message", "/messages/0/content"),
        (5, "json", "/messages"),
    ]);
    assert_eq!((causes, status), (expected, 1), "{error}");
    assert_eq!(folder.read("o.jsonl"), "{\"text\":\"<user>a\"}\n");
}

#[test]
fn prompts_can_have_a_completion_or_two() {
    let folder = Folder::new("completions");
    let message = |role: &str, content: &str| json!({"role": role, "content": content});
    let rows = [
        json!({"id": 1, "prompt": [message("user", "Hi")], "completion": [message("assistant", "Ho")]}),
        json!({"prompt": "Hi", "completion": "Ho"}),
        json!({"prompt": json!([message("user", "Hi")]).to_string(), "chosen": "Ho", "rejected": [message("assistant", "Hu")]}),
        json!({"chosen": [message("user", "Hi"), message("assistant", "Ho")], "rejected": [message("user", "Hi"), message("assistant", "Hu")]}),
        json!({"prompt": [message("user", "Hi")], "completion": [{"role": "assistant", "content": 7}]}),
        json!({"messages": [message("user", "Hi")], "prompt": "kept", "rejected": false}),
    ];
    folder.write("in.jsonl", rows.map(|row| row.to_string() + "\n").concat());
    let (_, error, status) = folder.run("--input in.jsonl --output out.jsonl --assistant", "");
    assert_eq!(status, 1, "{error}");
    let text = |answer: &str| format!("<user>Hi<assistant>{answer}");
    let pair =
        json!({"chosen": text("Ho"), "chosen_assistant": [[19, 21]], "rejected": text("Hu"), "rejected_assistant": [[19, 21]]});
    assert_eq!(
        folder.rows("out.jsonl"),
        [
            json!({"id": 1, "text": text("Ho"), "assistant": [[19, 21]]}),
            json!({"text": text("Ho"), "assistant": [[19, 21]]}),
            pair.clone(),
            pair,
            json!({"prompt": "kept", "rejected": false, "text": "<user>Hi", "assistant": []}),
        ]
    );
    assert_eq!(folder.rows("out.jsonl.errors.jsonl")[0]["pointer"], "/completion/0/content");
    let ranking = json!({"conversations": [{"from": "human", "value": "Hi"}], "system": "S", "chosen": {"from": "gpt", "value": "Ho"},
        "rejected": {"from": "gpt", "value": "Hu"}});
    let (out, _, _) = folder.run("", ranking.to_string());
    let row: Value = serde_json::from_str(&out).expect("a line is JSON");
    assert_eq!(
        row,
        json!({"chosen": format!("<system>S{}", text("Ho")), "rejected": format!("<system>S{}", text("Hu"))})
    );
}

#[test]
fn arguments_can_be_read_from_json_text() {
    let folder = Folder::new("arguments");
    folder.write("t.jinja", "{{ messages[0].tool_calls[0].function.arguments|tojson }}");
    let row = |arguments: &str| {
        let call = json!({"type": "function", "function": {"name": "f", "arguments": arguments}});
        json!({"messages": [{"role": "assistant", "content": "", "tool_calls": [call]}]}).to_string()
    };
    let text = |arguments: &str| {
        let (out, _, _) = folder.run(arguments, row("{\"a\": 1}"));
        serde_json::from_str::<Value>(&out).expect("a line is JSON")["text"].clone()
    };
    assert_eq!(text(""), r#""{\"a\": 1}""#);
    assert_eq!(text("--json-arguments"), r#"{"a": 1}"#);
    let (_, error, status) = folder.run("--json-arguments", row("{"));
    assert_eq!(status, 1);
    assert!(error.contains("/messages/0/tool_calls/0/function/arguments"), "{error}");
}

#[test]
fn sharegpt_has_calls_and_results_of_tools() {
    let folder = Folder::new("sharegpt-calls");
    folder.write(
        "t.jinja",
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function|tojson }}{% endfor %}{% endfor %}",
    );
    let rows = r#"{"conversations": [{"from": "human", "value": "a"}, {"from": "function_call", "value": "{\"name\": \"f\", \"arguments\": {\"x\": 1}}"}, {"from": "observation", "value": "21"}, {"from": "chatgpt", "value": "b"}]}"#;
    let (out, error, status) = folder.run("", rows);
    assert_eq!(status, 0, "{error}");
    let row: Value = serde_json::from_str(&out).expect("a line is JSON");
    assert_eq!(
        row["text"],
        "<user>a<assistant>{\"name\": \"f\", \"arguments\": {\"x\": 1}}<tool>21<assistant>b"
    );
    let (_, error, status) = folder.run("", r#"{"conversations": [{"from": "function_call", "value": "f()"}]}"#);
    assert_eq!(status, 1, "{error}");
    assert!(
        error.contains(r#""pointer":"/conversations/0/value","error":"the call is not JSON"#),
        "{error}"
    );
}

#[test]
fn options_say_what_the_model_writes() {
    let folder = Folder::new("masks");
    folder.write(
        "t.jinja",
        "{% for m in messages %}<{{ m.role }}>{% if m.thinking %}<think>{{ m.thinking }}</think>{% endif %}{{ m.content }}<end>{% endfor %}\
         {% if add_generation_prompt %}<assistant>{% endif %}",
    );
    let rows = r#"{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}, {"role": "assistant", "thinking": "t", "content": "d"}]}"#;
    for (options, expected) in [
        ("", json!(["b<end>", "<think>t</think>d<end>"])),
        ("--last-turn-only --no-reasoning", json!(["d<end>"])),
        ("--content-only", json!(["b", "d"])),
        ("--no-end-of-turn", json!(["b", "<think>t</think>d"])),
        ("--roles user,assistant --content-only", json!(["a", "b", "c", "d"])),
    ] {
        let (out, error, status) = folder.run(&format!("--assistant {options}"), rows);
        assert_eq!(status, 0, "{error}");
        let row: Value = serde_json::from_str(&out).expect("a line is JSON");
        let text = row["text"].as_str().expect("a string");
        let place = |span: &Value, index: usize| usize::try_from(span[index].as_u64().expect("a number")).expect("it is small");
        let spans = row["assistant"].as_array().expect("the spans are known");
        let spans: Vec<&str> = spans.iter().map(|span| &text[place(span, 0)..place(span, 1)]).collect();
        assert_eq!(json!(spans), expected, "{options}");
    }
    folder.write(
        "t.jinja",
        "[x]{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
    );
    let rows = r#"{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]}"#;
    for (options, has_note) in [("", false), ("--next-marker", false), ("--no-next-marker", true)] {
        let (out, error, _) = folder.run(&format!("--assistant {options}"), rows);
        assert_eq!(error.contains("no token ends a turn of the model"), has_note, "{error}");
        assert_eq!(
            error.contains("so this token is trained with the answer"),
            options.is_empty(),
            "{error}"
        );
        assert_eq!(out.contains("\"assistant\":[[21,28]]"), !has_note, "{out}");
    }
}

#[test]
fn an_input_is_read_by_its_first_bytes() {
    let folder = Folder::new("magic");
    folder.write("in.jsonl", make_rows(3));
    assert_eq!(folder.run("--input in.jsonl --output a.jsonl.gz", "").2, 0);
    std::fs::rename(folder.0.join("a.jsonl.gz"), folder.0.join("a.jsonl")).expect("a file can be renamed");
    let (out, error, status) = folder.run("--input a.jsonl --messages-key id", "");
    assert_eq!((out.as_str(), status), ("", 1), "{error}");
    assert!(error.contains("3 rows: 0 written, 3 failed"), "{error}");
    folder.write("a.parquet", b"PAR1\x15\x04");
    let (_, error, status) = folder.run("--input a.parquet", "");
    assert!(status == 2 && error.contains("a.parquet: this is a Parquet file"), "{error}");
}

#[test]
fn a_row_that_fails_is_in_the_file_of_errors() {
    let folder = Folder::new("errors");
    let mut input =
        b"{\"messages\": 1}\n\n[]\n{\"messages\": [{\"role\": \"user\", \"content\": \"ok\"}]}\nb\xff\n{\"id\": ".to_vec();
    input.extend(std::iter::repeat_n(b'7', 2 << 20));
    input.extend(b"}\n{\"messages\": [{\"role\": \"us");
    folder.write("in.jsonl", input);
    let (_, error, status) = folder.run("--input in.jsonl --output out.jsonl --errors e.jsonl --max-row 1", "");
    assert_eq!(status, 1, "{error}");
    assert!(error.starts_with("6 rows: 1 written, 5 failed (e.jsonl); "), "{error}");
    assert_eq!(folder.read("out.jsonl"), "{\"text\":\"<user>ok\"}\n");
    let rows = folder.rows("e.jsonl");
    let expected = [
        (1, "", json!({"messages": 1})),
        (3, "the row must be an object, and this is an array", json!([])),
        (
            5,
            "'utf-8' codec can't decode byte 0xff in position 1: invalid start byte",
            json!("b\u{fffd}"),
        ),
        (6, "the row has more than 1 MiB, which is the limit", Value::Null),
        (7, "; the input ends in this row", json!("{\"messages\": [{\"role\": \"us")),
    ];
    assert_eq!(rows.len(), expected.len());
    for (row, (line, part, source)) in rows.iter().zip(expected) {
        assert_eq!((row["line"].as_u64(), &row["row"]), (Some(line), &source));
        assert!(row["error"].as_str().expect("a string").contains(part), "{row}");
    }
}

#[test]
fn the_readme_shows_a_row() {
    let read = |path: &str| std::fs::read_to_string(format!("../../{path}")).expect("the file can be read");
    let (readme, folder) = (read("README.md"), Folder::new("readme"));
    folder.write("t.jinja", read("tests/models/jinja/chat_template.jinja"));
    let command = readme.lines().find(|line| line.ends_with("--assistant"));
    let row = command.and_then(|command| command.split('\'').nth(1));
    let (output, error, _) = folder.run("--assistant", row.expect("the command has a row"));
    assert!(readme.contains(&format!("```text\n{output}```")), "{output}\n{error}");
}
